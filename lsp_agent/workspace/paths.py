"""Confined paths: what the file tools of an agent may touch.

Only ``Confinement.confine`` makes a ``SafePath`` from what an agent gave. POSIX paths; a name
that is not UTF-8 is carried in surrogate escapes, as Python's ``os`` does.
"""

import contextlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from lsp_agent.protocol.errors import LspAgentError

# Left as they are in URIs; VS Code and Neovim decode whatever we write.
_URI_SAFE = "/~-._"
_LOCAL_HOSTS = frozenset({"", "localhost"})


class OutsideWorkspace(LspAgentError):
    """A path that no file tool may touch; the message names the path and the rule."""

    def __init__(self, path: str, rule: str) -> None:
        super().__init__(f"{path}: {rule}")
        self.path = path
        self.rule = rule


@dataclass(frozen=True, slots=True)
class SafePath:
    """A confined path. ``path`` is absolute, without symlinks; ``given`` is what was asked."""

    path: str
    given: str


class Confinement:
    """The folders that file tools are confined to.

    ``roots`` are the workspace folders, ``private`` our own data folders, which are never
    written to. Both may be symlinks themselves; they are resolved once, here.
    """

    def __init__(self, roots: Sequence[str], private: Sequence[str] = ()) -> None:
        self._roots = [os.path.realpath(root) for root in roots]
        self._private = [os.path.realpath(folder) for folder in private]

    def confine(self, path: str, cwd: str, *, write: bool) -> SafePath:
        """The real place of ``path``, taken from ``cwd`` if relative; it need not exist.

        Raises OutsideWorkspace if it lies in no root, or, for ``write``, in a ``.git`` folder
        (or is one, or a ``.git`` file) or in our own data.
        """
        if not path or "\0" in path:
            raise OutsideWorkspace(path, "is not a path")
        real = os.path.realpath(os.path.join(cwd, path))  # noqa: PTH118
        if not any(_within(real, root) for root in self._roots):
            raise OutsideWorkspace(path, "lies outside the workspace folders")
        if write:
            if any(part.casefold() == ".git" for part in Path(real).parts):
                raise OutsideWorkspace(path, "lies in .git, which only git may write")
            if any(_within(real, folder) for folder in self._private):
                raise OutsideWorkspace(path, "lies in lsp-agent's own data")
        return SafePath(real, path)


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
    return None if "\0" in decoded else decoded


def path_to_uri(path: str) -> str:
    """The ``file:`` URI of an absolute path. Raises ValueError for a relative one."""
    if not path.startswith("/"):
        raise ValueError(f"{path!r} is not absolute")
    return "file://" + quote(os.fsencode(path), safe=_URI_SAFE)


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
