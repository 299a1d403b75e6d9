"""Files on disk: read whole, decoded, written atomically. Blocking; call it in a thread."""

import codecs
import contextlib
import errno
import os
import re
import secrets
import stat
import threading
from collections.abc import Callable, Generator
from typing import Literal

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.lines import Text
from lsp_agent.workspace.disk.paths import SafePath, open_folder, refuse_repository, shown_path

#: The largest file that is read or written, in bytes.
MAX_BYTES = 64 * 1024 * 1024

#: What a write that was cut off leaves.
LEFTOVER = re.compile(r"\.lsp-agent-[0-9a-f]{16}\.tmp")

_NEW_MODE = 0o644
_BINARY_PROBE = 8192
# O_NONBLOCK: opening a FIFO must not wait for its other end.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: The extended attribute with a program's own privileges.
_CAPABILITIES = "security.capability"
#: What a file system says that syncs nothing.
_NO_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.ENOSYS})

# Longest first: the UTF-16 mark is the beginning of the UTF-32 one.
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BOM_OF = {encoding: bom for bom, encoding in _BOMS}
#: Those that a text can have.
ENCODINGS = frozenset(_BOM_OF)

#: Held from the look at what a new name would make of its folder until it is there: of two that are
#: made at once, each would see nothing of the other.
_MAKING = threading.Lock()

FileKind = Literal[
    "missing",
    "directory",
    "notDirectory",
    "special",
    "huge",
    "hardLink",
    "readOnly",
    "denied",
    "owner",
    "diskFull",
    "failed",
]

_MESSAGES: dict[FileKind, str] = {
    "missing": "no such file",
    "directory": "is a directory",
    "notDirectory": "a folder of its path is a file",
    "special": "is not a regular file",
    "huge": f"is larger than {MAX_BYTES // (1024 * 1024)} MiB",
    "hardLink": "has several hard links, which replacing it would part; edit it in the editor",
    "readOnly": "is read-only; change its permissions to let it be written",
    "denied": "permission denied",
    "owner": "belongs to another user, which replacing it would change; edit it in the editor",
    "diskFull": "no space is left on the disk",
}

_KINDS: dict[int, FileKind] = {
    errno.ENOENT: "missing",
    errno.EISDIR: "directory",
    errno.ENOTDIR: "notDirectory",
    errno.ENXIO: "special",
    errno.EACCES: "denied",
    errno.EPERM: "denied",
    errno.EROFS: "readOnly",
    errno.ENOSPC: "diskFull",
    errno.EDQUOT: "diskFull",
}


class FileProblem(LspAgentError):
    """A file cannot be read or written; ``kind`` says why."""

    def __init__(self, kind: FileKind, path: str, detail: str | None = None) -> None:
        super().__init__(f"{shown_path(path)}: {detail or _MESSAGES.get(kind, kind)}")
        self.kind: FileKind = kind
        self.path = path


class ChangedOnDisk(LspAgentError):
    """The file is not what it was when the new text was made."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{shown_path(path)}: changed on disk meanwhile; read it again")
        self.path = path


class NotWritten(Exception):
    """The caller's last condition no longer held; nothing was changed."""


class NotText(LspAgentError):
    """Bytes that are no text we keep byte for byte; ``reason`` goes after the file's name."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_bytes(path: SafePath) -> bytes:
    """The whole file. Raises FileProblem (missing, directory, special, huge, …) and
    OutsideWorkspace if a symlink has come into the path."""
    with _problems(path):
        folder = open_folder(path)
        try:
            return _read(folder, path)[0]
        finally:
            os.close(folder)


def decode(data: bytes) -> Text:
    """UTF-8, or the encoding that the byte order mark names. ``encode`` gives ``data`` again.

    Raises NotText for anything else, and for text that holds NUL.
    """
    bom, encoding = next(((b, e) for b, e in _BOMS if data.startswith(b)), (b"", "utf-8"))
    if not bom and b"\0" in data[:_BINARY_PROBE]:
        raise NotText("looks binary")
    try:
        content = data[len(bom) :].decode(encoding)
    except UnicodeDecodeError as error:
        where = len(bom) + error.start
        raise NotText(f"is not valid {encoding.upper()} (byte {where})") from None
    if "\0" in content:
        raise NotText("looks binary")
    return Text.of(content, Text((), encoding, bom=bool(bom)))


def encode(text: Text) -> bytes:
    """The bytes of ``text`` in its encoding, with its BOM. Raises NotText where it holds what
    the encoding cannot (half a surrogate pair)."""
    try:
        data = text.content.encode(text.encoding)
    except UnicodeEncodeError as error:
        line = text.content.count("\n", 0, error.start) + 1
        raise NotText(
            f"cannot be written as {text.encoding.upper()}: line {line} would have half a"
            " surrogate pair"
        ) from None
    return _BOM_OF[text.encoding] + data if text.bom else data


def write_atomic(
    path: SafePath,
    text: Text,
    expected: bytes | None,
    *,
    permitted: Callable[[], bool] | None = None,
) -> None:
    """Replaces the file by ``text`` in one step: other readers see the old or the new one.

    ``expected`` is what the disk must still hold, None for a file that must not exist yet; it is
    looked at once more right before the rename, as is ``permitted`` (NotWritten if False).
    The mode, owner and extended attributes of an existing file are kept, parents are made.
    Raises ChangedOnDisk, FileProblem, NotText, OutsideWorkspace; the file is then as it was.
    """
    data = _encoded(path, text)
    with _problems(path):
        folder = open_folder(path) if expected is not None else _made_folder(path)
        try:
            _replace(folder, path, data, expected, permitted)
        finally:
            os.close(folder)


def require_writable(path: SafePath, text: Text, expected: bytes | None) -> None:
    """Raises what ``write_atomic`` would raise, as far as it can be known without writing."""
    _encoded(path, text)
    with _problems(path):
        try:
            folder = open_folder(path)
        except FileNotFoundError:
            if expected is not None:
                raise
            return  # it would be made
        try:
            status = _check(folder, path, expected, None)
            if status is not None and os.geteuid() not in (0, status.st_uid):
                raise FileProblem("owner", path.path)
            if not os.access(".", os.W_OK | os.X_OK, dir_fd=folder):
                raise FileProblem("denied", path.path)
        finally:
            os.close(folder)


def remove(path: SafePath, expected: bytes, *, permitted: Callable[[], bool] | None = None) -> None:
    """Deletes the file if it still holds ``expected``. Raises as ``write_atomic`` does."""
    with _problems(path):
        folder = open_folder(path)
        try:
            _check(folder, path, expected, permitted)
            os.unlink(_name(path), dir_fd=folder)
        finally:
            os.close(folder)


def _encoded(path: SafePath, text: Text) -> bytes:
    try:
        data = encode(text)
    except NotText as error:
        raise NotText(f"{shown_path(path.path)}: {error.reason}") from None
    if len(data) > MAX_BYTES:
        raise FileProblem("huge", path.path)
    return data


def _made_folder(path: SafePath) -> int:
    with _MAKING:
        refuse_repository(path)
        return open_folder(path, make=True)


def _replace(
    folder: int,
    path: SafePath,
    data: bytes,
    expected: bytes | None,
    permitted: Callable[[], bool] | None,
) -> None:
    status = _check(folder, path, expected, permitted)
    # As ``LEFTOVER`` says.
    temporary = f".lsp-agent-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, _NEW_MODE, dir_fd=folder)
    try:
        try:
            _write_all(descriptor, data)
            if status is not None:
                _take_over(descriptor, folder, path, status)
            _sync(descriptor)
        finally:
            os.close(descriptor)
        _check(folder, path, expected, permitted)
        if status is None:
            with _MAKING:
                refuse_repository(path)
                _put_new(temporary, folder, path)
        else:
            os.replace(temporary, _name(path), src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    _sync_folder(folder)


def _check(
    folder: int, path: SafePath, expected: bytes | None, permitted: Callable[[], bool] | None
) -> os.stat_result | None:
    """The file's status if it is as expected and may be replaced."""
    try:
        found, status = _read(folder, path)
    except FileNotFoundError:
        if expected is not None:
            raise ChangedOnDisk(path.path) from None
        status = None
    else:
        if found != expected:
            raise ChangedOnDisk(path.path)
        if status.st_nlink > 1 and not _without_leftovers(folder, status):
            raise FileProblem("hardLink", path.path)
        # root may write anything; a file without any write bit is meant to stay as it is
        if not status.st_mode & 0o222 or not os.access(_name(path), os.W_OK, dir_fd=folder):
            raise FileProblem("readOnly", path.path)
    if permitted is not None and not permitted():
        raise NotWritten
    return status


def _read(folder: int, path: SafePath) -> tuple[bytes, os.stat_result]:
    try:
        descriptor = os.open(_name(path), _READ, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.EMLINK}:
            raise FileProblem("special", path.path, "has become a symlink") from None
        raise
    with open(descriptor, "rb") as file:  # noqa: PTH123
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise FileProblem("directory", path.path)
        if not stat.S_ISREG(status.st_mode):
            raise FileProblem("special", path.path)
        data = b"" if status.st_size > MAX_BYTES else file.read(MAX_BYTES + 1)
        if status.st_size > MAX_BYTES or len(data) > MAX_BYTES:
            raise FileProblem("huge", path.path)
        return data, status


def _take_over(descriptor: int, folder: int, path: SafePath, status: os.stat_result) -> None:
    """Gives the new file the old one's owner, mode and extended attributes (ACLs are such), but
    no right to run as another: the kernel takes that from whatever is written, too."""
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        try:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        except PermissionError:
            raise FileProblem("owner", path.path) from None
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & ~(stat.S_ISUID | stat.S_ISGID))
    if not hasattr(os, "listxattr"):  # macOS: Python has no call for them
        return
    old = os.open(_name(path), _READ, dir_fd=folder)
    try:
        for name in _attributes(old):
            if name == _CAPABILITIES:
                continue
            # Some only the system may set (security labels, which it sets itself).
            with contextlib.suppress(PermissionError):
                os.setxattr(descriptor, name, os.getxattr(old, name))
    finally:
        os.close(old)


def _attributes(descriptor: int) -> list[str]:
    try:
        return os.listxattr(descriptor)
    except OSError as error:
        if error.errno == errno.ENOTSUP:  # a file system without them
            return []
        raise


def _put_new(temporary: str, folder: int, path: SafePath) -> None:
    """Names the new file without ever replacing one that has come up meanwhile."""
    try:
        os.link(temporary, _name(path), src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        raise ChangedOnDisk(path.path) from None
    except OSError as error:
        if error.errno not in {errno.EPERM, errno.ENOTSUP}:
            raise
        # A file system without hard links: it was looked at a moment ago.
        os.replace(temporary, _name(path), src_dir_fd=folder, dst_dir_fd=folder)
    else:
        # The new text is in, so that this is no failure: the name goes before the next write.
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)


def _without_leftovers(folder: int, status: os.stat_result) -> bool:
    """Removes the names that writes of ours have left beside the file's own. True if all but that
    one are gone."""
    left = status.st_nlink
    # A folder that may not be listed or written to stays as it is.
    with contextlib.suppress(PermissionError, FileNotFoundError):
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            names = [name for name in os.listdir(listed) if LEFTOVER.fullmatch(name)]  # noqa: PTH208
        finally:
            os.close(listed)
        for name in names:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if (found.st_dev, found.st_ino) == (status.st_dev, status.st_ino):
                os.unlink(name, dir_fd=folder)
                left -= 1
    return left == 1


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise


def _sync_folder(folder: int) -> None:
    # The new text is in already, so that nothing here makes it a failed write: a folder that may be
    # entered but not listed, a file system that syncs none, a failing disk.
    with contextlib.suppress(OSError):
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _name(path: SafePath) -> str:
    return os.path.basename(path.path)  # noqa: PTH119


@contextlib.contextmanager
def _problems(path: SafePath) -> Generator[None]:
    try:
        yield
    except OSError as error:
        kind = _KINDS.get(error.errno or 0, "failed")
        detail = error.strerror if kind == "failed" else None
        raise FileProblem(kind, path.path, detail) from error
