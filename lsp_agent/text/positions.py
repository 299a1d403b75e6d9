"""Columns: code points inside, the units of the negotiated encoding at the LSP edge."""

from typing import Literal

from lsp_agent.text.lines import body_length

Encoding = Literal["utf-8", "utf-16", "utf-32"]

# The most units that one code point takes.
_WIDEST: dict[Encoding, int] = {"utf-8": 4, "utf-16": 2, "utf-32": 1}


def to_column(line: str, units: int, encoding: Encoding) -> int:
    """The code point column of the position ``units`` of ``encoding`` into ``line``.

    Clamped to the line without its end. A position inside a code point, such as the middle of
    a surrogate pair, is the column before it.
    """
    length = body_length(line)
    if encoding == "utf-32" or line.isascii():
        return max(0, min(units, length))
    widest = _WIDEST[encoding]
    column = 0
    # So many code points certainly fit; what they left over is tried again. The steps shrink
    # geometrically, so a long line is encoded about once.
    while units >= widest and column < length:
        step = min(units // widest, length - column)
        units -= _count(line[column : column + step], encoding)
        column += step
    while column < length and (width := _count(line[column], encoding)) <= units:
        units -= width
        column += 1
    return column


def to_units(line: str, column: int, encoding: Encoding) -> int:
    """The units of ``encoding`` before code point ``column`` of ``line``, clamped as above."""
    column = max(0, min(column, body_length(line)))
    if encoding == "utf-32" or line.isascii():
        return column
    return _count(line[:column], encoding)


def _count(piece: str, encoding: Encoding) -> int:
    # Half surrogates come from JSON escapes; they count as what they would take in a pair.
    if encoding == "utf-8":
        return len(piece.encode("utf-8", "surrogatepass"))
    return len(piece.encode("utf-16-le", "surrogatepass")) // 2
