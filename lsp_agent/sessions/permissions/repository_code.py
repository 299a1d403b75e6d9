"""What a repository brings that an agent would obey or tell its model of by itself, and that no
switch of its own stops.

opencode loads what lies in ``.opencode/plugin`` and ``.opencode/tool`` (both also in the plural) of
the folder it starts in and of those above, up to the repository's root (tried with 1.18.33, with
``OPENCODE_DISABLE_PROJECT_CONFIG`` and ``OPENCODE_PURE`` set), and the plugins that a configuration
names there, beside or in ``.opencode``. Of its other keys it obeys none then.

codex-acp trusts the folder of each session, and so starts the MCP servers of ``.codex/config.toml``
(tried with 2.6.0); Copilot CLI runs the hooks of ``.github/hooks`` (tried with 1.0.102, with
``disableAllHooks`` in the person's settings). What they obey so is in ``protocol/catalogue.py``.

What an agent of a wire takes up, whatever its program is, the wire tells (``Wire.takes_up``).
opencode tells its model, once it reads a file, what the instructions beside it lead to: a link may
lead to any file of the person's, and what is above a workspace may be another user's.
"""

import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from lsp_agent.protocol.catalogue import CATALOGUE, CONSENT, INSTRUCTIONS, KnownAgent
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.user_data.owners import Owners
from lsp_agent.wires import new_wire

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
    if _is_called(command, "opencode"):
        found = next(_code(Path(cwd)), None)
        if found is not None:
            raise _refused(name, f"would run the code that the repository's {found} brings")
    for known in CATALOGUE:
        if any(_is_called(command, sign) for sign in known.signs):
            found = next(_obeyed(known, env, Path(cwd)), None)
            if found is not None:
                raise _refused(name, f"would run what the repository's {found} says")
            if known.tells_of_links is not None:
                names = (*INSTRUCTIONS, *known.tells_of_links)
                _require_none_leads_out(name, _leading_out(Path(cwd), _up_to_root, names))
                _require_nobody_elses(name, _strange(names, Path(cwd)))
    taken = new_wire(agent.wire).takes_up(agent, {**os.environ, **env})
    if taken.transcripts is not None:
        file, names = taken.transcripts
        settings = Path(cwd) / file
        if _may_hold(settings, names):
            raise _refused(name, f"would keep what is said where the repository's {settings} says")
    if taken.instructions:
        _require_own(taken.instructions, name, Path(cwd))


def _require_own(instructions: Sequence[str], name: str, cwd: Path) -> None:
    _require_none_leads_out(name, _leading_out(cwd, _up_to_top, instructions))
    _require_nobody_elses(name, _strange(instructions, cwd))


def linked_instructions(path: str, cwd: str) -> Iterator[str]:
    """Blocking. The instructions, from ``path`` up to ``cwd``, that an agent may read with the
    file at ``path`` and that are links, or may be. What leads there and back again is left out, as
    agents do it: it need not exist."""
    folder = Path(os.path.normpath(Path(cwd, path))).parent
    for one in (folder, *folder.parents):
        if not one.is_relative_to(cwd):
            return
        yield from (str(one / name) for name in INSTRUCTIONS if _may_be_link(one / name))


def _may_be_link(place: Path) -> bool:
    """Also where the system cannot tell: whoever is asked about it then says why."""
    try:
        return stat.S_ISLNK(place.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):  # a name too long, or no name
        return True


def _is_called(command: Sequence[str], sign: str) -> bool:
    return any(sign in word or sign in _led_to(word) for word in command)


def _obeyed(known: KnownAgent, env: Mapping[str, str], cwd: Path) -> Iterator[Path]:
    """Of what an agent obeys, what there is in ``cwd`` and above, but for the person's own."""
    variable, below_home = known.home
    own = {**os.environ, **env}
    person = Path(own.get(variable) or Path(own.get("HOME") or "~").expanduser() / below_home)
    for folder in _up_to_root(cwd):
        for name in known.obeys:
            place = folder / name
            if os.path.realpath(place.parent) == os.path.realpath(person) and variable:
                continue
            if _brings(place):
                yield place


def _up_to_root(cwd: Path) -> Iterator[Path]:
    """``cwd`` and what is above it, up to the repository's root."""
    for folder in (cwd, *cwd.parents):
        yield folder
        if (folder / ".git").exists():
            return


def _up_to_top(cwd: Path) -> Iterable[Path]:
    return (cwd, *cwd.parents)


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


def _require_none_leads_out(agent: str, leading: Iterator[Path]) -> None:
    led = next(leading, None)
    if led is not None:
        raise _refused(agent, f"would tell its model what {led} leads to, a file elsewhere")


def _require_nobody_elses(agent: str, strange: Iterator[Path]) -> None:
    found = next(strange, None)
    if found is not None:
        raise _refused(agent, f"would tell its model what another user has put in {found}")


def _leading_out(
    cwd: Path, folders: Callable[[Path], Iterable[Path]], names: Sequence[str]
) -> Iterator[Path]:
    """Instructions in ``cwd`` or above that are no file of the repository, or, above it, of the
    folder that they lie in."""
    root = Owners(cwd).repository() or cwd
    for folder in folders(cwd):
        home = os.path.realpath(root if folder.is_relative_to(root) else folder)
        for name in names:
            place = folder / name
            if place.is_symlink() and not Path(os.path.realpath(place)).is_relative_to(home):
                yield place


def _strange(instructions: Sequence[str], cwd: Path) -> Iterator[Path]:
    """Those in ``cwd`` or above that are another user's, or lie in a folder that is."""
    owners = Owners(cwd)
    for folder in (cwd, *cwd.parents):
        for name in instructions:
            place = folder / name
            if os.path.lexists(place) and not (owners.own(folder) and owners.own(place)):
                yield place


def _code(cwd: Path) -> Iterator[Path]:
    for folder in _up_to_root(cwd):
        for name in _FOLDERS:
            place = folder / ".opencode" / name
            if _brings(place):
                yield place
        yield from (
            folder / name for name in _CONFIGURATIONS if _may_hold(folder / name, _NAMES_PLUGINS)
        )


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


def _brings(place: Path) -> bool:
    """Whether it is anything but a folder with nothing in it."""
    if place.is_symlink():
        return True
    return place.exists() and (not place.is_dir() or next(place.iterdir(), None) is not None)
