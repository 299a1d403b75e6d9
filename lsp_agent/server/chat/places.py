"""Places that a conversation names, as ``src/shop.py:12``. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lsp_agent.text.lines import split_lines

#: A word with a point or a slash in it, and the line that may follow.
_NAME = re.compile(r"(?<![^\s`'\"(\[<@])@?([\w.+\-/]{1,400})(?::(\d{1,7})(?::\d{1,7})?)?")
#: Of a document; each is looked for.
MOST_PLACES = 500
_LONGEST_LINE = 2000


@dataclass(frozen=True, slots=True)
class Place:
    """In ``line``, columns ``start`` to ``end``: the file ``path``, maybe at the line ``at``."""

    line: int
    start: int
    end: int
    path: str
    at: int | None


def places(text: str) -> list[Place]:
    found: list[Place] = []
    for number, line in enumerate(split_lines(text)):
        for place in in_line(line, number):
            found.append(place)
            if len(found) == MOST_PLACES:
                return found
    return found


def in_line(line: str, number: int) -> Iterator[Place]:
    if len(line) > _LONGEST_LINE:
        return
    for match in _NAME.finditer(line):
        path, at = match[1], match[2]
        named, end = path, match.end()
        if at is None:
            named = path.rstrip(".-")  # the sentence's
            end -= len(path) - len(named)
        if named.strip("./") and ("/" in named or "." in named.strip(".")):
            yield Place(number, match.start(), end, named, int(at) if at else None)
