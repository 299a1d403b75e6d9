"""Texts as lists of lines.

A line keeps its end; LSP's line ends only (``\\n``, ``\\r\\n``, ``\\r``), so form feeds and
U+2028 stay inside a line. Columns are code points here; ``text/positions.py`` converts.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")

# Lines and code points from which on a text takes too long to be compared in the event loop.
_LONG_LINES = 5_000
_LONG_CONTENT = 200_000


def split_lines(content: str) -> list[str]:
    """The lines of ``content`` with their ends; joining them gives ``content`` again.

    "" has no line; a last line without an end is a line.
    """
    if "\r" not in content:
        lines = content.split("\n")
        last = lines.pop()
        lines = [line + "\n" for line in lines]
        if last:
            lines.append(last)
        return lines
    return _LINE.findall(content)


def is_long(lines: Sequence[str]) -> bool:
    """Whether a text takes too long to be compared in the event loop: some have all in one line."""
    return len(lines) > _LONG_LINES or sum(map(len, lines)) > _LONG_CONTENT


@dataclass(frozen=True)
class Text:
    """An immutable text. ``bom`` and ``encoding`` are how it stands on disk; they take no part
    in comparisons, since an editor does not show them."""

    lines: tuple[str, ...]
    encoding: str = "utf-8"
    bom: bool = False

    @classmethod
    def of(cls, content: str, like: "Text | None" = None) -> "Text":
        """``content`` with the encoding and BOM of ``like``."""
        lines = tuple(split_lines(content))
        return cls(lines, like.encoding, like.bom) if like else cls(lines)

    def with_lines(self, lines: tuple[str, ...]) -> "Text":
        return Text(lines, self.encoding, self.bom)

    @cached_property
    def content(self) -> str:
        return "".join(self.lines)

    @property
    def shows_nothing(self) -> bool:
        """Whether it is empty, or an empty line, as which some editors show an empty file."""
        return self.content in ("", "\n", "\r\n")

    def begins_with(self, other: "Text") -> bool:
        """Whether it is ``other`` and something behind it."""
        whole, last = other.lines[:-1], other.lines[-1:]
        at = len(whole)
        return (
            at < len(self.lines)
            and self.lines[:at] == whole
            and (not last or self.lines[at].startswith(last[0]))
            and self.lines != other.lines
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and (self.lines is other.lines or self.lines == other.lines)

    def __hash__(self) -> int:
        return hash(self.lines)


EMPTY = Text(())


def body_length(line: str) -> int:
    """Code points of ``line`` without its end."""
    if line.endswith("\n"):
        return len(line) - (2 if line.endswith("\r\n") else 1)
    return len(line) - line.endswith("\r")


def clamp(lines: Sequence[str], line: int, column: int) -> tuple[int, int]:
    """The nearest place in ``lines`` to a code point position: past a line is its end (before
    the line end), past the text is the text's end, which is (len(lines), 0) after a line end."""
    if line < 0:
        return 0, 0
    if line < len(lines):
        return line, max(0, min(column, body_length(lines[line])))
    if not lines or body_length(lines[-1]) < len(lines[-1]):
        return len(lines), 0
    return len(lines) - 1, len(lines[-1])


def holds(lines: Sequence[str], part: Sequence[str]) -> bool:
    """Whether ``part`` stands in one piece in ``lines``."""
    size = len(part)
    return any(lines[at : at + size] == part for at in range(len(lines) - size + 1))


def append_lines(lines: list[str], more: Sequence[str]) -> None:
    """Appends ``more`` in place, joining what becomes one line: an unfinished last line, or
    ``\\r`` and ``\\n``."""
    if not more:
        return
    if lines:
        last = lines[-1]
        ends = last[-1]
        if ends not in "\r\n" or (ends == "\r" and more[0].startswith("\n")):
            lines[-1:] = split_lines(last + more[0])
            more = more[1:]
    lines.extend(more)


def splice(
    lines: list[str],
    start_line: int,
    start_column: int,
    end_line: int,
    end_column: int,
    new_text: str,
) -> None:
    """Replaces a range (0-based, code points, clamped) of a mutable line list in place.

    Costs what the changed lines cost. Afterwards ``lines`` equals ``split_lines`` of the new
    text; lines outside the range stay the same objects.
    """
    start = clamp(lines, start_line, start_column)
    end = max(start, clamp(lines, end_line, end_column))
    first, past, replacement = _respliced(lines, start, end, new_text)
    if past - first == 1 == len(replacement):
        lines[first] = replacement[0]
    else:
        lines[first:past] = replacement


def position_at(content: str, offset: int) -> tuple[int, int]:
    """The 0-based line and code point column of ``offset`` in ``content``.

    Between ``\\r`` and ``\\n`` the column is one past the line's body; ``clamp`` mends that.
    """
    if "\r" not in content:
        return content.count("\n", 0, offset), offset - content.rfind("\n", 0, offset) - 1
    split = 1 if content[max(offset - 1, 0) : offset + 1] == "\r\n" else 0
    before = offset - split
    line = (
        content.count("\n", 0, before)
        + content.count("\r", 0, before)
        - content.count("\r\n", 0, before)
    )
    line_end = max(content.rfind("\n", 0, before), content.rfind("\r", 0, before))
    return line, offset - line_end - 1


def positions_at(content: str, offsets: Iterable[int]) -> list[tuple[int, int]]:
    """``position_at`` of each of ``offsets``, which ascend, in one pass."""
    places: list[tuple[int, int]] = []
    line = line_start = 0
    for offset in offsets:
        # One more, to see a line end that the offset divides.
        down, column = position_at(content[line_start : offset + 1], offset - line_start)
        line, line_start = line + down, offset - column
        places.append((line, column))
    return places


def _respliced(
    lines: Sequence[str], start: tuple[int, int], end: tuple[int, int], new_text: str
) -> tuple[int, int, list[str]]:
    """Which lines (half-open) a replacement touches, and what stands there afterwards."""
    first, start_column = start
    last, end_column = end
    before = lines[first][:start_column] if first < len(lines) else ""
    after = lines[last][end_column:] if last < len(lines) else ""
    changed = before + new_text + after
    if changed.startswith("\n") and first and lines[first - 1].endswith("\r"):
        first -= 1
        changed = lines[first] + changed
    past = min(last + 1, len(lines))
    replacement = split_lines(changed)
    if replacement and first < past:
        # A line that came out the same stays the same object: diffs compare those fastest.
        if replacement[-1] == lines[past - 1]:
            replacement[-1] = lines[past - 1]
        if replacement[0] == lines[first]:
            replacement[0] = lines[first]
    return first, past, replacement
