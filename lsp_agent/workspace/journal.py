"""The ledger's files: a JSONL journal and content-addressed texts, written by one thread.

    FOLDER/lock            held (flock) by the server that owns the folder
    FOLDER/journal.jsonl   one object a line: a change, its new status, or that it is dropped
    FOLDER/texts/ab/abc…   a text in UTF-8, named by its SHA-256

"Durable" is: handed to the operating system, so that a crash of ours loses nothing.
"""

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import queue
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lsp_agent.text.lines import Text

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TextRef:
    """Where a text is kept; ``size`` in bytes."""

    sha256: str
    size: int
    encoding: str
    bom: bool


@dataclass(frozen=True, slots=True)
class Record:
    """A change as its line in the journal has it."""

    id: str
    session_id: str
    turn_id: str | None
    tool_call_id: str | None
    path: str
    status: str
    time: float
    before: TextRef | None
    after: TextRef | None

    @property
    def texts(self) -> list[TextRef]:
        return [ref for ref in (self.before, self.after) if ref is not None]


class Journal:
    """Owns its folder until ``close``. All methods but ``recover`` and ``close`` return at once;
    what they ask for is done in the order of the calls."""

    def __init__(self, folder: str) -> None:
        self._lock, self._folder = _own(Path(folder))
        self._texts = self._folder / "texts"
        self._texts.mkdir(mode=0o700, exist_ok=True)
        self._path = self._folder / "journal.jsonl"
        # By id: what the journal says now. Read and written by the writer thread alone.
        self._records: dict[str, Record] = {}
        # An edit often begins with the text that the last one ended with.
        self._last_kept: tuple[Text, TextRef] | None = None
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="ledger", daemon=True)
        self._uses: Counter[str] = Counter()
        self._closed = False

    @property
    def folder(self) -> str:
        return str(self._folder)

    def recover(self, finished: Collection[str]) -> list[tuple[Record, Text | None, Text | None]]:
        """What earlier runs left, without changes whose status is among ``finished``; the
        journal is rewritten to hold just that. Call it once, first; the writer then starts."""
        found: list[tuple[Record, Text | None, Text | None]] = []
        for record in _replayed(self._path.read_bytes()).values():
            if record.status in finished:
                continue
            try:
                found.append((record, self._load(record.before), self._load(record.after)))
            except (OSError, UnicodeDecodeError) as error:
                _log.warning("the text of change %s is gone: %s", record.id, error)
        self._records = {record.id: record for record, _, _ in found}
        self._uses.update(ref.sha256 for r in self._records.values() for ref in r.texts)
        self._rewrite()
        self._thread.start()
        return found

    def add(self, record: Record, before: Text | None, after: Text | None) -> Future[int]:
        """Writes a change with its texts, in place of an earlier line of the same id. The result
        is the size of its texts in bytes; OSError if it could not be written."""
        future: Future[int] = Future()

        def write() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                full = replace(record, before=self._keep(before), after=self._keep(after))
                self._append(asdict(full))
                self._uses.update(ref.sha256 for ref in full.texts)
                self._forget(record.id)
                self._records[record.id] = full
                future.set_result(sum(ref.size for ref in full.texts))
            except OSError as error:
                future.set_exception(error)

        self._jobs.put(write)
        return future

    def status(self, change_id: str, status: str) -> None:
        self._later(lambda: self._append({"id": change_id, "status": status}))

    def drop(self, change_id: str) -> None:
        """Forgets a change and those of its texts that no other one uses."""

        def write() -> None:
            if change_id in self._records:
                self._append({"id": change_id, "dropped": True})
                self._forget(change_id)

        self._later(write)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._jobs.put(None)
            self._thread.join()
            os.close(self._file)
            os.close(self._lock)

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

    def _append(self, value: dict[str, Any]) -> None:
        data = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            _write_all(self._file, data)
        except OSError:
            os.ftruncate(self._file, end)  # half a line would spoil the next one
            raise

    def _rewrite(self) -> None:
        """Leaves only what lives: the journal's lines, then the texts that they name."""
        fresh = self._path.with_suffix(".new")
        file = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        for record in self._records.values():
            _write_all(file, json.dumps(asdict(record), separators=(",", ":")).encode() + b"\n")
        fresh.replace(self._path)
        os.close(self._file)
        self._file = file
        for path in self._texts.glob("*/*"):
            if path.name not in self._uses:
                path.unlink()

    def _keep(self, text: Text | None) -> TextRef | None:
        if text is None:
            return None
        if self._last_kept is not None:
            last, ref = self._last_kept
            alike = (last.encoding, last.bom) == (text.encoding, text.bom)
            if alike and self._uses[ref.sha256] and text == last:
                return ref
        data = text.content.encode("utf-8", "surrogatepass")
        ref = TextRef(hashlib.sha256(data).hexdigest(), len(data), text.encoding, text.bom)
        path = self._text_path(ref.sha256)
        if not path.exists():
            path.parent.mkdir(mode=0o700, exist_ok=True)
            fresh = path.with_suffix(".new")
            file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                _write_all(file, data)
            finally:
                os.close(file)
            fresh.replace(path)
        self._last_kept = text, ref
        return ref

    def _load(self, ref: TextRef | None) -> Text | None:
        if ref is None:
            return None
        content = self._text_path(ref.sha256).read_bytes().decode("utf-8", "surrogatepass")
        return Text.of(content, Text((), ref.encoding, bom=ref.bom))

    def _forget(self, change_id: str) -> None:
        record = self._records.pop(change_id, None)
        for ref in record.texts if record else ():
            self._uses[ref.sha256] -= 1
            if self._uses[ref.sha256] <= 0:
                del self._uses[ref.sha256]
                self._text_path(ref.sha256).unlink(missing_ok=True)

    def _text_path(self, sha256: str) -> Path:
        return self._texts / sha256[:2] / sha256


def _own(folder: Path) -> tuple[int, Path]:
    """The lock of ``folder``, or of the first of its neighbours that nobody holds."""
    own, number = folder, 1
    while True:
        own.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(own / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            number += 1
            own = folder.with_name(f"{folder.name}-{number}")
        else:
            return lock, own


def _replayed(data: bytes) -> dict[str, Record]:
    """The changes that a journal tells of. A line that is not whole (the last one, after a
    crash) is left out."""
    records: dict[str, Record] = {}
    for value in _lines(data):
        with contextlib.suppress(KeyError, TypeError):
            change_id = value["id"]
            if value.get("dropped"):
                records.pop(change_id, None)
            elif "path" in value:
                for side in ("before", "after"):
                    value[side] = TextRef(**value[side]) if value[side] else None
                records[change_id] = Record(**value)
            else:
                records[change_id] = replace(records[change_id], status=value["status"])
    return records


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        if not line:
            continue
        try:
            value: Any = json.loads(line)
        except ValueError:
            _log.warning("a torn line in the ledger's journal is left out")
            continue
        if isinstance(value, dict):
            yield value


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
