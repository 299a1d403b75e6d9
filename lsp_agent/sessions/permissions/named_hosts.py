"""The hosts that the person named, for a session's commands in a sandbox."""

import os
from collections.abc import Sequence
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from lsp_agent.protocol.events import Notice
from lsp_agent.sandbox import trial
from lsp_agent.sandbox.hold import Hold, Holder, Way
from lsp_agent.sandbox.network.door import Door
from lsp_agent.sandbox.network.proxy import Proxy
from lsp_agent.sandbox.network.upstream import of
from lsp_agent.sessions.shared.session_view import SessionView

_SOCKET = "hosts.sock"
_NO_WAY = (
    "permissions.network names hosts, but nothing here can hold a command to them ({reason}), so"
    " commands in the sandbox have no network"
)
#: A command may want as many as it likes.
_MOST_HOSTS = 5
_MOST_CALLS = 100
_TRIAL_SECONDS = 5.0


class NamedHosts:
    """Of one session. The door is opened, and the way tried, with the first such command."""

    def __init__(self, session: SessionView) -> None:
        self._session = session
        self._place: tuple[str, TaskGroup] | None = None
        self._door: Door | None = None
        self._opening = anyio.Lock()
        self._told = False
        #: By the call, None where it is not known: the hosts that it did not reach.
        self._wanted: dict[str | None, list[str]] = {}

    def live_in(self, folder: str, tasks: TaskGroup) -> None:
        """From now on; what was before is at its end."""
        self._place, self._door = (folder, tasks), None

    async def way(self, holder: Holder, call: str | None) -> Way | None:
        """For the command of that call; None where it has none, which is said once."""
        if not self._named():
            return None
        async with self._opening:
            door = self._door = self._door or await self._open(holder)
        if door is None:
            return None
        wanted: list[str] = []
        self._wanted.pop(call, None)
        self._wanted[call] = wanted
        while len(self._wanted) > _MOST_CALLS:
            del self._wanted[next(iter(self._wanted))]

        def refused(host: str) -> None:
            if host not in wanted and len(wanted) < _MOST_HOSTS:
                wanted.append(host)

        return Way(door.path, door.ticket(refused))

    def wanted(self, call: str | None) -> Sequence[str]:
        """The hosts that its command wanted to reach, and did not."""
        return self._wanted.get(call, ())

    def _named(self) -> Sequence[str]:
        network = self._session.settings.permissions.network
        return network if isinstance(network, list) else ()

    async def _open(self, holder: Holder) -> Door | None:
        fault = f"{holder.name} cannot"
        if holder.has_way and self._place is not None:
            folder, tasks = self._place
            door = Door(str(Path(folder, _SOCKET)), Proxy(self._named, upstreams=of(os.environ)))
            try:
                await tasks.start(door.serve)
            except OSError as error:
                fault = str(error)
            else:
                found = await anyio.to_thread.run_sync(_fault, holder, door)
                if found is None:
                    return door
                fault = found
        if not self._told:
            self._told = True
            told = Notice("warning", _NO_WAY.format(reason=fault), "lsp-agent")
            self._session.emit(told, self._session.turn_id)
        return None


def _fault(holder: Holder, door: Door) -> str | None:
    """Why no command can be led there; tried on nothing of the person's."""
    way = Way(door.path, door.ticket(lambda _host: None))
    hold = Hold(folders=(), read_only=(), hidden=(), network=False, way=way)
    return trial.fault(
        [*holder.words(hold, "/"), "sh", "-c", 'test "$https_proxy"'], _TRIAL_SECONDS
    )
