"""What a command line consists of."""

from collections.abc import Sequence
from dataclasses import dataclass

#: What a program is given; None where that is decided at run time. A glob is as it is written.
Word = str | None

#: Folders that were changed to, one after the other; empty for where the line begins.
Way = tuple[str, ...]

HERE: frozenset[Way] = frozenset({()})


@dataclass(frozen=True, slots=True)
class Command:
    """One program with its ``words``, itself among them. ``source`` is how that is written,
    without redirections. ``globs`` are the numbers of words that may become several. ``reads`` and
    ``writes`` are files that redirections open; ``ways`` are those that may have led to where it
    runs. ``whole`` are the numbers of words that are one, whatever is in them."""

    words: tuple[Word, ...]
    source: str
    globs: frozenset[int] = frozenset()
    reads: tuple[Word, ...] = ()
    writes: tuple[Word, ...] = ()
    ways: frozenset[Way] = HERE
    whole: frozenset[int] = frozenset()

    @property
    def literal(self) -> tuple[str, ...] | None:
        """Its words, if each is known."""
        known = tuple(word for word in self.words if word is not None)
        return known if len(known) == len(self.words) else None


@dataclass(frozen=True, slots=True)
class Line:
    """All commands that a line may run, in the order in which they are written. ``unknown`` says
    what could not be understood; there may then be others."""

    commands: Sequence[Command]
    unknown: str = ""
