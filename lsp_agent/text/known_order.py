"""The order of lines that come back beside others, where a merge cannot tell it: as an earlier text
had them.

Pure.
"""

from collections import Counter
from collections.abc import Sequence

from lsp_agent.text.diff import diff
from lsp_agent.text.lines import Text

#: How many lines one that came back may pass.
_FAR = 50


def in_known_order(left: Text, now: Text, earlier: Sequence[Text]) -> Text:
    """``left``, which was made of ``now``, with each line that came back on that side of its
    neighbours on which ``now`` or the first of the ``earlier`` texts with both of them has it.
    Lines that are there more than once stay where they are."""
    back = [
        at for hunk in diff(now.lines, left.lines) for at in range(hunk.new_start, hunk.new_end)
    ]
    lines = list(left.lines)
    if not back or not all(lines[at].endswith("\n") for at in (*back, -1)):
        return left
    order = _Order(left, (now, *earlier))
    for at in back:
        _moved(lines, at, order, -1)
    for at in reversed(back):
        _moved(lines, at, order, 1)
    return left if tuple(lines) == left.lines else left.with_lines(tuple(lines))


class _Order:
    """Of the lines that ``left`` has once."""

    def __init__(self, left: Text, texts: Sequence[Text]) -> None:
        counts = Counter(left.lines)
        self._once = {line for line, count in counts.items() if count == 1 and line.strip()}
        self._texts = texts
        self._places: list[dict[str, int]] = []

    def wrong(self, above: str, below: str) -> bool:
        """Whether they are known to stand the other way round."""
        if above not in self._once or below not in self._once:
            return False
        for number, text in enumerate(self._texts):
            if number == len(self._places):
                counts = Counter(text.lines)
                places = {line: at for at, line in enumerate(text.lines) if counts[line] == 1}
                self._places.append(places)
            places = self._places[number]
            if above in places and below in places:
                return places[below] < places[above]
        return False


def _moved(lines: list[str], at: int, order: _Order, step: int) -> None:
    for _ in range(_FAR):
        to = at + step
        if not 0 <= to < len(lines):
            return
        above, below = (lines[to], lines[at]) if step < 0 else (lines[at], lines[to])
        if not order.wrong(above, below):
            return
        lines[at], lines[to] = lines[to], lines[at]
        at = to
