"""What a command meets on the disk: where its words lead, and which program it is."""

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from lsp_agent.sessions.permissions import repositories
from lsp_agent.sessions.permissions.command_globs import Globs
from lsp_agent.sessions.permissions.keeping.store import Git
from lsp_agent.sessions.permissions.links import TooManyError, links_below
from lsp_agent.sessions.permissions.reading.reads import Reach
from lsp_agent.sessions.permissions.secret_files import is_secret, may_hold_secrets
from lsp_agent.sessions.permissions.shell.line import Way
from lsp_agent.workspace.disk.git_folders import is_git_name
from lsp_agent.workspace.disk.paths import Confinement, OutsideWorkspace

#: As globs: those that are hidden too.
_ALL_IN_IT = ("*", ".*")
#: ``.*`` may become ``..``; a home, and in zsh a program, is looked up.
_LED_ELSEWHERE = re.compile(r"[~=]|(?:.*/)?\.[^/]*[*?\[]", re.DOTALL)
_FUNCTION = "BASH_FUNC_"
#: Files below a folder that is searched, of which none may be made for secrets.
MOST_SEARCHED = 10_000
#: Names of programs that are many in one, each by the name that it is called.
_MANY_IN_ONE = frozenset({"busybox", "toybox", "coreutils"})
#: Programs that are scripts on some systems, by what they run.
_RUN = {"egrep": "grep", "fgrep": "grep"}


class Disk:
    """For one line of commands that begins in ``cwd``, with their ``environment``. Blocking, as
    long as globs and searches are bounded."""

    def __init__(self, cwd: str, confinement: Confinement, environment: Mapping[str, str]) -> None:
        self._cwd = cwd
        self._confinement = confinement
        self._environment = environment
        self._globs: dict[Way, Globs] = {}

    def may_read(self, way: Way, word: str, reach: Reach) -> bool:
        if _LED_ELSEWHERE.match(word):
            return False
        words = [word]
        if reach == "listed":
            words += [f"{word}/{each}" for each in _ALL_IN_IT]
        found = [self._paths(way, each) for each in words]
        paths = [path for each in found if each is not None for path in each]
        if None in found or any(map(is_secret, paths)):  # whatever a link of that name leads to
            return False
        places = [self._place(way, path) for path in paths]
        return all(
            place is not None
            and not is_secret(place)
            and not (reach in ("below", "shown") and self._hides(place))
            and not (reach == "shown" and any(map(is_git_name, Path(place).parts)))
            and not (reach == "below" and _may_hold_secrets(place))
            for place in places
        )

    def is_led_out(self, program: str, way: Way, word: str) -> bool:
        of_git = program == "git"  # it reads no link, but looks no further than the last part
        if not of_git and not self._follows_links(program):
            return False
        found = [self._place(way, path) for path in self._paths(way, word) or ()]
        return any(place is None or self._has_way_out(place, of_git=of_git) for place in found)

    def _follows_links(self, program: str) -> bool:
        """Of a grep: GNU's does not, that of busybox and those of BSD do."""
        place = self._first(_RUN.get(program, program))
        is_gnu = place is not None and place.resolve().name not in _MANY_IN_ONE
        return program != "rg" and not (is_gnu and sys.platform == "linux")

    def _has_way_out(self, folder: str, *, of_git: bool) -> bool:
        try:
            links = links_below(folder, MOST_SEARCHED)
            return any(
                not self.is_inside(link) or is_secret(os.path.realpath(link))
                for link in links
                if link.is_dir() or not of_git
            )
        except (OSError, TooManyError):
            return True

    def may_write(self, way: Way, word: str) -> bool:
        """All that the word may stand for."""
        paths = self._paths(way, word)
        return paths is not None and all(self._place(way, path, write=True) for path in paths)

    def _paths(self, way: Way, word: str) -> list[str] | None:
        """All that the word may stand for; None for what cannot be told."""
        return self._globs.setdefault(way, Globs(str(Path(self._cwd, *way)))).paths(word)

    def _place(self, way: Way, path: str, *, write: bool = False) -> str | None:
        """Where it leads, if that may be touched."""
        try:
            given = os.path.join(*way, path)  # noqa: PTH118  a Path would make "." of ""
            return self._confinement.confine(given, self._cwd, write=write).path
        except OutsideWorkspace:
            return None

    def _hides(self, folder: str) -> bool:
        """Whether something lies in it that may not be read."""
        inner = folder.rstrip(os.sep) + os.sep
        reserved = self._confinement.reserved
        return any(each.path.startswith(inner) and not each.readable for each in reserved)

    def is_known(self, program: str, *, builtin: bool) -> bool:
        """Of a program: the first of its name on ``PATH`` lies where no agent writes, and is not
        one that looks for another of its name."""
        around = self._environment
        if any(name.startswith(_FUNCTION) for name in around):
            return False
        if builtin:
            return program != "cd" or "CDPATH" not in around
        if program == "rg" and "RIPGREP_CONFIG_PATH" in around:
            return False
        if program in _RUN and not self.is_known(_RUN[program], builtin=False):
            return False
        place = self._first(program)
        return place is not None and _is_itself(place) and self._is_elsewhere(place)

    def lies_elsewhere(self, program: str) -> bool:
        """Whether the first of its name lies where no agent writes."""
        place = self._first(program)
        return place is not None and self._is_elsewhere(place)

    def _first(self, program: str) -> Path | None:
        """On ``PATH``; None where that names a folder that may be any."""
        for folder in self._environment.get("PATH", "").split(os.pathsep):
            place = Path(folder, program)
            if not place.is_absolute():
                return None
            if os.access(place, os.X_OK) and not place.is_dir():
                return place
        return None

    def _is_elsewhere(self, program: Path) -> bool:
        return not any(map(self.is_inside, (program.parent, program)))

    def is_inside(self, place: Path) -> bool:
        """Of the workspace, links followed."""
        real = os.path.realpath(place)
        return any(Path(real).is_relative_to(root) for root in self._confinement.roots)

    def top(self) -> Path | None:
        """The workspace folder whose own repository a git takes where the line begins."""
        try:
            found = repositories.found_from(Path(os.path.realpath(self._cwd)))
        except (OSError, repositories.UnclearRepositoryError):
            return None
        return found if found is not None and str(found) in self._confinement.roots else None

    def git(self) -> Git:
        """The one that :meth:`is_known` says is the one that everybody knows."""
        return Git(str(self._first("git") or ""), self._environment)

    def place(self, way: Way, word: str) -> str:
        """Where the word leads from there, its own link not followed."""
        folder = os.path.realpath(os.path.join(self._cwd, *way))  # noqa: PTH118
        return os.path.normpath(os.path.join(folder, word))  # noqa: PTH118

    def is_in_repository(self, way: Way, word: str) -> bool:
        here = self._place((), ".")
        try:
            top = None if here is None else repositories.found_from(Path(here))
        except (OSError, ValueError, repositories.UnclearRepositoryError):
            return False
        return top is not None and Path(self.place(way, word)).is_relative_to(top)

    def is_own_repository(self, way: Way) -> bool:
        here, there = self._place((), "."), self._place(way, ".")
        if here is None or there is None or repositories.is_led_elsewhere(self._environment):
            return False
        try:
            own = repositories.found_from(Path(here))
            if own is None or repositories.found_from(Path(there)) != own:
                return own is None and here == there
            return self.is_inside(own) and repositories.runs_nothing(own)
        except (OSError, ValueError, repositories.UnclearRepositoryError):
            return False


def _may_hold_secrets(place: str) -> bool:
    try:
        return Path(place).is_dir() and may_hold_secrets(place, MOST_SEARCHED)
    except OSError:
        return True


def _is_itself(place: Path) -> bool:
    """Not one of a manager of versions, which runs what a file in the workspace names."""
    real = place.resolve()
    parts = re.split(r"[^a-z0-9]+", real.name.lower())
    called = {place.name, f"g{place.name}", *_MANY_IN_ONE}
    is_alike = any(part in called or part.rstrip("0123456789") in called for part in parts)
    return is_alike and "shims" not in (*place.parts, *real.parts)
