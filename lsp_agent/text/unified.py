"""A change as a unified diff, for a person to read."""

from collections.abc import Iterator, Sequence

from lsp_agent.text.diff import Hunk, diff
from lsp_agent.text.lines import Text

_CONTEXT = 3


def unified_diff(before: Text, after: Text, name: str) -> str:
    """The change from ``before`` to ``after`` with three lines of context; "" without a change.

    Lines keep their ends, and where there is none it is said as diff(1) does. ``name`` must be
    one line.
    """
    hunks = diff(before.lines, after.lines)
    if not hunks:
        return ""
    return f"--- a/{name}\n+++ b/{name}\n" + "".join(
        part for group in _groups(hunks) for part in _section(group, before.lines, after.lines)
    )


def _groups(hunks: Sequence[Hunk]) -> Iterator[list[Hunk]]:
    """Hunks whose contexts touch belong together."""
    group = [hunks[0]]
    for hunk in hunks[1:]:
        if hunk.old_start - group[-1].old_end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(hunk)
    yield group


def _section(group: Sequence[Hunk], old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    first, last = group[0], group[-1]
    above = min(_CONTEXT, first.old_start)
    below = min(_CONTEXT, len(old) - last.old_end)
    old_range = _range(first.old_start - above, last.old_end + below)
    new_range = _range(first.new_start - above, last.new_end + below)
    yield f"@@ -{old_range} +{new_range} @@\n"
    at = first.old_start - above
    for hunk in group:
        yield from (_line(" ", line) for line in old[at : hunk.old_start])
        yield from (_line("-", line) for line in old[hunk.old_start : hunk.old_end])
        yield from (_line("+", line) for line in new[hunk.new_start : hunk.new_end])
        at = hunk.old_end
    yield from (_line(" ", line) for line in old[at : at + below])


def _range(start: int, end: int) -> str:
    """As diff(1) counts: from 1, and without lines by the line before."""
    count = end - start
    return f"{start + 1 if count else start},{count}" if count != 1 else f"{start + 1}"


def _line(mark: str, line: str) -> str:
    if line.endswith("\n"):
        return mark + line
    return f"{mark}{line}\n" + ("" if line.endswith("\r") else "\\ No newline at end of file\n")
