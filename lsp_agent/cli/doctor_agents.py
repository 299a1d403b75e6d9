"""Which agents there are for ``lsp-agent doctor``: those of the settings, and those on PATH that
the settings do not name. Their versions are asked all at once, as some take seconds to start."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lsp_agent import __version__
from lsp_agent.protocol.catalogue import Hosting
from lsp_agent.protocol.settings.files import user_settings_path
from lsp_agent.protocol.settings.settings import WireName
from lsp_agent.protocol.settings.sources import Loaded, builtin_command
from lsp_agent.sessions.agents_here import AgentHere, agents_here, search_path
from lsp_agent.text.plain import printable_line

HOSTING_WORDS: Mapping[Hosting, str] = {
    "hosted": "reads and writes files through the editor",
    "mirror": "writes files itself, and they are merged into the editor afterwards",
    "atStart": "says at its start whether it reads and writes files through the editor",
}

_VERSION_SECONDS = 5.0


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
    """Those of the settings first, then the known ones that are installed."""
    here = [each for each in agents_here(loaded.settings) if each.configured or each.path]
    with ThreadPoolExecutor() as threads:
        return list(threads.map(with_version, here))


def with_version(here: AgentHere) -> AgentFound:
    agent = here.agent
    ours = builtin_command()
    own = agent.command[: len(ours)] == ours
    version = here.path and said_version(here.path, search_path(agent.env))
    return AgentFound(
        here.name,
        configured=here.configured,
        chosen=here.chosen,
        wire=agent.wire,
        hosting=here.hosting,
        program=agent.command[0],
        path=here.path,
        version=__version__ if own else version,
        remedy=_remedy(here),
    )


def _remedy(here: AgentHere) -> str | None:
    if not here.configured:
        return f"to use it, {how_to_choose(here.name)}"
    if here.path:
        return None
    correct = f"correct agents.{here.name}.command in {user_settings_path()}"
    return f"{here.install}, or {correct}" if here.install else correct


def how_to_choose(name: str) -> str:
    """What to write into which file, for a known agent; of several lines."""
    return f"write into {user_settings_path()}:\n  agent = {json.dumps(name)}"


def said_version(program: str, search_path: str) -> str | None:
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
