"""The sessions of a workspace on disk, so that they can be shown and taken up again.

    FOLDER/s-…/about.json       what it is, replaced as a whole
    FOLDER/s-…/messages.jsonl   what was said and done (transcript.py), appended as it comes

Whoever has a session open holds the lock (flock) of its folder and alone writes in it, so that
several servers share FOLDER. One thread does all the work, in the order of the calls. What was
appended is with the operating system: a crash of ours loses what was not, torn lines are skipped.
"""

import asyncio
import fcntl
import json
import logging
import os
import re
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

import anyio

from lsp_agent.protocol.conversations import forget_conversation
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.model import Model
from lsp_agent.protocol.private_files import make_private
from lsp_agent.sessions.transcript import Transcript, replayed
from lsp_agent.text.surrogates import whole

_log = logging.getLogger(__name__)

T = TypeVar("T")

#: How many sessions are kept; the oldest go. Nothing bounds how many are open.
MAX_SESSIONS = 100
#: A session's messages on disk, and those that a slow disk keeps waiting, in bytes; a longer one
#: loses its beginning.
MAX_BYTES = 2 * 1024 * 1024

_ID = re.compile(r"s-[0-9a-f]{12}")
_ABOUT, _MESSAGES = "about.json", "messages.jsonl"
# Who lists the sessions holds each lock for a moment.
_LOCK_TRIES, _LOCK_PAUSE = 10, 0.02


class About(Model):
    """What a session is. ``agent`` is a name of the settings, ``ref`` what that agent can take
    the session up by (``sessionRef``), ``options`` are those that the person chose; times are
    seconds since the epoch."""

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


@dataclass(frozen=True, slots=True)
class Listed:
    about: About
    elsewhere: bool
    """Whether another server has it open."""


class SessionStore:
    """The sessions in ``folder``, which is made when there is one to keep."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._thread = ThreadPoolExecutor(1, "sessions")
        self._closed = False

    def new(self, about: About) -> "Entry":
        """The place of a new session; nothing is written before something is appended."""
        return Entry(self, about, _Place(self._folder / about.id))

    async def take_up(self, session_id: str) -> "Entry":
        """An earlier session's place, which is then this server's alone until it is released.

        :raises RequestFailed: "unknownSession"; "conflict" where another server has it open
        """
        entry = None
        with anyio.CancelScope(shield=True):  # else it might stay locked
            entry = Entry(self, *await self.ask(lambda: self._opened(session_id)))
        assert entry is not None
        return entry

    async def listed(self) -> list[Listed]:
        """All, newest first; also those that this server has open, as ``elsewhere``."""
        try:
            return await self.ask(self._listed)
        except OSError as error:
            _log.warning("the stored sessions cannot be listed: %s", error)
            return []

    async def transcript(self, session_id: str) -> tuple[About, Transcript]:
        """:raises RequestFailed: "unknownSession\""""

        def read() -> tuple[About, Transcript]:
            path = self._path(session_id)
            with _readable(session_id):
                return _about_of(path), _transcript_of(path)

        return await self.ask(read)

    async def rename(self, session_id: str, title: str) -> None:
        """:raises RequestFailed: as ``take_up`` does"""

        def rename() -> None:
            about, place = self._opened(session_id)
            try:
                place.describe(about.model_copy(update={"title": title}))
            finally:
                place.close()

        await self.ask(rename)

    async def delete(self, session_id: str) -> None:
        """:raises RequestFailed: as ``take_up`` does"""

        def delete() -> None:
            about, place = self._opened(session_id)
            try:
                shutil.rmtree(place.path)
                forget_conversation(about.ref)
            finally:
                place.close()

        await self.ask(delete)

    async def close(self) -> None:
        """When all that was asked for is done."""
        self._closed = True
        await asyncio.to_thread(self._thread.shutdown)

    # -- for the entries

    def later(self, job: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                job()
            except OSError as error:
                _log.warning("a session could not be stored: %s", error)

        if not self._closed:
            self._thread.submit(guarded)

    async def ask(self, job: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._thread.submit(job))

    def make(self, place: "_Place", about: About) -> None:
        """Lays out the folder of a new session, in the place of the oldest if there are many."""
        make_private(self._folder)
        known = sorted(self._folder.iterdir(), key=_age)
        too_many = len(known) + 1 - MAX_SESSIONS
        for path in known if too_many > 0 else ():
            with suppress(OSError), closing(_Place(path)) as old:  # one that is open stays
                old.open()
                with suppress(RequestFailed):
                    forget_conversation(_about_of(path).ref)
                shutil.rmtree(path)
                too_many -= 1
            if too_many <= 0:
                break
        place.path.mkdir(mode=0o700, exist_ok=True)  # an earlier try may have failed half-way
        place.open()
        place.describe(about)

    # -- in the thread

    def _opened(self, session_id: str) -> "tuple[About, _Place]":
        place = _Place(self._path(session_id))
        try:
            with _readable(session_id):
                place.open()
        except BlockingIOError:
            raise RequestFailed(
                "conflict",
                "That session is open in another window or editor; close it there first.",
                {"sessionId": session_id},
            ) from None
        try:
            return _about_of(place.path), place
        except RequestFailed:
            place.close()
            raise

    def _listed(self) -> list[Listed]:
        if not self._folder.is_dir():
            return []
        found: list[Listed] = []
        for path in self._folder.iterdir():
            with suppress(RequestFailed, OSError):  # it may be deleted meanwhile
                found.append(Listed(_about_of(path), _is_held(path)))
        return sorted(found, key=lambda listed: listed.about.updated, reverse=True)

    def _path(self, session_id: str) -> Path:
        if not _ID.fullmatch(session_id):
            raise _unknown(session_id)
        return self._folder / session_id


class Entry:
    """One session's place, this server's alone. All but ``transcript`` return at once."""

    def __init__(self, store: SessionStore, about: About, place: "_Place") -> None:
        self.about = about
        self._store = store
        self._place = place
        # Lines for the store's thread, shared with it, and whether older ones were left out.
        self._waiting: deque[bytes] = deque()
        self._waiting_size = 0
        self._cut = False
        self._lock = threading.Lock()

    def append(self, line: Mapping[str, object]) -> None:
        """One of transcript.py's lines."""
        data = whole(json.dumps(line, ensure_ascii=False)).encode() + b"\n"
        with self._lock:
            is_first = not self._waiting
            self._waiting.append(data)
            self._waiting_size += len(data)
            while self._waiting_size > MAX_BYTES and len(self._waiting) > 1:
                self._waiting_size -= len(self._waiting.popleft())
                self._cut = True
        if is_first:
            self._store.later(self._write)

    def change(self, **changes: object) -> None:
        """Fields of ``about``."""
        about = self.about = self.about.model_copy(update=changes)

        def write() -> None:
            if self._place.is_open:
                self._place.describe(about)

        self._store.later(write)

    async def transcript(self) -> Transcript:
        return await self._store.ask(lambda: _transcript_of(self._place.path))

    def release(self) -> None:
        """Others may have it; to be called last."""
        self._store.later(self._place.close)

    def _write(self) -> None:
        with self._lock:
            data, cut = b"".join(self._waiting), self._cut
            self._waiting.clear()
            self._waiting_size, self._cut = 0, False
        if not self._place.is_open:
            self._store.make(self._place, self.about)
        if cut:
            self._place.begin_anew(b"")
        self._place.append(data)


class _Place:
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
        _replace(self.path / _MESSAGES, b'{"cut": true}\n' + kept)
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
        begins = (n for n, line in enumerate(lines) if b'"role": "user"' in line)
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


def _is_held(path: Path) -> bool:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def _about_of(path: Path) -> About:
    try:
        about = About.model_validate(json.loads((path / _ABOUT).read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        _log.debug("%s is no session: %s", path, error)
        raise _unknown(path.name) from None
    if about.id != path.name:
        raise _unknown(path.name)
    return about


def _transcript_of(path: Path) -> Transcript:
    try:
        with (path / _MESSAGES).open("rb") as lines:
            return replayed(lines)
    except FileNotFoundError:
        return Transcript([])


@contextmanager
def _readable(session_id: str) -> Generator[None]:
    """:raises RequestFailed: "unknownSession" for what is gone, or cannot be read"""
    try:
        yield
    except FileNotFoundError:
        raise _unknown(session_id) from None
    except BlockingIOError:
        raise
    except OSError as error:
        message = f"The session {session_id!r} cannot be taken up from disk: {error}."
        raise RequestFailed("unknownSession", message) from None


def _age(path: Path) -> float:
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


def _unknown(session_id: str) -> RequestFailed:
    return RequestFailed("unknownSession", f"There is no session {session_id!r}.")
