"""Edits of a text: ranges in code points, as they stand in the text before any of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lsp_agent.text.diff import Hunk, diff
from lsp_agent.text.lines import (
    Text,
    append_lines,
    body_length,
    clamp,
    position_at,
    positions_at,
    split_lines,
)

Position = tuple[int, int]
"""A line and a column."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replaces (start, end) by ``new_text``; lines and columns 0-based, columns in code points."""

    start_line: int
    start_column: int
    end_line: int
    end_column: int
    new_text: str


def text_edits(old: Text, new: Text) -> list[TextEdit]:
    """The smallest edits that make ``old`` into ``new``, ascending, none touching another.

    One for each hunk, trimmed to the code points that differ. They take only forms that all
    editors apply alike: none starts behind the last line end (some editors add a blank line
    there); text is appended at the end of the last line's own text instead.
    """
    edits: list[TextEdit] = []
    for hunk in diff(old.lines, new.lines):
        edit = _trimmed(old.lines, new.lines, hunk)
        if edits and (edits[-1].end_line, edits[-1].end_column) == (
            edit.start_line,
            edit.start_column,
        ):
            edit = _joined(edits.pop(), edit)
        edits.append(edit)
    return edits


def apply_edits(text: Text, edits: Sequence[TextEdit]) -> Text:
    """``text`` with all ``edits`` made; ascending, positions clamped to the text.

    Lines that no edit touches stay the same objects. Raises ValueError when two overlap or
    stand in the wrong order.
    """
    lines = text.lines
    spans = [
        (
            clamp(lines, edit.start_line, edit.start_column),
            clamp(lines, edit.end_line, edit.end_column),
        )
        for edit in edits
    ]
    _check_order(spans)
    return _replaced(text, spans, [edit.new_text for edit in edits])


def replace_spans(text: Text, spans: Sequence[tuple[int, int, str]]) -> Text:
    """``text`` with each (start, end, new): the code points ``start`` to ``end`` of its content
    become ``new``. Ascending, none overlapping.

    Lines that no span touches stay the same objects. Raises ValueError for what is not so, or
    not in the content.
    """
    content = text.content
    offsets = [offset for start, end, _ in spans for offset in (start, end)]
    if any(one > following for one, following in pairwise([0, *offsets, len(content)])):
        raise ValueError(f"spans {offsets} are not in order in {len(content)} code points")
    places = positions_at(content, offsets)
    pairs = list(zip(places[::2], places[1::2], strict=True))
    return _replaced(text, pairs, [new for _, _, new in spans])


def _replaced(text: Text, spans: Sequence[tuple[Position, Position]], news: Sequence[str]) -> Text:
    lines = text.lines
    out: list[str] = []
    # All before this place in ``lines`` is done; ``part`` is what its line begins with now.
    line, column, part = 0, 0, ""
    for (start, end), new in zip(spans, news, strict=True):
        if start[0] > line:
            _finish_line(out, part, lines[line][column:])
            append_lines(out, lines[line + 1 : start[0]])
            line, column, part = start[0], 0, ""
        if start[1] > column:
            part += lines[line][column : start[1]]
        part += new
        line, column = end
    _finish_line(out, part, lines[line][column:] if line < len(lines) else "")
    append_lines(out, lines[line + 1 :])
    return text.with_lines(tuple(out))


def _finish_line(out: list[str], part: str, rest: str) -> None:
    append_lines(out, split_lines(part))
    if rest:
        append_lines(out, (rest,))


def _check_order(spans: Sequence[tuple[Position, Position]]) -> None:
    if any(start > end for start, end in spans):
        raise ValueError("an edit ends before it starts")
    if any(before[1] > after[0] for before, after in pairwise(spans)):
        raise ValueError("edits overlap or are not in order")


def _trimmed(old: tuple[str, ...], new: tuple[str, ...], hunk: Hunk) -> TextEdit:
    first, last, new_first = hunk.old_start, hunk.old_end, hunk.new_start
    at_end = last == len(old)
    if at_end and first and (first == last or new_first == hunk.new_end):
        # Whole lines at the text's end: seen from the line before, the last line end can stay.
        first, new_first = first - 1, new_first - 1
    was, becomes = "".join(old[first:last]), "".join(new[new_first : hunk.new_end])
    start, tail = _differing(was, becomes, at_end)
    start_line, start_column = position_at(was, start)
    end_line, end_column = position_at(was, len(was) - tail)
    return TextEdit(
        first + start_line,
        start_column,
        first + end_line,
        end_column,
        becomes[start : len(becomes) - tail],
    )


def _differing(was: str, becomes: str, at_end: bool) -> tuple[int, int]:
    """How many code points the two share at the start and at the end (without overlap)."""
    tail = 0
    limit = min(len(was), len(becomes))
    if at_end:
        end = _line_end(was)
        if end and _line_end(becomes) == end:
            # The last line end first: what is appended or deleted then lies before it.
            tail = len(end)
        # Never start behind the last line end.
        limit = min(len(was) - len(end), len(becomes) - tail)
    start = _common_start(was, becomes, limit)
    while start and _splits(was, becomes, start, start):
        start -= 1
    rest = min(len(was), len(becomes)) - start
    tail += _common_start(
        was[start : len(was) - tail][::-1], becomes[start : len(becomes) - tail][::-1], rest - tail
    )
    while tail and _splits(was, becomes, len(was) - tail, len(becomes) - tail):
        tail -= 1
    return start, tail


def _line_end(content: str) -> str:
    lines_end = content[-2:]
    return lines_end[body_length(lines_end) :]


def _common_start(one: str, other: str, limit: int) -> int:
    """Bisects: comparing slices is far faster than walking a long line in Python."""
    low, high = 0, max(limit, 0)
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _splits(was: str, becomes: str, was_at: int, becomes_at: int) -> bool:
    r"""Whether a cut would part ``\r`` from ``\n``, or two half surrogates, on either side."""
    left = {was[was_at - 1 : was_at], becomes[becomes_at - 1 : becomes_at]}
    right = {was[was_at : was_at + 1], becomes[becomes_at : becomes_at + 1]}
    if "\r" in left and "\n" in right:
        return True
    return any("\ud800" <= char <= "\udbff" for char in left) and any(
        "\udc00" <= char <= "\udfff" for char in right
    )


def _joined(one: TextEdit, following: TextEdit) -> TextEdit:
    return TextEdit(
        one.start_line,
        one.start_column,
        following.end_line,
        following.end_column,
        one.new_text + following.new_text,
    )
