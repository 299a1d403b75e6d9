"""What an agent knows of one file, which is not what the file is: it acts on what it has read and
written, while people type. Pure; lines are 0-based, ranges half-open.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lsp_agent.text.diff import Hunk, by_line, diff, overlap
from lsp_agent.text.lines import Text
from lsp_agent.text.live_hunks import place_after, with_hunks
from lsp_agent.text.merge import preferring, words

_MAX_DIFF_ROWS = 40
#: Lines of one change, taken with those of the other text, that are compared with each other.
_MAX_PAIRS = 10_000
#: Lines of a text and of what it may have been made of, of all tries together, that are compared.
_MAX_COMPARED = 10_000


@dataclass(frozen=True, slots=True)
class Knowledge:
    """``own`` is the text as the agent has read or written it, with its own edits since: what a
    person typed enters it by a read alone. None where it has edited a file and done neither.
    ``unseen`` are those of its lines that no result has shown.

    ``told`` is that with what the notes beside its results said. It does not count as known:
    an agent that calls several tools at once has composed its next text before it reads a note.
    """

    own: Text | None
    told: Text
    unseen: frozenset[int] = frozenset()

    def read(self, now: Text, start: int, end: int) -> "Knowledge":
        """After a result has shown the lines ``start`` to ``end`` of ``now``."""
        told = _with_shown(self.told, now, start, end)
        if self.own is None:
            return Knowledge(now, told, frozenset(range(len(now.lines))) - set(range(start, end)))
        own = _with_shown(self.own, now, start, end)
        came = diff(self.own.lines, own.lines)
        new = {line for hunk in came for line in range(hunk.new_start, hunk.new_end)}
        shown = _moved(range(start, min(end, len(now.lines))), diff(now.lines, own.lines))
        return Knowledge(own, told, (_moved(self.unseen, came) | new) - shown)

    def edited(self, before: Text, after: Text) -> "Knowledge":
        """After an edit of its own, in a text of which it may not know all: of that it learns
        only the lines that it changed."""
        told = preferring(before, after, self.told)
        if self.own is None:
            return Knowledge(None, told)
        own = preferring(before, after, self.own)
        return Knowledge(own, told, _moved(self.unseen, diff(self.own.lines, own.lines)))

    def base_of(self, wanted: Text) -> Text | None:
        """What the agent made its whole text ``wanted`` of. What it was told counts as far as it
        is in there: one that did not heed a note takes nothing out that it has not read."""
        if self.own is None:
            return None
        parts = _parts(self.own, self.told)
        heeded, unclear = _heeded(parts, self.own, self.told, wanted)
        if len(unclear) * (len(self.own.lines) + len(wanted.lines)) > _MAX_COMPARED:
            unclear = [set[int]().union(*unclear)]
        hunks = list(itertools.chain.from_iterable(parts))
        base = with_hunks(self.own, self.told, heeded, hunks)
        least = _distance(base, wanted) if unclear else 0
        for together in unclear:
            with_them = with_hunks(self.own, self.told, heeded | together, hunks)
            if (distance := _distance(with_them, wanted)) < least:
                heeded |= together
                base, least = with_them, distance
        return base

    def dropped_unseen(self, wanted: Text) -> range | None:
        """The first lines that ``wanted`` leaves out and no result has shown."""
        if self.own is None or not self.unseen:
            return None
        gone = (
            line
            for hunk in diff(self.own.lines, wanted.lines)
            for line in range(hunk.old_start, hunk.old_end)
        )
        first = next((line for line in gone if line in self.unseen), None)
        if first is None:
            return None
        past = next(line for line in itertools.count(first) if line not in self.unseen)
        return range(first, past)


def first_read(now: Text, start: int, end: int) -> Knowledge:
    """Of an agent that knew nothing of the file."""
    return Knowledge(None, now).read(now, start, end)


def whole(text: Text) -> Knowledge:
    """Of an agent that has read or written all of the file. What is not in what it wrote, it is
    to be told of again."""
    return Knowledge(text, text)


def news(told: Text, now: Text) -> tuple[str, Text]:
    """How ``now`` differs: ``-``/``+`` rows with 1-based line numbers, cut at a length that a
    model can digest; and ``told`` with what these rows show."""
    rows: list[str] = []
    shown: list[int] = []
    for index, hunk in enumerate(diff(told.lines, now.lines)):
        rows.append(f"@@ line {hunk.new_start + 1} @@")
        rows += [f"-{line.rstrip()}" for line in told.lines[hunk.old_start : hunk.old_end]]
        rows += [f"+{line.rstrip()}" for line in now.lines[hunk.new_start : hunk.new_end]]
        if len(rows) <= _MAX_DIFF_ROWS:
            shown.append(index)
    if len(rows) > _MAX_DIFF_ROWS:
        left = len(rows) - _MAX_DIFF_ROWS
        rows = [*rows[:_MAX_DIFF_ROWS], f"... {left} more rows; read the file again"]
    return "\n".join(rows) + "\n", with_hunks(told, now, shown)


def _with_shown(old: Text, now: Text, start: int, end: int) -> Text:
    """``old`` with what is different in the lines ``start`` to ``end`` of ``now``."""
    size = len(now.lines)
    hunks = enumerate(diff(old.lines, now.lines))
    return with_hunks(old, now, [i for i, hunk in hunks if _shows(hunk, start, end, size)])


def _shows(hunk: Hunk, start: int, end: int, size: int) -> bool:
    """A text that is shown from or to its edge also shows that nothing is left there."""
    first = -1 if start <= 0 else start
    past = end + 1 if end >= size else end
    return overlap(hunk.new_start, hunk.new_end, first, past)


def _parts(own: Text, told: Text) -> list[list[Hunk]]:
    """The changes from ``own`` to ``told``, each line with the one that it is most like: another
    beside it may be known when it is not. Lines that were put in or taken out next to each other
    are one part, of which an agent may have heeded some."""
    parts: list[list[Hunk]] = []
    for hunk in diff(own.lines, told.lines):
        old = own.lines[hunk.old_start : hunk.old_end]
        new = told.lines[hunk.new_start : hunk.new_end]
        if not old or not new:
            parts.append(list(_lines_of(hunk)))
            continue
        if len(old) * len(new) > _MAX_PAIRS:
            parts += ([line] for line in by_line([hunk]))
            continue
        pairs = _pairs(old, new)
        if len(old) == len(new) and all(one == other for one, other in pairs):
            parts += ([line] for line in by_line([hunk]))
            continue
        at, new_at = 0, 0
        for one, other in [*pairs, (len(old), len(new))]:
            if at < one or new_at < other:
                start, new_start = hunk.old_start + at, hunk.new_start + new_at
                parts.append([Hunk(start, start + one - at, new_start, new_start + other - new_at)])
            if one < len(old):
                start, new_start = hunk.old_start + one, hunk.new_start + other
                parts.append([Hunk(start, start + 1, new_start, new_start + 1)])
            at, new_at = one + 1, other + 1
    return parts


def _heeded(
    parts: Sequence[Sequence[Hunk]], own: Text, told: Text, wanted: Text
) -> tuple[set[int], list[set[int]]]:
    """By their places, the hunks that ``wanted`` has as they were told, and of each part those of
    which that cannot be said: lines beside them were changed too, or are alike."""
    of_own, of_told = diff(own.lines, wanted.lines), diff(told.lines, wanted.lines)
    heeded: set[int] = set()
    unclear: list[set[int]] = []
    places = itertools.count()
    for part in parts:
        together: set[int] = set()
        for hunk, index in zip(part, places, strict=False):
            as_own = _is_intact(hunk.old_start, hunk.old_end, of_own)
            as_told = _is_intact(hunk.new_start, hunk.new_end, of_told)
            if as_own == as_told:
                together.add(index)
            elif as_told:
                heeded.add(index)
        unclear += [together] if together else []
    return heeded, unclear


def _lines_of(hunk: Hunk) -> Iterator[Hunk]:
    """Of one that only puts in or only takes out."""
    for at in range(hunk.new_start, hunk.new_end):
        yield Hunk(hunk.old_start, hunk.old_end, at, at + 1)
    for at in range(hunk.old_start, hunk.old_end):
        yield Hunk(at, at + 1, hunk.new_start, hunk.new_end)


def _pairs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The places of lines that are alike, in order in both, so that they share the most words."""
    of_old, of_new = ([words((line,)) for line in lines] for lines in (old, new))
    shared = [[(one & other).total() for other in of_new] for one in of_old]
    most = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for one in reversed(range(len(old))):
        for other in reversed(range(len(new))):
            with_both = shared[one][other] + most[one + 1][other + 1]
            most[one][other] = max(with_both, most[one + 1][other], most[one][other + 1])
    pairs: list[tuple[int, int]] = []
    one = other = 0
    while one < len(old) and other < len(new):
        if most[one][other] == most[one + 1][other]:
            one += 1
        elif most[one][other] == most[one][other + 1]:
            other += 1
        else:
            pairs.append((one, other))
            one, other = one + 1, other + 1
    return pairs


def _is_intact(start: int, end: int, since: list[Hunk]) -> bool:
    """Whether these lines are as they were; of a place between two, whether both beside it are, and
    nothing was put in."""
    if start == end:
        return not any(hunk.old_start <= start <= hunk.old_end for hunk in since)
    return place_after(start, end, since)[2]


def _distance(base: Text, wanted: Text) -> int:
    """How much, in words and lines, somebody changed who made ``wanted`` of ``base``."""
    total = 0
    for hunk in diff(base.lines, wanted.lines):
        old = base.lines[hunk.old_start : hunk.old_end]
        new = wanted.lines[hunk.new_start : hunk.new_end]
        was, becomes = words(old), words(new)
        total += (was - becomes).total() + (becomes - was).total() + abs(len(new) - len(old))
    return total


def _moved(lines: Iterable[int], since: list[Hunk]) -> frozenset[int]:
    """Where those of the lines are that ``since`` left as they were."""
    left: set[int] = set()
    at = shift = 0
    for line in sorted(lines):
        while at < len(since) and since[at].old_end <= line:
            shift = since[at].new_end - since[at].old_end
            at += 1
        if at == len(since) or line < since[at].old_start:
            left.add(line + shift)
    return frozenset(left)
