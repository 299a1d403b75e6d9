"""A command that the settings want in a sandbox: what holds it, as it is now."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import anyio

from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.settings.settings import PermissionSettings
from lsp_agent.sandbox import holders, places
from lsp_agent.sandbox.hold import CannotHold, Hold, Holder, Way, lies_in
from lsp_agent.sandbox.starting import unset
from lsp_agent.sandbox.wanted import refused
from lsp_agent.sessions.permissions import repositories
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
        where nothing holds, which is said once, and where ``hold_in`` finds none."""
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
    """What a command in ``cwd`` may reach; None where the folders say nothing of that place, and
    where it could put in what the server will import, which no way of holding can keep out of a
    folder that is to be written otherwise."""
    read_only: list[str] = []
    hidden: list[str] = list(permissions.hidden)
    imported: list[str] = []
    for each in confinement.reserved:
        found = _beginning(each.path) if each.prefix else [each.path]
        (imported if each.modules else read_only if each.readable else hidden).extend(found)
    for root in confinement.roots:
        # Of a file that says nothing git makes nothing either.
        with contextlib.suppress(repositories.UnclearRepositoryError, OSError, ValueError):
            read_only += repositories.named_by_file(Path(root))
    hold = places.find(
        confinement.roots,
        home=str(Path.home()),
        runtime=os.environ.get("XDG_RUNTIME_DIR", ""),
        read_only=read_only,
        hidden=hidden,
        network=permissions.network == "allow",
        way=way,
    )
    inside = lies_in(os.path.realpath(cwd), hold.folders) and os.sep not in hold.folders
    kept = [place.path for place in hold.read_only]
    is_open = any(lies_in(each, hold.folders) and not lies_in(each, kept) for each in imported)
    return hold if inside and not is_open else None


def _beginning(path: str) -> list[str]:
    """What is there whose path begins so."""
    place = Path(path)
    if not place.parent.is_dir():
        return []
    return [str(each) for each in place.parent.iterdir() if each.name.startswith(place.name)]
