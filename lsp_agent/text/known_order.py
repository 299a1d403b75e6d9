"""The order of lines that come back beside others, where a merge cannot tell it: as an earlier text
had them.

Pure.
"""

from collections.abc import Collection, Iterable, Sequence

from lsp_agent.text.diff import diff
from lsp_agent.text.lines import Text, is_long
from lsp_agent.text.token_diff import words_of

#: A line, and which of its words.
_Place = tuple[int, int]

#: How many lines one that came back may pass.
_FAR = 50


def in_known_order(left: Text, now: Text, earlier: Sequence[Text]) -> Text:
    """``left``, which was made of ``now``, with each line that came back on that side of its
    neighbours on which ``now`` or the first of the ``earlier`` texts with both of them has it,
    or most words of both; of a long text only lines are asked for. Lines that are there more than
    once stay where they are."""
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
        self._lines = {line for line in _once(_lines_of(left, asked)) if line.strip()}
        of_words = () if is_long(left.lines) else self._lines
        self._words_of = {line: words_of((line,)) for line in of_words}
        own = {word for line_words in self._words_of.values() for word in line_words}
        self._words = {*_once(_words_of(left, own))} if own else own
        self._texts = texts
        self._found: list[dict[str, tuple[_Place, _Place]]] = []

    def wrong(self, above: str, below: str) -> bool:
        """Whether they are known to stand the other way round."""
        if above not in self._lines or below not in self._lines:
            return False
        for number, text in enumerate(self._texts):
            if number == len(self._found):
                self._found.append(self._ranges(text))
            ranges = self._found[number]
            if above in ranges and below in ranges:
                return ranges[below][1] < ranges[above][0]
        return False

    def _ranges(self, text: Text) -> dict[str, tuple[_Place, _Place]]:
        """From where to where the lines are. Of one that is another there its words tell, if most
        of them do."""
        whole = _once(_lines_of(text, self._lines))
        ranges = {line: ((at, 0), (at, len(line))) for line, (at, _) in whole.items()}
        if self._words and len(whole) < len(self._lines):
            at = _once(_words_of(text, self._words))
            for line in self._lines - whole.keys():
                found = [at[word] for word in self._words_of[line] if word in at]
                if 2 * len(found) > len(self._words_of[line]):
                    ranges[line] = min(found), max(found)
        return ranges


def _lines_of(text: Text, asked: Collection[str]) -> list[tuple[str, _Place]]:
    return [(line, (at, 0)) for at, line in enumerate(text.lines) if line in asked]


def _words_of(text: Text, asked: Collection[str]) -> list[tuple[str, _Place]]:
    return [
        (word, (at, number))
        for at, line in enumerate(text.lines)
        for number, word in enumerate(words_of((line,)))
        if word in asked
    ]


def _once(there: Iterable[tuple[str, _Place]]) -> dict[str, _Place]:
    """Where those are that are there once."""
    places: dict[str, _Place] = {}
    more: set[str] = set()
    for each, place in there:
        if each in places:
            more.add(each)
        places[each] = place
    return {each: place for each, place in places.items() if each not in more}


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
