"""Folders and files for one person alone, whatever the umask says, and whether they still are."""

import errno
import os
import stat
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ROOT = 0


def make_private(folder: Path, top: Path) -> None:
    """Makes ``folder``, and what is missing above it, for this user alone; shuts those of ours
    from ``top`` down that others may enter. Raises OSError; PermissionError for another user's,
    whose reason says what to do."""
    top.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for each in _between(top, folder):
        each.mkdir(mode=0o700, exist_ok=True)
        status = _owned(each)
        if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) & _OTHERS:
            each.chmod(0o700)
        elif status.st_mode & _OTHERS_WRITE:
            raise _refusal(each, "other users may write to it")


def open_private(path: Path) -> int:
    """A descriptor of a new, empty file that only this user may read and write; what was at
    ``path`` is gone. Raises OSError."""
    path.unlink(missing_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)


def why_not_private(path: Path) -> str | None:
    """Why what is at ``path`` may have been written by another user, None if it cannot have been.
    Raises OSError."""
    try:
        status = _owned(path)
    except PermissionError as error:
        return error.strerror
    return "other users may write to it" if status.st_mode & _OTHERS_WRITE else None


def _between(top: Path, folder: Path) -> list[Path]:
    """``top`` first, ``folder`` last."""
    found = [top]
    for name in folder.relative_to(top).parts:
        found.append(found[-1] / name)
    return found


def _owned(path: Path) -> os.stat_result:
    """Where it leads to; neither that nor a link on the way is another user's."""
    status = path.stat()
    for uid in (path.lstat().st_uid, status.st_uid):
        if uid not in (os.getuid(), _ROOT):
            raise _refusal(path, f"it belongs to another user ({uid})")
    return status


def _refusal(path: Path, why: str) -> PermissionError:
    return PermissionError(errno.EPERM, why, str(path))
