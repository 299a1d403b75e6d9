"""The reviews by path, and what the ledger is told of them."""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.lines import Text
from lsp_agent.text.review import Review
from lsp_agent.text.traces import Key
from lsp_agent.workspace.ledger.change_hunks import open_indexes, summary
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed
from lsp_agent.workspace.ledger.review_state import Outcomes, ReviewState

_log = logging.getLogger(__name__)

#: Reviews in which nothing is open any more; each holds two texts.
_MAX_CLOSED = 64


class ReviewBook:
    """Of one workspace. To be used in the event loop; paths are real. ``reopened`` is called with
    the path of a file in which decided hunks are open again."""

    def __init__(self, ledger: Ledger, reopened: Callable[[str], None]) -> None:
        self._ledger = ledger
        self._reopened = reopened
        self._states: dict[str, ReviewState] = {}
        #: Changes that are part of a review, so that one that goes in is not taken twice.
        self.taken: set[str] = set()
        #: Proposals that are on disk, under a document without them, and whether their hunks are
        #: those that the disk has by their names.
        self.proposals: dict[str, bool] = {}

    def get(self, path: str) -> ReviewState | None:
        return self._states.get(path)

    def items(self) -> Iterator[tuple[str, ReviewState]]:
        """As they are now, whatever is put meanwhile."""
        yield from list(self._states.items())

    def review(self, path: str, now: Text) -> Review:
        """As it is known, or that of a file that shows ``now`` and has none."""
        state = self._states.get(path)
        return state.review if state else Review.of(now)

    async def restore(self) -> list[str]:
        """The hunks that an earlier run left open. The result are the paths whose review is given
        up, because its texts are gone or it does not fit them."""
        lost: list[str] = []
        for path in self._ledger.reviews():
            try:
                record = await self._ledger.review_of(path)
            except LedgerFailed as error:
                _log.warning("a review is given up: %s", error)
                record = None
            if record is None or not record.is_sound:
                self._ledger.set_review(path, None)
                lost.append(path)
                continue
            state = ReviewState.of_record(record, self.known())
            if path not in self._states and not state.empty:
                self._states[path] = state
                self.taken.update(hunk.change_id for hunk in state.review.hunks)
            if not state.is_open:
                self._ledger.set_review(path, None)
        return lost

    def known(self) -> set[str]:
        """The changes that the ledger has, by their ids."""
        return {change.id for change in self._ledger.changes()}

    def decided(self, key: Key) -> EditStatus | None:
        change = self._ledger.get(key[0])
        return change.decided.get(key[1]) if change else None

    def remember(self, path: str, state: ReviewState) -> None:
        """As it is to be known from now on. The ledger hears of it with the next ``store``."""
        self._states[path] = state

    def put(self, path: str, state: ReviewState) -> None:
        """As ``remember``. Where no hunk is open, it is kept for what may come back, as long as
        there is room."""
        self._states.pop(path, None)
        if state.empty:
            return
        self._states[path] = state
        if not state.review.hunks and len(self._states) > _MAX_CLOSED:
            over = [p for p, s in self._states.items() if not s.review.hunks and not s.steps]
            for each in over[:-_MAX_CLOSED]:
                del self._states[each]

    def store(self, path: str, state: ReviewState, outcomes: Outcomes) -> None:
        """As ``put``, with what has become of hunks by it."""
        before = self._states.get(path)
        self.put(path, state)
        if before is None or before.steps or outcomes or before.marks != state.marks:
            self._ledger.set_review(path, state.record())
        outcomes = [*outcomes, *self._in_with(state.review, outcomes)]
        by_change: dict[str, dict[int, EditStatus]] = defaultdict(dict)
        back: set[str] = set()
        for change_id in {change_id for (change_id, _), status in outcomes if status == "applied"}:
            self._amend(change_id, state.review)
        for (change_id, index), status in outcomes:
            by_change[change_id][index] = status
            change = self._ledger.get(change_id)
            was_out = change is not None and change.status == "rejected"
            if status == "applied" or (status in ("kept", "superseded") and was_out):
                back.add(change_id)
        for change_id, statuses in by_change.items():
            if self._ledger.get(change_id) is None:
                continue
            if change_id in back:
                self.taken.add(change_id)
                self._ledger.set_status(change_id, "applied")
            self._ledger.decide(change_id, statuses)
            self.settle(change_id)
        if back:
            self._reopened(path)

    def _in_with(self, review: Review, outcomes: Outcomes) -> Outcomes:
        """What hunks that are in again had taken over, and went out with them."""
        applied = {key for key, status in outcomes if status == "applied"}
        over = (over for hunk in review.hunks if hunk.key in applied for over in hunk.over)
        told = {key for key, _ in outcomes}
        out = (key for key in over if key not in told and self.decided(key) == "rejected")
        return [(key, "superseded") for key in dict.fromkeys(out)]

    def settle(self, change_id: str) -> None:
        """Ends the review of a change of which no hunk is open any more."""
        change = self._ledger.get(change_id)
        if change is None or change.status not in ("applied", "proposed"):
            return
        state = self._states.get(change.path)
        if state and any(step.change_id == change_id for step in state.steps):
            return
        live = state is not None and any(h.change_id == change_id for h in state.review.hunks)
        if change.status == "proposed" and open_indexes(change):
            return
        if live:
            self._ledger.set_status(change_id, "applied")
        elif change.decided:
            self.taken.discard(change_id)
            self._ledger.set_status(change_id, summary(change.decided.values()))

    def _amend(self, change_id: str, review: Review) -> None:
        """A proposal that turns out to be in, as the disk has it."""
        change = self._ledger.get(change_id)
        if change is None or not (change.status == "proposed" or change_id in self.proposals):
            return
        self.proposals.pop(change_id, None)
        undo = review.undo([hunk.key for hunk in review.hunks if hunk.change_id == change_id])
        if not undo.clashing:
            self._ledger.amend(change_id, undo.text, review.text)
