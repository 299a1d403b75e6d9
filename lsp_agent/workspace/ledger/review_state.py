"""What is known of one file's review: of the text that it shows, and of the one beside that.

A document with unsaved text has two: what the editor shows, and what is on disk, which comes back
if the person closes it without saving. An editor that keeps unsaved text shows that again. So what
was decided on, typed and found in each of the two goes with it.

Pure.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.diff import diff
from lsp_agent.text.lines import Text
from lsp_agent.text.live_hunks import Accepted, awaited_hunks
from lsp_agent.text.merge import merge3_fine, words
from lsp_agent.text.review import Review
from lsp_agent.text.review_hunks import ReviewHunk, Turned
from lsp_agent.text.traces import Key, Trace
from lsp_agent.workspace.ledger.records import ReviewRecord

Outcomes = list[tuple[Key, EditStatus]]

#: Changes that wait to be compared; each holds two texts.
MAX_STEPS = 8
#: Of what was taken out, as it is written down.
_MAX_KEPT_LINES = 256


@dataclass(frozen=True, slots=True)
class LandedStep:
    """A change of an agent's that went in, or what was ``accepted`` of it, not yet part of the
    review."""

    before: Text
    after: Text
    change_id: str
    accepted: Accepted | None


_FileStep = tuple[Text, Text, LandedStep | None]
"""Before and after of what a closed file became by a change, or by what was taken out of it."""


@dataclass(frozen=True, slots=True)
class ReviewState:
    """``review`` is of what the file shows. ``other`` is of what is on disk while a document is
    open, and of what was unsaved when it was closed; None where that is not known. ``since`` are
    the changes of the closed file that ``other`` is without, and ``decided`` what hunks that are
    open in ``review`` alone are there.
    ``base_exists``: whether there was a file before the agents. ``restored``: from an earlier run,
    and not compared with the file yet."""

    review: Review
    base_exists: bool
    steps: tuple[LandedStep, ...] = ()
    restored: bool = False
    other: Review | None = None
    since: tuple[LandedStep, ...] = ()
    decided: Mapping[Key, EditStatus] = field(default_factory=dict[Key, EditStatus])

    @property
    def marks(self) -> list[list[tuple[Key, bool]]]:
        """What is written down when it changes: the hunks, and which of them a person typed in,
        since after a restart nobody could tell who did."""
        reviews = (self.review, self.other) if self.other else (self.review,)
        return [[(hunk.key, hunk.touched) for hunk in review.hunks] for review in reviews]

    @property
    def empty(self) -> bool:
        """Whether nothing of it is worth keeping."""
        beside = self.other is not None and self.other.text != self.review.text
        return not (self.is_open or self.review.traces or self.steps or beside)

    @property
    def is_open(self) -> bool:
        return bool(self.review.hunks or (self.other and self.other.hunks))

    def record(self, *, at_end: bool = False) -> ReviewRecord | None:
        """None where nothing is open; ``at_end`` of a server also where something may come back by
        the editor's undo, which outlives it."""
        review, other = self.review, self.other
        traces = tuple(t for t in review.traces if at_end and t.size <= _MAX_KEPT_LINES)
        if not (self.is_open or traces):
            return None
        record = replace(_record(review, self.base_exists), traces=traces)
        if other is None or other.text == review.text:
            return record
        return replace(record, beside=_record(other, self.base_exists))

    @classmethod
    def of_record(cls, record: ReviewRecord, living: Iterable[str]) -> "ReviewState":
        """Without the hunks of changes that are not among the ``living``: nobody could decide on
        them any more."""
        alive = set(living)

        def review(record: ReviewRecord) -> Review:
            traces = tuple(trace for trace in record.traces if trace.key[0] in alive)
            review = Review(record.base, record.text, record.hunks, traces)
            return review.kept([hunk.key for hunk in review.hunks if hunk.change_id not in alive])

        other = None if record.beside is None else review(record.beside)
        return cls(review(record), record.base_exists, restored=True, other=other)

    def is_of_other(self, step: LandedStep) -> bool:
        """Of a closed file: whether it went into what was unsaved, a moment before."""
        shown = self.steps[-1].after if self.steps else self.review.text
        if self.other is None or shown == step.before:
            return False
        return _apart(self.other.text, step.before) < _apart(shown, step.before)

    def has_in_other(self, change_id: str) -> bool:
        return self.other is not None and change_id in {h.change_id for h in self.other.hunks}

    def landed_in_other(self, step: LandedStep) -> "tuple[ReviewState, Outcomes]":
        """As if it had been in when the document was closed."""
        assert self.other is not None
        other, _ = self.other.typed(step.before)
        other, _ = other.edited(step.after, step.change_id, step.accepted)
        own = [key for key in _keys(other) if key[0] == step.change_id]
        return replace(self, other=other), [(key, "rejected") for key in own]

    def landed(self, step: LandedStep, *, open_: bool) -> "ReviewState":
        state = replace(self, steps=(*self.steps, step))
        if open_ or self.other is None:
            return state
        if len(self.since) == MAX_STEPS:
            return replace(state, other=None, since=())
        return replace(state, since=(*self.since, step))

    def folded(self, now: Text | None) -> "tuple[ReviewState, Outcomes]":
        """With its steps, and what was typed since, taken into the review."""
        first = self.steps[0].before if self.steps else now
        if self.restored and first is not None:
            state, outcomes = self._fitting(first)
        else:
            state, outcomes = self, Outcomes()
        review = state.review
        for step in self.steps:
            review, gone = review.typed(step.before)
            outcomes += outcomes_of(gone)
            review, gone = review.edited(step.after, step.change_id, step.accepted)
            outcomes += outcomes_of(gone)
        if now is not None:
            review, gone = review.typed(now)
            outcomes += outcomes_of(gone)
        return replace(state, review=review, steps=()), outcomes

    def on_disk(self, before: Text, others: Text, now: Text, change_id: str) -> "ReviewState":
        """An agent made ``now`` of what was on disk, ``before``, under an open document; ``others``
        is without its hunks."""
        known = self.other
        if known is None and self.review.text == now and not self.steps:
            return replace(self, other=self.review)  # it came to the document as well
        if known is None and self.review.text == before:
            known = self.review
        if known is None:
            return self
        known, _ = known.typed(others)
        known, _ = known.edited(now, change_id)
        return replace(self, other=known)

    def also_on_disk(
        self, others: Text, now: Text, change_id: str
    ) -> "tuple[ReviewState, Outcomes]":
        """As ``on_disk``, of a change that went into what was unsaved when its document was
        closed."""
        landed = self.landed(LandedStep(others, now, change_id, None), open_=False)
        state, outcomes = landed.folded(None)
        own = [key for key in _keys(state.review) if key[0] == change_id]
        return state, [*outcomes, *((key, "applied") for key in own)]

    def reloaded(self, text: Text) -> "tuple[ReviewState, Outcomes]":
        """A document shows ``text``, which is what is on disk."""
        if self.restored or self.other is None:
            return self.saved(text)
        saved = self.saved(text)
        other, _ = self.other.typed(text)  # by other programs
        there = set(_keys(other))
        # What is on disk is known to the end where it is that, or has all that is found here.
        is_known = self.other.text == text or there > set(_keys(saved[0].review))
        if not is_known or not there - set(_keys(self.review)):
            return saved
        state, outcomes = replace(self, other=other).opened(text)
        return replace(state, other=state.review), outcomes

    def saved(self, text: Text) -> "tuple[ReviewState, Outcomes]":
        """What is shown was written to the disk."""
        state, outcomes = self.folded(text)
        return state._on_disk_as_shown(), outcomes

    def _on_disk_as_shown(self) -> "ReviewState":
        return replace(self, other=self.review, since=(), decided={})

    def closed(
        self, text: Text, disk: Text, decided: Callable[[Key], EditStatus | None]
    ) -> "tuple[ReviewState, Outcomes]":
        """A document that showed ``text`` was closed: what it had beyond ``disk`` is gone, but an
        editor may show it again. What others have written to the disk counts as typed in that.
        ``decided`` is what a hunk is that is not open."""
        state, outcomes = self.folded(text)
        if state.other is None or text == disk:
            return replace(state, other=None), outcomes
        changed, more = state._becomes(state.other, disk, "rejected")
        now = dict(outcomes)
        were = {key: now.get(key, decided(key)) for key, status in more if status == "applied"}
        there = {key: status for key, status in were.items() if status is not None}
        return replace(changed, decided=there), [*outcomes, *more]

    def opened(
        self, text: Text, decided: Callable[[Key], EditStatus | None] = lambda _: None
    ) -> "tuple[ReviewState, Outcomes]":
        """A document shows ``text``, perhaps what was unsaved when it was closed; ``decided`` as
        for ``closed``."""
        if self.restored and not self.since:
            state, outcomes = self.folded(text)
            return replace(state, other=state.other or self.review), outcomes
        # What was changed before it was opened goes by the file as it was then.
        state, outcomes = self.folded(None)
        unsaved = state._unsaved(text)
        if unsaved is None and state._is_older(text):
            unsaved = Review.of(text)
        if unsaved is None or state.review.text == text:
            return state._on_disk_as_shown(), outcomes
        if unsaved is state.other:  # what was kept in the file meanwhile is not in it
            out = [each for each in traces_of(self.since, text) if decided(each.key) == "kept"]
            unsaved = replace(unsaved, traces=(*unsaved.traces, *out))
            outcomes.extend((each.key, "rejected") for each in out)
        changed, more = state._becomes(unsaved, text, "rejected")
        return changed, [*outcomes, *more]

    def _unsaved(self, text: Text) -> Review | None:
        """Of what was unsaved when the document was closed, where it shows that again: alone, or
        with what has come to the file since."""
        known = self.other
        if known is None or known.text == text:
            return known
        # What one of them did a later one may have changed: only all of them have to be in.
        if not self.since or not _is_in(self.since[0].before, self.review.text, text):
            return None
        steps = list(self._since_closed())
        for at, (before, after, step) in enumerate(steps):
            merge = merge3_fine(before, known.text, after)
            merged = merge.text if merge.clean else _without(steps[at + 1 :], text)
            if not merge.clean and _apart(known.text, merged) != _apart(before, after):
                return None
            if step is None:
                known, _ = known.typed(merged)
            else:
                known, _ = known.edited(merged, step.change_id, step.accepted)
        if _apart(text, self.review.text) < _apart(text, known.text):
            return None  # the file, with what other programs have written
        still = {hunk.key for hunk in self.review.hunks}
        ids = {step.change_id for step in self.since}
        decided = [h.key for h in known.hunks if h.change_id in ids and h.key not in still]
        return known.kept(decided)

    def _is_older(self, text: Text) -> bool:
        """Whether it has nothing of what is open: unsaved since before that, at an earlier server
        of which nothing is known."""
        review = self.review
        here = words(text.lines) - words(review.base.lines)
        own = [words(review.lines_of(h)) - words(review.base_lines_of(h)) for h in review.hunks]
        return bool(own) and all(each and not each & here for each in own)

    def _since_closed(self) -> Iterator[_FileStep]:
        at = self.since[0].before
        for step in self.since:
            if step.before != at:
                yield at, step.before, None
            yield step.before, step.after, step
            at = step.after
        if at != self.review.text:
            yield at, self.review.text, None

    def kept(self, keys: Iterable[Key], over: Iterable[Key] = ()) -> "ReviewState":
        """A person keeps these hunks, wherever they are, and with them what is in of those ``over``
        which they had taken: the editor's undo does not open that again, nor what comes back with
        what had taken it over. What a revert had taken out of their lines opens again with it."""
        chosen = tuple(keys)
        decided = {*chosen, *over}
        kept = self.review.kept(chosen)
        traces = tuple(
            left for each in kept.traces if (left := _left_of(each, decided)) is not None
        )
        other = None if self.other is None else self.other.kept(chosen)
        return replace(self, review=replace(kept, traces=traces), other=other)

    def _becomes(self, known: Review, now: Text, out: EditStatus) -> "tuple[ReviewState, Outcomes]":
        """The file shows ``now``, of which ``known`` was the review; ``out`` is what a hunk that is
        not in it any more is called."""
        left = self.review
        known, gone = known.typed(now)
        compared, turned = left.typed(now)
        were, here = set(_keys(left)), set(_keys(known))
        called = dict(self.decided)
        called.update((each.key, each.status) for each in turned if each.status != "rejected")
        # What agents have put in and the disk has as well, though not under review, was kept there.
        whole = (h for h in compared.hunks if _puts_in(compared, h) and not h.touched)
        called.update((hunk.key, "kept") for hunk in whole if hunk.key not in called)
        under = {key for hunk in known.hunks for key in hunk.over}
        outcomes: Outcomes = [
            (key, called.get(key, "superseded" if key in under else out)) for key in were - here
        ]
        outcomes.extend((key, "applied") for key in here - were)
        outcomes += [each for each in outcomes_of(gone) if each[0] not in were | here]
        # What was kept, and then taken out in the text that is gone.
        again = [each.key for each in turned if each.status == "applied"]
        outcomes.extend((key, "kept") for key in again if key not in were | here)
        # What was taken over by what is in again, and out with it, is in again as well.
        back = {each.key for each in turned if each.status == "superseded"}
        back.update(_keys(self.other) if self.other else ())
        for hunk in known.hunks:
            over = hunk.over if hunk.key not in were else back.intersection(hunk.over)
            outcomes.extend((key, "superseded") for key in over if key not in were | here)
        traces = {t.key: t for t in (*compared.traces, *known.traces) if t.key not in here}
        review = replace(known, traces=tuple(traces.values()))
        state = ReviewState(review, self.base_exists, other=left)
        return state, outcomes

    def _fitting(self, now: Text) -> "tuple[ReviewState, Outcomes]":
        """After a restart: hunks whose lines are no longer there are ``lost``, those whose lines
        were changed meanwhile ``superseded``, since nobody can say by whom. Where others have only
        come between them, they are as open as they were."""
        if self.other is not None and now == self.other.text != self.review.text:
            return self._becomes(self.other, now, "lost")
        was = {hunk.key: hunk for hunk in self.review.hunks}
        review, gone = self.review.typed(now)
        outcomes: Outcomes = [
            (each.key, "lost" if each.status == "rejected" else each.status) for each in gone
        ]

        def is_changed(hunk: ReviewHunk) -> bool:
            before = was.get(hunk.key)  # None: its lines have come back
            if before is None or not hunk.touched or hunk.left == before.left:
                return False
            return not _are_in(self.review.lines_of(before), review.lines_of(hunk))

        changed = [hunk.key for hunk in review.hunks if is_changed(hunk)]
        outcomes.extend((key, "superseded") for key in changed)
        return replace(self, review=review.kept(changed), restored=False), outcomes


def _left_of(trace: Trace, decided: Collection[Key]) -> Trace | None:
    """What is to come back of it but for what is ``decided``: its own hunk, or one that lay under
    that and went with it."""
    over = tuple(key for key in trace.over if key not in decided)
    if trace.key not in decided:
        return replace(trace, over=over)
    heir = next((key for key in trace.beside if key in over), None)
    if heir is None:
        return None
    beside = tuple(key for key in trace.beside if key not in {*decided, heir})
    return replace(trace, key=heir, over=tuple(k for k in over if k != heir), beside=beside)


def _puts_in(review: Review, hunk: ReviewHunk) -> bool:
    """Whether it has a line that its base has not: one that only takes out has none."""
    return not set(review.lines_of(hunk)) <= set(review.base_lines_of(hunk))


def _apart(one: Text, other: Text) -> int:
    """How many words only one of them has."""
    own, theirs = words(one.lines), words(other.lines)
    return (own - theirs).total() + (theirs - own).total()


def _without(steps: Sequence[_FileStep], text: Text) -> Text:
    """``text`` as it was before these, as far as they can be taken out of it."""
    for before, after, _ in reversed(steps):
        text = merge3_fine(after, text, before).text
    return text


def _is_in(before: Text, after: Text, text: Text) -> bool:
    return merge3_fine(before, text, after).text == text


def _are_in(lines: Iterable[str], now: Iterable[str]) -> bool:
    """Whether all of ``lines`` are in ``now``, in their order."""
    rest = iter(now)
    return all(line in rest for line in lines)


def traces_of(steps: Iterable[LandedStep], text: Text) -> Iterator[Trace]:
    """Of what these have put into a file, in a text that has nothing of it."""
    for step in steps:
        hunks = diff(step.before.lines, step.after.lines)
        owners = step.accepted.owners(step.before, hunks) if step.accepted else None
        for hunk in awaited_hunks(step.before, step.after, text, hunks):
            start, end = hunk.start_line, hunk.end_line
            key = step.change_id, owners[hunk.index][0] if owners else hunk.index
            yield Trace(key, (), start, end, hunk.new_lines, text.lines[start:end])


def _keys(review: Review) -> list[Key]:
    return [hunk.key for hunk in review.hunks]


def outcomes_of(gone: Iterable[Turned]) -> Outcomes:
    return [(each.key, each.status) for each in gone]


def _record(review: Review, base_exists: bool) -> ReviewRecord:
    return ReviewRecord(review.base, review.text, base_exists, review.hunks)
