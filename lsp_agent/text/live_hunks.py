"""The hunks of one change: where they stand in the text as it is now, and the change with some."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lsp_agent.text.diff import Hunk, diff, overlap
from lsp_agent.text.lines import Text


@dataclass(frozen=True, slots=True)
class LiveHunk:
    """A hunk of a change. ``start_line`` and ``end_line`` (0-based, half-open) are its place in
    the present text; ``intact`` is False where those lines have been changed since, and the
    place then covers what was typed into them."""

    index: int
    old_lines: tuple[str, ...]
    new_lines: tuple[str, ...]
    start_line: int
    end_line: int
    intact: bool


@dataclass(frozen=True, slots=True)
class Accepted:
    """The hunks ``indexes``, at least one, of the change from ``before`` to ``after``, which were
    put into a text that may have been another by then."""

    before: Text
    after: Text
    indexes: tuple[int, ...]

    def owners(self, now: Text, steps: Sequence[Hunk]) -> list[tuple[int, ...]]:
        """Which of the hunks each of the ``steps`` is of that put them into ``now``; its name is
        the first one's. Of a hunk that was in there is none, of one in which lines had been typed
        there may be several."""
        awaited = awaited_hunks(self.before, self.after, now)
        hunks = [hunk for hunk in awaited if hunk.index in self.indexes]
        there = {h.index for h in hunks if now.lines[h.start_line : h.end_line] == h.new_lines}
        return [_owners(step, hunks, there) for step in steps]

    def went_in(self, before: Text, after: Text) -> set[int]:
        """Which of the hunks made ``after`` of the text ``before``: the others were in."""
        owners = self.owners(before, diff(before.lines, after.lines))
        return {index for own in owners for index in own}


def live_hunks(before: Text, after: Text, now: Text) -> list[LiveHunk]:
    """The hunks of the change from ``before`` to ``after``, found again in ``now``."""
    since = diff(after.lines, now.lines)
    return [
        _live(index, hunk, before, after, since)
        for index, hunk in enumerate(diff(before.lines, after.lines))
    ]


def awaited_hunks(
    before: Text, after: Text, now: Text, hunks: Sequence[Hunk] | None = None
) -> list[LiveHunk]:
    """``live_hunks`` of a change that is not in ``now``, which is cheap in a long text once its
    own ``hunks`` are known: a range is what the hunk would replace, ``intact`` means that."""
    since = diff(before.lines, now.lines)
    hunks = diff(before.lines, after.lines) if hunks is None else hunks
    return [
        LiveHunk(
            index,
            before.lines[hunk.old_start : hunk.old_end],
            after.lines[hunk.new_start : hunk.new_end],
            *place_after(hunk.old_start, hunk.old_end, since),
        )
        for index, hunk in enumerate(hunks)
    ]


def with_hunks(
    before: Text, after: Text, indexes: Collection[int], hunks: Sequence[Hunk] | None = None
) -> Text:
    """``before`` with these hunks of the change to ``after`` alone; ``hunks`` are all of them,
    where it was not divided as ``diff`` does."""
    lines: list[str] = []
    at = 0
    for index, hunk in enumerate(diff(before.lines, after.lines) if hunks is None else hunks):
        if index in indexes:
            lines += before.lines[at : hunk.old_start]
            lines += after.lines[hunk.new_start : hunk.new_end]
            at = hunk.old_end
    lines += before.lines[at:]
    return Text.of("".join(lines), like=after)


def _live(index: int, hunk: Hunk, before: Text, after: Text, since: list[Hunk]) -> LiveHunk:
    return LiveHunk(
        index,
        before.lines[hunk.old_start : hunk.old_end],
        after.lines[hunk.new_start : hunk.new_end],
        *place_after(hunk.new_start, hunk.new_end, since),
    )


def place_after(start: int, end: int, since: Sequence[Hunk]) -> tuple[int, int, bool]:
    """Where the lines ``start`` to ``end`` are after the changes ``since``, and whether none of
    these touched them."""
    first = bisect_left(since, start, key=_old_end)
    near = since[first : bisect_right(since, end, key=_old_start)]
    touching = [later for later in near if _touches(later, start, end)]
    if touching:
        start = min(start, touching[0].old_start)
        end = max(end, touching[-1].old_end)
    # An insertion just above moves the hunk down; one just below does not.
    above = bisect_right(since, start, key=_old_end)
    while above and since[above - 1] in touching:
        above -= 1
    shift = since[above - 1].new_end - since[above - 1].old_end if above else 0
    end_shift = touching[-1].new_end - touching[-1].old_end if touching else shift
    return start + shift, end + end_shift, not touching


def _old_start(hunk: Hunk) -> int:
    return hunk.old_start


def _old_end(hunk: Hunk) -> int:
    return hunk.old_end


def _touches(later: Hunk, start: int, end: int) -> bool:
    """Whether ``later`` changed lines ``start`` to ``end``, or what was put at their place."""
    # Where the hunk only deleted, lines put there touch it.
    return overlap(start, end, later.old_start, later.old_end) or (
        start == end == later.old_start == later.old_end
    )


def _owners(step: Hunk, hunks: Sequence[LiveHunk], there: Collection[int]) -> tuple[int, ...]:
    """Those in whose place ``step`` is, before those at its edge that are not ``there`` already;
    else the nearest."""
    places = [(hunk.index, hunk.start_line, hunk.end_line) for hunk in hunks]
    inside = [index for index, start, end in places if _touches(step, start, end)]
    edge = [i for i, start, end in places if start <= step.old_end and step.old_start <= end]
    edge = [index for index in edge if index not in there]
    nearest = min(hunks, key=lambda hunk: abs(hunk.start_line - step.old_start)).index
    return tuple(dict.fromkeys([*inside, *edge])) or (nearest,)
