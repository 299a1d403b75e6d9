"""How a command line is written: its words, and what joins its commands. ``reader`` makes it."""

from dataclasses import dataclass
from typing import Literal


class NotUnderstoodError(Exception):
    """Of a line; the message says why."""


@dataclass(frozen=True, slots=True)
class Text:
    """A part of a word that stands for itself. ``is_glob``: files may be looked for with it."""

    text: str
    is_glob: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    written: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Substitution:
    """What commands print."""

    block: "Block"
    quoted: bool


@dataclass(frozen=True, slots=True)
class Written:
    """A word, from ``start`` to ``end`` of the line (in characters). ``whole``: all of it stands
    between one pair of double quotes."""

    parts: tuple[Text | Variable | Substitution, ...]
    start: int
    end: int
    whole: bool


@dataclass(frozen=True, slots=True)
class Redirection:
    """``target`` is None for a here-document."""

    operator: str
    target: Written | None


@dataclass(frozen=True, slots=True)
class Simple:
    """A program with its words, of which there is at least one; ``source`` is how these stand in
    the line."""

    words: tuple[Written, ...]
    source: str
    redirections: tuple[Redirection, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Commands between brackets or braces."""

    block: "Block"
    is_subshell: bool
    redirections: tuple[Redirection, ...]


@dataclass(frozen=True, slots=True)
class If:
    """All that may run: conditions and branches, in the order in which they are written."""

    blocks: tuple["Block", ...]
    redirections: tuple[Redirection, ...]


@dataclass(frozen=True, slots=True)
class For:
    """``source`` is how it stands in the line, up to its last value."""

    name: str
    values: tuple[Written, ...]
    source: str
    block: "Block"
    redirections: tuple[Redirection, ...]


Part = Simple | Group | If | For


@dataclass(frozen=True, slots=True)
class Pipeline:
    """``with_errors``: by bash's ``|&``."""

    parts: tuple[Part, ...]
    negated: bool
    with_errors: bool


Join = Literal["", "&&", "||"]
"""What stands before a pipeline; nothing before the first."""


@dataclass(frozen=True, slots=True)
class AndOr:
    pipelines: tuple[tuple[Join, Pipeline], ...]
    in_background: bool


#: What runs one after the other.
Block = tuple[AndOr, ...]
