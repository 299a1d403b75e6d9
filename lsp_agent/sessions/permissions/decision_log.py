"""Has written down what was decided on a session's commands, and how they ended."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace

import anyio.to_thread

from lsp_agent.protocol.events import BackgroundCommand, ToolResult
from lsp_agent.sessions.permissions.judge import subject
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.toolset.calls import ToolRequest
from lsp_agent.toolset.commands import exit_code
from lsp_agent.toolset.kinds import tool_kind
from lsp_agent.user_data.command_log import Decided, DecidedBy, Ended, Verdict, append

log = logging.getLogger(__name__)


class DecisionLog:
    """Of one session. Nothing waits for the disk; where it cannot be written, the server's own log
    says so and commands run as before."""

    def __init__(
        self,
        services: Services,
        session: SessionView,
        in_background: Callable[[ToolRequest], bool],
    ) -> None:
        self._services = services
        self._session = session
        self._in_background = in_background
        #: When each call was let run, by ``time.monotonic``.
        self._running: dict[str, float] = {}
        #: The calls whose commands go on beyond them.
        self._background: set[str] = set()

    def decided(self, request: ToolRequest, verdict: Verdict, by: DecidedBy) -> None:
        if tool_kind(request.tool) != "command":
            return
        call = request.tool_call_id
        if verdict == "allowed" and call is not None:
            self._running[call] = time.monotonic()
        view = self._session
        at = round(time.time(), 3)
        command = subject(request)
        background = self._in_background(request)
        decided = Decided(at, view.id, view.agent, call, command, view.cwd, verdict, by, background)
        self._write(decided)

    def returned(self, result: ToolResult) -> None:
        """A call has its result."""
        if result.tool_call_id in self._background:
            return
        since = self._running.pop(result.tool_call_id, None)
        if since is None:
            return
        texts = [block["text"] for block in result.content if block["type"] == "text"]
        code = next((code for text in texts if (code := exit_code(text)) is not None), None)
        seconds = round(time.monotonic() - since, 3)
        self._write(Ended(self._session.id, result.tool_call_id, code, result.is_error, seconds))

    def background(self, event: BackgroundCommand) -> None:
        """A command goes on beyond its call, or has ended."""
        call = event.tool_call_id
        if event.state == "running":
            self._background.add(call)
        elif call in self._background:
            self._background.discard(call)
            since = self._running.pop(call, time.monotonic())
            seconds = round(time.monotonic() - since, 3)
            failed = event.exit_code != 0
            self._write(Ended(self._session.id, call, event.exit_code, failed, seconds))

    def _write(self, record: Decided | Ended) -> None:
        self._services.tasks.start_soon(self._append, record)

    async def _append(self, record: Decided | Ended) -> None:
        try:
            await anyio.to_thread.run_sync(self._append_now, record)
        except OSError as error:
            log.warning("a decision on a command cannot be written down: %s", error)

    def _append_now(self, record: Decided | Ended) -> None:
        if isinstance(record, Decided):
            record = replace(record, command=self._services.covers.kept(record.command))
        append(record)
