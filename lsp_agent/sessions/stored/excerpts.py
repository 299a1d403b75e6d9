"""The context that goes with a prompt: excerpts of live documents, as the model reads them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Text of a document. ``first_line`` is 1-based; None for the whole document."""

    path: str
    text: str
    first_line: int | None = None


def prompt_with_context(text: str, excerpts: Sequence[Excerpt], note: str = "") -> str:
    """The prompt, with each excerpt fenced behind it (a fence longer than any inside), and a note
    on what happened since the last turn."""
    if excerpts:
        text += "\n\nContext from the editor:\n" + "".join(map(_block, excerpts))
    return f"{text}\n\n[Note from the editor]\n{note}" if note else text


def _block(excerpt: Excerpt) -> str:
    lines = excerpt.text.count("\n") + (not excerpt.text.endswith("\n"))
    place = (
        ""
        if excerpt.first_line is None
        else f", lines {excerpt.first_line}-{excerpt.first_line + max(lines, 1) - 1}"
    )
    return f"\n{excerpt.path}{place}:\n{fenced(excerpt.text)}\n"


def fenced(text: str, kind: str = "") -> str:
    """As a block of Markdown of that ``kind``, in a fence longer than any inside; without a line
    end behind it."""
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    body = text if text.endswith("\n") else text + "\n"
    return f"{fence}{kind}\n{body}{fence}"
