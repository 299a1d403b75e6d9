"""What the ledger says of changes that a revert takes out, or brings back."""

import time
from collections.abc import Iterator, Mapping, Sequence

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.sessions.reverts.parts import is_revert
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews


class TakenOut:
    """Of one server. Hunks are named by their places in a change's diff, by the change's id."""

    def __init__(self, ledger: Ledger, reviews: Reviews) -> None:
        self._ledger = ledger
        self._reviews = reviews
        #: Changes that were out of their files already when they were reverted, and when that was.
        self.gone: dict[str, float] = {}
        ledger.subscribe(self._on_change)

    def _on_change(self, change: Change) -> None:
        """A revert's change is in, at once or late, or is taken out again itself."""
        if change.status == "kept":
            self._out(change.takes_out)
            self._out_again(change)
        elif change.status == "rejected":
            self._back(change.takes_out)

    def found_out(self, taken: Mapping[str, Sequence[int]]) -> None:
        """The file was without them already."""
        self.gone |= dict.fromkeys(taken, time.time())
        for change, hunks in self._known(taken):
            self._reviews.found_out(change, hunks)
        self._out(taken)

    def _out(self, taken: Mapping[str, Sequence[int]]) -> None:
        """What is out of the file is rejected; of a proposal, the hunks that were in."""
        for change, hunks in self._known(taken):
            self._decide(change, hunks, "rejected")
            if change.status != "proposed":
                self._ledger.set_status(change.id, "rejected")

    def _out_again(self, change: Change) -> None:
        """Nothing is left of a revert that had brought back what ``change`` takes out."""
        for other in self._ledger.changes(path=change.path):
            if other.status != "kept" or other.id == change.id or not is_revert(other.turn_id):
                continue
            reverts = [self._ledger.get(each) for each in other.takes_out]
            brought = {each for revert in reverts if revert for each in revert.takes_out}
            if brought and brought <= change.takes_out.keys():
                self._ledger.set_status(other.id, "superseded")

    def _back(self, taken: Mapping[str, Sequence[int]]) -> None:
        for change, hunks in self._known(taken):
            self._decide(change, hunks, "kept")
            if change.status == "rejected":
                self._ledger.set_status(change.id, "kept")

    def _known(self, taken: Mapping[str, Sequence[int]]) -> Iterator[tuple[Change, Sequence[int]]]:
        """But for those that there was no room for any more."""
        for change_id, hunks in taken.items():
            change = self._ledger.get(change_id)
            if change is not None:
                yield change, hunks

    def _decide(self, change: Change, hunks: Sequence[int], status: EditStatus) -> None:
        if change.decided:
            self._ledger.decide(change.id, dict.fromkeys(hunks, status))
