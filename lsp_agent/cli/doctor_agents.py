"""Which agents there are for ``lsp-agent doctor``: those of the settings, and those on PATH that
the settings do not name. Their versions are asked all at once, as some take seconds to start."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from lsp_agent import __version__
from lsp_agent.agents.process import absolute_entries
from lsp_agent.protocol.settings import AgentSettings, WireName
from lsp_agent.protocol.settings_files import user_settings_path
from lsp_agent.protocol.settings_sources import Loaded, builtin_command
from lsp_agent.text.plain import printable_line
from lsp_agent.wires import new_wire

#: How the agent's file tools come to be the editor's; ``atStart``: it says at its start whether
#: it reads and writes files through the editor.
Hosting = Literal["hosted", "mirror", "atStart"]

HOSTING_WORDS: Mapping[Hosting, str] = {
    "hosted": "reads and writes files through the editor",
    "mirror": "writes files itself, and they are merged into the editor afterwards",
    "atStart": "says at its start whether it reads and writes files through the editor",
}

_VERSION_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent that was tried with us, or speaks a standard that was. ``hosting`` where its wire
    alone does not say."""

    wire: WireName
    arguments: tuple[str, ...]
    install: str
    hosting: Hosting | None = None


#: By their program.
KNOWN: Mapping[str, KnownAgent] = {
    "zot": KnownAgent("zot", ("rpc",), "go install github.com/patriceckhart/zot/cmd/zot@latest"),
    "pi": KnownAgent("pi", (), "npm install -g @earendil-works/pi-coding-agent"),
    "opencode": KnownAgent("acp", ("acp",), "npm install -g opencode-ai", "mirror"),
    "qwen": KnownAgent("acp", ("--acp",), "npm install -g @qwen-code/qwen-code", "hosted"),
    "gemini": KnownAgent("acp", ("--experimental-acp",), "npm install -g @google/gemini-cli"),
    "rkat-rpc": KnownAgent("meerkat", (), "put rkat-rpc from Meerkat's releases on PATH"),
    "claude-code-acp": KnownAgent("acp", (), "npm install -g @zed-industries/claude-code-acp"),
}


@dataclass(frozen=True, slots=True)
class AgentFound:
    """``path`` is where its program lies, None where there is none; ``version`` as it says;
    ``remedy`` what makes it usable, None where it is."""

    name: str
    configured: bool
    chosen: bool
    wire: WireName
    hosting: Hosting
    program: str
    path: str | None
    version: str | None
    remedy: str | None


def agents(loaded: Loaded) -> list[AgentFound]:
    """Those of the settings first."""
    settings = loaded.settings
    programs = {Path(agent.command[0]).name for agent in settings.agents.values()}
    path = _search_path({})
    others = [name for name in KNOWN if name not in programs and shutil.which(name, path=path)]
    ask = partial(_configured, settings.agent)
    with ThreadPoolExecutor() as threads:
        configured = threads.map(ask, settings.agents.keys(), settings.agents.values())
        return [*configured, *threads.map(_unconfigured, others)]


def _configured(chosen: str, name: str, agent: AgentSettings) -> AgentFound:
    program = agent.command[0]
    search_path = _search_path(agent.env)
    path = shutil.which(program, path=search_path)
    known = KNOWN.get(Path(program).name)
    remedy = f"correct agents.{name}.command in {user_settings_path()}"
    if known is not None:
        remedy = f"{known.install}, or {remedy}"
    hosting = "mirror" if agent.hosting == "mirror" else _hosting(agent.wire, known)
    ours = builtin_command()
    own = agent.command[: len(ours)] == ours
    return AgentFound(
        name,
        configured=True,
        chosen=name == chosen,
        wire=agent.wire,
        hosting=hosting,
        program=program,
        path=path,
        version=__version__ if own else path and _version(path, search_path),
        remedy=None if path else remedy,
    )


def _unconfigured(program: str) -> AgentFound:
    known, search_path = KNOWN[program], _search_path({})
    path = shutil.which(program, path=search_path)
    return AgentFound(
        program,
        configured=False,
        chosen=False,
        wire=known.wire,
        hosting=_hosting(known.wire, known),
        program=program,
        path=path,
        version=path and _version(path, search_path),
        remedy=f"to use it, {how_to_choose(program)}",
    )


def how_to_choose(program: str) -> str:
    """What to write into which file, for one of ``KNOWN``; of several lines."""
    known = KNOWN[program]
    command = ", ".join(f'"{word}"' for word in (program, *known.arguments))
    return (
        f"write into {user_settings_path()}:"
        f'\n  agent = "{program}"'
        f"\n  [agents.{program}]"
        f'\n  wire = "{known.wire}"'
        f"\n  command = [{command}]"
    )


def _hosting(wire: WireName, known: KnownAgent | None) -> Hosting:
    if known is not None and known.hosting is not None:
        return known.hosting
    if wire == "acp":
        return "atStart"
    return "hosted" if new_wire(wire).capabilities.get("hostedFiles", False) else "mirror"


def _search_path(env: Mapping[str, str]) -> str:
    """The PATH that an agent with ``env`` is started with: it leads into no repository."""
    return absolute_entries(env.get("PATH", os.environ.get("PATH", os.defpath)))


def _version(program: str, search_path: str) -> str | None:
    """The first line of what ``--version`` prints; None where it prints none in time. It runs
    away from the repository, whose files (``bunfig.toml``, ``.env``) some runtimes obey."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the person's own agent
            [Path(program).absolute(), "--version"],
            cwd=Path(program).absolute().anchor,
            env={**os.environ, "PATH": search_path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # what hangs may be a program that it started
        )
    except OSError:
        return None
    with process:
        try:
            out, err = process.communicate(timeout=_VERSION_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    lines = (out or err).decode(errors="replace").strip().splitlines()
    return printable_line(lines[0])[:100] if lines and process.returncode == 0 else None
