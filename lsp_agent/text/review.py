"""Review of what agents changed in one text, hunk by hunk, while people type in it.

A review is two texts that are alike outside its hunks: ``text``, as it was last seen, and
``base``, the same without the agents' work that nobody has decided on. What a person types
outside the hunks goes into both. Keeping a hunk puts its lines into ``base``; undoing it puts
the lines of ``base`` back. A later change of an agent takes over the hunks that it overlaps, so
that undoing it always leads to what was there before the agents.

Pure. Lines are 0-based, ranges half-open.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lsp_agent.text.diff import Hunk, diff, overlap
from lsp_agent.text.lines import Text, append_lines, holds
from lsp_agent.text.live_hunks import Accepted, LiveHunk, live_hunks, place_after
from lsp_agent.text.merge import words
from lsp_agent.text.review_base import BaseBuilder, joined
from lsp_agent.text.review_hunks import MAX_OVER, ReviewHunk, Turned, Undo, agents_lines
from lsp_agent.text.review_step import stepped, trace_of, with_agents
from lsp_agent.text.reviewed import Reviewed
from lsp_agent.text.traces import Key, Lines, Taken, Trace, come_back, followed


@dataclass(frozen=True, slots=True)
class Review(Reviewed):
    @classmethod
    def of(cls, text: Text) -> "Review":
        """With nothing to review."""
        return cls(text, text)

    def typed(self, now: Text) -> "tuple[Review, list[Turned]]":
        """After a person, or anybody but an agent, made ``now`` of the text."""
        if now == self.text:
            return self, []
        review, turned = self, list[Turned]()
        for trace in come_back(self.traces, self.text, now):
            place = trace.start, trace.end
            there = (hunk for hunk in review.hunks if hunk.range == place)
            taken = next((hunk for hunk in there if not _are_beside(hunk, trace)), None)
            if taken is not None:
                if trace.lines != review.base_lines_of(taken) and not _is_as_left(taken, self, now):
                    there = _handed_lines(self, taken, trace, now)
                    review, more = review._handed_back(taken, trace, there)
                    turned += more
            elif all(h.key in trace.over for h in review.hunks if overlap(*h.range, *place)):
                review, more = review._reopened(trace)
                turned += more
        review, more = stepped(review, now, diff(review.text.lines, now.lines), None)
        return replace(review, hunks=joined(review.text, review.hunks)), [*turned, *more]

    def settled(self, after: Text, taken: Sequence[Taken] = ()) -> "tuple[Review, list[Turned]]":
        """After a change that is not to be reviewed (a revert, or an agent's own where nobody
        reviews) made ``after`` of the text: in a hunk it is the agents', elsewhere nobody's.
        ``taken``, oldest first, are the hunks that a revert takes out."""
        if after == self.text:
            return self, []
        steps = diff(self.text.lines, after.lines)
        return stepped(self, after, steps, None, by_agent=True, taken=taken)

    def edited(
        self, after: Text, change_id: str, accepted: Accepted | None = None
    ) -> "tuple[Review, list[Turned]]":
        """After an agent's change made ``after`` of the text, or those hunks of it alone that a
        person accepted."""
        if after == self.text:
            return self, []
        steps = diff(self.text.lines, after.lines)
        if accepted is None:
            owners = [(index,) for index in range(len(steps))]
        else:
            owners = accepted.owners(self.text, steps)
        names = [(change_id, own[0]) for own in owners]
        review, turned = stepped(self, after, steps, names, by_agent=True)
        if accepted is None:
            return review, turned
        return review._with_beside(names, owners, turned)

    def _with_beside(
        self, names: Sequence[Key], owners: Sequence[Sequence[int]], turned: list[Turned]
    ) -> "tuple[Review, list[Turned]]":
        """What went in beside each other is one hunk that has taken the others over, and a hunk
        that went in around lines that were typed is one as well."""
        over: dict[Key, list[Key]] = defaultdict(list)
        for name, own in zip(names, owners, strict=True):
            beside = [(name[0], index) for index in own[1:]]
            over[name] += [key for key in beside if key not in names]
        hunks = [
            replace(hunk, over=(*hunk.over, *over[hunk.key])[:MAX_OVER])
            if hunk.key in over
            else hunk
            for hunk in self.hunks
        ]
        more = [Turned(key, "superseded") for keys in over.values() for key in keys]
        return replace(self, hunks=joined(self.text, hunks)), [*turned, *more]

    def kept(self, keys: Collection[Key]) -> "Review":
        """Without these hunks, whose lines are the base's from now on."""
        keys = frozenset(keys)
        base = BaseBuilder()
        hunks: list[ReviewHunk] = []
        at = shift = 0
        for hunk in self.hunks:
            if hunk.key in keys:
                base.add(self.base.lines[at : hunk.base_start])
                base.add(self.text.lines[hunk.start : hunk.end])
                at = hunk.base_end
                shift += hunk.end - hunk.start - (hunk.base_end - hunk.base_start)
            else:
                start, end = hunk.base_start + shift, hunk.base_end + shift
                hunks.append(replace(hunk, base_start=start, base_end=end))
        if len(hunks) == len(self.hunks):
            return self
        base.add(self.base.lines[at:])
        made, found = base.with_hunks(self.base, self.text, hunks)
        return Review(made, self.text, found, self.traces)

    def with_open(
        self, change_id: str, before: Text, after: Text, *, was_in: bool = False
    ) -> "Review":
        """With the hunks of a change that are in the text, and that nobody is to decide on yet.
        ``was_in``: all of it is known to have been there."""
        review = self
        keys = {hunk.key for hunk in self.hunks}
        for hunk in live_hunks(before, after, self.text):
            own = words(hunk.new_lines) - words(hunk.old_lines)
            went = words(hunk.old_lines) - words(hunk.new_lines)
            if own:
                is_in = bool(own & words(self.text.lines[hunk.start_line : hunk.end_line]))
            else:  # of one that only takes out the text alone does not tell
                is_in = was_in and bool(went) and self._has_no_more_than(after, went)
            if is_in and (key := (change_id, hunk.index)) not in keys:
                review = review._with_open(hunk, key)
        return review

    def _has_no_more_than(self, after: Text, asked: Iterable[str]) -> bool:
        """Of these words."""
        here, left = words(self.text.lines), words(after.lines)
        return all(here[word] <= left[word] for word in asked)

    def _with_open(self, hunk: LiveHunk, key: Key) -> "Review":
        """As it is where others stand there."""
        start, end = hunk.start_line, hunk.end_line
        if any(overlap(start, end, *other.range) for other in self.hunks):
            return self
        above = [other for other in self.hunks if other.end <= start]
        below = self.hunks[len(above) :]
        shift = above[-1].base_end - above[-1].end if above else 0
        at = start + shift
        longer = len(hunk.old_lines) - (end - start)
        base = BaseBuilder()
        base.add(self.base.lines[:at])
        base.add(hunk.old_lines)
        base.add(self.base.lines[end + shift :])
        left = None if hunk.intact else hunk.new_lines
        opened = ReviewHunk(*key, at, at + len(hunk.old_lines), start, end, left)
        moved = [
            replace(h, base_start=h.base_start + longer, base_end=h.base_end + longer)
            for h in below
        ]
        made, found = base.with_hunks(self.base, self.text, [*above, opened, *moved])
        return Review(made, self.text, found, self.traces)

    def without_change(
        self, change_id: str, heirs: Collection[Key], *, out: bool = False
    ) -> "tuple[Review, list[Key]]":
        """Once a change was taken out as a whole: what is left in a hunk of it is, as it stands,
        that of the first of ``heirs`` that it had taken over, or of one whose lines an agent had
        taken out and it has put back, which are returned; the person's where there is none. With
        ``out`` that is known again should it come back."""
        hunks: list[ReviewHunk] = []
        inherited: list[Key] = []
        for hunk in self.hunks:
            heir = next((key for key in hunk.over if key in heirs), None)
            if out and heir is None:
                heir = self._put_back_in(hunk)
            if hunk.change_id == change_id and heir is not None:
                over = tuple(key for key in hunk.over if key != heir)
                hunks.append(replace(hunk, change_id=heir[0], index=heir[1], over=over, by=None))
                inherited.append(heir)
            else:
                hunks.append(hunk)
        review = replace(self, hunks=tuple(hunks))
        left = [hunk for hunk in hunks if hunk.change_id == change_id]
        kept = review.kept([hunk.key for hunk in left])
        traces = [trace for hunk in left if (trace := self._trace_of_none(hunk))] if out else []
        return replace(kept, traces=followed(kept.traces, [], traces)), inherited

    def _put_back_in(self, hunk: ReviewHunk) -> Key | None:
        """Whose lines it has that another agent's hunk had taken out there."""
        for trace in self.traces:
            there = trace.start <= hunk.end and hunk.start <= trace.end
            by_agent = trace.by is not None and bool(trace.lines)
            if there and by_agent and holds(self.lines_of(hunk), trace.lines):
                return trace.key
        return None

    def _trace_of_none(self, hunk: ReviewHunk) -> Trace | None:
        """Of a hunk of which a person has taken out all that was the agents'."""
        stand = self.lines_of(hunk)
        lines = with_agents(self.base_lines_of(hunk), stand, hunk)
        if lines is None or lines == stand:
            return None
        return trace_of(hunk, hunk.start, hunk.end, lines, stand)

    def undo(self, keys: Collection[Key]) -> Undo:
        """What the text is without these hunks. A person's lines in them stay; where they cannot
        be told from the agent's the hunk clashes."""
        lines: list[str] = []
        undone: list[Key] = []
        clashing: list[Key] = []
        at = 0
        for hunk in self.hunks:
            if hunk.key not in keys:
                continue
            without = self.without_hunk(hunk)
            if without is None:
                clashing.append(hunk.key)
                continue
            append_lines(lines, self.text.lines[at : hunk.start])
            append_lines(lines, without)
            at = hunk.end
            undone.append(hunk.key)
        append_lines(lines, self.text.lines[at:])
        return Undo(self.text.with_lines(tuple(lines)), tuple(undone), tuple(clashing))

    def undone(
        self, now: Text, keys: Collection[Key], *, joined: bool = False
    ) -> "tuple[Review, list[Turned], list[Key]]":
        """After the undoing of these hunks made ``now`` of the text: what is left of them is the
        person's. Returns also which of them are out: all, but where a person has meanwhile
        ``joined`` hunks one that still has lines of the agents' stays open."""
        if not joined and (without := self._without(keys, now)) is not None:
            return without, [], list(keys)
        review, gone = self.typed(now)
        asked = frozenset(keys)
        still = {
            hunk.key
            for hunk in review.hunks
            if joined
            and hunk.key in asked
            and hunk.touched  # else its lines are out, and stand elsewhere alike
            and review.without_hunk(hunk) != review.lines_of(hunk)
        }
        out = [key for key in keys if key not in still]
        was = {hunk.key: hunk for hunk in self.hunks}
        traces = [
            trace_of(was[h.key], h.start, h.end, self.lines_of(was[h.key]), review.lines_of(h))
            for h in review.hunks
            if h.key in was and h.key in asked and h.key not in still
        ]
        review = replace(review.kept(out), traces=followed(review.traces, [], traces))
        return review, [each for each in gone if each.key not in asked], out

    def _without(self, keys: Collection[Key], now: Text) -> "Review | None":
        """With exactly these hunks undone, if that is what ``now`` is."""
        keys = frozenset(keys)
        base = BaseBuilder()
        hunks: list[ReviewHunk] = []
        steps: list[Hunk] = []
        traces: list[Trace] = []
        at = shift = base_shift = 0
        for hunk in self.hunks:
            start = hunk.start + shift
            if hunk.key not in keys:
                base_start = hunk.base_start + base_shift
                base_end, end = hunk.base_end + base_shift, hunk.end + shift
                hunks.append(
                    replace(hunk, base_start=base_start, base_end=base_end, start=start, end=end)
                )
                continue
            lines = self.without_hunk(hunk)
            if lines is None:
                return None
            base.add(self.base.lines[at : hunk.base_start])
            base.add(lines)
            at, end = hunk.base_end, start + len(lines)
            shift, base_shift = end - hunk.end, base_shift + len(lines) - (at - hunk.base_start)
            steps.append(Hunk(*hunk.range, start, end))
            traces.append(trace_of(hunk, start, end, self.lines_of(hunk), lines))
        base.add(self.base.lines[at:])
        if self.undo(keys).text != now or len(now.lines) != len(self.text.lines) + shift:
            return None
        made, found = base.with_hunks(self.base, now, hunks)
        return Review(made, now, found, followed(self.traces, steps, traces))

    def _reopened(self, trace: Trace) -> "tuple[Review, list[Turned]]":
        """With the lines of a trace back, in place of what was put there when they went."""
        stood = self._with(trace.start, trace.end, trace.stood)
        review, turned = stepped(self, stood, diff(self.text.lines, stood.lines), None)
        past = trace.start + len(trace.stood)
        back = Hunk(trace.start, past, trace.start, trace.start + len(trace.lines))
        review, more = stepped(
            review,
            review._with(back.old_start, back.old_end, trace.lines),
            [back],
            [trace.key],
            by_agent=True,
        )
        hunks = tuple(
            replace(
                h,
                over=(*h.over, *trace.over)[:MAX_OVER],
                # Its base, what stood there, has what a person did in what the agent had left.
                left=trace.lines if h.left is None and trace.left is not None else h.left,
                mixed=h.mixed or trace.mixed,
                by=trace.by,
            )
            if h.key == trace.key
            else h
            for h in review.hunks
        )
        traces = tuple(each for each in review.traces if each.key != trace.key)
        review = replace(review, hunks=hunks, traces=traces)
        told = [*turned, *more]
        return review, [*told, *_back(trace, told)]

    def _handed_back(
        self, taken: ReviewHunk, trace: Trace, lines: Lines
    ) -> "tuple[Review, list[Turned]]":
        """With ``lines`` in place of what ``taken`` made of a hunk that it took over: that one's,
        and beside them what ``taken`` alone had changed. Or its own, of which a revert had taken
        out what others put there."""
        base = self.base_lines_of(taken)
        above, below = _alike_around(base, lines, len(trace.lines))
        past = taken.start + len(lines)
        shift = past - taken.end
        back = replace(
            taken,
            change_id=trace.key[0],
            index=trace.key[1],
            base_start=taken.base_start + above,
            base_end=taken.base_end - below,
            start=taken.start + above,
            end=past - below,
            left=trace.left,
            mixed=trace.mixed,
            over=trace.over,
            replaced=(),
            by=trace.by,
        )
        hunks = [
            replace(hunk, start=hunk.start + shift, end=hunk.end + shift)
            for hunk in self.hunks[self.hunks.index(taken) + 1 :]
        ]
        before = self.hunks[: self.hunks.index(taken)]
        undone = trace_of(taken, taken.start, past, self.lines_of(taken), lines)
        step = Hunk(taken.start, taken.end, taken.start, past)
        others = [each for each in self.traces if each.key != trace.key]
        review = Review(
            self.base,
            self._with(taken.start, taken.end, lines),
            (*before, back, *hunks),
            followed(others, [step], [undone]),
        )
        told: list[Turned] = []
        if taken.key != trace.key:
            status = "superseded" if taken.key in trace.over else "rejected"
            told.append(Turned(taken.key, status))
        return review, [*told, *_back(trace, told)]

    def _with(self, start: int, end: int, lines: Lines) -> Text:
        return self.text.with_lines((*self.text.lines[:start], *lines, *self.text.lines[end:]))


def _handed_lines(review: Review, taken: ReviewHunk, trace: Trace, now: Text) -> Lines:
    """The lines of ``trace`` with those beside them, where ``taken`` was, that are the base's or
    agents'."""
    start, end, _ = place_after(*taken.range, diff(review.text.lines, now.lines))
    there, size = now.lines[start:end], len(trace.lines)
    known = {*review.base_lines_of(taken), *agents_lines(review.text, *taken.range, [taken])}
    known.update(line for other in review.traces if other.key in taken.over for line in other.lines)
    for at in range(len(there) - size + 1):
        beside = there[:at] + there[at + size :]
        if there[at : at + size] == trace.lines and known.issuperset(beside):
            return there
    return trace.lines


def _alike_around(base: Lines, lines: Lines, inner: int) -> tuple[int, int]:
    """How many lines both begin and end with; ``inner`` of ``lines`` are not looked at."""
    most = min(len(base), len(lines) - inner)
    above = next((n for n in range(most) if base[n] != lines[n]), most)
    most -= above
    below = next((n for n in range(most) if base[-1 - n] != lines[-1 - n]), most)
    return above, below


def _is_as_left(hunk: ReviewHunk, review: Review, now: Text) -> bool:
    """Whether what the agent left in a hunk is there again, all of it."""
    steps = diff(review.text.lines, now.lines)
    start, end, _ = place_after(hunk.start, hunk.end, steps)
    return hunk.left is not None and now.lines[start:end] == hunk.left


def _are_beside(hunk: ReviewHunk, trace: Trace) -> bool:
    """Whether one deleted lines and the other put some in at their place, and neither has taken
    the other over."""
    deleted = hunk.start == hunk.end and not trace.stood
    return deleted and hunk.key not in trace.over and trace.key not in hunk.over


def _back(trace: Trace, told: Collection[Turned]) -> Iterator[Turned]:
    """What went with it, or lies under it, is in its lines again, and what took it out is out; but
    for what is ``told`` already."""
    if trace.by is not None:
        yield Turned(trace.by, "rejected")
    for key in dict.fromkeys((*trace.beside, *trace.over)):
        if all(each.key != key for each in told):
            yield Turned(key, "superseded")
    yield Turned(trace.key, "applied")
