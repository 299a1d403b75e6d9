"""Texts of agents, made fit to be shown to a person.

Control characters, those that turn the direction of writing and those that take no room can make
a command look like another one. What a person decides on therefore shows them escaped, and drops
none of them.
"""

import re
from collections.abc import Sequence

_ESCAPE_SEQUENCES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
#: Printable, says Unicode's category, and shown as nothing or as a blank: variation selectors, the
#: grapheme joiner, fillers of Hangul, vowels of Khmer, the empty Braille cell, a note's empty head.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d159\U000e0100-\U000e01ef]"
)
_MOST_NAMES = 10
#: As VS Code's ``linkedText.ts`` has it.
_LINK = re.compile(r"\]\((?=(?:https?|command|file):)", re.IGNORECASE)
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
    plain = without_escapes(line).replace("\t", " ")
    return "".join(char for char in plain if is_seen(char)).strip()


def without_escapes(text: str) -> str:
    """``text`` without colours and other escape sequences of terminals."""
    return _ESCAPE_SEQUENCES.sub("", text)


def without_links(text: str) -> str:
    """VS Code makes a link of ``[words](address)`` in a message, and ``command:`` runs what it
    names: the words would be an agent's. A blank between the brackets leaves it a text."""
    return _LINK.sub("] (", text)


def is_seen(text: str) -> bool:
    """Whether each of its characters shows as itself; a plain space does."""
    return text.isprintable() and _UNSEEN.search(text) is None


def _escaped(text: str, keep: str) -> str:
    if is_seen(text):
        return text
    return "".join(c if is_seen(c) or c in keep else _written(c) for c in text)


def _written(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    code = ord(char)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
