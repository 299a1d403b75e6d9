"""Which changes are in a text: told by taking them out of it again, the newest first.

Pure. A text of None is a file that is not there.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsp_agent.text.diff import Hunk, diff
from lsp_agent.text.lines import EMPTY, Text, holds
from lsp_agent.text.live_hunks import place_after, with_hunks
from lsp_agent.text.merge import Lines, Merge, merge3_beside, words

_NONE: Counter[str] = Counter()

Step = tuple[Text | None, Text | None]
"""A change: the texts before and after it."""


def is_in(step: Step, now: Text | None) -> bool:
    """Whether putting the change into ``now`` would change nothing."""
    before, after = step
    if after is None or now is None:
        return after is now
    return _merged(before, after, now) == now


def without(step: Step, now: Text | None) -> Text | None:
    """``now`` without the change; as it is where that cannot be told."""
    before, after = step
    if now is None and after is not None:
        return now
    out = _merged(after, before, now)
    if out is None:
        return now
    return None if before is None and not out.lines else out


def present(steps: Sequence[Step], now: Text | None) -> list[tuple[int, ...] | None]:
    """Of each of ``steps`` (of one file, oldest first) the hunks that are in, by their place in
    its diff; None where none is. Where a newer one was made in the same lines, it counts what is
    there without that."""
    return [hunks for hunks, _ in unwound(steps, now)]


def unwound(
    steps: Sequence[Step], now: Text | None, standing: Collection[int] = ()
) -> list[tuple[tuple[int, ...] | None, Text | None]]:
    """The same, each with what there is without the newer ones. Those whose places are in
    ``standing`` are left in: what takes others out, which would be there again without it."""
    found: list[tuple[tuple[int, ...] | None, Text | None]] = []
    for place in reversed(range(len(steps))):
        step = steps[place]
        hunks = _present_hunks(step, now)
        found.append((hunks, now))
        if hunks is not None and place not in standing:
            now = without(with_only(step, hunks), now)
    return found[::-1]


def back_without(step: Step, outs: Sequence[Step], now: Text | None) -> tuple[int, ...]:
    """The hunks of ``step`` that tell nothing of its being in: what they put in, one of ``outs``
    had taken out, which is not in either, and there is no more of it in ``now`` than before that.
    """
    before, after = (text or EMPTY for text in step)
    here = words((now or EMPTY).lines)
    known = [(words((old or EMPTY).lines), words((new or EMPTY).lines)) for old, new in outs]

    def is_back(came: Counter[str]) -> bool:
        return any(
            came <= old - new and all(here[word] <= old[word] for word in came)
            for old, new in known
        )

    hunks = enumerate(_diff(step))
    came = {index: _came(hunk, before, after) for index, hunk in hunks}
    return tuple(index for index, each in came.items() if each and is_back(each))


def with_only(step: Step, hunks: Collection[int]) -> Step:
    """The change with these hunks of it alone."""
    before, after = step
    if len(hunks) == len(_diff(step)):
        return step
    return before, with_hunks(before or EMPTY, after or EMPTY, hunks)


def _present_hunks(step: Step, now: Text | None) -> tuple[int, ...] | None:
    hunks = tuple(range(len(_diff(step))))
    if is_in(step, now):
        return hunks
    if now is None or len(hunks) == 1:
        return None
    return tuple(index for index in hunks if is_in(with_only(step, [index]), now)) or None


def _diff(step: Step) -> list[Hunk]:
    return diff((step[0] or EMPTY).lines, (step[1] or EMPTY).lines)


def taken_out(steps: Iterable[Step], now: Text | None, gone: Collection[int] = ()) -> Text | None:
    """``now`` without all of ``steps`` (newest first), what others made of it kept. Hunks that
    are out already, as where an unsaved document was closed, are left alone. Those whose places
    are in ``gone`` were taken out before, and do not come back with what had taken theirs.

    Raises Clash where one of them cannot be told from what was changed since.
    """
    shown = out = now
    places: list[tuple[int, int]] = []
    rising = _Rising(now)
    left = [(step, place in gone) for place, step in enumerate(steps)]
    while left:
        row = _in_a_row(left, out, counted=bool(gone))
        left = left[row.count :]
        before, after = rising.risen(row.step, out) if row.gone else _not_out(row.step, out)
        if row.gone and before == after:
            continue
        if out is None and before is not None and after is not None and before != after:
            raise Clash(_apart(places))
        if out is None:
            out = Text((), before.encoding, bom=before.bom) if before else EMPTY
        merge = merge3_beside(after or EMPTY, out, before or EMPTY)
        places += _places(merge, shown or EMPTY)
        out = None if before is None and not merge.text.lines else merge.text
        if gone:
            rising.see(out, row.put_back)
    if places:
        raise Clash(_apart(places))
    return out


@dataclass(frozen=True, slots=True)
class _Row:
    """So many steps with nothing between them as one, in which there are words no more that a later
    one ``put_back`` after an earlier one had taken them out."""

    step: Step
    gone: bool
    put_back: Counter[str]
    count: int = 1


def _in_a_row(steps: Sequence[tuple[Step, bool]], now: Text | None, *, counted: bool) -> _Row:
    """The first of ``steps`` (newest first, each with whether it is gone) and those with nothing
    between them and it, where nothing of the later one is out of ``now`` already, or both are gone
    and it put back what the earlier one had taken out: that was never changed. ``counted``:
    whether what was put back is asked for."""
    row = _Row(*steps[0], Counter())
    for step, gone in steps[1:]:
        if row.gone != gone or row.step[0] != step[1]:
            break
        put_back = put_back_by(row.step, step) if counted else row.put_back
        if not (put_back if gone else _not_out(row.step, now) == row.step):
            break
        row = _Row((step[0], row.step[1]), gone, row.put_back | put_back, row.count + 1)
    return row


def put_back_by(later: Step, earlier: Step) -> Counter[str]:
    """The words that ``earlier`` took out and ``later``, which goes on from it, has in again."""
    went, gone, came = (words((text or EMPTY).lines) for text in (earlier[0], earlier[1], later[1]))
    return (went - gone) & (came - gone)


class _Rising:
    """What comes back into ``now`` as others' changes are taken out of it, and what goes: each word
    against the fewest and the most of it that there were meanwhile, since what another change had
    put in again may go first, and come back after that."""

    def __init__(self, now: Text | None) -> None:
        self._now = now or EMPTY
        self._left: Text | None = now
        #: What ``left`` has more and fewer of than ``now``, and the most of both so far.
        self._more: Counter[str] = Counter()
        self._fewer: Counter[str] = Counter()
        self._most_more: Counter[str] = Counter()
        self._most_fewer: Counter[str] = Counter()
        #: The words of each line of ``left`` that ``now`` has not.
        self._lines: list[Counter[str]] = []
        self._words: Counter[str] | None = None

    def risen(self, step: Step, left: Text | None) -> Step:
        """``step`` with those of its hunks alone that came back into ``left``. It goes by words:
        those that one put in are there again, or those that it took out are gone again, where lines
        beside them may be others now."""
        self.see(left)
        if not self._most_more and not self._most_fewer:
            return step[0], step[0]
        before, after = (text or EMPTY for text in step)
        risen = [
            index
            for index, hunk in enumerate(_diff(step))
            if self._has_risen(_came(hunk, before, after))
            or self._has_sunk(_went(hunk, before, after))
        ]
        return with_only(step, risen) if risen else (step[0], step[0])

    def see(self, left: Text | None, put_back: Counter[str] = _NONE) -> None:
        """Takes note of what is left by now, and of what was gone before it was ``put_back``. Lines
        that are in both are the most of a long text: their words are not counted."""
        if left is not self._left:
            self._compare(left)
        self._most_more |= self._more
        self._most_fewer |= self._fewer + put_back - self._more

    def _compare(self, left: Text | None) -> None:
        old, new = self._now.lines, (left or EMPTY).lines
        hunks = diff(old, new)
        come_lines = _joined(new[hunk.new_start : hunk.new_end] for hunk in hunks)
        gone = words(_joined(old[hunk.old_start : hunk.old_end] for hunk in hunks))
        come = words(come_lines)
        self._lines = [found for line in come_lines if (found := words((line,)))]
        self._left, self._more, self._fewer = left, come - gone, gone - come

    def _has_risen(self, came: Counter[str]) -> bool:
        """Whether there are words of it that were gone at some time, and all of them are there
        again, or as many as somebody has left of a line of it."""
        if not self._is_changed(came):
            return False
        fewest = self._counted(came, _NONE, self._most_fewer)
        back = came & (self._here(came) - fewest)
        return bool(back) and (came - fewest <= back or any(line <= back for line in self._lines))

    def _has_sunk(self, went: Counter[str]) -> bool:
        """Whether there are words of it that ``left`` has not, and all of them were there at some
        time."""
        if not self._is_changed(went):
            return False
        here = self._here(went)
        changed = went - here
        return bool(changed) and changed <= self._counted(went, self._most_more, _NONE) - here

    def _is_changed(self, asked: Iterable[str]) -> bool:
        return any(word in self._most_more or word in self._most_fewer for word in asked)

    def _here(self, asked: Iterable[str]) -> Counter[str]:
        """How many of these ``left`` has."""
        return self._counted(asked, self._more, self._fewer)

    def _counted(
        self, asked: Iterable[str], more: Counter[str], fewer: Counter[str]
    ) -> Counter[str]:
        """How many of these there are in ``now`` with so many ``more`` and ``fewer``."""
        if self._words is None:
            self._words = words(self._now.lines)
        there = self._words
        return Counter({word: there[word] + more[word] - fewer[word] for word in asked})


def _not_out(step: Step, now: Text | None) -> Step:
    """``step`` without its hunks that ``now`` has as they were before. What was deleted would be
    put in a second time where its neighbours have changed."""
    before, after = step
    if before is None or after is None or now is None or is_in(step, now):
        return step
    since = diff(after.lines, now.lines)
    left = [index for index, hunk in enumerate(_diff(step)) if not _is_out(hunk, step, since, now)]
    return with_only(step, left)


def _is_out(hunk: Hunk, step: Step, since: Sequence[Hunk], now: Text) -> bool:
    """Whether what was changed ``since`` at its place has the lines of before, and none of the
    words that came with the hunk."""
    before, after = (text or EMPTY for text in step)
    old = before.lines[hunk.old_start : hunk.old_end]
    came, went = _came(hunk, before, after), _went(hunk, before, after)
    start, end, intact = place_after(hunk.new_start, hunk.new_end, list(since))
    if came and (intact or came & words(now.lines[start:end])):
        return False
    there = [
        later
        for later in since
        if later.old_start <= hunk.new_end and hunk.new_start <= later.old_end
    ]
    now_there = _joined(now.lines[later.new_start : later.new_end] for later in there)
    if came & words(now_there):
        return False
    if not came and not went:  # blank lines, or words in another order
        return bool(there) and now_there == old
    if not old:  # nothing tells that it is out, but that nothing else is there
        was = _joined(after.lines[later.old_start : later.old_end] for later in there)
        return not words(now_there) - words(was)
    # Put in again, most of its words were there twice.
    return holds(now_there, old) or 0 < went.total() < 2 * (went & words(now_there)).total()


def _joined(parts: Iterable[Lines]) -> Lines:
    return tuple(line for lines in parts for line in lines)


def _came(hunk: Hunk, before: Text, after: Text) -> Counter[str]:
    """The words that it put in."""
    new = after.lines[hunk.new_start : hunk.new_end]
    return words(new) - words(before.lines[hunk.old_start : hunk.old_end])


def _went(hunk: Hunk, before: Text, after: Text) -> Counter[str]:
    """The words that it took out."""
    old = before.lines[hunk.old_start : hunk.old_end]
    return words(old) - words(after.lines[hunk.new_start : hunk.new_end])


class Clash(Exception):
    """The lines were changed since. ``lines`` are where: the first ones (0-based) of each such
    place, ascending; none where the file is gone."""

    def __init__(self, lines: Iterable[int]) -> None:
        super().__init__("the lines were changed since")
        self.lines = tuple(lines)


def _places(merge: Merge, shown: Text) -> Iterator[tuple[int, int]]:
    """Where a merge's conflicts are in the text as it was before anything was taken out."""
    if merge.clean:
        return
    since = diff(merge.text.lines, shown.lines)
    for conflict in merge.conflicts:
        start, end, _ = place_after(
            conflict.start_line, conflict.start_line + len(conflict.ours), since
        )
        yield start, end


def _apart(places: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The first lines of what is left of ``places`` once those that overlap are one."""
    reached = -1
    for start, end in sorted(places):
        if start >= reached:
            yield start
        reached = max(reached, end, start + 1)


def _merged(base: Text | None, ours: Text | None, theirs: Text | None) -> Text | None:
    """None where the two clash; encoding and BOM are those of ``theirs``."""
    merge = merge3_beside(base or EMPTY, theirs or EMPTY, ours or EMPTY)
    return merge.text if merge.clean else None
