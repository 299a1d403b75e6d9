"""One word of a line, as a program is given it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lsp_agent.sessions.permissions.shell.line import Word
from lsp_agent.sessions.permissions.shell.written import (
    Block,
    NotUnderstoodError,
    Substitution,
    Text,
    Variable,
    Written,
)

#: Their values are no secrets, and decide on nothing once they are in a word.
_TOLD_VARIABLES = frozenset({"?", "#", "$", "PWD", "OLDPWD", "HOME", "USER"})
_SPLITS = re.compile(r"[\s*?\[\]\\~{}]")


@dataclass(frozen=True, slots=True)
class Bound:
    """What the variables of the loops that are read now stand for, and which of these are names of
    files that a shell looks for: no more is known of them than of a glob."""

    values: dict[str, str] = field(default_factory=dict[str, str])
    found: frozenset[str] = frozenset()

    def with_value(self, name: str, value: str, *, is_found: bool) -> "Bound":
        found = self.found | {name} if is_found else self.found
        return Bound({**self.values, name: value}, found)


def word(written: Written, bound: Bound, run: Callable[[Block], object]) -> Word:
    """``run`` is given the commands in it.

    :raises NotUnderstoodError: for what may be no word, or several
    """
    known: list[str] = []
    for part in written.parts:
        match part:
            case Text():
                known.append(part.text)
            case Substitution():
                run(part.block)
            case Variable():
                value = _value(part, bound)
                known += [] if value is None else [value]
    return "".join(known) if len(known) == len(written.parts) else None


def _value(variable: Variable, bound: Bound) -> str | None:
    """What a loop lets it be. That of others is not known, and may be a secret."""
    value = bound.values.get(variable.name)
    if value is None and variable.name not in _TOLD_VARIABLES:
        raise NotUnderstoodError(f"what {variable.written} is is not written in it")
    if not variable.quoted and value is not None and (not value or _SPLITS.search(value)):
        raise NotUnderstoodError(f"{variable.written} may be none or several words")
    return value


def is_glob(written: Written, bound: Bound) -> bool:
    """Whether a shell looks for files with such names, or may: with what a substitution prints; or
    has looked for them, in the words of a loop."""
    return is_found(written, bound) or any(
        part.is_glob if isinstance(part, Text) else not part.quoted
        for part in written.parts
        if not isinstance(part, Variable)
    )


def is_found(written: Written, bound: Bound) -> bool:
    """Whether a variable of a loop is in it that stands for files' names."""
    return any(isinstance(part, Variable) and part.name in bound.found for part in written.parts)
