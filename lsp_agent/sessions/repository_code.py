"""What a repository brings that an agent would obey or tell its model of by itself, and that no
switch of its own stops.

opencode loads what lies in ``.opencode/plugin`` and ``.opencode/tool`` (both also in the plural) of
the folder it starts in and of those above, up to the repository's root (tried with 1.18.33, with
``OPENCODE_DISABLE_PROJECT_CONFIG`` and ``OPENCODE_PURE`` set), and the plugins that a configuration
names there, beside or in ``.opencode``. Of its other keys it obeys none then.

pi keeps its transcripts where ``sessionDir`` of ``.pi/settings.json`` says, before it asks whether
the folder is trusted (tried with 1.5.2, with ``--no-approve``), also from within a ``__proto__``
and where Python would take the file for no JSON. It tells its model what the
instructions in its folder and those above lead to, and opencode, once it reads a file, what those
beside it do: a link may lead to any file of the person's, and what is above a workspace may be
another user's.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.owners import Owners
from lsp_agent.protocol.settings import AgentSettings

#: In an agent's ``env``, which only the person's own settings can set: it may run such code.
CONSENT = "LSP_AGENT_REPOSITORY_CODE"
#: Either stands above what a repository's settings say.
_PI_SESSIONS = ("--session-dir", "PI_CODING_AGENT_SESSION_DIR")
_NO_INSTRUCTIONS = ("-nc", "--no-context-files")
#: In the order of any agent's, which takes one or more of them from each folder.
_INSTRUCTIONS = (
    "AGENTS.override.md",
    "AGENTS.md",
    "AGENTS.MD",
    "CLAUDE.md",
    "CLAUDE.MD",
    "CONTEXT.md",
)
_FOLDERS = ("plugin", "plugins", "tool", "tools")
_CONFIGURATIONS = (
    "opencode.json",
    "opencode.jsonc",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
)
#: With what can stand for it: an escaped letter, and what opencode puts in before it parses.
_NAMES_PLUGINS = (b"plugin", b"\\u", b"{file:", b"{env:")
_NAMES_SESSIONS = (b"sessionDir", b"\\u")
#: Longer ones are not looked through, in bytes.
_LONGEST_CONFIGURATION = 1 << 20


def require_none(name: str, agent: AgentSettings, cwd: str) -> None:
    """Blocking. :raises RequestFailed: "notConfigured" where there is such a thing, or where that
    cannot be told"""
    if agent.env.get(CONSENT) == "1":
        return
    try:
        _require_none(name, agent, cwd)
    except (OSError, ValueError) as error:  # a failing disk, a NUL in the command
        raise RequestFailed(
            "notConfigured",
            f"{name} is not started: what {cwd} brings for it cannot be looked at: {error}.",
            {"agent": name},
        ) from error


def _require_none(name: str, agent: AgentSettings, cwd: str) -> None:
    command, env = agent.command, agent.env
    if any("opencode" in word or "opencode" in _led_to(word) for word in command):
        found = next(_code(Path(cwd)), None)
        if found is not None:
            raise _refused(name, f"would run the code that the repository's {found} brings")
    if agent.wire == "pi":
        chosen = _PI_SESSIONS[0] in command or {**os.environ, **env}.get(_PI_SESSIONS[1])
        settings = Path(cwd) / ".pi" / "settings.json"
        if not chosen and _may_hold(settings, _NAMES_SESSIONS):
            raise _refused(name, f"would keep what is said where the repository's {settings} says")
        if not set(_NO_INSTRUCTIONS) & set(command):
            led = next(_leading_out(Path(cwd)), None)
            if led is not None:
                raise _refused(name, f"would tell its model what {led} leads to, a file elsewhere")
            strange = next(_strange(Path(cwd)), None)
            if strange is not None:
                raise _refused(name, f"would tell its model what another user has put in {strange}")


def linked_instructions(path: str, cwd: str) -> Iterator[str]:
    """Blocking. The instructions, from ``path`` up to ``cwd``, that an agent may read with the
    file at ``path`` and that are links, or may be. What leads there and back again is left out, as
    agents do it: it need not exist."""
    folder = Path(os.path.normpath(Path(cwd, path))).parent
    for one in (folder, *folder.parents):
        if not one.is_relative_to(cwd):
            return
        yield from (str(one / name) for name in _INSTRUCTIONS if _may_be_link(one / name))


def _may_be_link(place: Path) -> bool:
    """Also where the system cannot tell: whoever is asked about it then says why."""
    try:
        return stat.S_ISLNK(place.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):  # a name too long, or no name
        return True


def _led_to(word: str) -> str:
    """The program that a word of a command is a name of, or a link to."""
    return os.path.realpath(shutil.which(word) or word)


def _refused(agent: str, what: str) -> RequestFailed:
    return RequestFailed(
        "notConfigured",
        f"{agent} {what}. Remove it, or read it and set"
        f' agents.{agent}.env.{CONSENT} = "1" in your own settings.',
        {"agent": agent},
    )


def _leading_out(cwd: Path) -> Iterator[Path]:
    """Instructions in ``cwd`` or above that are no file of the repository, or, above it, of the
    folder that they lie in."""
    root = Owners(cwd).repository() or cwd
    for folder in (cwd, *cwd.parents):
        home = os.path.realpath(root if folder.is_relative_to(root) else folder)
        for name in _INSTRUCTIONS:
            place = folder / name
            if place.is_symlink() and not Path(os.path.realpath(place)).is_relative_to(home):
                yield place


def _strange(cwd: Path) -> Iterator[Path]:
    """Instructions in ``cwd`` or above that are another user's, or lie in a folder that is."""
    owners = Owners(cwd)
    for folder in (cwd, *cwd.parents):
        for name in _INSTRUCTIONS:
            place = folder / name
            if os.path.lexists(place) and not (owners.own(folder) and owners.own(place)):
                yield place


def _code(cwd: Path) -> Iterator[Path]:
    for folder in (cwd, *cwd.parents):
        for name in _FOLDERS:
            place = folder / ".opencode" / name
            if place.is_symlink() or (place.exists() and (not place.is_dir() or _holds(place))):
                yield place
        yield from (
            folder / name for name in _CONFIGURATIONS if _may_hold(folder / name, _NAMES_PLUGINS)
        )
        if (folder / ".git").exists():
            return


def _may_hold(configuration: Path, names: Sequence[bytes]) -> bool:
    """Whether one of ``names`` may stand in it. How an agent reads it is not gone into."""
    try:
        if not stat.S_ISREG(configuration.stat().st_mode):
            return True
        with configuration.open("rb") as file:
            text = file.read(_LONGEST_CONFIGURATION + 1)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return len(text) > _LONGEST_CONFIGURATION or any(name in text for name in names)


def _holds(place: Path) -> bool:
    return next(place.iterdir(), None) is not None
