"""The sessions of a workspace on disk, so that they can be shown and taken up again.

    FOLDER/s-…/about.json       what it is, replaced as a whole
    FOLDER/s-…/messages.jsonl   what was said and done (transcript.py), appended as it comes

Whoever has a session open holds the lock (flock) of its folder and alone writes in it, so that
several servers share FOLDER. One thread does all the work, in the order of the calls. What was
appended is with the operating system: a crash of ours loses what was not, torn lines are skipped.
"""

import asyncio
import json
import logging
import re
import shutil
import threading
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import anyio

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.sessions.stored.place import (
    MAX_BYTES,
    About,
    Place,
    about_of,
    age,
    is_held,
    lines_of,
    readable,
    transcript_of,
    unknown,
)
from lsp_agent.sessions.stored.transcript import Transcript
from lsp_agent.text.surrogates import whole
from lsp_agent.user_data.conversations import forget_conversation
from lsp_agent.user_data.private_files import make_private

_log = logging.getLogger(__name__)

T = TypeVar("T")

#: How many sessions are kept; the oldest go. Nothing bounds how many are open.
MAX_SESSIONS = 100

_ID = re.compile(r"s-[0-9a-f]{12}")


def new_id() -> str:
    """Of a session."""
    return f"s-{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True, slots=True)
class Listed:
    about: About
    elsewhere: bool
    """Whether another server has it open."""


class SessionStore:
    """The sessions in ``folder``, which is made when there is one to keep. ``as_kept`` is what may
    be kept of a text or of a line of JSON; it is called in the store's thread."""

    def __init__(self, folder: str, as_kept: Callable[[str], str]) -> None:
        self._folder = Path(folder)
        self.as_kept = as_kept
        self._thread = ThreadPoolExecutor(1, "sessions")
        self._closed = False

    def new(self, about: About) -> "Entry":
        """The place of a new session; nothing is written before something is appended."""
        return Entry(self, about, Place(self._folder / about.id))

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
            with readable(session_id):
                return about_of(path), transcript_of(path)

        return await self.ask(read)

    async def lines(self, session_id: str) -> tuple[About, list[bytes]]:
        """:raises RequestFailed: "unknownSession\""""

        def read() -> tuple[About, list[bytes]]:
            path = self._path(session_id)
            with readable(session_id):
                return about_of(path), lines_of(path)

        return await self.ask(read)

    async def begin(self, about: About, lines: Sequence[bytes]) -> "Entry":
        """A new session that goes on from ``lines``, which were kept of another one."""
        place = Place(self._folder / about.id)

        def lay_out() -> None:
            self.make(place, about)
            place.append(b"".join(lines))

        with anyio.CancelScope(shield=True):  # else it might stay locked
            await self.ask(lay_out)
        return Entry(self, about, place)

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

    def make(self, place: Place, about: About) -> None:
        """Lays out the folder of a new session, in the place of the oldest if there are many."""
        make_private(self._folder)
        known = sorted(self._folder.iterdir(), key=age)
        too_many = len(known) + 1 - MAX_SESSIONS
        for path in known if too_many > 0 else ():
            with suppress(OSError), closing(Place(path)) as old:  # one that is open stays
                old.open()
                with suppress(RequestFailed):
                    forget_conversation(about_of(path).ref)
                shutil.rmtree(path)
                too_many -= 1
            if too_many <= 0:
                break
        place.path.mkdir(mode=0o700, exist_ok=True)  # an earlier try may have failed half-way
        place.open()
        self.describe(place, about)

    def describe(self, place: Place, about: About) -> None:
        title = about.title and self.as_kept(about.title)
        place.describe(about.model_copy(update={"title": title}))

    # -- in the thread

    def _opened(self, session_id: str) -> tuple[About, Place]:
        place = Place(self._path(session_id))
        try:
            with readable(session_id):
                place.open()
        except BlockingIOError:
            raise RequestFailed(
                "conflict",
                "That session is open in another window or editor; close it there first.",
                {"sessionId": session_id},
            ) from None
        try:
            return about_of(place.path), place
        except RequestFailed:
            place.close()
            raise

    def _listed(self) -> list[Listed]:
        if not self._folder.is_dir():
            return []
        found: list[Listed] = []
        for path in self._folder.iterdir():
            with suppress(RequestFailed, OSError):  # it may be deleted meanwhile
                found.append(Listed(about_of(path), is_held(path)))
        return sorted(found, key=lambda listed: listed.about.updated, reverse=True)

    def _path(self, session_id: str) -> Path:
        if not _ID.fullmatch(session_id):
            raise unknown(session_id)
        return self._folder / session_id


class Entry:
    """One session's place, this server's alone. All that is no coroutine returns at once."""

    def __init__(self, store: SessionStore, about: About, place: Place) -> None:
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
                self._store.describe(self._place, about)

        self._store.later(write)

    async def transcript(self) -> Transcript:
        return await self._store.ask(lambda: transcript_of(self._place.path))

    async def lines(self) -> list[bytes]:
        return await self._store.ask(lambda: lines_of(self._place.path))

    async def go_back(self, kept: Sequence[bytes], left: About) -> None:
        """Leaves nothing but ``kept``, and all that there was in a session ``left``, with the
        agent's own.

        :raises RequestFailed: "unknownSession" where it is closed meanwhile; "conflict" where it
            cannot be written: then nothing is changed
        """

        mine = self.about.model_copy(update={"ref": None})

        def go_back() -> None:
            if not self._place.is_open:
                raise unknown(self.about.id)
            other = Place(self._place.path.with_name(left.id))
            try:
                self._store.make(other, left)
                other.append(b"".join(lines_of(self._place.path)))
                self._store.describe(self._place, mine)
                self._place.replace(b"".join(kept))
            except OSError as error:
                shutil.rmtree(other.path, ignore_errors=True)
                why = f"What would be left cannot be stored, so all stays as it is: {error}."
                raise RequestFailed("conflict", why) from None
            finally:
                other.close()

        await self._store.ask(go_back)
        self.about = mine

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
        self._place.append(self._store.as_kept(data.decode()).encode())
