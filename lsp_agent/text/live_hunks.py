"""The hunks of one change: where they stand in the text as it is now, and the change with some."""

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


def place_after(start: int, end: int, since: list[Hunk]) -> tuple[int, int, bool]:
    """Where the lines ``start`` to ``end`` are after the changes ``since``, and whether none of
    these touched them."""
    touching = [later for later in since if _touches(later, start, end)]
    if touching:
        start = min(start, touching[0].old_start)
        end = max(end, touching[-1].old_end)
    # An insertion just above moves the hunk down; one just below does not.
    above = [later for later in since if later.old_end <= start and later not in touching]
    shift = above[-1].new_end - above[-1].old_end if above else 0
    end_shift = touching[-1].new_end - touching[-1].old_end if touching else shift
    return start + shift, end + end_shift, not touching


def _touches(later: Hunk, start: int, end: int) -> bool:
    """Whether ``later`` changed lines ``start`` to ``end``, or what was put at their place."""
    # Where the hunk only deleted, lines put there touch it.
    return overlap(start, end, later.old_start, later.old_end) or (
        start == end == later.old_start == later.old_end
    )
