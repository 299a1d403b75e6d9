"""An agent that the settings want in a sandbox of its own, with all that it starts."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import anyio.to_thread
from anyio.abc import TaskGroup

from lsp_agent.protocol.catalogue import known, of_program
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.sandbox import holders
from lsp_agent.sandbox.hold import CannotHold, Holder, Way
from lsp_agent.sandbox.places import for_agent
from lsp_agent.sandbox.starting import unset, without
from lsp_agent.sessions.permissions.agent_hosts import AgentHosts
from lsp_agent.sessions.permissions.holding import hold_in
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.wires import new_wire
from lsp_agent.wires.wire import Launch
from lsp_agent.workspace.disk.paths import Confinement

#: The XDG base directory specification.
_XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}


class AgentSandbox:
    """Of one session."""

    def __init__(self, session: SessionView, confinement: Callable[[bool], Confinement]) -> None:
        self._session = session
        self._confinement = confinement
        self._hosts = AgentHosts(session)

    async def around(
        self, launch: Launch, name: str, agent: AgentSettings, tasks: TaskGroup
    ) -> Launch:
        """``launch`` in a sandbox. What leads it to its hosts lives in ``tasks`` until the next one
        is started.

        :raises RequestFailed: "notConfigured" where nothing can hold it
        """
        if not agent.sandbox:
            raise RequestFailed(
                "notConfigured",
                f"agents.{name}.network names hosts, and nothing holds {name} to them: set"
                f" agents.{name}.sandbox to true.",
                {"agent": name},
            )
        if new_wire(agent.wire).bridged:
            raise _not_held(
                name,
                "each of its commands has one of its own. Remove that setting, and set"
                ' permissions.command to "sandbox"',
            )
        try:
            holder = await anyio.to_thread.run_sync(holders.working)
            way = await self._hosts.way(holder, name, agent, tasks)
            held = await anyio.to_thread.run_sync(self._words, holder, launch, name, way)
        except (CannotHold, OSError) as error:
            raise _not_held(name, f"nothing here can hold it: {error}") from error
        return replace(launch, held=tuple(held))

    def _words(self, holder: Holder, launch: Launch, name: str, way: Way | None) -> Sequence[str]:
        session = self._session
        hold = hold_in(session.cwd, self._confinement(False), session.settings.permissions)
        if hold is None:
            raise CannotHold(
                "it starts in no workspace folder, or in one that is the whole system or that"
                " lsp-agent runs from"
            )
        own = list(own_places(name, launch.argv[0], {**os.environ, **launch.env}))
        hold = for_agent(hold, own, way)
        return [*without(unset(hold)), *holder.words(hold, session.cwd)]


def own_places(name: str, program: str, environment: Mapping[str, str]) -> Iterator[str]:
    """Where a known agent keeps its own. Its folders are made, as it would do that itself."""
    found = of_program(Path(program).name) or known(name)
    if found is None:
        return
    home = Path(environment.get("HOME") or Path.home())
    variable, below_home = found.home
    settings = [environment.get(variable) or f"{home / below_home}/"] if below_home else []
    for place in (*settings, *(_placed(each, home, environment) for each in found.writes)):
        if place.endswith("/") or place in settings:
            with suppress(OSError):  # it says so itself
                Path(place).mkdir(mode=0o700, parents=True, exist_ok=True)
        yield place


def _placed(name: str, home: Path, environment: Mapping[str, str]) -> str:
    for variable, folder in _XDG.items():
        below = name.removeprefix(f"{folder}/")
        if below != name and (base := environment.get(variable)):
            return f"{base}/{below}"
    return f"{home}/{name}"


def _not_held(name: str, why: str) -> RequestFailed:
    return RequestFailed(
        "notConfigured",
        f"agents.{name}.sandbox is true, so {name} is not started: {why}.",
        {"agent": name},
    )
