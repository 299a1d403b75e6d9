"""Random texts that hold everything a line layer can trip over."""

import random
from collections.abc import Callable

from hypothesis import strategies as st

from lsp_agent.text.lines import Text

PIECES = [
    "a",
    "b",
    "word ",
    "  ",
    "\t",
    "\n",
    "\n",
    "\r\n",
    "\r",
    "\x0c",
    "\x85",
    "\u2028",
    "é",
    "e\u0301",
    "😀",
    "👩\u200d🚒",
    "\ud83d",
    "\ude00",
    "}",
]

contents = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


@st.composite
def revisions(draw: st.DrawFn, of: str) -> str:
    """``of`` after a few small changes."""
    content = of
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 4)))
        content = content[:start] + draw(contents)[:6] + content[end:]
    return content


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """A text and another, mostly a revision of it."""
    old = draw(contents)
    return old, draw(st.one_of(revisions(old), revisions(old), contents))


@st.composite
def triples(draw: st.DrawFn) -> tuple[Text, Text, Text]:
    """A base and two revisions of it."""
    base = draw(contents)
    return Text.of(base), Text.of(draw(revisions(base))), Text.of(draw(revisions(base)))


def numbered(count: int, end: str = "\n") -> Text:
    return Text.of("".join(f"line {number}{end}" for number in range(count)))


def changed_lines(rng: random.Random, lines: list[str], fresh: Callable[[], str]) -> list[str]:
    """``lines`` with one to three lines inserted, replaced or deleted."""
    lines = list(lines)
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(lines) + 1)
        kind = rng.random()
        if kind < 0.4 or at == len(lines):
            lines.insert(at, fresh())
        elif kind < 0.7:
            lines[at] = fresh()
        else:
            del lines[at : at + rng.randrange(1, 3)]
    return lines
