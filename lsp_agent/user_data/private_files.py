"""Folders and files for one person alone, whatever the umask says, and whether they still are."""

import errno
import os
import stat
from pathlib import Path

from lsp_agent.user_data.data_folder import data_folder

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ROOT = 0


def make_private(folder: Path) -> None:
    """Makes ``folder``, and what is missing above it, for this user alone; one of ours that others
    may enter is shut, and so is each from our data folder down to it. Raises OSError;
    PermissionError for another user's."""
    data = data_folder()
    top = data if folder.is_relative_to(data) else folder
    for parent in reversed(top.parents):  # ``parents=True`` would leave their modes to the umask
        if not parent.exists():
            parent.mkdir(mode=0o700, exist_ok=True)
    for each in _between(top, folder):
        each.mkdir(mode=0o700, exist_ok=True)
        status = each.stat()
        if status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) & _OTHERS:
            each.chmod(0o700)
        if (why := why_not_private(each)) is not None:
            raise PermissionError(errno.EPERM, why, str(each))


def write_private(path: Path, data: bytes) -> None:
    """Makes a file that only this user may read and write, as a whole or not at all. Raises
    OSError."""
    new = path.with_name(f".{path.name}-{os.getpid()}")
    new.unlink(missing_ok=True)
    try:
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "wb") as opened:
            opened.write(data)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise


def why_not_private(path: Path) -> str | None:
    """Why what is at ``path`` may be what another user wrote, None if it cannot be. Raises
    OSError."""
    if (why := why_not_ours(path)) is not None:
        return why
    return "other users may write to it" if path.stat().st_mode & _OTHERS_WRITE else None


def why_not_ours(path: Path) -> str | None:
    """As ``why_not_private``, of what lies in a folder where only this user may write. Neither
    what it leads to nor a link on the way is another user's. Raises OSError."""
    for uid in (path.lstat().st_uid, path.stat().st_uid):
        if uid not in (os.getuid(), _ROOT):
            return f"it belongs to another user ({uid})"
    return None


def _between(top: Path, folder: Path) -> list[Path]:
    """``top`` first, ``folder`` last."""
    found = [top]
    for name in folder.relative_to(top).parts:
        found.append(found[-1] / name)
    return found
