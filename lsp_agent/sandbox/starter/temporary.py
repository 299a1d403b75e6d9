"""A command's own folder for temporary files, locked while its starter lives."""

import fcntl
import os
import time

_PARENT = "/tmp"
_PREFIX = "lsp-agent-held-"
#: In seconds. A younger one may not be locked yet.
_ABANDONED = 60
#: What names a program's cache to it, in which words, and where it makes that otherwise: at the top
#: of a folder, where Landlock lets make nothing. Each of them fails without one, or warns.
_CACHES = {
    "RUFF_CACHE_DIR": ("{}", ".ruff_cache"),
    "MYPY_CACHE_DIR": ("{}", ".mypy_cache"),
    "PYTEST_ADDOPTS": ("-o cache_dir={}", ".pytest_cache"),
}
#: Of programs that fail without a cache, which they have at home, where no command writes.
_AT_HOME = {"GOCACHE": "go-build", "UV_CACHE_DIR": "uv"}


def caches_at_home(own: str) -> "dict[str, str]":
    """Where they are instead, in ``own``, but for those whose place somebody has said."""
    left = [name for name in _AT_HOME if name not in os.environ]
    return {name: os.path.join(own, _AT_HOME[name]) for name in left}


def environment(own: str, folders: "list[str]") -> "dict[str, str]":
    """What leads a command to its own folder, ``own``; caches only where none of the ``folders``
    has one already, and nobody has said where they are."""
    named = {"TMPDIR": own, **caches_at_home(own)}
    for variable, (words, name) in _CACHES.items():
        there = any(os.path.isdir(os.path.join(folder, name)) for folder in folders)
        if variable not in os.environ and not there:
            named[variable] = words.format(os.path.join(own, name))
    return named


def new() -> str:
    path = f"{_PARENT}/{_PREFIX}{os.urandom(8).hex()}"
    os.mkdir(path, 0o700)
    fcntl.flock(os.open(path, os.O_RDONLY | os.O_CLOEXEC), fcntl.LOCK_EX)
    return path


def remove(path: str) -> None:
    """With all in it, as far as that can be."""
    parent = os.open(os.path.dirname(path), os.O_RDONLY | os.O_CLOEXEC)
    try:
        _remove(os.path.basename(path), parent)
    except OSError as error:
        os.write(2, f"A folder for temporary files is left: {error}\n".encode(errors="replace"))
    finally:
        os.close(parent)


def remove_abandoned() -> None:
    """What starters have left that were killed."""
    before = time.time() - _ABANDONED
    for entry in os.scandir(_PARENT):
        if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
            continue
        try:
            found = entry.stat(follow_symlinks=False)
            if found.st_uid == os.getuid() and found.st_mtime < before and not _locked(entry.path):
                remove(entry.path)
        except OSError:
            continue  # another starter was faster


def _locked(path: str) -> bool:
    folder = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(folder)
    return False


def _remove(name: str, parent: int) -> None:
    """What still runs in there may put a link in the place of a folder: none is followed."""
    way = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        at = os.open(name, way, dir_fd=parent)
    except NotADirectoryError:
        os.unlink(name, dir_fd=parent)
        return
    folder = -1
    try:
        os.chmod(f"/proc/self/fd/{at}", 0o700)
        folder = os.open(f"/proc/self/fd/{at}", os.O_RDONLY | os.O_CLOEXEC)
        for each in os.listdir(folder):
            _remove(each, folder)
    finally:
        os.close(at)
        if folder >= 0:
            os.close(folder)
    os.rmdir(name, dir_fd=parent)
