"""Confined paths: what the file tools of an agent may touch.

Only ``Confinement.confine`` makes a ``SafePath`` from what an agent gave. POSIX paths; a name
that is not UTF-8 is carried in surrogate escapes, as Python's ``os`` does.

What is read or written is then reached by ``open_folder``, folder by folder, so that nothing
which becomes a symlink between the two can lead away. An agent that writes files itself (mirror)
is only held to ``confine``, before its call.
"""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.protocol.settings.files import WORKSPACE_FILE
from lsp_agent.text.plain import escaped_line
from lsp_agent.workspace.disk.git_folders import (
    become_git_folder,
    becomes_git_folder,
    is_git_folder,
    is_git_name,
)

# Left as they are in URIs; VS Code and Neovim decode whatever we write.
_URI_SAFE = "/~-._"
_LOCAL_HOSTS = frozenset({"", "localhost"})

#: As many as Linux follows in one path.
_MOST_SYMLINKS = 40
#: Its links lead elsewhere in each process, so that we would judge another file than the agent
#: opens; and its files hold the environments of processes.
_PROCESSES = "/proc"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_GIT_RULE = "which only git may write"
#: What ``readlink`` says of a name that is no symlink, or that we may not know more of.
_NO_SYMLINK = frozenset({errno.EINVAL, errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM})
_LONGEST_SHOWN = 200
#: How names of files end that Python runs without being told to.
_MODULES = (".py", ".pyc", ".so", ".pyd", ".pth")
#: In characters; each name of it is looked at, and the system takes a quarter at most.
_LONGEST_PATH = 16_384


class OutsideWorkspace(LspAgentError):
    """A path that no file tool may touch; the message names the path and the rule."""

    def __init__(self, path: str, rule: str) -> None:
        super().__init__(f"{shown_path(path)}: {rule}")
        self.path = path
        self.rule = rule


@dataclass(frozen=True, slots=True)
class SafePath:
    """A confined path. ``path`` is absolute, without symlinks; ``given`` is what was asked."""

    path: str
    given: str


@dataclass(frozen=True, slots=True)
class Reserved:
    """A file or a folder with all in it that agents are kept from wherever it lies.

    ``rule`` says why, as in "belongs to …". ``prefix`` takes ``path`` for the beginning of names;
    ``modules`` are only those files right in it that Python would import from there.
    ``readable`` keeps agents from writing only.
    """

    path: str
    rule: str
    prefix: bool = False
    readable: bool = False
    modules: bool = False

    def holds(self, path: str) -> bool:
        """Whether the real ``path`` is one of it, which is resolved."""
        if self.prefix:
            return path.startswith(self.path)
        if self.modules:
            return _within(path, self.path) and _is_module(path[len(self.path) :].strip(os.sep))
        return _within(path, self.path)


def _real_paths(paths: Iterable[str]) -> list[str]:
    """As ``os.path.realpath`` has them, which would walk to each from the root: a confinement is
    made for each call of an agent, of dozens of paths that share their folders."""
    real = cache(os.path.realpath)

    def of(path: str) -> str:
        folder, name = os.path.split(path)
        if name in {"", os.curdir, os.pardir}:
            return real(path)
        place = os.path.join(real(folder), name)  # noqa: PTH118
        return real(place) if os.path.islink(place) else place  # noqa: PTH114

    return [*map(of, paths)]


class Confinement:
    """The folders that file tools are confined to, ``roots``, and what is ``reserved`` in them.

    All of these may be symlinks; they are resolved once, here.
    """

    def __init__(self, roots: Sequence[str], reserved: Sequence[Reserved] = ()) -> None:
        self._roots = _real_paths(roots)
        places = _real_paths(each.path for each in reserved)
        self._reserved = [
            replace(each, path=place) for each, place in zip(reserved, places, strict=True)
        ]

    @property
    def roots(self) -> Sequence[str]:
        return self._roots

    @property
    def reserved(self) -> Sequence[Reserved]:
        return self._reserved

    def confine(self, path: str, cwd: str, *, write: bool) -> SafePath:
        """The real place of ``path``, taken from ``cwd`` if relative; it need not exist.

        Raises OutsideWorkspace if it lies in no root or is reserved, and where it may be another
        file for the agent than for us: ``..`` after a symlink, ``/proc``, a URI, ``~``; also
        where the system cannot tell what is there (a name too long, a failing disk). For ``write``
        also in what belongs to git, and where the name has control characters.
        """
        _refuse_what_is_no_path(path)
        joined = os.path.join(cwd, path)  # noqa: PTH118
        plain = os.path.normpath(joined)
        real = _resolved(joined, path)
        # Most programs clean `a/../b` to `b`; the kernel follows a symlink `a` first.
        if os.pardir in path.split("/") and _resolved(plain, path) != real:
            raise OutsideWorkspace(
                path,
                "can be read in two ways, since `..` follows a symlink; give the path without `..`",
            )
        for reserved in self._reserved:
            if not (reserved.readable and not write) and reserved.holds(real):
                raise OutsideWorkspace(path, reserved.rule)
        self._refuse_outside(path, real, by_symlink=real != plain)
        if write:
            _refuse_write(path, plain, real)
            self._refuse_inner_settings(path, real)
        return SafePath(real, path)

    def _refuse_inner_settings(self, path: str, real: str) -> None:
        """Editors take the nearest folder with such a file for the workspace: one further in would
        stand in the place of that which narrows now."""
        folder, name = os.path.split(real)
        if name.casefold() == WORKSPACE_FILE and folder not in self._roots:
            raise OutsideWorkspace(path, "would be the settings of a workspace of its own")

    def _refuse_outside(self, path: str, real: str, *, by_symlink: bool) -> None:
        if not any(_within(real, root) for root in self._roots):
            place = f"leads to {shown_path(real)}, which " if by_symlink else ""
            raise OutsideWorkspace(path, f"{place}lies outside the workspace folders")


def shown_path(path: str) -> str:
    """``path`` in one line that can be shown to a person, whatever is in it."""
    line = escaped_line(path)
    if len(line) <= _LONGEST_SHOWN:
        return line
    return f"{line[: _LONGEST_SHOWN // 2]}…{line[-_LONGEST_SHOWN // 2 :]}"


def _refuse_what_is_no_path(path: str) -> None:
    if len(path) > _LONGEST_PATH:
        raise OutsideWorkspace(path, "is too long for a path")
    if not is_os_text(path):
        raise OutsideWorkspace(path, "is not a path")
    if path.lower().startswith("file://"):
        raise OutsideWorkspace(path, "is a URI; give the path that it stands for")
    if path == "~" or path.startswith("~/"):
        raise OutsideWorkspace(path, "~ is not expanded; give the whole path")


def _refuse_write(path: str, plain: str, real: str) -> None:
    if _CONTROL.search(path):
        raise OutsideWorkspace(path, "has a control character in its name")
    # Both, for a `.git` that is a symlink.
    if any(is_git_name(name) for place in (plain, real) for name in place.split("/")):
        raise OutsideWorkspace(path, f"lies in .git, {_GIT_RULE}")
    try:
        repository = next(filter(is_git_folder, Path(real).parents), None)
    except OSError as error:
        raise _unjudged(path, error) from None
    if repository is not None:
        raise OutsideWorkspace(path, f"lies in {shown_path(str(repository))}, {_GIT_RULE}")
    refuse_repository(SafePath(real, path))


def refuse_together(paths: Sequence[str], cwd: str) -> None:
    """Of files that one call would write, each of which may be written: raises OutsideWorkspace
    where they may not be all."""
    made = become_git_folder(
        os.path.realpath(os.path.join(cwd, path))  # noqa: PTH118
        for path in paths
    )
    if made is not None:
        raise _repository(paths[0], made)


def refuse_repository(path: SafePath) -> None:
    """Raises OutsideWorkspace where with this file its folder, or one above, would be one of git's:
    as it is confined, and once more right before it is made, by what has come since."""
    try:
        made = becomes_git_folder(path.path)
    except OSError as error:
        raise _unjudged(path.given, error) from None
    if made is not None:
        raise _repository(path.given, made)


def _repository(path: str, made: Path) -> OutsideWorkspace:
    return OutsideWorkspace(
        path,
        f"with it {shown_path(str(made))} could be taken for a repository, {_GIT_RULE};"
        " give the file another name",
    )


def _unjudged(path: str, error: OSError) -> OutsideWorkspace:
    return OutsideWorkspace(path, f"cannot be judged: {error.strerror or error}")


def _resolved(path: str, given: str) -> str:
    """The absolute ``path`` as the kernel follows it, but for names that are not there.

    Where a folder cannot be looked into, names are taken as they are; ``open_folder`` follows no
    symlink there either. Raises OutsideWorkspace for symlinks in a circle and through ``/proc``,
    and for a name that the system has no answer for.
    """
    real = os.sep
    symlinks = 0
    left = path.split("/")[::-1]
    while left:
        name = left.pop()
        if name in {"", os.curdir}:
            continue
        if name == os.pardir:
            real = os.path.dirname(real)  # noqa: PTH120
            continue
        real = os.path.join(real, name)  # noqa: PTH118
        if _within(real, _PROCESSES):
            raise OutsideWorkspace(given, "leads through /proc, which is another for each process")
        try:
            target = os.readlink(real)  # noqa: PTH115
        except OSError as error:
            if error.errno not in _NO_SYMLINK:
                raise _unjudged(given, error) from None
            continue
        symlinks += 1
        if symlinks > _MOST_SYMLINKS:
            raise OutsideWorkspace(given, "its symlinks lead round in a circle")
        real = os.sep if target.startswith(os.sep) else os.path.dirname(real)  # noqa: PTH120
        left += target.split("/")[::-1]
    return real


def from_ledger(path: str) -> SafePath:
    """The real path of a recorded change, which was confined when it was recorded."""
    return SafePath(path, path)


def open_folder(path: SafePath, *, make: bool = False) -> int:
    """A descriptor of the folder that holds ``path``, reached without following any symlink.

    This is the second look right before the file is touched: a folder that has meanwhile become
    a symlink raises OutsideWorkspace, so nothing outside can be reached through it. ``make``
    creates missing folders (0755 less the umask). Raises OSError as ``open`` does. The caller
    closes it.
    """
    # O_PATH needs no read permission on the folders passed through; macOS has none and needs it.
    flags = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(os.sep, flags)
    try:
        for name in Path(path.path).parts[1:-1]:
            inner = _enter(folder, name, flags, path, make=make)
            os.close(folder)
            folder = inner
    except BaseException:
        os.close(folder)
        raise
    return folder


def uri_to_path(uri: str) -> str | None:
    """The path of a ``file:`` URI of this machine, percent-decoded; None for any other."""
    scheme, separator, rest = uri.partition("://")
    if not separator or scheme.lower() != "file":
        return None
    host, slash, path = rest.partition("/")
    if not slash or host.lower() not in _LOCAL_HOSTS:
        return None
    decoded = unquote("/" + path, encoding="utf-8", errors="surrogateescape")
    return decoded if is_os_text(decoded) else None


def is_os_text(text: str) -> bool:
    """Whether the system takes it as a path or an argument: not empty, without NUL and without
    half a surrogate pair."""
    try:
        return bool(text) and b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def path_to_uri(path: str) -> str:
    """The ``file:`` URI of an absolute path. Raises ValueError for a relative one."""
    if not path.startswith("/"):
        raise ValueError(f"{path!r} is not absolute")
    return "file://" + quote(os.fsencode(path), safe=_URI_SAFE)


def _is_module(name: str) -> bool:
    """Whether a file of this relative name is a module or makes its folder a package."""
    top, _, inner = name.partition(os.sep)
    module = inner if inner.startswith("__init__.") else "" if inner else top
    return module.casefold().endswith(_MODULES)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _enter(folder: int, name: str, flags: int, path: SafePath, *, make: bool) -> int:
    try:
        return os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        if not make:
            raise
    except OSError:
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OutsideWorkspace(path.given, f"{name} has become a symlink") from None
        raise
    with contextlib.suppress(FileExistsError):  # someone else may make it just now
        os.mkdir(name, 0o755, dir_fd=folder)
    return os.open(name, flags, dir_fd=folder)
