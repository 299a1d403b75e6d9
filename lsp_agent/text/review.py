"""Review of what agents changed in one text, hunk by hunk, while people type in it.

A review is two texts that are alike outside its hunks: ``text``, as it was last seen, and
``base``, the same without the agents' work that nobody has decided on. What a person types
outside the hunks goes into both. Keeping a hunk puts its lines into ``base``; undoing it puts
the lines of ``base`` back. A later change of an agent takes over the hunks that it overlaps, so
that undoing it always leads to what was there before the agents.

Pure. Lines are 0-based, ranges half-open.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lsp_agent.text.diff import Hunk, by_line, diff, overlap
from lsp_agent.text.lines import Text, append_lines, holds
from lsp_agent.text.merge import merge3_beside, merge3_fine, words
from lsp_agent.text.traces import Key, Lines, Trace, come_back, followed

#: How many hunks that it took over a hunk remembers, since a record is written of it each time.
_MAX_OVER = 256


@dataclass(frozen=True, slots=True)
class ReviewHunk:
    """Lines ``base_start`` to ``base_end`` of the base stand as ``start`` to ``end`` in the text.

    ``left`` is what the agents left there, once a person has changed it; None while the text's
    lines still are that. ``mixed``: an agent has since changed the person's lines in a way that
    cannot be told apart any more, so that only the person can undo it. ``over``: the hunks that
    it took over, so that it is known whose it is should its own change be taken out.
    """

    change_id: str
    index: int
    base_start: int
    base_end: int
    start: int
    end: int
    left: Lines | None = None
    mixed: bool = False
    over: tuple[Key, ...] = ()

    @property
    def key(self) -> Key:
        return self.change_id, self.index

    @property
    def touched(self) -> bool:
        """Whether a person has changed what the agent left."""
        return self.left is not None


@dataclass(frozen=True, slots=True)
class Turned:
    """A hunk that is no longer open: a later change took it over (``superseded``), or the person
    brought back what was there before (``rejected``). Or one that was out is open again
    (``applied``), since its lines are back."""

    key: Key
    status: Literal["superseded", "rejected", "applied"]


@dataclass(frozen=True, slots=True)
class Undo:
    """``text`` is the review's without the hunks ``undone``; those ``clashing`` stay as they are,
    since the person's lines in them cannot be told from the agent's."""

    text: Text
    undone: tuple[Key, ...]
    clashing: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Review:
    base: Text
    text: Text
    hunks: tuple[ReviewHunk, ...] = ()
    traces: tuple[Trace, ...] = ()

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
            taken = next((hunk for hunk in review.hunks if _range(hunk) == place), None)
            if taken is not None and taken.key != trace.key:
                if trace.lines != review.base_lines_of(taken):
                    review, more = review._handed_back(taken, trace)
                    turned += more
            elif not any(overlap(*_range(hunk), *place) for hunk in review.hunks):
                review, more = review._reopened(trace)
                turned += more
        review, more = _stepped(review, now, diff(review.text.lines, now.lines), None)
        return review, [*turned, *more]

    def settled(self, after: Text) -> "tuple[Review, list[Turned]]":
        """After a change that is not to be reviewed (a revert, or an agent's own where nobody
        reviews) made ``after`` of the text: in a hunk it is the agents', elsewhere nobody's."""
        if after == self.text:
            return self, []
        steps = diff(self.text.lines, after.lines)
        return _stepped(self, after, steps, None, by_agent=True)

    def edited(
        self, after: Text, change_id: str, indexes: Sequence[int] | None = None
    ) -> "tuple[Review, list[Turned]]":
        """After an agent's change made ``after`` of the text. ``indexes`` are those of its hunks
        that went in, all of them if None."""
        if after == self.text:
            return self, []
        steps = diff(self.text.lines, after.lines)
        if indexes is None or len(indexes) != len(steps):
            # Hunks that went in side by side look like one: it goes by the first one's name.
            indexes = range(len(steps)) if indexes is None else [*indexes[:1]] * len(steps)
        owners = [(change_id, index) for index in indexes]
        return _stepped(self, after, steps, owners, by_agent=True)

    def kept(self, keys: Collection[Key]) -> "Review":
        """Without these hunks, whose lines are the base's from now on."""
        base = _Builder()
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
        return replace(base.review(self.base, self.text, hunks), traces=self.traces)

    def without_change(self, change_id: str, heirs: Collection[Key]) -> "tuple[Review, list[Key]]":
        """Once a change was taken out as a whole: what is left in a hunk of it is, as it stands,
        that of the first of ``heirs`` that it had taken over, which are returned; the person's
        where there is none."""
        hunks: list[ReviewHunk] = []
        inherited: list[Key] = []
        for hunk in self.hunks:
            heir = next((key for key in hunk.over if key in heirs), None)
            if hunk.change_id == change_id and heir is not None:
                over = tuple(key for key in hunk.over if key != heir)
                hunks.append(replace(hunk, change_id=heir[0], index=heir[1], over=over))
                inherited.append(heir)
            else:
                hunks.append(hunk)
        review = replace(self, hunks=tuple(hunks))
        left = [hunk.key for hunk in hunks if hunk.change_id == change_id]
        return review.kept(left), inherited

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
        review, gone = self.typed(now)
        still = {
            hunk.key
            for hunk in review.hunks
            if joined
            and hunk.key in keys
            and hunk.touched  # else its lines are out, and stand elsewhere alike
            and review.without_hunk(hunk) != review.lines_of(hunk)
        }
        out = [key for key in keys if key not in still]
        was = {hunk.key: hunk for hunk in self.hunks}
        traces = [
            _trace(was[h.key], h.start, h.end, self.lines_of(was[h.key]), review.lines_of(h))
            for h in review.hunks
            if h.key in out and h.key in was
        ]
        review = replace(review.kept(out), traces=followed(review.traces, [], traces))
        return review, [each for each in gone if each.key not in keys], out

    def _reopened(self, trace: Trace) -> "tuple[Review, list[Turned]]":
        """With the lines of a trace back, in place of what was put there when they went."""
        stood = self._with(trace.start, trace.end, trace.stood)
        review, turned = _stepped(self, stood, diff(self.text.lines, stood.lines), None)
        past = trace.start + len(trace.stood)
        back = Hunk(trace.start, past, trace.start, trace.start + len(trace.lines))
        review, more = _stepped(
            review,
            review._with(back.old_start, back.old_end, trace.lines),
            [back],
            [trace.key],
            by_agent=True,
        )
        hunks = tuple(
            replace(
                h,
                over=(*h.over, *trace.over)[:_MAX_OVER],
                left=trace.left if h.left is None else h.left,
                mixed=h.mixed or trace.mixed,
            )
            if h.key == trace.key
            else h
            for h in review.hunks
        )
        traces = tuple(each for each in review.traces if each.key != trace.key)
        review = replace(review, hunks=hunks, traces=traces)
        return review, [*turned, *more, Turned(trace.key, "applied")]

    def _handed_back(self, taken: ReviewHunk, trace: Trace) -> "tuple[Review, list[Turned]]":
        """With the lines of a hunk that ``taken`` took over in place of what that made of them."""
        past = taken.start + len(trace.lines)
        shift = past - taken.end
        back = replace(
            taken,
            change_id=trace.key[0],
            index=trace.key[1],
            end=past,
            left=trace.left,
            mixed=trace.mixed,
            over=trace.over,
        )
        hunks = [
            replace(hunk, start=hunk.start + shift, end=hunk.end + shift)
            for hunk in self.hunks[self.hunks.index(taken) + 1 :]
        ]
        before = self.hunks[: self.hunks.index(taken)]
        undone = _trace(taken, taken.start, past, self.lines_of(taken), trace.lines)
        step = Hunk(taken.start, taken.end, taken.start, past)
        others = [each for each in self.traces if each.key != trace.key]
        review = Review(
            self.base,
            self._with(taken.start, taken.end, trace.lines),
            (*before, back, *hunks),
            followed(others, [step], [undone]),
        )
        return review, [Turned(taken.key, "rejected"), Turned(trace.key, "applied")]

    def _with(self, start: int, end: int, lines: Lines) -> Text:
        return self.text.with_lines((*self.text.lines[:start], *lines, *self.text.lines[end:]))

    def lines_of(self, hunk: ReviewHunk) -> Lines:
        return self.text.lines[hunk.start : hunk.end]

    def base_lines_of(self, hunk: ReviewHunk) -> Lines:
        return self.base.lines[hunk.base_start : hunk.base_end]

    def without_hunk(self, hunk: ReviewHunk, *, beside: bool = False) -> Lines | None:
        """What is left of its lines once it is undone; None where that cannot be told. With
        ``beside`` it can, where a person typed right before or behind what is undone."""
        base = self.base_lines_of(hunk)
        if hunk.left is None:
            return base
        if hunk.mixed:
            return None
        merge3 = merge3_beside if beside else merge3_fine
        merge = merge3(Text(hunk.left), Text(self.lines_of(hunk)), Text(base))
        return merge.text.lines if merge.clean else None


@dataclass(frozen=True, slots=True)
class _Group:
    """Open hunks and the hunks of one step that overlap each other, or one of either.

    ``start`` and ``end`` are lines of the text before the step.
    """

    start: int
    end: int
    live: tuple[ReviewHunk, ...]
    steps: tuple[tuple[Hunk, Key | None], ...]


def _stepped(
    review: Review,
    after: Text,
    steps: Sequence[Hunk],
    owners: Sequence[Key] | None,
    *,
    by_agent: bool = False,
) -> tuple[Review, list[Turned]]:
    """``review`` once ``steps`` have made ``after`` of its text; ``owners`` name them if they are
    to be reviewed, else only what is in a hunk is."""
    named: list[tuple[Hunk, Key | None]] = (
        [(line, None) for line in by_line(steps)]
        if owners is None
        else list(zip(steps, owners, strict=True))
    )
    base = _Builder()
    hunks: list[ReviewHunk] = []
    gone: list[Turned] = []
    traces: list[Trace] = []
    copied = 0  # of the old base, in lines
    to_base = to_after = to_new_base = 0  # shifts that hold between the groups
    for group in _groups(review, after, named):
        base_start = group.start + to_base
        if group.live:
            to_base = group.live[-1].base_end - group.live[-1].end
        base_end = group.end + to_base
        start = group.start + to_after
        if group.steps:
            to_after = group.steps[-1][0].new_end - group.steps[-1][0].old_end
        end = group.end + to_after
        base.add(review.base.lines[copied:base_start])
        copied = base_end
        if not group.live and owners is None:
            base.add(after.lines[start:end])
            to_new_base += end - start - (base_end - base_start)
            continue
        old, new = review.base.lines[base_start:base_end], after.lines[start:end]
        left = _left(review, group, new if by_agent else None)
        if owners is not None and (persons := _with_typed(review, group)) is not None:
            old, left = persons, (None, False)
        base.add(old)
        owner = _owner(group)
        new_base_start = base_start + to_new_base
        to_new_base += len(old) - (base_end - base_start)
        hunk = ReviewHunk(
            *owner,
            new_base_start,
            new_base_start + len(old),
            start,
            end,
            *left,
            _over(group, owner),
        )
        alike = old == new
        if not alike:
            hunks.append(hunk)
        first = group.live[0] if group.live else None
        if first and (alike or owner != first.key) and (len(group.live) == 1 or owners is None):
            was = review.text.lines[group.start : group.end]
            whole = replace(
                first,
                over=_over(group, first.key),
                left=_agents(review, group) if any(h.touched for h in group.live) else None,
                mixed=any(h.mixed for h in group.live),
            )
            traces.append(_trace(whole, start, end, was, new))
        gone += _gone(group, None if alike else owner, undone=alike and owners is None)
    base.add(review.base.lines[copied:])
    made = base.review(review.base, after, hunks)
    return replace(made, traces=followed(review.traces, list(steps), traces)), gone


def _owner(group: _Group) -> Key:
    """An agent's change takes hunks over; what a person types joins the first of them."""
    for _, key in group.steps:
        if key is not None:
            return key
    return group.live[0].key


def _over(group: _Group, owner: Key) -> tuple[Key, ...]:
    """What the owner of a group has taken over: of each hunk its own name and what that had."""
    keys = dict.fromkeys(key for hunk in group.live for key in (hunk.key, *hunk.over))
    return tuple(key for key in keys if key != owner)[:_MAX_OVER]


def _gone(group: _Group, owner: Key | None, *, undone: bool) -> Iterator[Turned]:
    keys = [hunk.key for hunk in group.live]
    keys += [key for _, key in group.steps if key is not None]
    for key in dict.fromkeys(keys):
        if key != owner:
            yield Turned(key, "rejected" if undone else "superseded")


def _left(review: Review, group: _Group, edited: Lines | None) -> tuple[Lines | None, bool]:
    """What the agents have left in a group that a person changes, or has before, and whether it
    is mixed; ``edited`` is what an agent's step makes of the group."""
    touched = any(hunk.touched for hunk in group.live)
    if not group.live or not (touched or (group.steps and edited is None)):
        return None, False
    if not group.steps:
        return group.live[0].left, group.live[0].mixed
    left = _agents(review, group)
    mixed = any(hunk.mixed for hunk in group.live)
    if edited is None:
        return left, mixed
    before = review.text.lines[group.start : group.end]
    merge = merge3_fine(Text(before), Text(left), Text(edited))
    return merge.text.lines, mixed or not merge.clean


def _agents(review: Review, group: _Group) -> Lines:
    """The lines of a group before its steps, without what a person changed in its hunks."""
    lines: list[str] = []
    at = group.start
    for hunk in group.live:
        lines += review.text.lines[at : hunk.start]
        lines += review.lines_of(hunk) if hunk.left is None else hunk.left
        at = hunk.end
    return (*lines, *review.text.lines[at : group.end])


def _trace(hunk: ReviewHunk, start: int, end: int, lines: Lines, stood: Lines) -> Trace:
    return Trace(hunk.key, hunk.over, start, end, lines, stood, hunk.left, hunk.mixed)


def _with_typed(review: Review, group: _Group) -> Lines | None:
    """The base's lines of a group that an agent changes, with what a person typed in its hunks, so
    that undoing the agent's change brings that back. None where nothing was typed, or it cannot
    be told from the agents': line ends above all, and what the base has already."""
    if not any(hunk.touched for hunk in group.live):
        return None
    lines: list[str] = []
    at = group.start
    for hunk in group.live:
        told = _can_be_told(review, hunk)
        without = review.without_hunk(hunk, beside=True) if told else None
        if without is None:
            return None
        lines += review.text.lines[at : hunk.start]
        lines += without
        at = hunk.end
    return (*lines, *review.text.lines[at : group.end])


def _can_be_told(review: Review, hunk: ReviewHunk) -> bool:
    """Whether what a person typed in a hunk is no line end inside of a line, of which nobody knows
    whose it is, and nothing that the base has already or that agents had put there."""
    if hunk.left is None:
        return True
    left, now, base = hunk.left, review.lines_of(hunk), review.base_lines_of(hunk)
    sizes = [(h.old_end - h.old_start, h.new_end - h.new_start) for h in diff(left, now)]
    if any(old != new and old and new for old, new in sizes):
        return False
    theirs = words(tuple(line for t in review.traces if t.key in hunk.over for line in t.lines))
    return not (words(now) - words(left)) & (words(base) - words(left) | theirs)


def _groups(
    review: Review, after: Text, named: Sequence[tuple[Hunk, Key | None]]
) -> Iterator[_Group]:
    """In the text's order. Open hunks and steps overlap if they share a line, or if one lies
    inside the other; at an unfinished last line also if they meet."""
    unfinished = any(_is_unfinished(text) for text in (review.base, review.text, after))
    sticky = len(review.text.lines) if unfinished else -1
    live, steps = deque(review.hunks), deque(named)

    def meets(range_: tuple[int, int], end: int) -> bool:
        return overlap(*range_, start, end) or range_[1] == end == sticky

    def restores(hunk: ReviewHunk, step: Hunk) -> bool:
        """Whether what was deleted is put back at its place, or beside what was changed there."""
        if hunk.start != hunk.end:
            return False
        old, new = review.base_lines_of(hunk), after.lines[step.new_start : step.new_end]
        if step.old_start == step.old_end:
            return hunk.start == step.old_start and holds(new, old)
        gone = review.text.lines[step.old_start : step.old_end]
        above = hunk.start == step.old_start and new[: len(old)] == old != gone[: len(old)]
        below = hunk.start == step.old_end and new[-len(old) :] == old != gone[-len(old) :]
        return above or below

    while live or steps:
        first_is_live = not steps or (live and _place(live[0]) <= _step_place(steps[0][0]))
        start, end = _range(live[0]) if first_is_live else _step_range(steps[0][0])
        in_live: list[ReviewHunk] = []
        in_steps: list[tuple[Hunk, Key | None]] = []
        if first_is_live:
            in_live.append(live.popleft())
        else:
            in_steps.append(steps.popleft())
        while True:
            if live and (
                meets(_range(live[0]), end)
                or (len(in_steps) == 1 and restores(live[0], in_steps[0][0]))
            ):
                in_live.append(live.popleft())
                end = max(end, in_live[-1].end)
            elif steps and (
                meets(_step_range(steps[0][0]), end)
                or (in_live and restores(in_live[-1], steps[0][0]))
            ):
                in_steps.append(steps.popleft())
                end = max(end, in_steps[-1][0].old_end)
            else:
                break
        yield _Group(start, end, tuple(in_live), tuple(in_steps))


def _range(hunk: ReviewHunk) -> tuple[int, int]:
    return hunk.start, hunk.end


def _step_range(step: Hunk) -> tuple[int, int]:
    return step.old_start, step.old_end


def _place(hunk: ReviewHunk) -> tuple[int, int]:
    """What was deleted comes before what is put at its place, and that before what follows."""
    return hunk.start, 0 if hunk.start == hunk.end else 2


def _step_place(step: Hunk) -> tuple[int, int]:
    return step.old_start, 1 if step.old_start == step.old_end else 2


def _is_unfinished(text: Text) -> bool:
    return bool(text.lines) and not text.lines[-1].endswith(("\n", "\r"))


class _Builder:
    """Puts a base together from pieces of texts."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0

    def add(self, lines: Lines) -> None:
        self._count += len(lines)
        append_lines(self._lines, lines)

    def review(self, like: Text, text: Text, hunks: Sequence[ReviewHunk]) -> Review:
        """With this base. Where pieces met in the middle of a line (``\\r`` before ``\\n``), the
        hunks are found again by their places."""
        base = like.with_lines(tuple(self._lines))
        if len(base.lines) == self._count:
            return Review(base, text, tuple(hunks))
        found: list[ReviewHunk] = []
        for hunk in diff(base.lines, text.lines) if hunks else []:
            nearest = min(hunks, key=lambda each: abs(each.start - hunk.new_start))
            place = hunk.old_start, hunk.old_end, hunk.new_start, hunk.new_end
            found.append(
                ReviewHunk(*nearest.key, *place, nearest.left, nearest.mixed, nearest.over)
            )
        return Review(base, text, tuple(found))
