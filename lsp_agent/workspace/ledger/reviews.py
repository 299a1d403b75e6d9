"""The open review of each file: which hunks of the agents' changes nobody has decided on yet.

Fed with each change that goes in and, of an open text, each that the editor tells; of a long text
or a closed file, what was typed is found by comparing when somebody asks. Every decision goes into
the ledger, and with it what is needed to have the hunks back after a restart.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import anyio.to_thread

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.lines import EMPTY, Text, is_long
from lsp_agent.text.merge import words
from lsp_agent.text.review import Review
from lsp_agent.text.traces import Key
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.change_hunks import (
    has_as_many,
    kept_with,
    open_indexes,
    summary,
    superseded_by,
    taken_by,
)
from lsp_agent.workspace.ledger.ledger import MAX_CHANGES, Ledger, LedgerFailed
from lsp_agent.workspace.ledger.review_state import (
    MAX_STEPS,
    LandedStep,
    Outcomes,
    ReviewState,
    outcomes_of,
)

_log = logging.getLogger(__name__)

#: Reviews in which nothing is open any more; each holds two texts.
_MAX_CLOSED = 64


class Reviews:
    """Of one workspace. To be used in the event loop; paths are real."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._states: dict[str, ReviewState] = {}
        #: Changes that are part of a review, so that one that goes in is not taken twice.
        self._taken: set[str] = set()
        #: Changes that were heard of before: one of them that is kept did not go in just now.
        self._heard_of = self._in_ledger()
        self._subscribers: list[Callable[[str], None]] = []
        self._paused: set[str] = set()
        #: Proposals that are on disk, under a document without them, and whether their hunks are
        #: those that the disk has by their names.
        self._proposals: dict[str, bool] = {}
        self._documents: Documents | None = None
        ledger.subscribe(self._take)

    def follow(self, documents: Documents) -> None:
        """From now on each change of an open text is taken as it comes, since an editor's undo and
        what is typed after it cannot be told apart once they are one; and what is shown is known
        from what is on disk. Long texts are compared when somebody asks."""
        self._documents = documents
        documents.on_typed(self._typed)
        documents.on_open(self._opened)
        documents.on_save(self._saved)
        documents.on_close(self._closed)

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
            state = ReviewState.of_record(record, self._in_ledger())
            if path not in self._states and not state.empty:
                self._states[path] = state
                self._taken.update(hunk.change_id for hunk in state.review.hunks)
            if not state.is_open:
                self._ledger.set_review(path, None)
        return lost

    def write_down(self) -> None:
        """Before the ledger is closed: what went in and was not compared yet, since after a restart
        it could only be guessed which hunks of it are in (long texts are left to that), and what
        may come back."""
        for path, state in list(self._states.items()):
            if state.steps and not is_long((now := self._last_seen(path, state.steps)).lines):
                self._store(path, *state.folded(now))
        for path, state in self._states.items():
            if state.review.traces and not state.steps:
                self._ledger.set_review(path, state.record(at_end=True))

    def subscribe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Calls ``callback(path)`` when an agent or a decision has changed a file's review;
        returns what ends that."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def pause(self, path: str) -> None:
        """What a file shows until ``resume`` is not remembered, from its opening on."""
        self._paused.add(path)

    def resume(self, path: str, opened: Text | None = None) -> None:
        """``opened`` is what the document showed at first, where it is known to have stayed without
        what its file holds: what was typed since is not typed in that."""
        self._paused.discard(path)
        if (document := self._document(path)) is None:
            return
        self._opened(document, opened)
        if opened is not None and (found := self._followed(document)) is not None:
            self._store(path, *found[1].folded(opened))
            self._typed(document)

    def current(self, path: str, now: Text) -> Review:
        """The review of a file that shows ``now``."""
        return self.peek(path, now) if self._may_pass(path) else self._taken_in(path, now)

    async def refresh(self, path: str, now: Text) -> bool:
        """``current`` that compares long texts in a thread. False if the review has changed
        meanwhile, so that ``now`` may be too old."""
        state = self._states.get(path)
        if state is None or self._may_pass(path) or not is_long(now.lines):
            self.current(path, now)
            return True
        folded = await anyio.to_thread.run_sync(state.folded, now)
        if self._states.get(path) is not state:
            return False
        self._store(path, *folded)
        return True

    def peek(self, path: str, now: Text) -> Review:
        """``current`` that is not remembered: what is seen may never be."""
        state = self._states.get(path)
        return state.folded(now)[0].review if state else Review.of(now)

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
        is_as_on_disk = self._proposals.pop(change_id, True)
        step = LandedStep(
            before or EMPTY, after or EMPTY, change_id, None if indexes is None else tuple(indexes)
        )
        state = self._states.get(path)
        if state is None:
            state = ReviewState(
                Review.of(step.before), before is not None, other=self._disk(path, step)
            )
        elif not state.review.hunks and not state.steps:
            state = replace(state, base_exists=before is not None)
        if not is_as_on_disk:  # which hunk there is which here is not known
            state = replace(state, other=None)
        state = state.landed(step, open_=self._document(path) is not None)
        self._states[path] = state
        if len(state.steps) > MAX_STEPS:
            self._store(path, *state.folded(step.after))
        self._tell(path)

    def on_disk(self, path: str, before: Text, now: Text, change: Change) -> None:
        """``change`` has come to the disk, which held ``before``, under an open document: it is in
        that as well, or a proposal for it, and is all there is if the document is closed."""
        document = self._document(path)
        if document is None or is_long(document.lines) or is_long(now.lines):
            return
        state = self._states.get(path)
        if state is None:
            state = ReviewState(Review.of(document.text), True, other=Review.of(before))
        is_as_here = has_as_many(change, before, now)
        if change.status == "proposed":
            self._proposals[change.id] = is_as_here
        if change.status == "proposed" or is_as_here:
            state = state.on_disk(before, now, change.id)
        else:
            state = replace(state, other=None)  # as in ``landed``
        self._store(path, state, [])

    def keep(self, path: str, now: Text, keys: Collection[Key]) -> None:
        """A person keeps these hunks."""
        review = self._taken_in(path, now)
        state = self._states.get(path)
        if state is not None:
            over = kept_with(self._ledger, review, keys)
            self._decided(path, state.kept(keys, over), [(key, "kept") for key in (*keys, *over)])

    def undone(self, path: str, before: Text, after: Text, keys: Collection[Key]) -> None:
        """These hunks were taken out of ``before``, which gave ``after``."""
        state = self._states.get(path)
        was = {hunk.key for hunk in state.review.hunks} if state else set[Key]()
        review = self._taken_in(path, before)
        joined = bool(was - {hunk.key for hunk in review.hunks} - set(keys))
        review, gone, out = review.undone(after, keys, joined=joined)
        state = self._states.get(path)
        if state is not None:
            outcomes: Outcomes = [*outcomes_of(gone), *((key, "rejected") for key in out)]
            self._decided(path, replace(state, review=review), outcomes)

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
            self._ledger.set_status(change_id, summary(change.decided.values()))

    def _may_pass(self, path: str) -> bool:
        """Whether what a file shows is not to be remembered: it may be passing, or an agent's edit
        that is not known to be in, which would be taken for the person's."""
        document = self._document(path)
        return path in self._paused or (document is not None and document.observed)

    def _last_seen(self, path: str, steps: Sequence[LandedStep]) -> Text:
        """What the file shows after these, with what was typed since."""
        document = self._document(path)
        return steps[-1].after if document is None or self._may_pass(path) else document.text

    def _taken_in(self, path: str, now: Text) -> Review:
        if state := self._states.get(path):
            self._store(path, *state.folded(now))
        return self._review(path, now)

    # -- what the documents tell

    def _typed(self, document: OpenDocument) -> None:
        if (found := self._followed(document)) is not None:
            path, state = found
            is_saved = not document.dirty  # a reload shows what others wrote
            fold = state.reloaded if is_saved else state.folded
            self._store(path, *fold(document.text))

    def _opened(self, document: OpenDocument, shown: Text | None = None) -> None:
        if document.path not in self._paused and (found := self._followed(document)) is not None:
            path, state = found
            text = document.text if shown is None else shown
            self._store(path, *state.opened(text, self._decided_as))

    def _saved(self, document: OpenDocument) -> None:
        if (found := self._followed(document)) is not None:
            path, state = found
            self._store(path, *state.saved(document.text))

    def _closed(self, document: OpenDocument) -> None:
        path, saved = document.path, document.saved
        if path is None or saved is None:
            return
        unknown = path not in self._states and path not in self._paused
        if unknown and document.dirty and not is_long(document.lines):
            # An editor may show it again, without what agents do to the file until then.
            self._states[path] = ReviewState(Review.of(document.text), True, other=Review.of(saved))
        if (found := self._followed(document)) is not None:
            path, state = found
            self._store(path, *state.closed(document.text, saved, self._decided_as))

    def _decided_as(self, key: Key) -> EditStatus | None:
        change = self._ledger.get(key[0])
        return change.decided.get(key[1]) if change else None

    def _followed(self, document: OpenDocument) -> tuple[str, ReviewState] | None:
        """Where it has a review that may be taken further here and now. Where it may not, nobody
        knows what the disk has of it."""
        path = document.path
        state = None if path is None else self._states.get(path)
        if path is None or state is None or self._document(path) not in (document, None):
            return None
        if path in self._paused:
            return None
        if document.observed or is_long(document.lines):
            if state.other is not None:
                self._states[path] = replace(state, other=None, since=())
            return None
        return path, state

    def _document(self, path: str) -> OpenDocument | None:
        return self._documents.at(path) if self._documents else None

    def _disk(self, path: str, step: LandedStep) -> Review | None:
        """Of what is on disk under a document that has no review yet; None where ``step`` came from
        there."""
        document = self._document(path)
        if document is None or document.saved is None or is_long(document.lines):
            return None
        came = words(step.after.lines) - words(step.before.lines)
        is_there = came <= words(document.saved.lines) if came else document.saved == step.after
        return None if is_there else Review.of(document.saved)

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
        if change.cold or (state is None and not change.takes_out):
            return
        if change.after is None and self._document(change.path) is not None:
            return  # the editor shows it still
        before, after = change.before or EMPTY, change.after or EMPTY
        if state is None:
            disk = self._disk(change.path, LandedStep(before, after, change.id, None))
            state = ReviewState(Review.of(before), change.before is not None, other=disk)
        state, outcomes = state.folded(before)
        review, gone = state.review.settled(after, taken_by(self._ledger, change))
        self._store(change.path, replace(state, review=review), [*outcomes, *outcomes_of(gone)])

    def _forget(self, change: Change) -> None:
        """The change was decided on as a whole, by others than us. Where it was taken out of what
        an earlier one had done, that one is open again."""
        state = self._states.get(change.path)
        if state is None:
            return
        if not state.review.hunks and {step.change_id for step in state.steps} == {change.id}:
            self._put(change.path, replace(state, steps=()))
            if change.status == "kept":
                self._settled(change)
            return
        state, outcomes = state.folded(None)
        self._store(change.path, state, outcomes)
        out = change.status == "rejected"
        heirs = superseded_by(self._ledger, change, state.review) if out else []
        review, inherited = state.review.without_change(change.id, heirs, out=out)
        other = state.other
        if other is not None and change.status == "kept":
            # What was taken out of one text alone is in the other, and open if that is shown again.
            own = [hunk for hunk in other.hunks if hunk.change_id == change.id]
            other = other.kept([h.key for h in own if change.decided.get(h.index) != "rejected"])
        if review == state.review and other == state.other:
            return
        self._store(change.path, replace(state, review=review, other=other), [])
        for change_id, index in inherited:
            self._taken.add(change_id)
            self._ledger.set_status(change_id, "applied")
            self._ledger.decide(change_id, {index: "applied"})

    def _decided(self, path: str, state: ReviewState, outcomes: Outcomes) -> None:
        self._store(path, replace(state, steps=()), outcomes)
        self._tell(path)

    def _store(self, path: str, state: ReviewState, outcomes: Outcomes) -> None:
        before = self._states.get(path)
        self._put(path, state)
        if before is None or before.steps or outcomes or before.marks != state.marks:
            self._ledger.set_review(path, state.record())
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
                self._taken.add(change_id)
                self._ledger.set_status(change_id, "applied")
            self._ledger.decide(change_id, statuses)
            self.settle(change_id)

    def _amend(self, change_id: str, review: Review) -> None:
        """A proposal that turns out to be in, as the disk has it."""
        change = self._ledger.get(change_id)
        if change is None or not (change.status == "proposed" or change_id in self._proposals):
            return
        self._proposals.pop(change_id, None)
        undo = review.undo([hunk.key for hunk in review.hunks if hunk.change_id == change_id])
        if not undo.clashing:
            self._ledger.amend(change_id, undo.text, review.text)

    def _put(self, path: str, state: ReviewState) -> None:
        """Where no hunk is open, it is kept for what may come back, as long as there is room."""
        self._states.pop(path, None)
        if state.empty:
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
