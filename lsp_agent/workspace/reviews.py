"""The open review of each file: which hunks of the agents' changes nobody has decided on yet.

Fed with each change that goes in; what people type is found by comparing with what a file shows
when somebody asks. Every decision goes into the ledger, and with it what is needed to have the
hunks back after a restart.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import anyio.to_thread

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.diff import diff
from lsp_agent.text.lines import EMPTY, Text, is_long
from lsp_agent.text.review import Review, Turned
from lsp_agent.text.traces import Key
from lsp_agent.workspace.ledger import (
    MAX_CHANGES,
    Change,
    Ledger,
    LedgerFailed,
    ReviewRecord,
)

_log = logging.getLogger(__name__)

#: Changes that wait to be compared; each holds two texts.
_MAX_STEPS = 8
#: Reviews in which nothing is open any more; each holds two texts.
_MAX_CLOSED = 64


@dataclass(frozen=True, slots=True)
class _Step:
    """A change of an agent's that went in, not yet part of the review."""

    before: Text
    after: Text
    change_id: str
    indexes: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class _State:
    """``base_exists``: whether there was a file before the agents. ``restored``: from an earlier
    run, and not compared with the file yet."""

    review: Review
    base_exists: bool
    steps: tuple[_Step, ...] = ()
    restored: bool = False


_Outcomes = list[tuple[Key, EditStatus]]


class Reviews:
    """Of one workspace. To be used in the event loop; paths are real."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._states: dict[str, _State] = {}
        #: Changes that are part of a review, so that one that goes in is not taken twice.
        self._taken: set[str] = set()
        #: Changes that were heard of before: one of them that is kept did not go in just now.
        self._heard_of = self._in_ledger()
        self._subscribers: list[Callable[[str], None]] = []
        self._paused: set[str] = set()
        ledger.subscribe(self._take)

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
            if record is None or not _is_sound(record):
                self._ledger.set_review(path, None)
                lost.append(path)
                continue
            review = Review(record.base, record.text, record.hunks)
            # Those of changes that are gone: nobody could decide on them any more.
            review = review.kept([h.key for h in review.hunks if not self._ledger.get(h.change_id)])
            if path not in self._states and review.hunks:
                self._states[path] = _State(review, record.base_exists, restored=True)
                self._taken.update(hunk.change_id for hunk in review.hunks)
        return lost

    def subscribe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Calls ``callback(path)`` when an agent or a decision has changed a file's review;
        returns what ends that."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def pause(self, path: str) -> None:
        """What a file shows until ``resume`` is not remembered."""
        self._paused.add(path)

    def resume(self, path: str) -> None:
        self._paused.discard(path)

    def current(self, path: str, now: Text) -> Review:
        """The review of a file that shows ``now``."""
        state = self._states.get(path)
        if state is None or path in self._paused:
            return self.peek(path, now)
        self._store(path, *_folded(state, now))
        return self._review(path, now)

    async def refresh(self, path: str, now: Text) -> bool:
        """``current`` that compares long texts in a thread. False if the review has changed
        meanwhile, so that ``now`` may be too old."""
        state = self._states.get(path)
        if state is None or path in self._paused or not is_long(now.lines):
            self.current(path, now)
            return True
        folded = await anyio.to_thread.run_sync(_folded, state, now)
        if self._states.get(path) is not state:
            return False
        self._store(path, *folded)
        return True

    def peek(self, path: str, now: Text) -> Review:
        """``current`` that is not remembered: what is seen may never be."""
        state = self._states.get(path)
        return _folded(state, now)[0].review if state else Review.of(now)

    def mark(self, path: str) -> object:
        """The same object as long as nothing is known to have changed in a file's review."""
        return self._states.get(path)

    def base_exists(self, path: str) -> bool:
        """Whether there was a file before the agents' open changes of it."""
        state = self._states.get(path)
        return state is None or state.base_exists

    def landed(
        self,
        path: str,
        before: Text | None,
        after: Text | None,
        change_id: str,
        indexes: Sequence[int] | None = None,
    ) -> None:
        """A change, or the hunks ``indexes`` of it, went in."""
        self._taken.add(change_id)
        step = _Step(
            before or EMPTY, after or EMPTY, change_id, None if indexes is None else tuple(indexes)
        )
        state = self._states.get(path)
        if state is None:
            state = _State(Review.of(step.before), before is not None)
        elif not state.review.hunks and not state.steps:
            state = replace(state, base_exists=before is not None)
        state = replace(state, steps=(*state.steps, step))
        self._states[path] = state
        if len(state.steps) > _MAX_STEPS:
            self._store(path, *_folded(state, step.after))
        self._tell(path)

    def keep(self, path: str, now: Text, keys: Collection[Key]) -> None:
        """A person keeps these hunks."""
        review = self.current(path, now)
        self._decided(path, review.kept(keys), [(key, "kept") for key in keys])

    def undone(self, path: str, before: Text, after: Text, keys: Collection[Key]) -> None:
        """These hunks were taken out of ``before``, which gave ``after``."""
        state = self._states.get(path)
        was = {hunk.key for hunk in state.review.hunks} if state else set[Key]()
        review = self.current(path, before)
        joined = bool(was - {hunk.key for hunk in review.hunks} - set(keys))
        review, gone, out = review.undone(after, keys, joined=joined)
        self._decided(path, review, [*_outcomes(gone), *((key, "rejected") for key in out)])

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
            self._taken.discard(change_id)
            self._ledger.set_status(change_id, _summary(change.decided.values()))

    def _in_ledger(self) -> set[str]:
        return {change.id for change in self._ledger.changes()}

    def _is_new(self, change: Change) -> bool:
        new = change.id not in self._heard_of
        if change.status != "unknown":  # it may still go in
            self._heard_of.add(change.id)
        if len(self._heard_of) > 4 * MAX_CHANGES:
            self._heard_of = self._in_ledger()
        return new

    def _take(self, change: Change) -> None:
        new = self._is_new(change)
        if change.status == "applied" and change.id not in self._taken:
            self.landed(change.path, change.before, change.after, change.id)
        elif change.status == "kept" and new:
            self._settled(change)
        elif change.status not in ("applied", "proposed", "unknown"):
            self._taken.discard(change.id)
            self._forget(change)
        if change.status not in ("applied", "pending"):
            self._tell(change.path)

    def _settled(self, change: Change) -> None:
        """A change went in that nobody is to review."""
        state = self._states.get(change.path)
        if state is None or change.cold:
            return
        state, outcomes = _folded(state, change.before or EMPTY)
        review, gone = state.review.settled(change.after or EMPTY)
        self._store(change.path, replace(state, review=review), [*outcomes, *_outcomes(gone)])

    def _forget(self, change: Change) -> None:
        """The change was decided on as a whole, by others than us. Where it was taken out of what
        an earlier one had done, that one is open again."""
        state = self._states.get(change.path)
        if state is None:
            return
        if not state.review.hunks and {step.change_id for step in state.steps} == {change.id}:
            self._put(change.path, replace(state, steps=()))
            return
        state, outcomes = _folded(state, None)
        self._store(change.path, state, outcomes)
        heirs = self._superseded_by(change, state.review) if change.status == "rejected" else []
        review, inherited = state.review.without_change(change.id, heirs)
        if review == state.review:
            return
        self._store(change.path, replace(state, review=review), [])
        for change_id, index in inherited:
            self._taken.add(change_id)
            self._ledger.set_status(change_id, "applied")
            self._ledger.decide(change_id, {index: "applied"})

    def _superseded_by(self, change: Change, review: Review) -> list[Key]:
        """The hunks that those of a change took over, and that nobody has decided on."""
        taken_over = (h.over for h in review.hunks if h.change_id == change.id)
        return [key for keys in taken_over for key in keys if self._is_superseded(*key)]

    def _is_superseded(self, change_id: str, index: int) -> bool:
        change = self._ledger.get(change_id)
        return change is not None and change.decided.get(index) == "superseded"

    def _decided(self, path: str, review: Review, outcomes: _Outcomes) -> None:
        state = self._states.get(path)
        if state is not None:
            self._store(path, replace(state, review=review, steps=()), outcomes)
            self._tell(path)

    def _store(self, path: str, state: _State, outcomes: _Outcomes) -> None:
        before = self._states.get(path)
        self._put(path, state)
        if before is None or before.steps or outcomes or _keys(before) != _keys(state):
            self._ledger.set_review(path, _record(state) if state.review.hunks else None)
        by_change: dict[str, dict[int, EditStatus]] = defaultdict(dict)
        back: set[str] = set()
        for (change_id, index), status in outcomes:
            by_change[change_id][index] = status
            if status == "applied":
                back.add(change_id)
        for change_id, statuses in by_change.items():
            if self._ledger.get(change_id) is None:
                continue
            if change_id in back:
                self._taken.add(change_id)
                self._ledger.set_status(change_id, "applied")
            self._ledger.decide(change_id, statuses)
            self.settle(change_id)

    def _put(self, path: str, state: _State) -> None:
        """Where no hunk is open, it is kept for what may come back, as long as there is room."""
        self._states.pop(path, None)
        if not state.review.hunks and not state.review.traces and not state.steps:
            return
        self._states[path] = state
        if not state.review.hunks and len(self._states) > _MAX_CLOSED:
            over = [p for p, s in self._states.items() if not s.review.hunks and not s.steps]
            for each in over[:-_MAX_CLOSED]:
                del self._states[each]

    def _review(self, path: str, now: Text) -> Review:
        state = self._states.get(path)
        return state.review if state else Review.of(now)

    def _tell(self, path: str) -> None:
        for callback in tuple(self._subscribers):
            callback(path)


def _is_sound(record: ReviewRecord) -> bool:
    """Whether its hunks lie in its texts, one behind the other."""
    base_at = at = 0
    for hunk in record.hunks:
        if not (base_at <= hunk.base_start <= hunk.base_end and at <= hunk.start <= hunk.end):
            return False
        base_at, at = hunk.base_end, hunk.end
    return base_at <= len(record.base.lines) and at <= len(record.text.lines)


def open_indexes(change: Change) -> list[int]:
    """The hunks of a change that are not in and may still be put in: those that were lost, and
    where it is not in also those that nobody has decided on. Its texts must be at hand."""
    hunks = diff((change.before or EMPTY).lines, (change.after or EMPTY).lines)
    undecided = "applied" if change.status in ("applied", "kept") else "lost"
    return [i for i in range(len(hunks)) if change.decided.get(i, undecided) == "lost"]


def _folded(state: _State, now: Text | None) -> tuple[_State, _Outcomes]:
    """``state`` with its steps, and what was typed since, taken into the review. Pure."""
    review = state.review
    outcomes: _Outcomes = []
    first = state.steps[0].before if state.steps else now
    if state.restored and first is not None:
        review, outcomes = _fitting(review, first)
    for step in state.steps:
        review, gone = review.typed(step.before)
        outcomes += _outcomes(gone)
        review, gone = review.edited(step.after, step.change_id, step.indexes)
        outcomes += _outcomes(gone)
    if now is not None:
        review, gone = review.typed(now)
        outcomes += _outcomes(gone)
    restored = state.restored and first is None
    return _State(review, state.base_exists, restored=restored), outcomes


def _fitting(review: Review, now: Text) -> tuple[Review, _Outcomes]:
    """After a restart: hunks whose lines are no longer there are ``lost``, those whose lines were
    changed meanwhile ``superseded``, since nobody can say by whom."""
    was = {hunk.key: hunk for hunk in review.hunks}
    review, gone = review.typed(now)
    outcomes: _Outcomes = [
        (each.key, "lost" if each.status == "rejected" else each.status) for each in gone
    ]
    changed = [h.key for h in review.hunks if h.touched and h.left != was[h.key].left]
    return review.kept(changed), [*outcomes, *((key, "superseded") for key in changed)]


def _outcomes(gone: Iterable[Turned]) -> _Outcomes:
    return [(each.key, each.status) for each in gone]


def _summary(statuses: Iterable[EditStatus]) -> EditStatus:
    """What a change is as a whole once all its hunks are decided: out only if all of them are."""
    found = set(statuses)
    for status in ("lost", "kept", "superseded"):
        if status in found:
            return status
    return "rejected"


def _keys(state: _State) -> list[Key]:
    return [hunk.key for hunk in state.review.hunks]


def _record(state: _State) -> ReviewRecord:
    review = state.review
    return ReviewRecord(review.base, review.text, state.base_exists, review.hunks)
