"""The append-only ledger of the agents' changes: proposals, review and recovery are views of it.

A change is in the journal before it is made. One writer thread owns the files, so that nothing
here blocks the loop and the journal's order is the order of the calls.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Literal

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.lines import Text
from lsp_agent.workspace.journal import Journal, Record

_log = logging.getLogger(__name__)

ChangeStatus = EditStatus | Literal["pending"]

#: Changes whose review is over; their texts are the first to go when the ledger grows.
DECIDED: frozenset[ChangeStatus] = frozenset({"kept", "rejected", "superseded", "conflict", "lost"})
_NEVER_DROPPED: frozenset[ChangeStatus] = frozenset({"pending", "proposed"})

#: How much text the ledger keeps, in bytes.
MAX_BYTES = 256 * 1024 * 1024


class LedgerFailed(LspAgentError):
    """The journal could not be written, so the change was not made."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose change it is; opaque to the workspace. ``label`` is shown in the editor."""

    session_id: str
    turn_id: str | None = None
    tool_call_id: str | None = None
    label: str = "agent"


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one file. ``path`` is real; ``before`` is None for a new file, ``after`` for
    a deleted one. ``pending``: recorded, not known to be in yet. ``time`` is seconds since the
    epoch."""

    id: str
    session_id: str
    turn_id: str | None
    tool_call_id: str | None
    path: str
    before: Text | None
    after: Text | None
    status: ChangeStatus
    time: float


class Ledger:
    """The changes of one workspace, in ``folder`` (made, 0700).

    Opening it reads the journal and is blocking work: make it in a thread, use it in the loop.
    Where another server owns ``folder``, one of its own beside it is used (``folder`` then names
    it). Changes of earlier runs that are not decided are there again; those found pending are
    ``unknown``. Raises OSError where the folder cannot be used. Not on Windows (``flock``).
    """

    def __init__(self, folder: str, *, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._subscribers: list[Callable[[Change], None]] = []
        self._changes: dict[str, Change] = {}
        self._sizes: dict[str, int] = {}
        self._journal = Journal(folder)
        self.folder = self._journal.folder
        for record, before, after in self._journal.recover(DECIDED):
            self._changes[record.id] = _change(record, before, after)
            self._sizes[record.id] = sum(ref.size for ref in record.texts)
            if record.status == "pending":
                self.set_status(record.id, "unknown")
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
            before=before,
            after=after,
            status=status,
            time=time.time(),
        )
        try:
            size = await asyncio.wrap_future(self._journal.add(_record(change), before, after))
        except asyncio.CancelledError:
            self._journal.drop(change.id)
            raise
        except OSError as error:
            raise LedgerFailed(
                f"{self.folder}: the change could not be recorded, so it was not made: "
                f"{error.strerror}; free some space there"
            ) from error
        self._changes[change.id] = change
        self._sizes[change.id] = size
        self._make_room()
        if status != "pending":
            self._tell(change)
        return change

    def amend(self, change_id: str, before: Text | None, after: Text | None) -> Change:
        """The texts as they turned out to be: the person may type between record and edit."""
        change = self._changes[change_id]
        if (change.before, change.after) == (before, after):
            return change
        change = replace(change, before=before, after=after)
        self._changes[change_id] = change

        def sized(future: Future[int]) -> None:
            if (error := future.exception()) is not None:
                _log.error("the ledger could not be written: %s", error)
            elif change_id in self._sizes:
                self._sizes[change_id] = future.result()

        self._journal.add(_record(change), before, after).add_done_callback(sized)
        return change

    def set_status(self, change_id: str, status: ChangeStatus) -> Change:
        """Raises KeyError for an id that is not (or no longer) known."""
        change = self._changes[change_id]
        if change.status == status:
            return change
        change = self._changes[change_id] = replace(change, status=status)
        self._journal.status(change_id, status)
        self._tell(change)
        return change

    def withdraw(self, change_id: str) -> None:
        """Forgets a pending change that was not made after all."""
        if self._changes.pop(change_id, None) is not None:
            self._sizes.pop(change_id, None)
            self._journal.drop(change_id)

    def get(self, change_id: str) -> Change | None:
        return self._changes.get(change_id)

    def changes(
        self,
        *,
        session_id: str | None = None,
        path: str | None = None,
        status: ChangeStatus | None = None,
    ) -> list[Change]:
        """The changes that fit all that is given, oldest first."""
        return [
            change
            for change in self._changes.values()
            if session_id in {None, change.session_id}
            and path in {None, change.path}
            and status in {None, change.status}
        ]

    def subscribe(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Calls ``callback`` with every change that takes a new status (pending is not told);
        returns what ends that. Called in the loop, at once; it must not block."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def close(self) -> None:
        """Waits for the writer and releases the folder. Blocking, usually for no time."""
        self._journal.close()

    def _tell(self, change: Change) -> None:
        for callback in tuple(self._subscribers):
            try:
                callback(change)
            except Exception:  # noqa: BLE001
                # The change is as it is, whatever a listener makes of it.
                _log.exception("a listener to the ledger failed")

    def _make_room(self) -> None:
        size = sum(self._sizes.values())
        if size <= self._max_bytes:
            return
        droppable = [c for c in self._changes.values() if c.status not in _NEVER_DROPPED]
        droppable.sort(key=lambda c: (c.status not in DECIDED, c.time))
        for change in droppable:
            if size <= self._max_bytes:
                return
            size -= self._sizes.get(change.id, 0)
            self.withdraw(change.id)


def _record(change: Change) -> Record:
    return Record(
        id=change.id,
        session_id=change.session_id,
        turn_id=change.turn_id,
        tool_call_id=change.tool_call_id,
        path=change.path,
        status=change.status,
        time=change.time,
        before=None,
        after=None,
    )


def _change(record: Record, before: Text | None, after: Text | None) -> Change:
    return Change(
        id=record.id,
        session_id=record.session_id,
        turn_id=record.turn_id,
        tool_call_id=record.tool_call_id,
        path=record.path,
        before=before,
        after=after,
        status=record.status,  # type: ignore[arg-type]
        time=record.time,
    )
