"""Starts a session's agent: its wire, its bridge, its process."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from anyio.abc import TaskGroup

from lsp_agent.agents.process import Exit
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.settings import BUILTIN_AGENT, AgentSettings, Settings
from lsp_agent.sessions.agent_link import AgentLink, Received
from lsp_agent.sessions.hosting import Hosting
from lsp_agent.wires.wire import Reply, Wire
from lsp_agent.wires.zot import ZotWire


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """The agent of one session, as the settings had it when the session was opened."""

    name: str
    agent: AgentSettings

    def wire(self) -> Wire:
        """A new wire, for one process."""
        return ZotWire()


def choose_agent(settings: Settings, name: str | None, model: str | None) -> AgentChoice:
    """The agent called ``name``, or the settings' own choice.

    :raises RequestFailed: "agentNotFound", "notConfigured", "unsupported" (a wire to come)
    """
    name = name or settings.agent
    agent = settings.agents.get(name)
    if agent is None:
        known = ", ".join(sorted(settings.agents))
        raise RequestFailed(
            "agentNotFound", f"No agent {name!r} is configured; there is: {known}.", {"agent": name}
        )
    if name == BUILTIN_AGENT and not agent.provider and "--provider" not in agent.command:
        raise RequestFailed(
            "notConfigured",
            "The built-in agent has no model yet. Name another agent in the settings, or set "
            'agents.builtin.provider = "script" with a --script in agents.builtin.command.',
            {"agent": name},
        )
    if agent.wire != "zot":
        raise RequestFailed(
            "unsupported", f"The wire {agent.wire!r} of agent {name!r} is not there yet."
        )
    if model:
        agent = agent.model_copy(update={"model": model})
    return AgentChoice(name, agent)


async def start_agent(
    choice: AgentChoice,
    cwd: str,
    hosting: Hosting,
    tasks: TaskGroup,
    *,
    drain: Callable[[], Awaitable[None]],
    line_bytes: int,
    on_event: Callable[[Received], None],
    on_gone: Callable[[AgentLink, Exit], None],
) -> tuple[AgentLink, Reply]:
    """The running agent and its handshake.

    :raises RequestFailed: "agentNotFound", "agentExited", "agentTimeout"
    """
    # The bridge must know the secrets before its folder is known; a wire remembers its launch.
    secrets = choice.wire().launch(choice.agent, cwd, None).secrets
    wire = choice.wire()
    bridge = await hosting.open_bridge(secrets, tasks)
    launch = wire.launch(choice.agent, cwd, bridge.folder)
    try:
        return await AgentLink.start(
            launch,
            wire,
            bridge,
            tasks,
            cwd=cwd,
            line_bytes=line_bytes,
            on_event=on_event,
            on_gone=on_gone,
            drain=drain,
        )
    except BaseException:
        hosting.close_bridge()
        raise
