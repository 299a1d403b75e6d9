"""What ``lsp-agent doctor`` looks at: each check is a few findings. No terminal, no JSON.

Nothing here shows a credential: of variables and of agents' environments only the names are told,
of commands only the program.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from platformdirs import user_data_path

from lsp_agent import __version__
from lsp_agent.agents.private_folder import PrivateFolder
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.providers import HOW_TO_GET_A_MODEL
from lsp_agent.protocol.settings import BUILTIN_AGENT, AgentSettings
from lsp_agent.protocol.settings_files import WORKSPACE_FILE, user_settings_path
from lsp_agent.protocol.settings_sources import Loaded
from lsp_agent.sessions.launcher import choose_agent

Status = Literal["ok", "note", "warning", "failure"]

_VERSION_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """``check`` is a stable name; ``remedy`` is what a person can do, a command where there is
    one. Only a ``failure`` keeps the chosen agent from running."""

    check: str
    status: Status
    message: str
    remedy: str | None = None


@dataclass(frozen=True, slots=True)
class AgentFound:
    """``path`` is where its program lies, None where there is none; ``version`` as it says."""

    name: str
    chosen: bool
    wire: str
    hosting: str
    program: str
    path: str | None
    version: str | None


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
    for kind, path in zip(("your own", "this folder's"), files, strict=True):
        there = os.path.lexists(path)
        yield Finding("settings", "ok" if there else "note", f"{kind}: {_there(path, there)}")
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


def agents(loaded: Loaded) -> Iterator[AgentFound]:
    for name, agent in loaded.settings.agents.items():
        path = shutil.which(agent.command[0], path=_path_of(agent))
        yield AgentFound(
            name,
            name == loaded.settings.agent,
            agent.wire,
            agent.hosting,
            agent.command[0],
            path,
            __version__ if name == BUILTIN_AGENT else path and _version(path),
        )


def _path_of(agent: AgentSettings) -> str:
    return agent.env.get("PATH", os.environ.get("PATH", os.defpath))


def _version(program: str) -> str | None:
    """The first line of what ``--version`` prints; None where it prints none in time."""
    try:
        done = subprocess.run(  # noqa: S603 - the person's own agent
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (done.stdout or done.stderr).decode(errors="replace").strip().splitlines()
    return lines[0][:100] if lines and done.returncode == 0 else None


def chosen_agent(loaded: Loaded, found: list[AgentFound]) -> Iterator[Finding]:
    try:
        choice = choose_agent(loaded.settings, None, None)
    except RequestFailed as error:
        yield Finding("agent", "failure", str(error), _without_agent())
        return
    chosen = next(agent for agent in found if agent.chosen)
    if chosen.path is None:
        yield Finding(
            "agent",
            "failure",
            f"{choice.name}: its program {chosen.program!r} is not found",
            f"install it, or correct agents.{choice.name}.command in {user_settings_path()}",
        )
        return
    version = f" ({chosen.version})" if chosen.version else ""
    yield Finding("agent", "ok", f"{choice.name}: {chosen.path}{version}")
    if choice.agent.hosting == "mirror":
        yield Finding(
            "hosting",
            "note",
            f"agents.{choice.name}.hosting is mirror: it writes files itself, and they are merged"
            " into the editor afterwards",
        )
    elif not choice.wire().capabilities.get("hostedFiles", False):
        yield Finding("hosting", "note", f"{choice.name} cannot be hosted: it writes files itself")
    else:
        yield Finding("hosting", "ok", f"{choice.name} reads and writes files through the editor")


def _without_agent() -> str:
    path = user_settings_path()
    zot = 'agent = "zot" and, under [agents.zot], wire = "zot" and command = ["zot", "rpc"]'
    if shutil.which("zot"):
        return f"or use zot, which is installed: write into {path}: {zot}"
    return f"or install another agent, such as zot, and write into {path}: {zot}"


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
        return HOW_TO_GET_A_MODEL
    return f"sign in with {agent.command[0]} itself, or set a variable such as {min(variables)}"


def folders() -> Iterator[Finding]:
    """Whether we can keep what must outlive a crash, and have sockets."""
    data = user_data_path("lsp-agent", appauthor=False)
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
