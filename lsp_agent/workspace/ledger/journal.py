"""The ledger's files: a JSONL journal and content-addressed texts, written by one thread.

    FOLDER/lock            held (flock) by the server that owns the folder
    FOLDER/journal.jsonl   one object a line; records.py has their forms
    FOLDER/texts/ab/abc…   a text in UTF-8, named by its SHA-256

"Durable" is: handed to the operating system, so that a crash of ours loses nothing.
"""

import errno
import fcntl
import hashlib
import json
import logging
import os
import queue
import shutil
import stat
import threading
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.lines import Text
from lsp_agent.user_data.private_files import make_private
from lsp_agent.workspace.ledger.records import (
    ChangeStatus,
    Contents,
    Line,
    Record,
    ReviewEntry,
    ReviewRecord,
    TextRef,
    change_line,
    replayed,
    review_line,
)

_log = logging.getLogger(__name__)

T = TypeVar("T")

Texts = tuple[Text | None, Text | None]
"""Before and after a change; None where there was, or is, no file."""

# The journal is written anew once what was appended to it since is larger than this, in bytes.
_REWRITE_BYTES = 4 * 1024 * 1024
# An edit often begins with the text that the last one ended with, and a review has both.
_KEPT_LAST = 4


class Journal:
    """Owns its folder until ``close``. All methods but ``recover`` and ``close`` return at once;
    what they ask for is done in the order of the calls."""

    def __init__(self, folder: str) -> None:
        self._lock, self._folder = _own(Path(folder))
        self._texts = self._folder / "texts"
        self._texts.mkdir(mode=0o700, exist_ok=True)
        self._path = self._folder / "journal.jsonl"
        # What the journal says now. Read and written by the writer thread alone.
        self._contents = Contents()
        self._uses: Counter[str] = Counter()
        self._last_kept: deque[TextRef] = deque(maxlen=_KEPT_LAST)
        # Of what is kept, by its SHA-256, what somebody has in memory.
        self._held: WeakValueDictionary[str, Text] = WeakValueDictionary()
        self._appended = 0
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._closed = False

    @property
    def folder(self) -> str:
        return str(self._folder)

    def recover(
        self, wanted: Collection[ChangeStatus]
    ) -> tuple[list[tuple[Record, Texts | None]], dict[str, ReviewEntry], list[Record]]:
        """What earlier runs left: the changes, with their texts where their status is among
        ``wanted``, the reviews by path, and the changes that are left out because a text of
        theirs is gone or damaged. The journal is rewritten to hold just the first two. Call it
        once, first; the writer then starts."""
        found: list[tuple[Record, Texts | None]] = []
        lost: list[Record] = []
        with self._path.open("rb") as lines:
            contents = replayed(lines)
        for record in contents.changes.values():
            try:
                for ref in record.texts:
                    self._require_kept(ref)
                texts = self._load_both(record) if record.status in wanted else None
            except OSError as error:
                _log.warning("a text of change %s of %s: %s", record.id, record.path, error)
                lost.append(record)
            else:
                found.append((record, texts))
        changes = {record.id: record for record, _ in found}
        self._contents = Contents(changes, contents.reviews)
        for entry in (*changes.values(), *contents.reviews.values()):
            self._uses.update(ref.sha256 for ref in entry.texts)
        self._rewrite()
        for path in self._texts.glob("*/*"):
            if path.name not in self._uses:
                _remove(path)
        self._thread.start()
        return found, dict(contents.reviews), lost

    def add(self, record: Record, before: Text | None, after: Text | None) -> Future[int]:
        """Writes a change with its texts, in place of an earlier line of the same id. The result
        is the size of its texts in bytes; OSError if it could not be written."""

        def write() -> int:
            full = replace(record, before=self._keep(before), after=self._keep(after))
            self._append(change_line(full))
            self._uses.update(ref.sha256 for ref in full.texts)
            self._forget(self._contents.changes.pop(record.id, None))
            self._contents.changes[record.id] = full
            return full.size

        return self._asked(write)

    def load(self, change_id: str) -> Future[Texts]:
        """The texts of a change. KeyError if it is not known; OSError if one is gone or
        damaged."""
        return self._asked(lambda: self._load_both(self._contents.changes[change_id]))

    def status(self, change_id: str, status: ChangeStatus) -> None:
        self._update(
            {"id": change_id, "status": status},
            [change_id],
            lambda record: replace(record, status=status),
        )

    def decide(self, change_id: str, hunks: Mapping[int, EditStatus]) -> None:
        """``hunks`` are the new decisions alone."""
        self._update(
            {"id": change_id, "hunks": hunks},
            [change_id],
            lambda record: replace(record, hunks={**record.hunks, **hunks}),
        )

    def on_disk(self, change_ids: list[str]) -> None:
        self._update(
            {"on_disk": change_ids}, change_ids, lambda record: replace(record, on_disk=True)
        )

    def drop(self, change_id: str) -> None:
        """Forgets a change and those of its texts that nothing else uses."""

        def write() -> None:
            if change_id in self._contents.changes:
                self._append({"id": change_id, "dropped": True})
                self._forget(self._contents.changes.pop(change_id))

        self._later(write)

    def review(self, path: str, review: ReviewRecord | None) -> None:
        """Writes the review of ``path`` with its texts, or that it has none any more; the texts
        of the last one are forgotten where nothing else uses them."""

        def write() -> None:
            reviews = self._contents.reviews
            if review is None:
                if path in reviews:
                    self._append(review_line(path, None))
                    self._forget(reviews.pop(path))
                return
            entry = self._put_review(review)
            self._append(review_line(path, entry))
            self._uses.update(ref.sha256 for ref in entry.texts)
            self._forget(reviews.pop(path, None))
            reviews[path] = entry

        self._later(write)

    def load_review(self, path: str) -> Future[ReviewRecord | None]:
        """OSError if a text is gone or damaged."""

        def read() -> ReviewRecord | None:
            entry = self._contents.reviews.get(path)
            if entry is None:
                return None
            return self._load_review(entry)

        return self._asked(read)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            self._thread.join()
            os.close(self._file)
            os.close(self._lock)

    def _update(
        self, line: Line, change_ids: Iterable[str], updated: Callable[[Record], Record]
    ) -> None:
        def write() -> None:
            self._append(line)
            changes = self._contents.changes
            for change_id in change_ids:
                if change_id in changes:
                    changes[change_id] = updated(changes[change_id])

        self._later(write)

    def _asked(self, job: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(job())
            except Exception as error:  # noqa: BLE001 - raised again where it is waited for
                future.set_exception(error)

        self._jobs.put(run)
        return future

    def _later(self, job: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                job()
            except OSError:
                _log.exception("the ledger could not be written: %s", self._path)

        self._jobs.put(guarded)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            del job  # it holds whole texts, and the next one may be long in coming

    def _append(self, line: Line) -> None:
        if self._appended > _REWRITE_BYTES:
            self._rewrite_if_possible()
        data = _encoded(line)
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            _write_all(self._file, data)
        except OSError:
            os.ftruncate(self._file, end)  # half a line would spoil the next one
            raise
        self._appended += len(data)

    def _rewrite_if_possible(self) -> None:
        self._appended = 0
        try:
            self._rewrite()
        except OSError as error:
            _log.warning("%s could not be made shorter: %s", self._path, error.strerror)

    def _rewrite(self) -> None:
        """Leaves only what lives."""
        fresh = self._path.with_suffix(".new")
        file = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            for record in self._contents.changes.values():
                _write_all(file, _encoded(change_line(record)))
            for path, entry in self._contents.reviews.items():
                _write_all(file, _encoded(review_line(path, entry)))
            fresh.replace(self._path)
        except OSError:
            os.close(file)
            raise
        os.close(self._file)
        self._file = file

    def _keep(self, text: Text | None) -> TextRef | None:
        return None if text is None else self._put(text)

    def _put(self, text: Text) -> TextRef:
        for ref in self._last_kept:
            last = self._held.get(ref.sha256)
            if last is not None and self._uses[ref.sha256] and text == last:
                self._held[ref.sha256] = text  # it may well be held for longer
                if (ref.encoding, ref.bom) == (text.encoding, text.bom):
                    return ref
                return replace(ref, encoding=text.encoding, bom=text.bom)
        data = "".join(text.lines).encode("utf-8", "surrogatepass")
        ref = TextRef(hashlib.sha256(data).hexdigest(), len(data), text.encoding, text.bom)
        path = self._text_path(ref.sha256)
        if not _is_kept(path, len(data)):
            path.parent.mkdir(mode=0o700, exist_ok=True)
            fresh = path.with_suffix(".new")
            file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                _write_all(file, data)
            finally:
                os.close(file)
            fresh.replace(path)
        self._last_kept.append(ref)
        self._held[ref.sha256] = text
        return ref

    def _load_both(self, record: Record) -> Texts:
        before, after = record.before, record.after
        return before and self._load(before), after and self._load(after)

    def _load(self, ref: TextRef) -> Text:
        held = self._held.get(ref.sha256)
        if held is None:
            content = _read(self._text_path(ref.sha256), ref).decode("utf-8", "surrogatepass")
            held = self._held[ref.sha256] = Text.of(content, Text((), ref.encoding, bom=ref.bom))
        if (held.encoding, held.bom) == (ref.encoding, ref.bom):
            return held
        return Text(held.lines, ref.encoding, bom=ref.bom)

    def _put_review(self, review: ReviewRecord) -> ReviewEntry:
        base, text = self._put(review.base), self._put(review.text)
        beside = self._put_review(review.beside) if review.beside else None
        return ReviewEntry(base, text, review.base_exists, review.hunks, beside, review.traces)

    def _load_review(self, entry: ReviewEntry) -> ReviewRecord:
        base, text = self._load(entry.base), self._load(entry.text)
        beside = self._load_review(entry.beside) if entry.beside else None
        return ReviewRecord(base, text, entry.base_exists, entry.hunks, beside, entry.traces)

    def _require_kept(self, ref: TextRef) -> None:
        """Raises OSError where the text is gone or cut short; it is not read for that."""
        path = self._text_path(ref.sha256)
        if not _is_kept(path, ref.size):
            raise _damaged(path)

    def _forget(self, entry: Record | ReviewEntry | None) -> None:
        for ref in entry.texts if entry else ():
            self._uses[ref.sha256] -= 1
            if self._uses[ref.sha256] <= 0:
                del self._uses[ref.sha256]
                _remove(self._text_path(ref.sha256))

    def _text_path(self, sha256: str) -> Path:
        return self._texts / sha256[:2] / sha256


def _own(folder: Path) -> tuple[int, Path]:
    """The lock of ``folder``, or of the first of its neighbours that nobody holds."""
    own, number = folder, 1
    while True:
        make_private(own)
        lock = os.open(own / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            number += 1
            own = folder.with_name(f"{folder.name}-{number}")
        else:
            return lock, own


def _is_kept(path: Path, size: int) -> bool:
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size == size


def _read(path: Path, ref: TextRef) -> bytes:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != ref.sha256:
        raise _damaged(path)
    return data


def _damaged(path: Path) -> OSError:
    return OSError(errno.EIO, "the text is gone or damaged", str(path))


def _remove(path: Path) -> None:
    """What nothing uses; it does no harm where it stays."""
    try:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        _log.warning("%s stays: %s", path, error)


def _encoded(line: Line) -> bytes:
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
