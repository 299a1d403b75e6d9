"""Signs that an edit is in that cannot be seen as it was made; pure.

A client may put an edit in and tell of it together with what was typed there.
"""

from typing import Literal

from rapidfuzz.distance import Indel

from lsp_agent.text.edits import text_edits
from lsp_agent.text.lines import Text

#: Shorter words are in a text by chance.
TELLING_LENGTH = 4
#: Code points; longer stretches would take long to compare.
MOST_COMPARED = 20_000


def likely_in(base: Text, meant: Text, now: Text) -> Literal["words", "nearer"] | None:
    """What speaks for it that the edit from ``base`` to ``meant`` is in ``now``."""
    words = [edit.new_text.strip() for edit in text_edits(base, meant)]
    if all(
        len(word) >= TELLING_LENGTH and now.content.count(word) == 1 and word not in base.content
        for word in words
    ):
        return "words"
    return "nearer" if nearer(now, meant, base) else None


def nearer(text: Text, meant: Text, base: Text) -> bool:
    """Whether ``text`` is more like ``meant`` than like ``base``, by at least half of what the
    two differ in. Where a client joins an edit and what was typed at its edge into one change,
    this tells whether the edit is in it."""
    shortest = min(len(text.lines), len(meant.lines), len(base.lines))
    alike = [a == b == c for a, b, c in zip(text.lines, meant.lines, base.lines, strict=False)]
    start = alike.index(False) if False in alike else shortest
    kept = 0
    while kept < shortest - start and (
        text.lines[-1 - kept] == meant.lines[-1 - kept] == base.lines[-1 - kept]
    ):
        kept += 1
    parts = ["".join(t.lines[start : len(t.lines) - kept]) for t in (text, meant, base)]
    if max(map(len, parts)) > MOST_COMPARED:
        return False
    now, aim, old = parts
    # Whatever was typed adds alike to both distances.
    return 2 * (Indel.distance(old, now) - Indel.distance(aim, now)) > Indel.distance(old, aim)
