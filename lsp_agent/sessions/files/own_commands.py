"""The commands of an agent that has no shell of its own: run by us, once they are allowed."""

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

import anyio

from lsp_agent.agents.own_command import run_command
from lsp_agent.protocol.events import ToolProgress
from lsp_agent.protocol.git_environment import unread
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.toolset.arguments import ToolFailure, parse_bash
from lsp_agent.toolset.calls import Allow, ToolRequest
from lsp_agent.wires.wire import Answer, Answered, Launch, Refused

_STOPPED = "The user stopped this turn, and the command with it."
_AGENT_WAITS_NO_LONGER = "[ended: the agent does not wait longer for a command]"


class OwnCommands:
    """Of one session. ``surround`` is told of each agent that starts, what its commands see."""

    def __init__(self, session: SessionView) -> None:
        self._session = session
        self._env: Mapping[str, str] = {}
        self._unread: Mapping[str, str] = {}
        self._hidden: Sequence[str] = ()
        self._held: Sequence[str] = ()
        self._running: set[anyio.CancelScope] = set()
        self._ended = anyio.Event()

    def surround(self, launch: Launch) -> None:
        env = launch.env
        self._env = {name: value for name, value in env.items() if name not in launch.secrets}
        self._unread = dict([unread({**os.environ, **env})])
        self._hidden = launch.secrets
        self._held = launch.held

    async def run(self, request: ToolRequest, allowed: Allow, seconds: float | None) -> Answer:
        """The result of a ``bash`` call, before ``seconds`` are over, after the note of what
        ``allowed`` it.

        :raises RequestFailed: where it cannot be started
        """
        try:
            args = parse_bash(request.args)
        except ToolFailure as failure:
            return Refused(failure.text)
        limits = [limit for limit in (args.timeout, seconds) if limit is not None and limit > 0]
        limit = min(limits, default=None)
        overdue = f"[ended: it took longer than {limit} s]"

        turn_id = self._session.turn_id

        def progress(text: str) -> None:
            if request.tool_call_id is not None:
                self._session.emit(ToolProgress(request.tool_call_id, text), turn_id)

        with self._stoppable():
            ended = await run_command(
                args.command,
                cwd=self._session.cwd,
                env={**self._env, **self._unread} if allowed.unread else self._env,
                hidden=self._hidden,
                held=self._held,
                on_output=progress,
                seconds=limit,
                overdue=_AGENT_WAITS_NO_LONGER if limit == seconds else overdue,
            )
            text = (f"{allowed.note}\n" if allowed.note else "") + ended.text
            return Answered(text) if ended.code == 0 else Refused(text)
        return Refused(_STOPPED)

    def stop(self) -> None:
        """Ends what runs."""
        for scope in self._running:
            scope.cancel()

    async def ended(self) -> None:
        """Until none runs."""
        while self._running:
            await self._ended.wait()

    @contextmanager
    def _stoppable(self) -> Generator[None]:
        scope = anyio.CancelScope()
        self._running.add(scope)
        try:
            with scope:
                yield
        finally:
            self._running.discard(scope)
            self._ended.set()
            self._ended = anyio.Event()
