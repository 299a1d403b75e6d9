"""What one call to the file host does to the ledger: a new change, or a recorded one, or hunks of
it, that go in or out."""
# ruff: noqa: ARG002 - they need different parts of what they are told

from collections.abc import Collection
from typing import Protocol

import anyio

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.traces import Key
from lsp_agent.workspace.ledger.change import Change, Origin
from lsp_agent.workspace.ledger.change_hunks import accepted, open_indexes, superseded
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews


class Entry(Protocol):
    """``done`` is the status that it ends with when all goes well."""

    done: EditStatus

    async def begin(self, before: Text | None, after: Text | None) -> None:
        """Before the change is made. Raises LedgerFailed."""
        ...

    def landed(self, before: Text | None, after: Text | None) -> Change | None:
        """It is in; ``before`` and ``after`` are the texts as they turned out to be."""
        ...

    def nothing_to_do(self) -> Change | None:
        """The text was so already."""
        ...

    def clashed(self, before: Text | None, after: Text | None) -> Change | None:
        """It is not in, and cannot be made any more or was refused. ``landed_late`` may follow
        where it was refused."""
        ...

    def unknown(self) -> Change | None:
        """It was sent and not proved. ``landed_late`` may follow."""
        ...

    def landed_late(self, before: Text, after: Text) -> None:
        """It turned out to be in; ``before`` and ``after`` are no older than what others have made
        of the text since (``late.around``)."""
        ...

    def missed(self) -> None:
        """What was sent and not proved is not there after all this time."""
        ...

    def withdraw(self) -> None:
        """The call ends without anything of it in; no effect once it was settled."""
        ...


class NewEntry:
    """A change that is made now; ``kept`` at once if nobody is to review it."""

    done: EditStatus = "applied"

    def __init__(self, ledger: Ledger, origin: Origin, path: str, *, kept: bool) -> None:
        self._ledger = ledger
        self._in: EditStatus = "kept" if kept else "applied"
        self._origin = origin
        self._path = path
        self._change: Change | None = None
        self._settled = False

    async def begin(self, before: Text | None, after: Text | None) -> None:
        if self._change is None:
            self._change = await self._ledger.record(self._origin, self._path, before, after)

    def landed(self, before: Text | None, after: Text | None) -> Change:
        return self._settle(self._in, before, after)

    def nothing_to_do(self) -> None:
        self.withdraw()

    def clashed(self, before: Text | None, after: Text | None) -> Change:
        return self._settle("conflict", before, after)

    def unknown(self) -> Change:
        change = self._begun()
        self._settled = True
        return self._ledger.set_status(change.id, "unknown")

    def landed_late(self, before: Text, after: Text) -> None:
        change = self._ledger.get(self._begun().id)
        if change is not None and change.status in {"unknown", "conflict"}:  # not decided since
            self._settle(self._in, before, after)

    def missed(self) -> None:
        """The agent was told that it is not known: that stays so until the next start."""

    def withdraw(self) -> None:
        if self._change is not None and not self._settled:
            self._ledger.withdraw(self._change.id)
            self._change = None

    def _settle(self, status: EditStatus, before: Text | None, after: Text | None) -> Change:
        change = self._begun()
        self._settled = True
        amended = self._ledger.amend(change.id, before, after)  # held: listeners need its texts
        return self._ledger.set_status(amended.id, status)

    def _begun(self) -> Change:
        if self._change is None:
            raise RuntimeError("a change was made before it was recorded")
        return self._change


class AcceptEntry:
    """Hunks of a recorded change that go in."""

    done: EditStatus = "applied"

    def __init__(
        self, ledger: Ledger, reviews: Reviews, change: Change, hunks: Collection[int]
    ) -> None:
        self._ledger = ledger
        self._reviews = reviews
        self._change = change
        self._hunks = sorted(hunks)

    async def begin(self, before: Text | None, after: Text | None) -> None:
        """It is in the ledger already."""

    def landed(self, before: Text | None, after: Text | None) -> Change:
        change = self._change
        own = accepted(change, self._hunks)
        self._reviews.landed(change.path, before, after, change.id, own)
        # What was in already somebody else had put there.
        return self._decided("applied", own.went_in(before or EMPTY, after or EMPTY))

    def nothing_to_do(self) -> Change:
        return self._decided("kept", ())

    def clashed(self, before: Text | None, after: Text | None) -> Change:
        return self._change

    def unknown(self) -> Change:
        return self._ledger.set_status(self._change.id, "unknown")

    def landed_late(self, before: Text, after: Text) -> None:
        change = self._ledger.get(self._change.id)
        if change is None or any(change.decided.get(hunk) == "applied" for hunk in self._hunks):
            return
        if change.status in {"unknown", self._change.status}:  # not decided since
            self._ledger.set_status(change.id, self._change.status)
            self.landed(before, after)

    def missed(self) -> None:
        change = self._ledger.get(self._change.id)
        if change is not None and change.status == "unknown":
            self._ledger.set_status(change.id, self._change.status)

    def withdraw(self) -> None:
        """It stays as it was."""

    def _decided(self, status: EditStatus, went_in: Collection[int]) -> Change:
        was = self._change
        decided: dict[int, EditStatus] = {
            index: "applied" if index in went_in else "kept" for index in self._hunks
        }
        if was.status == "proposed":
            change = self._ledger.decide(was.id, decided)
            if open_indexes(change):
                return change
            live = "applied" in change.decided.values()
            return self._ledger.set_status(was.id, "applied" if live else status)
        # Of one that was lost the hunks that were not wanted still are.
        left = [index for index in open_indexes(was) if index not in self._hunks]
        if was.status == "applied" or status == "applied":
            self._ledger.set_status(was.id, "applied")
        elif not left:
            self._ledger.set_status(was.id, status)
        lost: dict[int, EditStatus] = dict.fromkeys(left, "lost")
        # The review may have been told by now that hunks which met are one.
        met = set(superseded(self._ledger.get(was.id) or was)).difference(superseded(was))
        decided = {index: decided[index] for index in decided if index not in met}
        return self._ledger.decide(was.id, lost | decided)


class UndoEntry:
    """Open hunks of a file's review that are taken out."""

    done: EditStatus = "rejected"

    def __init__(self, reviews: Reviews, path: str) -> None:
        self._reviews = reviews
        self._path = path
        self.keys: tuple[Key, ...] = ()
        self.clashing: tuple[Key, ...] = ()

    async def begin(self, before: Text | None, after: Text | None) -> None:
        """They are in the ledger already."""

    def landed(self, before: Text | None, after: Text | None) -> None:
        self._reviews.undone(self._path, before or EMPTY, after or EMPTY, self.keys)

    def nothing_to_do(self) -> None:
        """Nothing of them was in the text."""

    def clashed(self, before: Text | None, after: Text | None) -> None:
        """They are still in."""

    def unknown(self) -> None:
        """They are taken to be in until they are seen to be gone."""

    def landed_late(self, before: Text, after: Text) -> None:
        self.landed(before, after)

    def missed(self) -> None:
        """They stay as they were."""

    def withdraw(self) -> None:
        """They stay as they were."""


class OutEntry:
    """A recorded change that is taken out as a whole."""

    done: EditStatus = "rejected"

    def __init__(self, ledger: Ledger, change: Change) -> None:
        self._ledger = ledger
        self._change = change

    async def begin(self, before: Text | None, after: Text | None) -> None:
        """It is in the ledger already."""

    def landed(self, before: Text | None, after: Text | None) -> Change:
        return self._ledger.set_status(self._change.id, self.done)

    def nothing_to_do(self) -> Change:
        return self._ledger.set_status(self._change.id, self.done)

    def clashed(self, before: Text | None, after: Text | None) -> Change:
        return self._change

    def unknown(self) -> Change:
        # It is taken to be in until it is seen to be gone.
        return self._change

    def landed_late(self, before: Text, after: Text) -> None:
        if self._ledger.get(self._change.id) is not None:
            self._ledger.set_status(self._change.id, self.done)

    def missed(self) -> None:
        """It stays as it was."""

    def withdraw(self) -> None:
        """It stays as it was."""


class NoEntry:
    """A change that is nobody's work to be reviewed. ``settled`` is set once it is known whether
    it is in, which ``is_in`` then says."""

    done: EditStatus = "applied"

    def __init__(self) -> None:
        self.settled = anyio.Event()
        self.is_in = False

    async def begin(self, before: Text | None, after: Text | None) -> None:
        """Nothing is recorded."""

    def landed(self, before: Text | None, after: Text | None) -> None:
        self._settle(is_in=True)

    def nothing_to_do(self) -> None:
        self._settle(is_in=True)

    def clashed(self, before: Text | None, after: Text | None) -> None:
        self._settle(is_in=False)

    def unknown(self) -> None:
        """``landed_late`` or ``missed`` follows."""

    def landed_late(self, before: Text, after: Text) -> None:
        self._settle(is_in=True)

    def missed(self) -> None:
        self._settle(is_in=False)

    def withdraw(self) -> None:
        """Nothing was recorded."""

    def _settle(self, *, is_in: bool) -> None:
        self.is_in = is_in
        self.settled.set()
