"""Which open hunks of a review, and which steps of a change, are one.

Pure. Lines are 0-based, ranges half-open.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsp_agent.text.diff import Hunk, overlap
from lsp_agent.text.lines import Text, holds
from lsp_agent.text.merge import words
from lsp_agent.text.review_hunks import ReviewHunk
from lsp_agent.text.traces import Key, Lines, Taken


@dataclass(frozen=True, slots=True)
class Group:
    """Open hunks and the hunks of one step that overlap each other, or one of either.

    ``start`` and ``end`` are lines of the text before the step.
    """

    start: int
    end: int
    live: tuple[ReviewHunk, ...]
    steps: tuple[tuple[Hunk, Key | None], ...]


def groups(
    base: Text,
    text: Text,
    hunks: Sequence[ReviewHunk],
    after: Text,
    named: Sequence[tuple[Hunk, Key | None]],
    taken: Sequence[Taken] = (),
) -> Iterator[Group]:
    """Of a review of ``text`` with these ``hunks`` and the ``named`` steps that make ``after`` of
    it, in the text's order. Open hunks and steps overlap if they share a line, or if one lies
    inside the other; if they meet, also at an unfinished last line, and where the hunk is ``taken``
    out and the step puts lines of its old ones back."""
    unfinished = any(_is_unfinished(each) for each in (base, text, after))
    sticky = len(text.lines) if unfinished else -1
    live, steps = deque(hunks), deque(named)
    went = {each.key: each.old for each in taken}

    def meets(range_: tuple[int, int], end: int) -> bool:
        return overlap(*range_, start, end) or range_[1] == end == sticky

    def restores(hunk: ReviewHunk, named_step: tuple[Hunk, Key | None]) -> bool:
        """Whether what was deleted is put back at its place, or beside what was changed there; of
        the lines that agents had left and a person took out, too. An agent that puts back one line
        of several has made the others anew."""
        step, key = named_step
        old, new = (
            base.lines[hunk.base_start : hunk.base_end],
            after.lines[step.new_start : step.new_end],
        )
        if hunk.start != hunk.end:
            put_in = step.old_start == step.old_end and step.old_start in hunk.range
            gone = (line for line in old if not _again((line,), text.lines[slice(*hunk.range)]))
            is_back = any(words((line,)) and _again((line,), new) for line in gone)
            return put_in and (is_back or holds(went.get(hunk.key, ()), new))
        if step.old_start == step.old_end:
            is_back = any(_is_back(lines, new) for lines in (old, hunk.left) if lines)
            in_part = key is not None and any(words((line,)) and line in new for line in old)
            return hunk.start == step.old_start and (is_back or in_part)
        gone, size = text.lines[step.old_start : step.old_end], len(old)
        beside = hunk.start in (step.old_start, step.old_end)
        if beside and words(old) and holds(new, old) and not holds(gone, old):
            return True
        above = hunk.start == step.old_start and _again(old, new[:size])
        below = hunk.start == step.old_end and _again(old, new[-size:])
        return (above and not _again(old, gone[:size])) or (below and not _again(old, gone[-size:]))

    while live or steps:
        first_is_live = not steps or (live and _place(live[0]) <= _step_place(steps[0][0]))
        start, end = live[0].range if first_is_live else _step_range(steps[0][0])
        in_live: list[ReviewHunk] = []
        in_steps: list[tuple[Hunk, Key | None]] = []
        if first_is_live:
            in_live.append(live.popleft())
        else:
            in_steps.append(steps.popleft())
        while True:
            if live and (
                live[0].start < end  # also what was deleted where another was put back
                or meets(live[0].range, end)
                or (len(in_steps) == 1 and restores(live[0], in_steps[0]))
            ):
                in_live.append(live.popleft())
                end = max(end, in_live[-1].end)
            elif steps and (
                meets(_step_range(steps[0][0]), end)
                or (in_live and restores(in_live[-1], steps[0]))
            ):
                in_steps.append(steps.popleft())
                end = max(end, in_steps[-1][0].old_end)
            else:
                break
        yield Group(start, end, tuple(in_live), tuple(in_steps))


def _is_back(old: Lines, new: Lines) -> bool:
    return holds(new, old) or _again(old, new)


def _again(old: Lines, new: Lines) -> bool:
    """Whether ``new`` is ``old``, or has most of its words."""
    gone = words(old)
    return old == new or 2 * (gone & words(new)).total() > gone.total()


def _step_range(step: Hunk) -> tuple[int, int]:
    return step.old_start, step.old_end


def _place(hunk: ReviewHunk) -> tuple[int, int]:
    """What was deleted comes before what is put at its place, and that before what follows."""
    return hunk.start, 0 if hunk.start == hunk.end else 2


def _step_place(step: Hunk) -> tuple[int, int]:
    return step.old_start, 1 if step.old_start == step.old_end else 2


def _is_unfinished(text: Text) -> bool:
    return bool(text.lines) and not text.lines[-1].endswith(("\n", "\r"))
