"""One session's folder on disk: who holds it, what it says of the session, its messages."""

import fcntl
import json
import logging
import os
import re
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.wire_model import Model
from lsp_agent.sessions.stored.transcript import Transcript, replayed

_log = logging.getLogger(__name__)

#: Of a session's messages on disk, or of those that a slow disk keeps waiting; a longer one loses
#: its beginning.
MAX_BYTES = 2 * 1024 * 1024

_BEGINS = re.compile(rb'\{"turn": |\{"message": \{"role": "user"')

_ABOUT, _MESSAGES = "about.json", "messages.jsonl"
# Who lists the sessions holds each lock for a moment.
_LOCK_TRIES, _LOCK_PAUSE = 10, 0.02


class About(Model):
    """What a session is. ``agent`` is a name of the settings, ``ref`` what that agent can take
    the session up by (``sessionRef``), ``options`` are those that the person chose; times are
    seconds since the epoch. ``document`` is the real path of the one that went on with it."""

    format: Literal[1] = 1
    id: str
    folder: str
    agent: str
    model: str | None = None
    title: str | None = None
    created: float
    updated: float
    ref: str | None = None
    options: dict[str, str] | None = None
    document: str | None = None


class Place:
    """A session's folder; used in the store's thread alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = self._file = -1
        self._size = 0

    @property
    def is_open(self) -> bool:
        return self._lock >= 0

    def open(self) -> None:
        """:raises FileNotFoundError, BlockingIOError: it is not there; another holds it"""
        lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            _flock(lock)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            self._file = os.open(self.path / _MESSAGES, flags, 0o600)
        except OSError:
            os.close(lock)
            raise
        self._lock = lock
        try:
            self._size = os.fstat(self._file).st_size
            if self._size and os.pread(self._file, 1, self._size - 1) != b"\n":
                self._write(b"\n")  # a crash left half a line
        except OSError:
            self.close()
            raise

    def append(self, data: bytes) -> None:
        self._write(data)
        if self._size > MAX_BYTES:
            self._drop_beginning()

    def begin_anew(self, kept: bytes) -> None:
        """With ``kept``, the end of what was there."""
        self.replace(b'{"cut": true}\n' + kept)

    def replace(self, data: bytes) -> None:
        """All messages."""
        _replace(self.path / _MESSAGES, data)
        os.close(self._file)
        self._file = os.open(self.path / _MESSAGES, os.O_RDWR | os.O_APPEND)
        self._size = os.fstat(self._file).st_size

    def describe(self, about: About) -> None:
        # Not by pydantic: a folder's name may be no UTF-8, and its JSON would refuse it.
        _replace(self.path / _ABOUT, json.dumps(about.model_dump(exclude_none=True)).encode())

    def close(self) -> None:
        if self.is_open:
            os.close(self._file)
            os.close(self._lock)
            self._lock = self._file = -1

    def _write(self, data: bytes) -> None:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._file, view) :]
        except OSError:
            os.ftruncate(self._file, self._size)  # half a line would spoil the next one
            raise
        self._size += len(data)

    def _drop_beginning(self) -> None:
        """Leaves the newer half, from the beginning of a turn on where one begins in it."""
        lines = (
            (self.path / _MESSAGES).read_bytes()[-MAX_BYTES // 2 :].splitlines(keepends=True)[1:]
        )
        begins = (n for n, line in enumerate(lines) if _BEGINS.match(line))
        self.begin_anew(b"".join(lines[next(begins, 0) :]))


def _flock(lock: int) -> None:
    for tries in range(_LOCK_TRIES):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if tries == _LOCK_TRIES - 1:
                raise
            time.sleep(_LOCK_PAUSE)
        else:
            return


def is_held(path: Path) -> bool:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def about_of(path: Path) -> About:
    try:
        about = About.model_validate(json.loads((path / _ABOUT).read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        _log.debug("%s is no session: %s", path, error)
        raise unknown(path.name) from None
    if about.id != path.name:
        raise unknown(path.name)
    return about


def lines_of(path: Path) -> list[bytes]:
    """Of its messages' file, with their ends."""
    try:
        return (path / _MESSAGES).read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []


def transcript_of(path: Path) -> Transcript:
    try:
        with (path / _MESSAGES).open("rb") as lines:
            return replayed(lines)
    except FileNotFoundError:
        return Transcript([])


@contextmanager
def readable(session_id: str) -> Generator[None]:
    """:raises RequestFailed: "unknownSession" for what is gone, or cannot be read"""
    try:
        yield
    except FileNotFoundError:
        raise unknown(session_id) from None
    except BlockingIOError:
        raise
    except OSError as error:
        message = f"The session {session_id!r} cannot be taken up from disk: {error}."
        raise RequestFailed("unknownSession", message) from None


def age(path: Path) -> float:
    try:
        return (path / _ABOUT).stat().st_mtime
    except OSError:
        return 0.0  # nothing that could be taken up


def _replace(path: Path, data: bytes) -> None:
    fresh = path.with_suffix(".new")
    file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(file, "wb") as opened:
        opened.write(data)
    fresh.replace(path)


def unknown(session_id: str) -> RequestFailed:
    return RequestFailed("unknownSession", f"There is no session {session_id!r}.")
