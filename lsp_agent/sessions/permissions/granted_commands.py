"""The commands that a person has allowed beyond one call: a whole line in this session, and what
they have allowed for good, in this project or everywhere.

They spare a question, and nothing else: what the settings deny is denied before anybody looks here.
"""

import os
import time
from dataclasses import dataclass

import anyio.to_thread

from lsp_agent.protocol.events import Notice
from lsp_agent.sessions.permissions.judge import Permissions
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.toolset.calls import ToolRequest
from lsp_agent.toolset.kinds import tool_kind
from lsp_agent.user_data.command_log import DecidedBy
from lsp_agent.user_data.kept_grants import GrantsProblem, KeptGrant, keep_grant, read_grants


@dataclass(frozen=True, slots=True)
class Covered:
    """``by``: how far the person's yes reaches; ``by_pattern``: nobody has looked at this very
    line."""

    by: DecidedBy
    by_pattern: bool


class GrantedCommands:
    """Those of one session."""

    def __init__(self, services: Services, session: SessionView, permissions: Permissions) -> None:
        self._services = services
        self._session = session
        self._permissions = permissions
        self._lines: set[str] = set()
        self._told: str | None = None

    async def covering(self, request: ToolRequest) -> Covered | None:
        """What allows a call that would be asked about, as it is kept now."""
        if tool_kind(request.tool) != "command":
            return None
        line = self._permissions.subject(request)
        if line in self._lines:
            return Covered("session", by_pattern=False)
        kept = await self._kept()
        for grant in kept:
            if grant.kind == "command" and grant.command == line:
                return Covered("project" if grant.folder else "always", by_pattern=False)
        patterns = [grant for grant in kept if grant.kind == "pattern"]
        everywhere = {grant.command for grant in patterns if grant.folder is None}
        is_covered = self._permissions.is_covered
        if everywhere and await anyio.to_thread.run_sync(is_covered, request, everywhere):
            return Covered("always", by_pattern=True)
        here = {grant.command for grant in patterns}
        if here > everywhere and await anyio.to_thread.run_sync(is_covered, request, here):
            return Covered("project", by_pattern=True)
        return None

    def allow_line(self, request: ToolRequest) -> None:
        """For the rest of the session."""
        self._lines.add(self._permissions.subject(request))

    async def keep(
        self, request: ToolRequest, pattern: str | None, *, everywhere: bool
    ) -> str | None:
        """For good: the pattern, or without one the line. Answers why it could not be kept; it is
        allowed for the rest of the session then."""
        line = self._permissions.subject(request)
        folder = None if everywhere else self.project
        grant = KeptGrant(
            "pattern" if pattern else "command", pattern or line, folder, round(time.time(), 3)
        )
        try:
            await anyio.to_thread.run_sync(keep_grant, grant)
        except GrantsProblem as problem:
            self._lines.add(line)
            return str(problem)
        return None

    @property
    def project(self) -> str:
        """The real path of the workspace folder that the session works in."""
        cwd = os.path.realpath(self._session.cwd)
        above = [
            folder
            for folder in self._services.folders()
            if os.path.commonpath((folder, cwd)) == folder
        ]
        return max(above, key=len, default=cwd)

    async def _kept(self) -> list[KeptGrant]:
        """Of this project; none where they cannot be read, which is said."""
        try:
            kept = await anyio.to_thread.run_sync(read_grants)
        except GrantsProblem as problem:
            if str(problem) != self._told:
                self._told = str(problem)
                told = Notice("warning", f"You are asked again: {problem}.", "lsp-agent")
                self._session.emit(told, self._session.turn_id)
            return []
        self._told = None
        return [grant for grant in kept if grant.folder in (None, self.project)]
