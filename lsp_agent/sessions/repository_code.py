"""What a repository brings that an agent would obey by itself, and that no switch of its own stops.

opencode loads what lies in ``.opencode/plugin`` and ``.opencode/tool`` (both also in the plural) of
the folder it starts in and of those above, up to the repository's root (tried with 1.18.33, with
``OPENCODE_DISABLE_PROJECT_CONFIG`` and ``OPENCODE_PURE`` set), and the plugins that a configuration
names there, beside or in ``.opencode``. Of its other keys it obeys none then.

pi keeps its transcripts where ``sessionDir`` of ``.pi/settings.json`` says, before it asks whether
the folder is trusted (tried with 1.5.2, with ``--no-approve``).
"""

import json
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lsp_agent.protocol.errors import RequestFailed

#: In an agent's ``env``, which only the person's own settings can set: it may run such code.
CONSENT = "LSP_AGENT_REPOSITORY_CODE"
#: Either stands above what a repository's settings say.
_PI_SESSIONS = ("--session-dir", "PI_CODING_AGENT_SESSION_DIR")
_FOLDERS = ("plugin", "plugins", "tool", "tools")
_CONFIGURATIONS = (
    "opencode.json",
    "opencode.jsonc",
    ".opencode/opencode.json",
    ".opencode/opencode.jsonc",
)
#: With what can stand for it: an escaped letter, and what opencode puts in before it parses.
_NAMES_PLUGINS = (b"plugin", b"\\u", b"{file:", b"{env:")
#: Longer ones are not looked through, in bytes.
_LONGEST_CONFIGURATION = 1 << 20


def require_none(agent: str, command: Sequence[str], env: Mapping[str, str], cwd: str) -> None:
    """Blocking. :raises RequestFailed: "notConfigured" where there is such a thing"""
    if env.get(CONSENT) == "1":
        return
    if any("opencode" in word for word in command):
        found = next(_code(Path(cwd)), None)
        if found is not None:
            raise _refused(agent, f"would run the code that the repository's {found} brings")
    if any(Path(word).name == "pi" for word in command):
        chosen = _PI_SESSIONS[0] in command or _PI_SESSIONS[1] in {**os.environ, **env}
        settings = Path(cwd) / ".pi" / "settings.json"
        if not chosen and _names_sessions(settings):
            raise _refused(agent, f"would keep what is said where the repository's {settings} says")


def _refused(agent: str, what: str) -> RequestFailed:
    return RequestFailed(
        "notConfigured",
        f"{agent} {what}. Remove it, or read it and set"
        f' agents.{agent}.env.{CONSENT} = "1" in your own settings.',
        {"agent": agent},
    )


def _names_sessions(settings: Path) -> bool:
    """Where it cannot be read or is no JSON, pi takes nothing from it."""
    try:
        given = json.loads(settings.read_text(encoding="utf-8-sig", errors="replace"))
    except (OSError, ValueError):
        return False
    except RecursionError:
        return True
    return isinstance(given, dict) and "sessionDir" in given


def _code(cwd: Path) -> Iterator[Path]:
    for folder in (cwd, *cwd.parents):
        for name in _FOLDERS:
            place = folder / ".opencode" / name
            if place.is_symlink() or (place.exists() and (not place.is_dir() or _holds(place))):
                yield place
        yield from (folder / name for name in _CONFIGURATIONS if _may_name_plugins(folder / name))
        if (folder / ".git").exists():
            return


def _may_name_plugins(configuration: Path) -> bool:
    try:
        if not stat.S_ISREG(configuration.stat().st_mode):
            return True
        with configuration.open("rb") as file:
            text = file.read(_LONGEST_CONFIGURATION + 1)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return len(text) > _LONGEST_CONFIGURATION or any(name in text for name in _NAMES_PLUGINS)


def _holds(place: Path) -> bool:
    return next(place.iterdir(), None) is not None
