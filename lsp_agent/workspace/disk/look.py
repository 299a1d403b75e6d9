"""What the disk holds at some paths, and what has changed there since it was looked at before.

Blocking; call it in a thread. A file that has not changed costs one ``lstat``.
"""

import itertools
import math
import os
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from lsp_agent.text.lines import Text
from lsp_agent.workspace.disk.files import FileProblem, NotText, decode, read_bytes
from lsp_agent.workspace.disk.paths import OutsideWorkspace, from_ledger

#: A file written less than this ago, in seconds, could be written again and keep its stamp.
_SETTLED_SECONDS = 2.0
_MAX_ENTRIES = 20_000
_NO_FILE = frozenset({"missing", "notDirectory", "directory", "special"})

FileId = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What is there is no text that we could keep; ``reason`` is a clause. ``digest`` tells it from
    another, where its bytes could be read. ``binary``: no text at all, in whatever encoding."""

    reason: str
    digest: str = ""
    binary: bool = False


Content = Text | Unreadable | None
"""None where there is no file."""


@dataclass(frozen=True, slots=True)
class Seen:
    """``stamp`` tells the file from a changed one, None if it cannot be trusted to. ``file_id``
    (device, inode) stays with a file that is renamed. ``written``: when, in seconds of the wall
    clock; ``arrived``: since when it is there, which is later of what was written elsewhere and
    moved, or was given back its old time."""

    content: Content
    stamp: tuple[int, ...] | None = None
    file_id: FileId | None = None
    written: float = -math.inf
    arrived: float = -math.inf


def look(paths: Iterable[str], known: Mapping[str, Seen]) -> dict[str, Seen]:
    """What is there now; of a path whose stamp is as ``known`` says, that."""
    return {path: _look(path, known.get(path)) for path in paths}


def moves(
    gone: Mapping[str, FileId], named: Collection[str]
) -> tuple[dict[str, str], dict[str, Seen]]:
    """Where the files went that were at the paths of ``gone``: (new path by old, what is there).

    Looked for in the same folder and where the ``named`` paths point: themselves, in a folder,
    or where a folder on the way went. A file that only took over the number is one of them.
    """
    moved = {old: new for old, file_id in gone.items() if (new := _moved(old, file_id, named))}
    return moved, look(moved.values(), {})


def _moved(path: str, file_id: FileId, named: Collection[str]) -> str | None:
    for candidate in itertools.chain(_same_folder(path, file_id), _pointed_at(path, named)):
        if candidate != path and _file_id(candidate) == file_id:
            return candidate
    return None


def _look(path: str, known: Seen | None) -> Seen:
    try:
        status = os.lstat(path)
    except OSError:
        return Seen(None)
    stamp = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    if known is not None and known.stamp == stamp:
        return known
    content = _content(path)
    if known is not None and content == known.content:
        content = known.content  # one text in memory, not two
    arrived = max(status.st_mtime, status.st_ctime)
    settled = time.time() - arrived >= _SETTLED_SECONDS
    # Of a file with several names the others were there before: it did not move to one of them.
    file_id = (status.st_dev, status.st_ino) if status.st_nlink == 1 else None
    return Seen(content, stamp if settled else None, file_id, status.st_mtime, arrived)


def _content(path: str) -> Content:
    try:
        data = read_bytes(from_ledger(path))
    except FileProblem as problem:
        return None if problem.kind in _NO_FILE else Unreadable(str(problem))
    except OutsideWorkspace as error:
        return Unreadable(error.rule)
    try:
        return decode(data)
    except NotText as error:
        return Unreadable(f"it {error.reason}", sha256(data).hexdigest(), b"\0" in data)


def _same_folder(path: str, file_id: FileId) -> Iterable[str]:
    try:
        with os.scandir(os.path.dirname(path)) as entries:  # noqa: PTH120
            for entry in itertools.islice(entries, _MAX_ENTRIES):
                if entry.inode() == file_id[1]:
                    yield entry.path
    except OSError:
        return


def _pointed_at(path: str, named: Collection[str]) -> Iterable[str]:
    moved = [name for name in named if path == name or path.startswith(name + os.sep)]
    for target in named:
        yield target
        for name in moved:
            rest = path[len(name) :]
            yield target + rest
            yield os.path.join(target, os.path.basename(name)) + rest  # noqa: PTH118, PTH119


def _file_id(path: str) -> FileId | None:
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino
