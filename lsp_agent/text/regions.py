"""The ranges of a base that two sides have changed, for a merge of them.

Pure. Lines may be tokens as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsp_agent.text.diff import Hunk, overlap

Lines = tuple[str, ...]
Differ = Callable[[Sequence[str], Sequence[str]], list[Hunk]]
Clash = Callable[[Hunk, Hunk], bool]


@dataclass(frozen=True, slots=True)
class Region:
    """A changed range of *base* with what each side has there."""

    base: Lines
    ours: Lines
    theirs: Lines
    ours_start: int
    ours_end: int

    @property
    def outcome(self) -> Lines | None:
        """What both agree on; None for a clash."""
        if self.theirs in (self.ours, self.base):
            return self.ours
        return self.theirs if self.base == self.ours else None

    def joined(self, between: Lines, below: "Region") -> "Region":
        """With ``below`` and the lines ``between``, which nobody changed."""
        return Region(
            self.base + between + below.base,
            self.ours + between + below.ours,
            self.theirs + between + below.theirs,
            self.ours_start,
            below.ours_end,
        )


def touch(one: Hunk, other: Hunk) -> bool:
    """Whether they share a line of the base, or meet where one of them is an insertion."""
    start, end = max(one.old_start, other.old_start), min(one.old_end, other.old_end)
    inserts = one.old_start == one.old_end or other.old_start == other.old_end
    return start < end or (inserts and start == end)


def touch_inside(one: Hunk, other: Hunk) -> bool:
    """``touch`` but for an insertion at the edge of what is no insertion."""
    return overlap(one.old_start, one.old_end, other.old_start, other.old_end) or (
        one.old_start == one.old_end == other.old_start == other.old_end
    )


def regions_of(
    base: Lines, ours: Lines, theirs: Lines, differ: Differ, clash: Clash
) -> list[Region]:
    """The changed ranges of ``base``, ascending; hunks that clash share one."""
    our_hunks, their_hunks = differ(base, ours), differ(base, theirs)
    regions: list[Region] = []
    our_shift = their_shift = 0
    our_at = their_at = 0
    while our_at < len(our_hunks) or their_at < len(their_hunks):
        our_past, their_past = _group(our_hunks, our_at, their_hunks, their_at, clash)
        our_group, their_group = our_hunks[our_at:our_past], their_hunks[their_at:their_past]
        start = min(group[0].old_start for group in (our_group, their_group) if group)
        end = max(group[-1].old_end for group in (our_group, their_group) if group)
        our_start, their_start = start + our_shift, start + their_shift
        our_shift, their_shift = _shift(our_group, our_shift), _shift(their_group, their_shift)
        regions.append(
            Region(
                base[start:end],
                ours[our_start : end + our_shift],
                theirs[their_start : end + their_shift],
                our_start,
                end + our_shift,
            )
        )
        our_at, their_at = our_past, their_past
    return regions


def _shift(group: list[Hunk], before: int) -> int:
    """How far lines below ``group`` lie from their base line."""
    return group[-1].new_end - group[-1].old_end if group else before


def _group(
    ours: list[Hunk], our_at: int, theirs: list[Hunk], their_at: int, clash: Clash
) -> tuple[int, int]:
    """The ends of the next run of hunks that clash, directly or through one another."""
    our_past, their_past = our_at, their_at
    if their_at == len(theirs) or (
        our_at < len(ours) and _place(ours[our_at]) <= _place(theirs[their_at])
    ):
        our_past += 1
    else:
        their_past += 1
    while True:
        # A side's hunks lie apart, so only its last one can clash with the other's next.
        if (
            their_past < len(theirs)
            and our_past > our_at
            and clash(ours[our_past - 1], theirs[their_past])
        ):
            their_past += 1
        elif (
            our_past < len(ours)
            and their_past > their_at
            and clash(theirs[their_past - 1], ours[our_past])
        ):
            our_past += 1
        else:
            return our_past, their_past


def _place(hunk: Hunk) -> tuple[int, int]:
    return hunk.old_start, hunk.old_end
