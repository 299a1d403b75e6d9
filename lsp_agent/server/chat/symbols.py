"""What texts define, by how a line begins: enough to name its place in a prompt. Pure.

No language is parsed, and nothing is read: the texts are those that the person has open.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

#: Of all texts; what lies behind is not looked at.
MOST_CHARACTERS = 1 << 20
MOST_SYMBOLS = 500
_LONGEST_LINE = 200
_DEFINED = re.compile(
    r"\s*(?:(?:export|default|pub|public|private|protected|static|abstract|async|final|local)\s+)*"
    r"(?:def|class|function|func|fn|struct|enum|interface|trait|type|module)\s+"
    r"(?:\([^()]*\)\s*)?"  # whose method it is, in Go
    r"([^\W\d]\w*)"
)


@dataclass(frozen=True, slots=True)
class Symbol:
    """``line`` counts from 1."""

    name: str
    path: str
    line: int

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


def symbols(texts: Sequence[tuple[str, str]]) -> Iterator[Symbol]:
    """Of the texts with their paths, in order."""
    left, found = MOST_CHARACTERS, 0
    for path, text in texts:
        for number, line in enumerate(text[:left].splitlines(), 1):
            defined = _DEFINED.match(line[:_LONGEST_LINE])
            if defined is not None:
                yield Symbol(defined[1], path, number)
                found += 1
            if found == MOST_SYMBOLS:
                return
        left -= min(len(text), left)
