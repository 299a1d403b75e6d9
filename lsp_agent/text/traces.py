"""Where hunks of a review were taken out, so that they are known again when they come back: by the
editor's own undo or redo, or by whatever else puts the same lines there.

Pure. Lines are 0-based, ranges half-open.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lsp_agent.text.diff import Hunk, by_line, diff, overlap
from lsp_agent.text.lines import Text
from lsp_agent.text.live_hunks import place_after
from lsp_agent.text.merge import words

Key = tuple[str, int]
"""Which hunk of which change: the change's id and the hunk's place in the change's diff."""

Lines = tuple[str, ...]

#: How many are remembered of a text.
_MAX = 64


@dataclass(frozen=True, slots=True)
class Trace:
    """Of the hunk ``key``: ``lines`` were there before, and lines ``start`` to ``end`` of the text
    are what has become of ``stood``, which took their place. ``over``, ``left`` and ``mixed`` as
    the hunk had them; ``beside`` are those that went with it in one step; ``by``
    is the agent's hunk that took it out, all of it."""

    key: Key
    over: tuple[Key, ...]
    start: int
    end: int
    lines: Lines
    stood: Lines
    left: Lines | None = None
    mixed: bool = False
    beside: tuple[Key, ...] = ()
    by: Key | None = None

    @property
    def size(self) -> int:
        return len(self.lines) + len(self.stood)


@dataclass(frozen=True, slots=True)
class Taken:
    """The hunk ``key`` had put ``new`` in place of ``old``, and a revert takes it out."""

    key: Key
    old: Lines
    new: Lines

    def is_out(self, was: Lines, now: Lines) -> bool:
        """Whether it is what went where ``was`` has become ``now``."""
        before, after, old, new = map(words, (was, now, self.old, self.new))
        return bool((new - old) & (before - after) or (old - new) & (after - before))

    def took(self, earlier: "Taken") -> bool:
        """Whether it took out something that the earlier one had put in."""
        own, theirs = words(self.old) - words(self.new), words(earlier.new) - words(earlier.old)
        return bool(own & theirs)

    def place(self, was: Lines, now: Lines) -> int | None:
        """Where its old lines begin in ``now``, if they and its new ones in ``was`` are the first
        or the last ones of both."""
        if was[: len(self.new)] == self.new and now[: len(self.old)] == self.old:
            return 0
        last = len(now) - len(self.old)
        if was[len(was) - len(self.new) :] == self.new and now[last:] == self.old:
            return last
        return None


def followed(traces: Iterable[Trace], steps: list[Hunk], new: Sequence[Trace]) -> tuple[Trace, ...]:
    """The traces once ``steps`` have changed their text, with those that are ``new`` in it. What
    is typed at a trace's place is part of it: it may be undone again before the rest is."""
    keys = {trace.key for trace in new}
    moved: list[Trace] = []
    for trace in traces:
        if trace.key not in keys:
            start, end, _ = place_after(trace.start, trace.end, steps)
            moved.append(replace(trace, start=start, end=end))
    return (*moved, *new)[-_MAX:]


def come_back(traces: Sequence[Trace], text: Text, now: Text) -> list[Trace]:
    """Those whose lines ``now`` has and ``text`` has not, from the last to the first; no two of
    them share a line. Blank lines alone tell nobody. What a person had typed in them may be gone:
    then as they were without it."""
    steps = list(by_line(diff(text.lines, now.lines))) if traces else []
    found: list[Trace] = []
    for trace in reversed(traces):
        back = next((each for each in _shapes(trace) if _is_back(each, text, now, steps)), None)
        if back is not None and not any(_share(back, other) for other in found):
            found.append(back)
    return sorted(found, key=lambda trace: (trace.start, trace.end), reverse=True)


def _shapes(trace: Trace) -> Iterator[Trace]:
    yield trace
    if trace.left is not None and not trace.mixed:
        yield replace(trace, lines=trace.left, left=None)


def _is_back(trace: Trace, text: Text, now: Text, steps: list[Hunk]) -> bool:
    return _can_tell(trace, text) and (
        _is_there(trace, text, steps, now) or _is_all(trace, text, now)
    )


def _can_tell(trace: Trace, text: Text) -> bool:
    """Not by blank lines alone, nor by a last line without an end, which becomes another one by
    what is put behind it."""
    whole = all(line.endswith(("\n", "\r")) for line in (*trace.lines, *trace.stood))
    telling = not trace.lines or any(map(str.strip, trace.lines))
    return whole and telling and text.lines[trace.start : trace.end] != trace.lines


def _is_there(trace: Trace, text: Text, steps: list[Hunk], now: Text) -> bool:
    start, end, intact = place_after(trace.start, trace.end, steps)
    if not intact and now.lines[start:end] == trace.lines:
        return True
    size = len(trace.lines)
    near = [s for s in steps if s.old_start <= trace.end and trace.start <= s.old_end]
    if trace.stood and intact:  # what stood is a part of it
        places = range(max(0, end - size), start + 1) if near else range(0)
    elif trace.stood:  # with what was changed beside it
        gone = words(trace.stood) - words(trace.lines)
        came = words(trace.lines) - words(text.lines[trace.start : trace.end])
        is_told = came and not gone & words(now.lines[start:end])
        places = range(start, end - size + 1) if is_told else range(0)
    else:  # beside what was changed there too
        places = (at for s in near for at in range(s.new_start, s.new_end - size + 1))
    return any(now.lines[at : at + size] == trace.lines for at in places)


def _is_all(trace: Trace, text: Text, now: Text) -> bool:
    """Whether nothing else was changed: a comparison may put lines beside others that are alike,
    and then at another place."""
    more = len(trace.lines) - (trace.end - trace.start)
    return len(now.lines) - len(text.lines) == more and now.lines == (
        *text.lines[: trace.start],
        *trace.lines,
        *text.lines[trace.end :],
    )


def _share(one: Trace, other: Trace) -> bool:
    same = one.start == one.end == other.start == other.end
    return same or overlap(one.start, one.end, other.start, other.end)
