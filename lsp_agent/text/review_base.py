"""The base of a review, put together anew.

Pure. Lines are 0-based, ranges half-open.
"""

from collections.abc import Sequence
from dataclasses import replace

from lsp_agent.text.diff import Hunk, diff, overlap
from lsp_agent.text.lines import Text, append_lines
from lsp_agent.text.review_hunks import MAX_REPLACED, ReviewHunk, agents_lines, taken_over
from lsp_agent.text.traces import Lines


class BaseBuilder:
    """Puts a base together from pieces of texts."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0

    def add(self, lines: Lines) -> None:
        self._count += len(lines)
        append_lines(self._lines, lines)

    def with_hunks(
        self, like: Text, text: Text, hunks: Sequence[ReviewHunk]
    ) -> tuple[Text, tuple[ReviewHunk, ...]]:
        """The base, and ``hunks`` of it. Where pieces met in the middle of a line (``\\r`` before
        ``\\n``, or a line end that a person took out), they are found again by their places."""
        base = like.with_lines(tuple(self._lines))
        if len(base.lines) == self._count:
            return base, tuple(hunks)
        steps = diff(base.lines, text.lines) if hunks else []
        return base, tuple(_found_again(text, step, hunks) for step in steps)


def joined(text: Text, hunks: Sequence[ReviewHunk]) -> tuple[ReviewHunk, ...]:
    """With one in place of neighbours of one name, and of what is between them: a hunk that was
    taken out on both sides of what a person had typed in it comes back in two places."""
    found: list[ReviewHunk] = []
    for hunk in hunks:
        if not found or found[-1].key != hunk.key:
            found.append(hunk)
            continue
        above = found[-1]
        both = above, hunk
        touched = any(each.touched for each in both)
        found[-1] = replace(
            above,
            base_end=hunk.base_end,
            end=hunk.end,
            left=agents_lines(text, above.start, hunk.end, both) if touched else None,
            mixed=any(each.mixed for each in both),
            over=taken_over(both, above.key),
            replaced=(*above.replaced, *hunk.replaced)[-MAX_REPLACED:],
        )
    return tuple(found)


def _found_again(text: Text, step: Hunk, hunks: Sequence[ReviewHunk]) -> ReviewHunk:
    """The hunk of a base that was put together anew, with what is known of those in its place."""
    place = step.new_start, step.new_end
    nearest = min(hunks, key=lambda each: abs(each.start - step.new_start))
    own = [hunk for hunk in hunks if hunk is nearest or overlap(*hunk.range, *place)]
    touched = [hunk for hunk in own if hunk.touched]
    inside = all(place[0] <= hunk.start and hunk.end <= place[1] for hunk in touched)
    return replace(
        nearest,
        base_start=step.old_start,
        base_end=step.old_end,
        start=step.new_start,
        end=step.new_end,
        left=agents_lines(text, *place, own) if touched else None,
        mixed=any(hunk.mixed for hunk in own) or not inside,
        over=taken_over(own, nearest.key),
        replaced=tuple(line for hunk in own for line in hunk.replaced)[-MAX_REPLACED:],
    )
