"""A command that the settings want in a sandbox: what holds it, as it is now."""

import os
from collections.abc import Callable
from pathlib import Path

import anyio

from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.settings.settings import PermissionSettings
from lsp_agent.sandbox import holders, places
from lsp_agent.sandbox.hold import CannotHold, Hold, Holder, Way
from lsp_agent.sandbox.starting import unset
from lsp_agent.sandbox.wanted import refused
from lsp_agent.sessions.permissions.named_hosts import NamedHosts
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.toolset.calls import Held, Outcome, ToolRequest
from lsp_agent.workspace.disk.paths import Confinement

_NOTHING_HOLDS = (
    'permissions.command is "sandbox", but nothing here can hold a command, so you are asked'
    " instead: {reason}"
)


class Holding:
    """Of one session. Whether anything holds here is tried with its first such command."""

    def __init__(self, session: SessionView, confinement: Callable[[bool], Confinement]) -> None:
        self._confinement = confinement
        self._session = session
        self._trying = anyio.Lock()
        self._tried = False
        self._holder: Holder | None = None
        self.hosts = NamedHosts(session)

    async def held(
        self, note: str | None, call: str | None = None, store: str | None = None
    ) -> Held | None:
        """How the command of that call is to be started, with a ``store`` to write that alone; None
        where nothing holds, which is said once, and where the whole system is the workspace or the
        agent works outside of it."""
        async with self._trying:
            if not self._tried:
                self._holder = await self._try()
                self._tried = True
        if self._holder is None:
            return None
        way = None if store else await self.hosts.way(self._holder, call)
        hold = await anyio.to_thread.run_sync(self._hold, way)
        if hold is None:
            return None
        if store is not None:
            hold = await anyio.to_thread.run_sync(places.for_store, hold, store)
        words = tuple(self._holder.words(hold, self._session.cwd))
        return Held(words, unset(hold), tuple(self._holder.mount_points(hold)), note)

    async def refused(self, request: ToolRequest, outcome: Outcome) -> tuple[str, str] | None:
        """As ``wanted.refused``, of a command that was held."""
        hold = await anyio.to_thread.run_sync(self._hold)
        return refused(
            outcome.said,
            [place.path for place in hold.hidden] if hold else (),
            str(await anyio.to_thread.run_sync(Path.home().resolve)),
            by_rights=self._holder is not None and self._holder.by_rights,
            network=hold is not None and hold.network,
            hosts=self.hosts.wanted(request.tool_call_id),
            ended=(str(request.args.get("command")), outcome.code),
        )

    async def _try(self) -> Holder | None:
        try:
            return await anyio.to_thread.run_sync(holders.working)
        except CannotHold as error:
            told = Notice("warning", _NOTHING_HOLDS.format(reason=error), "lsp-agent")
            self._session.emit(told, self._session.turn_id)
            return None

    def _hold(self, way: Way | None = None) -> Hold | None:
        session = self._session
        return hold_in(session.cwd, self._confinement(False), session.settings.permissions, way)


def hold_in(
    cwd: str, confinement: Confinement, permissions: PermissionSettings, way: Way | None = None
) -> Hold | None:
    """What a command in ``cwd`` may reach; None where the folders say nothing of that place."""
    read_only: list[str] = []
    hidden: list[str] = list(permissions.hidden)
    for each in confinement.reserved:
        found = _beginning(each.path) if each.prefix else [each.path]
        if not each.modules:
            (read_only if each.readable else hidden).extend(found)
    hold = places.find(
        confinement.roots,
        home=str(Path.home()),
        runtime=os.environ.get("XDG_RUNTIME_DIR", ""),
        read_only=read_only,
        hidden=hidden,
        network=permissions.network == "allow",
        way=way,
    )
    here = Path(os.path.realpath(cwd))
    inside = any(here.is_relative_to(folder) for folder in hold.folders)
    return hold if inside and os.sep not in hold.folders else None


def _beginning(path: str) -> list[str]:
    """What is there whose path begins so."""
    place = Path(path)
    if not place.parent.is_dir():
        return []
    return [str(each) for each in place.parent.iterdir() if each.name.startswith(place.name)]
