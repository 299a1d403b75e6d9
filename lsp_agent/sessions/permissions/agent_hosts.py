"""The hosts that the person named for an agent that runs in a sandbox as a whole."""

import os
import tempfile
from pathlib import Path

import anyio
from anyio.abc import TaskGroup, TaskStatus

from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.sandbox.hold import CannotHold, Holder, Way
from lsp_agent.sandbox.network.door import Door
from lsp_agent.sandbox.network.proxy import Proxy
from lsp_agent.sandbox.network.upstream import of
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.text.plain import escaped_line

_SOCKET = "hosts.sock"
#: It may want as many as it likes.
_MOST_TOLD = 20


class AgentHosts:
    """Of one session."""

    def __init__(self, session: SessionView) -> None:
        self._session = session
        self._scope: anyio.CancelScope | None = None

    async def way(
        self, holder: Holder, name: str, agent: AgentSettings, tasks: TaskGroup
    ) -> Way | None:
        """None where it reaches the whole network. The one before is closed.

        :raises CannotHold: where ``holder`` cannot hold an agent to hosts
        :raises OSError: where nothing can be listened on
        """
        if self._scope is not None:
            self._scope.cancel()
        if agent.network == "allow":
            return None
        setting = f"agents.{name}.network"
        if not holder.leads_agents:
            raise CannotHold(
                f"{setting} names hosts, and {holder.name} cannot hold an agent to them; bubblewrap"
                ' (the program bwrap) can. With "allow" it is held without that'
            )
        hosts = tuple(agent.network)
        proxy = Proxy(lambda: hosts, setting=setting, upstreams=of(os.environ))
        door: Door = await tasks.start(self._serve, proxy)
        told: set[str] = set()

        def refused(host: str) -> None:
            if host not in told and len(told) < _MOST_TOLD:
                told.add(host)
                words = (
                    f"{name} wanted to reach {escaped_line(host)}, which {setting} does not name."
                )
                self._session.emit(Notice("warning", words, "lsp-agent"), self._session.turn_id)

        return Way(door.path, door.ticket(refused))

    async def _serve(self, proxy: Proxy, *, task_status: TaskStatus[Door]) -> None:
        with (
            anyio.CancelScope() as self._scope,
            tempfile.TemporaryDirectory(prefix="lsp-agent-hosts-") as folder,
        ):
            door = Door(str(Path(folder, _SOCKET)), proxy)
            async with anyio.create_task_group() as tasks:
                await tasks.start(door.serve)
                task_status.started(door)
