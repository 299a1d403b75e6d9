"""What is counted of every edit."""

from collections import Counter

#: ``lost`` and ``doubled`` count edits and what was typed; the others edits alone.
COLUMNS = (
    "edits",
    "in",
    "resent",
    "changed",
    "conflict",
    "unknown",
    "late",
    "keys",
    "lost",
    "doubled",
)

Counts = Counter[tuple[str, str]]
"""By point and column."""
