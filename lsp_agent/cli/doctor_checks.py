"""What ``lsp-agent doctor`` looks at: each check is a few findings. No terminal, no JSON.

Nothing here shows a credential: of variables and of agents' environments only the names are told,
of commands only the program.
"""

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from lsp_agent import __version__
from lsp_agent.agents.private_folder import PrivateFolder
from lsp_agent.cli.doctor_agents import HOSTING_WORDS, AgentFound, how_to_choose
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.providers import KEY_VARIABLES, how_to_get_a_model, provider_of
from lsp_agent.protocol.settings.files import WORKSPACE_FILE, user_settings_path
from lsp_agent.protocol.settings.settings import BUILTIN_AGENT, AgentSettings
from lsp_agent.protocol.settings.sources import Loaded
from lsp_agent.sandbox import bubblewrap, holders
from lsp_agent.sandbox.hold import CannotHold, Holder
from lsp_agent.sandbox.landlock import Landlock
from lsp_agent.sessions.agent.launcher import choose_agent
from lsp_agent.user_data.data_folder import data_folder
from lsp_agent.user_data.system_keyring import system_keyring

Status = Literal["ok", "note", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Finding:
    """``check`` is a stable name; ``remedy`` is what a person can do, a command where there is
    one. Only a ``failure`` keeps the chosen agent from running."""

    check: str
    status: Status
    message: str
    remedy: str | None = None


def platform() -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    message = f"lsp-agent {__version__}, Python {python} ({sys.executable}), {sys.platform}"
    if sys.platform == "linux":
        yield Finding("platform", "ok", message)
    elif sys.platform == "win32":
        remedy = "use it in WSL, with the editor connected to that"
        yield Finding("platform", "failure", f"{message}: Windows is not supported yet", remedy)
    else:
        yield Finding("platform", "note", f"{message}: only Linux is tested")


def on_path() -> Iterator[Finding]:
    """Whether an editor that is told ``lsp-agent serve`` starts this installation."""
    beside = Path(sys.executable).parent / "lsp-agent"
    found = shutil.which("lsp-agent")
    if found is None:
        absolute = str(beside) if beside.exists() else f"{sys.executable} -m lsp_agent"
        yield Finding(
            "path",
            "warning",
            "lsp-agent is not on PATH, so an editor that starts `lsp-agent serve` finds nothing",
            f"add {beside.parent} to PATH, or let the editor start `{absolute} serve`",
        )
    elif beside.exists() and not os.path.samefile(found, beside):  # noqa: PTH121
        yield Finding(
            "path",
            "warning",
            f"editors start {found}, which is another installation than this one",
            f"remove one of the two, or let the editor start `{beside} serve`",
        )
    else:
        yield Finding("path", "ok", f"editors find {found}, if they have the PATH of this shell")


def settings(loaded: Loaded, folder: Path) -> Iterator[Finding]:
    files = (user_settings_path(), folder / WORKSPACE_FILE)
    faulty = {problem.source for problem in loaded.problems}
    for kind, path in zip(("your own", "this folder's"), files, strict=True):
        there = os.path.lexists(path)
        good = there and str(path) not in faulty
        yield Finding("settings", "ok" if good else "note", f"{kind}: {_there(path, there)}")
    for problem in loaded.problems:
        remedy = f"change or remove it in {problem.source}"
        yield Finding("settings", "warning", str(problem), remedy)


def _there(path: Path, there: bool) -> str:
    return str(path) if there else f"{path} (none, the defaults hold)"


def set_values(loaded: Loaded) -> list[tuple[str, object, str]]:
    """Every key with its value and where that came from; of secrets nothing."""
    tree = loaded.settings.model_dump()
    return [(key, _shown(key, _at(tree, key)), origin) for key, origin in loaded.origins.items()]


def _at(tree: Mapping[str, object], key: str) -> object:
    """The value of a dotted key; agents' names may have dots."""
    for name, value in tree.items():
        for written in (name, f'"{name}"'):
            if key == written:
                return value
            if key.startswith(f"{written}.") and isinstance(value, dict):
                return _at(cast(dict[str, object], value), key.removeprefix(f"{written}."))
    return None


def _shown(key: str, value: object) -> object:
    if key.startswith("agents.") and isinstance(value, list):
        words = cast(list[str], value)
        return [*words[:1], "…"] if len(words) > 1 else words
    if isinstance(value, dict):
        return dict.fromkeys(cast(dict[str, object], value), "(not shown)")
    return value


def chosen_agent(loaded: Loaded, found: list[AgentFound]) -> Iterator[Finding]:
    try:
        choice = choose_agent(loaded.settings, None, None)
    except RequestFailed as error:
        yield _no_agent(error, found)
        return
    chosen = next(agent for agent in found if agent.chosen)
    if chosen.path is None:
        yield Finding(
            "agent",
            "failure",
            f"{choice.name}: its program {chosen.program!r} is not found",
            chosen.remedy,
        )
        return
    version = f" ({chosen.version})" if chosen.version else ""
    yield Finding("agent", "ok", f"{choice.name}: {chosen.path}{version}")
    status = "ok" if chosen.hosting == "hosted" else "note"
    yield Finding("hosting", status, f"{choice.name} {HOSTING_WORDS[chosen.hosting]}")


def _no_agent(error: RequestFailed, found: list[AgentFound]) -> Finding:
    message = str(error)
    if error.kind == "notConfigured":
        message = f"The built-in agent has no model yet: {_how_to_get_a_model()}"
    return Finding("agent", "failure", message, _without_agent(found))


def _without_agent(found: list[AgentFound]) -> str:
    installed = [agent.name for agent in found if not agent.configured]
    if installed:
        return f"or use {installed[0]}, which is installed: {how_to_choose(installed[0])}"
    return f"or install another agent, such as zot, and {how_to_choose('zot')}"


def key_variables(loaded: Loaded) -> dict[str, bool]:
    """The variables that may hold a key of the chosen agent's, and whether each is set."""
    try:
        choice = choose_agent(loaded.settings, None, None)
    except RequestFailed:
        return {}
    names = choice.wire().launch(choice.agent, os.getcwd(), None).secrets  # noqa: PTH109
    set_ones = {name for name, value in {**os.environ, **choice.agent.env}.items() if value}
    return {name: name in set_ones for name in names}


def credentials(loaded: Loaded, variables: Mapping[str, bool]) -> Iterator[Finding]:
    """Whether there is a key; what login the agent has of its own only the agent knows."""
    agent = loaded.settings.agents.get(loaded.settings.agent)
    if agent is None or not variables:
        return
    there = [name for name, present in variables.items() if present]
    if agent.provider == "script":
        yield Finding("credentials", "ok", "none needed: the agent follows a script")
    elif there:
        yield Finding("credentials", "ok", f"present, not shown: {', '.join(there)}")
    else:
        yield Finding(
            "credentials",
            "note",
            "no provider's key in the environment, so the agent needs a login of its own",
            _without_key(loaded.settings.agent, agent, variables),
        )


def _without_key(name: str, agent: AgentSettings, variables: Mapping[str, bool]) -> str:
    if name == BUILTIN_AGENT:
        return _how_to_get_a_model()
    return f"sign in with {agent.command[0]} itself, or set a variable such as {min(variables)}"


def _how_to_get_a_model() -> str:
    return how_to_get_a_model(with_keyring=_has_keyring())


def _has_keyring() -> bool:
    """Whether the system has one that can be written; it is not opened."""
    keyring = system_keyring()
    try:
        return keyring.get_keyring().priority > 0
    except (keyring.errors.InitError, RuntimeError):
        return False


def package(loaded: Loaded) -> Iterator[Finding]:
    """Whether the embedded agent has what its provider needs; only where that is missing."""
    agent = loaded.settings.agents.get(BUILTIN_AGENT)
    if agent is None or loaded.settings.agent != BUILTIN_AGENT or "--provider" in agent.command:
        return
    name = agent.provider or provider_of({**os.environ, **agent.env}) or ""
    if name in KEY_VARIABLES and importlib.util.find_spec(name) is None:
        yield Finding(
            "package",
            "failure",
            f"the provider {name} needs the Python package {name}",
            f"{sys.executable} -m pip install {name}",
        )


def sandbox(loaded: Loaded) -> Iterator[Finding]:
    """What holds commands, and whole agents, where the settings want that."""
    settings = loaded.settings
    wanted = settings.permissions.command == "sandbox"
    whole = [name for name, agent in settings.agents.items() if agent.sandbox]
    try:
        holder = holders.working()
    except CannotHold as error:
        message = "nothing here can hold a command" + (
            ': permissions.command is "sandbox", and is taken as "ask"' if wanted else ""
        )
        yield Finding("sandbox", "warning" if wanted else "note", message, str(error))
        for name in whole:
            status = "failure" if name == settings.agent else "warning"
            yield Finding("sandbox", status, f"{name} is to be in a sandbox: it does not start")
    else:
        yield Finding("sandbox", "ok", f"{holder.name} can hold agents' commands")
        if wanted:
            yield _network(holder, settings.permissions.network)
        if whole:
            yield from _whole(holder, {name: settings.agents[name].network for name in whole})
        if isinstance(holder, Landlock) and (wanted or whole):
            message = "what it holds makes no new file at the top of the workspace"
            yield Finding("sandbox", "note", message, bubblewrap.NEEDED)


def _whole(holder: Holder, agents: Mapping[str, Literal["allow"] | list[str]]) -> Iterator[Finding]:
    """By their names, what agents in a sandbox of their own reach."""
    led = {name: hosts for name, hosts in agents.items() if hosts != "allow"}
    if free := ", ".join(sorted(agents.keys() - led.keys())):
        message = f"{holder.name} holds these as a whole, with the network open: {free}"
        yield Finding("sandbox", "ok", message)
    for name, hosts in sorted(led.items()):
        if holder.leads_agents:
            reached = ", ".join(hosts) or "no host"
            message = f"{holder.name} holds {name} as a whole, and to these hosts: {reached}"
            yield Finding("sandbox", "ok", message)
        else:
            message = f"{holder.name} cannot hold {name} to the hosts named: it does not start"
            yield Finding("sandbox", "warning", message, bubblewrap.NEEDED)


def _network(holder: Holder, network: Literal["allow", "deny"] | list[str]) -> Finding:
    if not isinstance(network, list):
        reached = "the whole network" if network == "allow" else "no network"
        return Finding("sandbox", "ok", f"agents' commands reach {reached}")
    if not holder.has_way:
        message = f"{holder.name} cannot hold commands to some hosts: they have no network"
        return Finding("sandbox", "warning", message)
    hosts = ", ".join(network) or "no host"
    return Finding("sandbox", "ok", f"agents' commands reach these hosts alone: {hosts}")


def folders() -> Iterator[Finding]:
    """Whether we can keep what must outlive a crash, and have sockets."""
    data = data_folder()
    there = next(folder for folder in (data, *data.parents) if folder.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        yield Finding("data", "ok", f"{data} can be written")
    else:
        yield Finding(
            "data",
            "warning",
            f"{data} cannot be written: the review of edits is forgotten when the server ends",
            f"chmod u+rwx {there}, or set XDG_DATA_HOME to a folder of yours",
        )
    try:
        PrivateFolder(1.0).remove()
    except (RequestFailed, OSError) as error:
        remedy = "set XDG_RUNTIME_DIR or TMPDIR to a folder of yours with a short path"
        yield Finding("sockets", "failure", str(error), remedy)
    else:
        yield Finding("sockets", "ok", "the sockets between server and agent have a folder")
