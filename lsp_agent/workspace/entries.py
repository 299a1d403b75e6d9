"""What one call to the file host does to the ledger: a new change, or a recorded one that goes
in or out."""
# ruff: noqa: ARG002 - the two need different parts of what they are told

from typing import Protocol

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.lines import Text
from lsp_agent.workspace.ledger import Change, Ledger, Origin


class Entry(Protocol):
    """``done`` is the status that it ends with when all goes well."""

    done: EditStatus

    async def begin(self, before: Text | None, after: Text | None) -> None:
        """Before the change is made. Raises LedgerFailed."""
        ...

    def landed(self, before: Text | None, after: Text | None) -> Change:
        """It is in; ``before`` and ``after`` are the texts as they turned out to be."""
        ...

    def nothing_to_do(self) -> Change | None:
        """The text was so already."""
        ...

    def clashed(self, before: Text | None, after: Text | None) -> Change | None:
        """It is not in, and cannot be made any more."""
        ...

    def unknown(self) -> Change | None:
        """It was sent and not proved. ``landed_late`` may follow."""
        ...

    def landed_late(self, before: Text, after: Text) -> None: ...

    def withdraw(self) -> None:
        """The call ends without anything of it in; no effect once it was settled."""
        ...


class NewEntry:
    """A change that an agent makes now."""

    done: EditStatus = "applied"

    def __init__(self, ledger: Ledger, origin: Origin, path: str) -> None:
        self._ledger = ledger
        self._origin = origin
        self._path = path
        self._change: Change | None = None
        self._settled = False

    async def begin(self, before: Text | None, after: Text | None) -> None:
        if self._change is None:
            self._change = await self._ledger.record(self._origin, self._path, before, after)

    def landed(self, before: Text | None, after: Text | None) -> Change:
        return self._settle("applied", before, after)

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
        if change is not None and change.status == "unknown":  # else it was decided since
            self._settle("applied", before, after)

    def withdraw(self) -> None:
        if self._change is not None and not self._settled:
            self._ledger.withdraw(self._change.id)
            self._change = None

    def _settle(self, status: EditStatus, before: Text | None, after: Text | None) -> Change:
        change = self._begun()
        self._settled = True
        self._ledger.amend(change.id, before, after)
        return self._ledger.set_status(change.id, status)

    def _begun(self) -> Change:
        if self._change is None:
            raise RuntimeError("a change was made before it was recorded")
        return self._change


class OldEntry:
    """A recorded change that goes in (``done`` is ``applied``) or out (``rejected``)."""

    def __init__(self, ledger: Ledger, change: Change, done: EditStatus) -> None:
        self._ledger = ledger
        self._change = change
        self.done: EditStatus = done

    async def begin(self, before: Text | None, after: Text | None) -> None:
        """It is in the ledger already."""

    def landed(self, before: Text | None, after: Text | None) -> Change:
        return self._ledger.set_status(self._change.id, self.done)

    def nothing_to_do(self) -> Change:
        return self._ledger.set_status(self._change.id, self.done)

    def clashed(self, before: Text | None, after: Text | None) -> Change:
        return self._change

    def unknown(self) -> Change:
        # One that was to be taken out is taken to be in until it is seen to be gone.
        if self.done == "applied":
            return self._ledger.set_status(self._change.id, "unknown")
        return self._change

    def landed_late(self, before: Text, after: Text) -> None:
        if self._ledger.get(self._change.id) is not None:
            self._ledger.set_status(self._change.id, self.done)

    def withdraw(self) -> None:
        """It stays as it was."""
