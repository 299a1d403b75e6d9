"""The order of lines that come back beside others, where a merge cannot tell it: as an earlier text
had them.

Pure.
"""

from collections.abc import Collection, Sequence

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
    order = _Order(_around(back, lines), left, (now, *earlier))
    for at in back:
        _moved(lines, at, order, -1)
    for at in reversed(back):
        _moved(lines, at, order, 1)
    return left if tuple(lines) == left.lines else left.with_lines(tuple(lines))


def _around(back: Sequence[int], lines: Sequence[str]) -> set[str]:
    """Those that may be asked about: the ones that come back and all that they may pass."""
    reach = _FAR + len(back)
    found: set[str] = set()
    done = 0
    for at in back:
        found.update(lines[max(at - reach, done) : at + reach + 1])
        done = at + reach + 1
    return found


class _Order:
    """Of those of the lines ``asked`` about that ``left`` has once."""

    def __init__(self, asked: Collection[str], left: Text, texts: Sequence[Text]) -> None:
        self._once = {line for line in _places(asked, left) if line.strip()}
        self._texts = texts
        self._found: list[dict[str, int]] = []

    def wrong(self, above: str, below: str) -> bool:
        """Whether they are known to stand the other way round."""
        if above not in self._once or below not in self._once:
            return False
        for number, text in enumerate(self._texts):
            if number == len(self._found):
                self._found.append(_places(self._once, text))
            places = self._found[number]
            if above in places and below in places:
                return places[below] < places[above]
        return False


def _places(asked: Collection[str], text: Text) -> dict[str, int]:
    """Where those of the lines are that the text has once."""
    places: dict[str, int] = {}
    more: set[str] = set()
    for at, line in enumerate(text.lines):
        if line in asked:
            if line in places:
                more.add(line)
            places[line] = at
    return {line: at for line, at in places.items() if line not in more}


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
