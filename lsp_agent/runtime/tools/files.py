"""``read``, ``write`` and ``edit`` on the disk.

Synchronous: they run in a thread, and once begun they are finished, so that a result always says
what happened to the file. Raise ToolFailure.
"""

import base64
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from lsp_agent.runtime.tools import outcome
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.runtime.transcript import Block, image_block
from lsp_agent.text.lines import Text
from lsp_agent.toolset.arguments import (
    ToolFailure,
    not_a_directory,
    parse_edit,
    parse_read,
    parse_write,
)
from lsp_agent.toolset.diff_words import edit_result
from lsp_agent.toolset.editing import EDIT_REQUIRED, edit_text, read_directory
from lsp_agent.toolset.reading import NO_SUCH_LINES, image_type, is_directory, read_lines
from lsp_agent.toolset.writing import open_directory

_BOM = b"\xef\xbb\xbf"
#: A sparse file can be larger than the memory.
_MOST_BYTES = 64 << 20
#: No model takes larger ones.
MOST_IMAGE_BYTES = 4 << 20
_FOLDER_MODE = 0o755
_FILE_MODE = 0o644


def read(cwd: str, args: object) -> Outcome:
    given = parse_read(args)
    path = absolute(cwd, given.path)
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError as error:
        raise _failure("stat", path, error) from None
    if stat.S_ISDIR(status.st_mode):
        raise ToolFailure(is_directory(path))
    if not stat.S_ISREG(status.st_mode):
        raise ToolFailure(f"{path} is not a regular file")
    image = image_type(given.path)
    if image is not None:
        return Outcome([_image(path, image, status.st_size)])
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES)
    except OSError as error:
        raise _failure("open", path, error) from None
    shown = read_lines(given.path, data, given.offset, given.limit).text
    if not shown and status.st_size > _MOST_BYTES:
        raise ToolFailure(f"{path}: only the first {_MOST_BYTES >> 20} MiB can be read")
    return outcome.text(shown or (NO_SUCH_LINES if data else ""))


def _image(path: str, mime_type: str, size: int) -> Block:
    """Of one that is too large for any model only the size."""
    if size > MOST_IMAGE_BYTES:
        return {"type": "image", "mime_type": mime_type, "bytes": size}
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise _failure("open", path, error) from None
    return image_block(mime_type, base64.b64encode(data).decode())


def write(cwd: str, args: object) -> Outcome:
    given = parse_write(args)
    path = absolute(cwd, given.path)
    _make_folders(Path(path).parent)
    _replace(path, given.content.encode())
    return outcome.text(given.content)


def edit(cwd: str, args: object) -> Outcome:
    given = parse_edit(args)
    if not given.edits:
        raise ToolFailure(EDIT_REQUIRED)
    path = absolute(cwd, given.path)
    before = _text(_data(path))
    after = edit_text(given.path, before, given.edits)
    bom = _BOM if after.bom else b""
    _replace(path, bom + after.content.encode(errors="surrogateescape"))
    return outcome.text(edit_result(before, after))


def absolute(cwd: str, path: str) -> str:
    """``path`` below ``cwd``, cleaned of ``.`` and ``..``; an absolute one as it stands."""
    if "\0" in path:
        raise ToolFailure(f"open {path}: invalid argument")
    return path if os.path.isabs(path) else os.path.normpath(os.path.join(cwd, path))  # noqa: PTH117, PTH118


def _make_folders(folder: Path) -> None:
    try:
        folder.mkdir(_FOLDER_MODE, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        # A symlink to nothing is in the way as well.
        ways = (one for one in (folder, *folder.parents) if os.path.lexists(one))
        way = next((one for one in ways if not one.is_dir()), folder)
        raise ToolFailure(not_a_directory("mkdir", str(way))) from None
    except OSError as error:
        raise _failure("mkdir", error.filename or str(folder), error) from None


def _data(path: str) -> bytes:
    try:
        if Path(path).is_dir():
            raise ToolFailure(read_directory(path))
        _refuse_special(path)
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise _failure("open", path, error) from None
    if len(data) > _MOST_BYTES:
        raise ToolFailure(f"open {path}: is larger than {_MOST_BYTES >> 20} MiB")
    return data


def _text(data: bytes) -> Text:
    bom = data.startswith(_BOM)
    content = data.removeprefix(_BOM).decode(errors="surrogateescape")
    return Text.of(content, like=Text((), bom=bom))


def _replace(path: str, data: bytes) -> None:
    """Puts ``data`` in the place of the file in one step: a reader sees the old or the new."""
    try:
        target = os.path.realpath(path)
        if Path(target).is_dir():
            raise ToolFailure(open_directory(path))
        _refuse_special(target)
        _write_beside_and_rename(target, data)
    except OSError as error:
        raise _failure("open", path, error) from None


def _write_beside_and_rename(target: str, data: bytes) -> None:
    folder, name = os.path.split(target)
    mode = _mode(target)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, target)  # noqa: PTH105
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def _mode(target: str) -> int:
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)  # noqa: PTH116
    except FileNotFoundError:
        return _FILE_MODE & ~_umask()
    if not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", target)
    return mode


def _umask() -> int:
    """Of this process; only the kernel's own page tells it without changing it for a moment."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022


def _refuse_special(path: str) -> None:
    """Reading a pipe would wait for ever, and renaming onto a device would replace it."""
    with suppress(FileNotFoundError):
        if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
            raise ToolFailure(f"open {path}: not a regular file")


def _failure(operation: str, path: str, error: OSError) -> ToolFailure:
    reason = os.strerror(error.errno).lower() if error.errno else str(error)
    return ToolFailure(f"{operation} {path}: {reason}")
