"""Starts a session's agent: its wire, its bridge, its process."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import anyio.to_thread
from anyio.abc import TaskGroup

from lsp_agent.agents.private_folder import BRIDGE_NAME
from lsp_agent.protocol.catalogue import CATALOGUE, known, settings_of
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.git_environment import git_environment
from lsp_agent.protocol.providers import how_to_get_a_model, provider_of
from lsp_agent.protocol.settings.settings import BUILTIN_AGENT, AgentSettings, Settings
from lsp_agent.sessions.agent.link import AgentLink, Callbacks
from lsp_agent.sessions.files.hosting import Hosting
from lsp_agent.sessions.permissions.repository_code import require_none
from lsp_agent.user_data.extension_folders import find, zot_folder
from lsp_agent.wires import new_wire
from lsp_agent.wires.wire import Launch, Reply, Wire


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """The agent of one session, as the settings had it when the session was opened."""

    name: str
    agent: AgentSettings

    def wire(self) -> Wire:
        """A new wire, for one process."""
        return new_wire(self.agent.wire)


def choose_agent(settings: Settings, name: str | None, model: str | None) -> AgentChoice:
    """The agent called ``name``, or the settings' own choice.

    :raises RequestFailed: "agentNotFound", "notConfigured"
    """
    name = name or settings.agent
    agent = settings.agents.get(name)
    if agent is None and (entry := known(name)) is not None:
        agent = settings_of(entry)
    if agent is None:
        names = ", ".join(sorted({*settings.agents, *(each.name for each in CATALOGUE)}))
        raise RequestFailed(
            "agentNotFound",
            f"No agent {name!r} is configured or known; there is: {names}. `lsp-agent agents` lists"
            " those that are here, and what brings the others.",
            {"agent": name},
        )
    if name == BUILTIN_AGENT and not has_provider(agent):
        raise RequestFailed(
            "notConfigured",
            f"The built-in agent has no model yet: {how_to_get_a_model()}. Or name another agent in"
            " the settings.",
            {"agent": name},
        )
    if model:
        agent = agent.model_copy(update={"model": model})
    return AgentChoice(name, agent)


def _is_embedded(command: Sequence[str]) -> bool:
    return "lsp_agent" in command or Path(command[0]).name == "lsp-agent"


async def _with_extensions(
    launch: Launch, choice: AgentChoice, cwd: str, callbacks: Callbacks
) -> Launch:
    """With the person's extensions, and the repository's if they are trusted. The embedded agent
    looks for them itself; zot, which asks nobody about a repository's, is told to look for none.
    ``--no-ext`` in its command leaves them out here as well."""
    from lsp_agent.wires.zot.wire import looking_for_extensions, with_extensions  # noqa: PLC0415  not for other wires

    if "--no-ext" in choice.agent.command:
        return launch
    if _is_embedded(choice.agent.command):
        return looking_for_extensions(launch)
    persons = [zot_folder({**os.environ, **choice.agent.env})]
    found = await anyio.to_thread.run_sync(find, cwd, persons, frozenset({BRIDGE_NAME}))
    for problem in found.problems:
        callbacks.on_event(Notice("warning", problem, "lsp-agent"))
    return with_extensions(launch, found.folders)


def _guarded(launch: Launch) -> Launch:
    """With what keeps the git of its commands from running what a repository names."""
    environment = {**os.environ, **launch.env}
    return replace(launch, env={**launch.env, **git_environment(environment)})


def has_provider(agent: AgentSettings) -> bool:
    """Whether the embedded agent will find one; a key that only the system's keyring has is not
    looked for here, it may have to be unlocked first."""
    if agent.provider or {"--provider", "--script"} & set(agent.command):
        return True
    return provider_of({**os.environ, **agent.env}) is not None


async def start_agent(
    choice: AgentChoice,
    cwd: str,
    hosting: Hosting,
    tasks: TaskGroup,
    callbacks: Callbacks,
    *,
    line_bytes: int,
    resume: str | None,
) -> tuple[AgentLink, Reply]:
    """The running agent and its handshake.

    :raises RequestFailed: "agentNotFound", "agentExited", "agentTimeout", "notConfigured"
    """
    await anyio.to_thread.run_sync(require_none, choice.name, choice.agent, cwd)
    wire = choice.wire()
    bridge = None
    if wire.bridged:
        # It must know the secrets before its folder is known; a wire remembers its launch.
        planned = _guarded(choice.wire().launch(choice.agent, cwd, None))
        bridge = await hosting.open_bridge(planned, tasks)
    launch = _guarded(wire.launch(choice.agent, cwd, bridge.folder if bridge else None))
    if choice.agent.sandbox or choice.agent.network != "allow":
        launch = await hosting.sandboxed(launch, choice.name, choice.agent, tasks)
    hosting.agent_starts(launch, tasks)
    if _is_embedded(choice.agent.command):
        launch = replace(launch, env={**launch.env, **hosting.covering.told_by_environment()})
    if wire.bridged:
        launch = await _with_extensions(launch, choice, cwd, callbacks)
    try:
        return await AgentLink.start(
            launch,
            wire,
            bridge,
            tasks,
            callbacks,
            cwd=cwd,
            line_bytes=line_bytes,
            resume=resume,
        )
    except BaseException:
        hosting.bridged.close()
        raise
