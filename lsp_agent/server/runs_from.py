"""Where the code lies that the server and its agents run: whoever writes there is rid of the
permissions, at the next start at the latest."""

import os
import shutil
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import lsp_agent
from lsp_agent.agents.process import absolute_entries
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.user_data.extension_folders import zot_folder
from lsp_agent.workspace.disk.paths import Reserved

_SERVER = (
    "is what lsp-agent itself runs from, which no agent changes; to work on it, install the server"
    " elsewhere, and have the editor start that one"
)
_AGENT = (
    "is what an agent runs from, which no agent changes; install that agent outside of the"
    " workspace folders"
)
_EXTENSIONS = (
    "is where extensions lie that agents run, which no agent changes; write them elsewhere and"
    " install them"
)
_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
_VENV = "pyvenv.cfg"
_NODE = "node_modules"


def server_code() -> list[Reserved]:
    """Of this process: our package, what it imports, and what starts it."""
    package = Path(lsp_agent.__file__).parent
    source = package.parent
    places = [str(package), sys.executable, sys.argv[0], os.path.join(sys.prefix, _VENV)]  # noqa: PTH118
    places += filter(None, map(sysconfig.get_path, _LIBRARIES))
    if site.ENABLE_USER_SITE:
        places.append(site.getusersitepackages())
    if (source / "pyproject.toml").is_file():
        # A checkout that is run as it lies: the editors' plugins may be, too.
        places.append(str(source / "editors"))
    return [
        *(Reserved(place, _SERVER, readable=True) for place in dict.fromkeys(places)),
        Reserved(str(source), _SERVER, readable=True, modules=True),
    ]


def agents_code(agents: Iterable[AgentSettings], folders: Sequence[str]) -> list[Reserved]:
    """Of each agent: its program, the scripts that its command names, and the packages that these
    belong to. A relative name is one in the ``folders``, as where the agent is started."""
    places: dict[str, None] = {}
    for agent in agents:
        for file in _files(agent, folders):
            places |= dict.fromkeys([file, *_package(file), *_package(os.path.realpath(file))])
    return [Reserved(place, _AGENT, readable=True) for place in places]


def agents_extensions(agents: Iterable[AgentSettings]) -> list[Reserved]:
    """Where the person's extensions lie that are not in our own data."""
    places = {str(zot_folder({**os.environ, **agent.env})): None for agent in agents}
    return [Reserved(place, _EXTENSIONS, readable=True) for place in places]


def _files(agent: AgentSettings, folders: Sequence[str]) -> Iterator[str]:
    """Also those that do not exist and would go before the program on PATH."""
    path = absolute_entries({**os.environ, **agent.env}.get("PATH", os.defpath))
    program, *words = agent.command
    if os.sep not in program:
        found = shutil.which(program, path=path)
        for entry in path.split(os.pathsep) if found else ():
            place = os.path.join(entry, program)  # noqa: PTH118
            yield place
            if place == found:
                break
    named = [program, *words] if os.sep in program else words
    for word in named:
        if word.startswith("-") or "\0" in word:
            continue
        for folder in folders or [os.sep]:
            file = os.path.join(folder, word)  # noqa: PTH118  an absolute one stays as it is
            if os.path.isfile(file):  # noqa: PTH113  never an error, as of a name too long
                yield file


def _package(file: str) -> Iterator[str]:
    """The outermost folder of packages that ``file`` lies in, since these run one another; of a
    virtual environment's program what that runs from."""
    parts = Path(file).parts
    if _NODE in parts:
        yield str(Path(*parts[: parts.index(_NODE) + 1]))
    environment = Path(file).parent.parent
    if (environment / _VENV).is_file():
        yield from (str(environment / name) for name in ("bin", "lib", "lib64", _VENV))
