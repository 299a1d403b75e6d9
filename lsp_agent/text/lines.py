"""Texts as lists of lines.

A line keeps its end; LSP's line ends only (``\\n``, ``\\r\\n``, ``\\r``), so form feeds and
U+2028 stay inside a line. Columns are code points here; ``text/positions.py`` converts.
"""

import re
from dataclasses import dataclass
from functools import cached_property

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.lines == other.lines

    def __hash__(self) -> int:
        return hash(self.lines)


EMPTY = Text(())
