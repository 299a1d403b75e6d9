"""What a session's agent and its commands changed on disk: brought into what the editor shows, and
told to the person."""

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio

from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.settings.review import asks_first, made_without_us
from lsp_agent.sessions.files.calls_at_work import Call
from lsp_agent.sessions.files.disk_notices import disk_notices
from lsp_agent.sessions.files.shown_to_agent import ShownToAgent
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.text.lines import Text
from lsp_agent.text.plain import escaped_line
from lsp_agent.workspace.changing.file_host import Origin
from lsp_agent.workspace.mirror.disk_change import Brought, DiskChange

_BEFORE = (
    "Commands change files on disk by themselves, which `review = before` cannot hold back: what"
    " they changed is in already and can be kept or undone."
)


class BroughtIn:
    """Of one session."""

    def __init__(self, services: Services, session: SessionView, served: ShownToAgent) -> None:
        self._services = services
        self._session = session
        self._served = served
        #: Whether a command of this session has changed a file.
        self.commands_change_files = False
        self._told_of_before = False

    async def take(self, call: Call, changes: Sequence[DiskChange]) -> None:
        if call.seen.kind == "command":
            self.commands_change_files = True
            self._tell_before_does_not_hold(call)
        wanted = self._session.still_wanted()
        brought: list[Brought] = []
        async with anyio.create_task_group() as tasks:
            for change in changes:
                tasks.start_soon(self._take_one, call, change, wanted, brought)
        for notice in disk_notices(brought, call.seen.tool, call.what, self._session.cwd):
            self._session.emit(notice, call.seen.turn_id)

    async def _take_one(
        self, call: Call, change: DiskChange, wanted: Callable[[], bool], brought: list[Brought]
    ) -> None:
        seen = call.seen
        name = "" if seen.kind == "command" else f" {Path(change.path).name}"
        result = await self._services.mirror.take(
            change,
            Origin(self._session.id, seen.turn_id, seen.call_id, f"agent: {seen.tool}{name}"),
            kept=made_without_us(self._session.settings.edits.review).kept,
            still_wanted=wanted,
        )
        brought.append(result)
        if seen.kind != "command" and isinstance(change.now, Text):
            # The agent knows what it wrote; what a command made of a file it does not.
            self._served.wrote(change.path, change.now)

    def _tell_before_does_not_hold(self, call: Call) -> None:
        if asks_first(self._session.settings.edits.review) and not self._told_of_before:
            self._told_of_before = True
            self._session.emit(Notice("warning", _BEFORE, "lsp-agent"), call.seen.turn_id)

    def tell_outside(self, call: Call) -> None:
        names = ", ".join(escaped_line(path) for path in call.outside)
        tool = escaped_line(call.seen.tool)
        message = f"The agent's {tool} wrote outside the workspace: {names}."
        self._session.emit(Notice("warning", message, "lsp-agent"), call.seen.turn_id)
