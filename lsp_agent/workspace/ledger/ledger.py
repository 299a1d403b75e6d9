"""The append-only ledger of the agents' changes: proposals, review and recovery are views of it.

A change is in the journal before it is made. One writer thread owns the files, so that nothing
here blocks the loop and the journal's order is the order of the calls.

What it holds in memory is bounded: of a change that waits for nothing the texts are let go when
newer ones come (it is then *cold*), of a review it has the path alone.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from weakref import WeakValueDictionary

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.lines import Text
from lsp_agent.workspace.ledger.change import DECIDED, NO_HUNKS, WAITING, Change, Origin, Texts
from lsp_agent.workspace.ledger.journal import Journal
from lsp_agent.workspace.ledger.records import ChangeStatus, ReviewEntry, ReviewRecord

_log = logging.getLogger(__name__)

#: How much text the ledger keeps on disk, in bytes, and how many changes.
MAX_BYTES = 256 * 1024 * 1024
MAX_CHANGES = 2000

# The texts that stay in memory, but for those of changes that wait for something.
_HOT_BYTES = 8 * 1024 * 1024
_HOT_CHANGES = 64


class LedgerFailed(LspAgentError):
    """The journal could not be written, so the change was not made; or a text is gone."""


class Ledger:
    """The changes of one workspace, in ``folder`` (made, 0700).

    Opening it reads the journal and is blocking work: make it in a thread, use it in the loop.
    Where another server owns ``folder``, one of its own beside it is used (``folder`` then names
    it). The changes of earlier runs are there again, those that wait for nothing without their
    texts; those found pending are ``unknown``. When there are more than ``max_changes``, or
    ``max_bytes`` of texts, the oldest go, decided ones first; never one that is pending,
    proposed, or part of a review. Raises OSError where the folder cannot be used. Not on Windows
    (``flock``).
    """

    def __init__(
        self, folder: str, *, max_bytes: int = MAX_BYTES, max_changes: int = MAX_CHANGES
    ) -> None:
        self._max_bytes = max_bytes
        self._max_changes = max_changes
        self._subscribers: list[Callable[[Change], None]] = []
        self._changes: dict[str, Change] = {}
        self._sizes: dict[str, int] = {}
        self._bytes = 0
        # By age: those that wait, and those that do not but still have their texts.
        self._waiting: dict[str, None] = {}
        self._hot: dict[str, None] = {}
        # The texts of cold ones that somebody still holds, or has just asked for.
        self._held: WeakValueDictionary[str, Texts] = WeakValueDictionary()
        # By path, the changes that its review is made of.
        self._reviews: dict[str, frozenset[str]] = {}
        self._journal = Journal(folder)
        self.folder = self._journal.folder
        found, reviews, lost = self._journal.recover(WAITING)
        #: The paths of the changes that earlier runs left open and whose texts are gone.
        self.lost = frozenset(record.path for record in lost if record.status not in DECIDED)
        for record, texts in found:
            self._sized(record.id, record.size)
            self._store(Change.of(record, texts and Texts(*texts)))
            if record.status == "pending":
                self.set_status(record.id, "unknown")
        for path, entry in reviews.items():
            self._reviews[path] = _named(entry)
        self._make_room()

    async def record(
        self,
        origin: Origin,
        path: str,
        before: Text | None,
        after: Text | None,
        status: ChangeStatus = "pending",
    ) -> Change:
        """Writes the change down; when it returns, a crash of ours no longer loses it.

        Raises LedgerFailed, and then the change must not be made.
        """
        change = Change(
            id=secrets.token_hex(8),
            session_id=origin.session_id,
            turn_id=origin.turn_id,
            tool_call_id=origin.tool_call_id,
            path=path,
            status=status,
            time=time.time(),
            texts=Texts(before, after),
            takes_out=origin.takes_out,
        )
        try:
            size = await asyncio.wrap_future(self._journal.add(change.record, before, after))
        except asyncio.CancelledError:
            self._journal.drop(change.id)
            raise
        except OSError as error:
            raise LedgerFailed(
                f"{self.folder}: the change could not be recorded, so it was not made: "
                f"{error.strerror}; free some space there"
            ) from error
        self._sized(change.id, size)
        self._store(change)
        self._make_room()
        if status != "pending":
            self._tell(change)
        return change

    def amend(self, change_id: str, before: Text | None, after: Text | None) -> Change:
        """The texts as they turned out to be: the person may type between record and edit. What
        was decided of single hunks no longer holds."""
        change = self._changes[change_id]
        texts = Texts(before, after)
        if change.texts == texts:
            return change
        change = replace(change, texts=texts, decided=NO_HUNKS)
        self._store(change)

        def sized() -> None:
            if (error := written.exception()) is not None:
                _log.error("the ledger could not be written: %s", error)
            elif change_id in self._changes:
                self._sized(change_id, written.result())

        loop = asyncio.get_running_loop()
        written = self._journal.add(change.record, before, after)
        written.add_done_callback(lambda _: loop.call_soon_threadsafe(sized))
        return change

    def set_status(self, change_id: str, status: ChangeStatus) -> Change:
        """The result, and what listeners are told, has the change's texts if the caller holds it
        with them: it came from here while it was hot, or from ``loaded``.

        Raises KeyError for an id that is not (or no longer) known.
        """
        change = self._with_texts(change_id)
        if change.status == status:
            return change
        self._journal.status(change_id, status)
        return self._changed(replace(change, status=status))

    def decide(self, change_id: str, hunks: Mapping[int, EditStatus]) -> Change:
        """Decides hunks of a change by their place in its diff; its status stays. Listeners are
        told as by ``set_status``. Raises KeyError."""
        change = self._with_texts(change_id)
        news: dict[int, EditStatus] = {
            index: status for index, status in hunks.items() if change.decided.get(index) != status
        }
        if not news:
            return change
        self._journal.decide(change_id, news)
        return self._changed(replace(change, decided={**change.decided, **news}))

    def mark_on_disk(self, change_ids: Iterable[str]) -> None:
        """These changes have been on disk. Unknown ids are left out; nobody is told."""
        news = [i for i in change_ids if i in self._changes and not self._changes[i].on_disk]
        if news:
            self._journal.on_disk(news)
        for change_id in news:
            self._changes[change_id] = replace(self._changes[change_id], on_disk=True)

    def withdraw(self, change_id: str) -> None:
        """Forgets a pending change that was not made after all."""
        if self._changes.pop(change_id, None) is not None:
            self._bytes -= self._sizes.pop(change_id, 0)
            self._hot.pop(change_id, None)
            self._waiting.pop(change_id, None)
            self._journal.drop(change_id)

    def get(self, change_id: str) -> Change | None:
        """The change, cold where nobody holds its texts."""
        return self._with_texts(change_id) if change_id in self._changes else None

    async def loaded(self, change_id: str) -> Change:
        """The change with its texts, read in a thread where it is cold; the ledger lets go of
        them with the caller. Raises KeyError for an unknown id, LedgerFailed if one is gone."""
        change = self._with_texts(change_id)
        if not change.cold:
            return change
        try:
            texts = Texts(*await asyncio.wrap_future(self._journal.load(change_id)))
        except OSError as error:
            raise LedgerFailed(
                f"{self.folder}: the texts of change {change_id} are gone: {error}; "
                "undo the change by hand"
            ) from error
        now = self._with_texts(change_id)
        if now.cold:
            self._held[change_id] = texts
            now = replace(now, texts=texts)
        return now

    def changes(
        self,
        *,
        session_id: str | None = None,
        path: str | None = None,
        status: ChangeStatus | None = None,
    ) -> list[Change]:
        """The changes that fit all that is given, oldest first. Those that are neither pending
        nor proposed may be cold."""
        pool = self._changes.values()
        if status in WAITING:
            pool = [self._changes[change_id] for change_id in self._waiting]
        return [
            change
            for change in pool
            if session_id in {None, change.session_id}
            and path in {None, change.path}
            and status in {None, change.status}
        ]

    def set_review(self, path: str, review: ReviewRecord | None) -> None:
        """Keeps how far the review of ``path`` is, in place of what was kept; None ends it.
        Changes that it names stay in the ledger."""
        if review is None:
            if self._reviews.pop(path, None) is None:
                return
        else:
            self._reviews[path] = _named(review)
        self._journal.review(path, review)

    def reviews(self) -> list[str]:
        """The paths that are under review."""
        return list(self._reviews)

    async def review_of(self, path: str) -> ReviewRecord | None:
        """The review that was kept last. Raises LedgerFailed if a text of it is gone."""
        if path not in self._reviews:
            return None
        try:
            return await asyncio.wrap_future(self._journal.load_review(path))
        except OSError as error:
            raise LedgerFailed(
                f"{self.folder}: the texts under review of {path} are gone: {error}; "
                "compare the file with its last commit"
            ) from error

    def subscribe(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Calls ``callback`` with every change that takes a new status (pending is not told) or
        whose hunks are decided; returns what ends that. Called in the loop, at once; it must not
        block. The change may be cold."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def close(self) -> None:
        """Waits for the writer and releases the folder. Blocking, usually for no time."""
        self._journal.close()

    def _with_texts(self, change_id: str) -> Change:
        """The change; a cold one with the texts that somebody holds, if so."""
        change = self._changes[change_id]
        texts = self._held.get(change_id) if change.cold else None
        return replace(change, texts=texts) if texts else change

    def _changed(self, change: Change) -> Change:
        self._store(change)
        self._tell(change)
        return change

    def _store(self, change: Change) -> None:
        self._changes[change.id] = change
        self._hot.pop(change.id, None)
        if change.status in WAITING:
            self._waiting[change.id] = None
            return
        self._waiting.pop(change.id, None)
        if not change.cold:
            self._hot[change.id] = None
            self._cool()

    def _cool(self) -> None:
        size = sum(self._sizes.get(change_id, 0) for change_id in self._hot)
        while len(self._hot) > _HOT_CHANGES or size > _HOT_BYTES:
            oldest = next(iter(self._hot))
            del self._hot[oldest]
            size -= self._sizes.get(oldest, 0)
            change = self._changes[oldest]
            if change.texts is not None:
                self._held[oldest] = change.texts
            self._changes[oldest] = replace(change, texts=None)

    def _tell(self, change: Change) -> None:
        for callback in tuple(self._subscribers):
            try:
                callback(change)
            except Exception:  # noqa: BLE001
                # The change is as it is, whatever a listener makes of it.
                _log.exception("a listener to the ledger failed")

    def _sized(self, change_id: str, size: int) -> None:
        self._bytes += size - self._sizes.get(change_id, 0)
        self._sizes[change_id] = size

    def _make_room(self) -> None:
        if not self._is_full():
            return
        reviewed = frozenset[str]().union(*self._reviews.values())
        droppable = [
            c for c in self._changes.values() if c.status not in WAITING and c.id not in reviewed
        ]
        droppable.sort(key=lambda c: (c.status not in DECIDED, c.time))
        for change in droppable:
            if not self._is_full():
                return
            self.withdraw(change.id)

    def _is_full(self) -> bool:
        return self._bytes > self._max_bytes or len(self._changes) > self._max_changes


def _named(review: ReviewRecord | ReviewEntry) -> frozenset[str]:
    own = frozenset(hunk.change_id for hunk in review.hunks)
    return own | _named(review.beside) if review.beside else own
