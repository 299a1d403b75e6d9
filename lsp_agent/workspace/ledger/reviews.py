"""The open review of each file: which hunks of the agents' changes nobody has decided on yet.

Fed with each change that goes in and, of an open text, each that the editor tells (``documents``);
of a long text or a closed file, what was typed is found by comparing when somebody asks. Every
decision goes into the ledger, and with it what is needed to have the hunks back after a restart
(``book``).
"""

from collections.abc import Callable, Collection
from dataclasses import replace

import anyio.to_thread

from lsp_agent.text.lines import EMPTY, Text, is_long
from lsp_agent.text.live_hunks import Accepted
from lsp_agent.text.review import Review
from lsp_agent.text.traces import Key, followed
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.change_hunks import (
    kept_with,
    out_with,
    superseded_by,
    taken_by,
    written_by_others,
)
from lsp_agent.workspace.ledger.ledger import MAX_CHANGES, Ledger
from lsp_agent.workspace.ledger.review_book import ReviewBook
from lsp_agent.workspace.ledger.review_state import (
    MAX_STEPS,
    LandedStep,
    Outcomes,
    ReviewState,
    outcomes_of,
    traces_of,
)
from lsp_agent.workspace.ledger.reviewed_documents import ReviewedDocuments


class Reviews:
    """Of one workspace. To be used in the event loop; paths are real."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.book = ReviewBook(ledger, self._tell)
        self.documents = ReviewedDocuments(self.book)
        #: Changes that were heard of before: one of them that is kept did not go in just now.
        self._heard_of = self.book.known()
        self._subscribers: list[Callable[[str], None]] = []
        ledger.subscribe(self._take)

    def write_down(self) -> None:
        """Before the ledger is closed: what went in and was not compared yet, since after a restart
        it could only be guessed which hunks of it are in (long texts are left to that), and what
        may come back."""
        for path, state in self.book.items():
            if state.steps and not is_long(
                (now := self.documents.last_seen(path, state.steps)).lines
            ):
                self.book.store(path, *state.folded(now))
        for path, state in self.book.items():
            if state.review.traces and not state.steps:
                self._ledger.set_review(path, state.record(at_end=True))

    def subscribe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Calls ``callback(path)`` when an agent or a decision has changed a file's review, or the
        editor's undo has brought hunks back; returns what ends that."""
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def current(self, path: str, now: Text) -> Review:
        """The review of a file that shows ``now``."""
        return self.peek(path, now) if self.documents.may_pass(path) else self._taken_in(path, now)

    async def refresh(self, path: str, now: Text) -> bool:
        """``current`` that compares long texts in a thread. False if the review has changed
        meanwhile, so that ``now`` may be too old."""
        state = self.book.get(path)
        if state is None or self.documents.may_pass(path) or not is_long(now.lines):
            self.current(path, now)
            return True
        folded = await anyio.to_thread.run_sync(state.folded, now)
        if self.book.get(path) is not state:
            return False
        self.book.store(path, *folded)
        return True

    def peek(self, path: str, now: Text) -> Review:
        """``current`` that is not remembered: what is seen may never be."""
        state = self.book.get(path)
        return state.folded(now)[0].review if state else Review.of(now)

    def mark(self, path: str) -> object:
        """The same object as long as nothing is known to have changed in a file's review."""
        return self.book.get(path)

    def base_exists(self, path: str) -> bool:
        """Whether there was a file before the agents' open changes of it."""
        state = self.book.get(path)
        return state is None or state.base_exists

    def landed(
        self,
        path: str,
        before: Text | None,
        after: Text | None,
        change_id: str,
        accepted: Accepted | None = None,
    ) -> None:
        """A change went in, or what was ``accepted`` of it."""
        self.book.taken.add(change_id)
        is_as_on_disk = self.book.proposals.pop(change_id, True)
        step = LandedStep(before or EMPTY, after or EMPTY, change_id, accepted)
        state = self.book.get(path)
        if state is None:
            state = ReviewState(
                Review.of(step.before), before is not None, other=self.documents.disk(path, step)
            )
        elif not state.review.hunks and not state.steps:
            state = replace(state, base_exists=before is not None)
        if not is_as_on_disk:  # which hunk there is which here is not known
            state = replace(state, other=None)
        is_open = self.documents.document(path) is not None
        if not is_open and state.is_of_other(step):
            self.book.store(path, *state.landed_in_other(step))
        else:
            state = state.landed(step, open_=is_open)
            self.book.remember(path, state)
            if len(state.steps) > MAX_STEPS:
                self.book.store(path, *state.folded(step.after))
        self._tell(path)

    def on_disk(self, path: str, before: Text, now: Text, change: Change) -> None:
        """``change`` has come to the disk, which held ``before``, under an open document: it is in
        that as well, or a proposal for it, and is all there is if the document is closed. Or it was
        closed meanwhile."""
        document = self.documents.document(path)
        state = self.book.get(path)
        if is_long(now.lines) or (document is not None and is_long(document.lines)):
            return
        others = written_by_others(change, before, now)
        if document is None:
            if state is not None and others is not None and state.has_in_other(change.id):
                self.book.store(path, *state.also_on_disk(others, now, change.id))
            return
        if state is None:
            state = ReviewState(Review.of(document.text), True, other=Review.of(before))
        if change.status == "proposed":  # what is not of it may have gone in with it
            self.book.proposals[change.id] = others == before
            state = state.on_disk(before, before, now, change.id)
        elif others is not None:
            state = state.on_disk(before, others, now, change.id)
        else:
            state = replace(state, other=None)  # as in ``landed``
        self.book.store(path, state, [])

    def keep(self, path: str, now: Text, keys: Collection[Key]) -> None:
        """A person keeps these hunks."""
        review = self._taken_in(path, now)
        state = self.book.get(path)
        if state is not None:
            over = kept_with(self._ledger, review, keys)
            self._decided(path, state.kept(keys, over), [(key, "kept") for key in (*keys, *over)])

    def undone(self, path: str, before: Text, after: Text, keys: Collection[Key]) -> None:
        """These hunks were taken out of ``before``, which gave ``after``."""
        state = self.book.get(path)
        was = {hunk.key for hunk in state.review.hunks} if state else set[Key]()
        review = self._taken_in(path, before)
        joined = bool(was - {hunk.key for hunk in review.hunks} - set(keys))
        left, gone, out = review.undone(after, keys, joined=joined)
        state = self.book.get(path)
        if state is not None:
            out += out_with(self._ledger, review, out)
            outcomes: Outcomes = [*outcomes_of(gone), *((key, "rejected") for key in out)]
            self._decided(path, replace(state, review=left), outcomes)

    def found_out(self, change: Change, indexes: Collection[int]) -> None:
        """A revert finds these hunks out of what a file shows. One that was kept, and undone in the
        editor since, comes back by its redo: then it is to be decided on again."""
        document = self.documents.document(change.path)
        kept = [i for i in indexes if change.decided.get(i, change.status) == "kept"]
        if document is None or change.cold or is_long(document.lines) or not kept:
            return
        if self.documents.may_pass(change.path):
            return
        review = self._taken_in(change.path, document.text)
        known = {each.key for each in (*review.hunks, *review.traces)}
        step = LandedStep(change.before or EMPTY, change.after or EMPTY, change.id, None)
        traces = [
            trace
            for trace in traces_of([step], document.text)
            if trace.key[1] in kept and trace.key not in known
        ]
        if not traces:
            return
        state = self.book.get(change.path)
        if state is None:
            disk = self.documents.disk(change.path, step)
            state = ReviewState(review, change.before is not None, other=disk)
        review = replace(review, traces=followed(review.traces, [], traces))
        self.book.put(change.path, replace(state, review=review))

    def _taken_in(self, path: str, now: Text) -> Review:
        if state := self.book.get(path):
            self.book.store(path, *state.folded(now))
        return self.book.review(path, now)

    def _is_new(self, change: Change) -> bool:
        new = change.id not in self._heard_of
        if change.status != "unknown":  # it may still go in
            self._heard_of.add(change.id)
        if len(self._heard_of) > 4 * MAX_CHANGES:
            self._heard_of = self.book.known()
        return new

    def _take(self, change: Change) -> None:
        new = self._is_new(change)
        if change.status == "applied" and change.id not in self.book.taken:
            self.landed(change.path, change.before, change.after, change.id)
        elif change.status == "kept" and new:
            self._settled(change)
        elif change.status not in ("applied", "proposed", "unknown"):
            self.book.taken.discard(change.id)
            self._forget(change)
        if change.status not in ("applied", "pending"):
            self._tell(change.path)

    def _settled(self, change: Change) -> None:
        """A change went in that nobody is to review."""
        state = self.book.get(change.path)
        if change.cold or (state is None and not change.takes_out):
            return
        if change.after is None and self.documents.document(change.path) is not None:
            return  # the editor shows it still
        before, after = change.before or EMPTY, change.after or EMPTY
        if state is None:
            disk = self.documents.disk(change.path, LandedStep(before, after, change.id, None))
            state = ReviewState(Review.of(before), change.before is not None, other=disk)
        state, outcomes = state.folded(before)
        review, gone = state.review.settled(after, taken_by(self._ledger, change))
        self.book.store(change.path, replace(state, review=review), [*outcomes, *outcomes_of(gone)])

    def _forget(self, change: Change) -> None:
        """The change was decided on as a whole, by others than us. Where it was taken out of what
        an earlier one had done, that one is open again."""
        state = self.book.get(change.path)
        if state is None:
            return
        if not state.review.hunks and {step.change_id for step in state.steps} == {change.id}:
            self.book.put(change.path, replace(state, steps=()))
            if change.status == "kept":
                self._settled(change)
            return
        state, outcomes = state.folded(None)
        self.book.store(change.path, state, outcomes)
        out = change.status == "rejected"
        heirs = superseded_by(self._ledger, change, state.review) if out else []
        review, inherited = state.review.without_change(change.id, heirs, out=out)
        other = state.other
        if other is not None and change.status == "kept":
            # What was taken out of one text alone is in the other, and open if that is shown again.
            own = [hunk for hunk in other.hunks if hunk.change_id == change.id]
            there = ("rejected", "superseded")
            other = other.kept([h.key for h in own if change.decided.get(h.index) not in there])
        is_open = self.documents.document(change.path) is not None
        may_have = out and not change.cold and (change.on_disk or change.takes_out or not is_open)
        if other is not None and may_have and other.text != review.text:
            # The text beside may have it still: what was kept of it there is to be decided on.
            other = other.with_open(
                change.id,
                change.before or EMPTY,
                change.after or EMPTY,
                was_in=is_open and change.on_disk,
            )
        if review == state.review and other == state.other:
            return
        self.book.store(change.path, replace(state, review=review, other=other), [])
        for change_id, index in inherited:
            self.book.taken.add(change_id)
            self._ledger.set_status(change_id, "applied")
            self._ledger.decide(change_id, {index: "applied"})

    def _decided(self, path: str, state: ReviewState, outcomes: Outcomes) -> None:
        self.book.store(path, replace(state, steps=()), outcomes)
        self._tell(path)

    def _tell(self, path: str) -> None:
        for callback in tuple(self._subscribers):
            callback(path)
