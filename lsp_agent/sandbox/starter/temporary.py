"""A command's own folder for temporary files, locked while its starter lives."""

import fcntl
import posix
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

_PARENT = "/tmp"
_PREFIX = "lsp-agent-held-"
#: In seconds. A younger one may not be locked yet.
_ABANDONED = 60
_KIND, _FOLDER = 0o170000, 0o040000
#: What names a program's cache to it, in which words, and where it makes that otherwise: at the top
#: of a folder, where Landlock lets make nothing. Each of them fails without one, or warns.
_CACHES = {
    "RUFF_CACHE_DIR": ("{}", ".ruff_cache"),
    "MYPY_CACHE_DIR": ("{}", ".mypy_cache"),
    "PYTEST_ADDOPTS": ("-o cache_dir={}", ".pytest_cache"),
}
#: Of programs that fail without a cache, which they have at home, where no command writes.
_AT_HOME = {"GOCACHE": "go-build", "UV_CACHE_DIR": "uv"}


def caches_at_home(own: str, said: "Container[str]") -> "dict[str, str]":
    """Where they are instead, in ``own``, but for the variables that somebody has ``said``."""
    return {name: f"{own}/{folder}" for name, folder in _AT_HOME.items() if name not in said}


def environment(own: str, folders: "list[str]") -> "dict[str, str]":
    """What leads a command to its own folder, ``own``; caches only where none of the ``folders``
    has one already, and nobody has said where they are."""
    said = {name.decode(errors="replace") for name in posix.environ}
    named = {"TMPDIR": own, **caches_at_home(own, said)}
    for variable, (words, name) in _CACHES.items():
        there = any(_is_folder(f"{folder}/{name}") for folder in folders)
        if variable not in said and not there:
            named[variable] = words.format(f"{own}/{name}")
    return named


def new() -> str:
    path = f"{_PARENT}/{_PREFIX}{posix.urandom(8).hex()}"
    posix.mkdir(path, 0o700)
    fcntl.flock(posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC), fcntl.LOCK_EX)
    return path


def remove(path: str) -> None:
    """With all in it, as far as that can be."""
    parent = posix.open(_PARENT, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        _remove(path.removeprefix(f"{_PARENT}/"), parent)
    except OSError as error:
        posix.write(2, f"A folder for temporary files is left: {error}\n".encode(errors="replace"))
    finally:
        posix.close(parent)


def remove_abandoned() -> None:
    """What starters have left that were killed."""
    before = time.time() - _ABANDONED
    for entry in posix.scandir(_PARENT):
        if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            found = entry.stat(follow_symlinks=False)
            if (
                found.st_uid == posix.getuid()
                and found.st_mtime < before
                and not _locked(entry.path)
            ):
                remove(entry.path)
        except OSError:
            continue  # another starter was faster


def _is_folder(path: str) -> bool:
    try:
        return posix.stat(path).st_mode & _KIND == _FOLDER
    except OSError:
        return False


def _locked(path: str) -> bool:
    folder = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        posix.close(folder)
    return False


def _remove(name: str, parent: int) -> None:
    """What still runs in there may put a link in the place of a folder: none is followed."""
    way = posix.O_PATH | posix.O_DIRECTORY | posix.O_NOFOLLOW | posix.O_CLOEXEC
    try:
        at = posix.open(name, way, dir_fd=parent)
    except NotADirectoryError:
        posix.unlink(name, dir_fd=parent)
        return
    folder = -1
    try:
        posix.chmod(f"/proc/self/fd/{at}", 0o700)
        folder = posix.open(f"/proc/self/fd/{at}", posix.O_RDONLY | posix.O_CLOEXEC)
        for each in posix.listdir(folder):
            _remove(each, folder)
    finally:
        posix.close(at)
        if folder >= 0:
            posix.close(folder)
    posix.rmdir(name, dir_fd=parent)
