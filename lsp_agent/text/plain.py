"""Texts of agents, made fit to be shown to a person.

Control characters and those that turn the direction of writing can make a command look like
another one. What a person decides on therefore shows them escaped, and drops none of them.
"""

import re
from collections.abc import Sequence

_ESCAPE_SEQUENCES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
_MOST_NAMES = 10
_NAMED = {"\r": r"\r", "\n": r"\n", "\t": r"\t"}


def escaped_line(text: str) -> str:
    """``text`` in one line; what is not printable is written as Python does, as in ``\\x1b``,
    ``\\u202e``, ``\\n``."""
    return _escaped(text, keep="")


def escaped_lines(text: str) -> str:
    """As ``escaped_line``, but line ends (LF or CR LF, then LF) and tabs stay."""
    return _escaped(text.replace("\r\n", "\n"), keep="\n\t")


def first_of(names: Sequence[str]) -> str:
    """The first ten, for a message; an ellipsis stands for the others."""
    return ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")


def printable_line(line: str) -> str:
    """``line`` as a terminal would leave it: no escape sequences, no control characters."""
    plain = _ESCAPE_SEQUENCES.sub("", line).replace("\t", " ")
    return "".join(char for char in plain if char.isprintable()).strip()


def _escaped(text: str, keep: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _written(c) for c in text)


def _written(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
