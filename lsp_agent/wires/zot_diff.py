"""zot's form of a diff: what its ``edit`` answers with.

Rows are a sign and a line; three rows of context, ``...`` where rows are left out, no header and
no line numbers. Where several diffs are equally short, zot's choice is made here too, so that a
model reads the same text from the embedded agent, from a hosted zot and from zot itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_agent.text.lines import Text

_CONTEXT = 3
_ELLIPSIS = "...\n"
#: Bits of the table of the exact diff: 50 MB. zot's own table is 64 times that.
_MOST_BITS = 400_000_000

Row = tuple[str, str]


def edit_result(before: Text, after: Text) -> str:
    """What ``edit`` answers with; "" if nothing changed.

    Both texts are compared without their BOM and with CRLF read as LF. For a text without CRLF
    the result is zot's, byte for byte, as long as the product of the two changed regions'
    line counts stays under 4e8; beyond, the diff is as short but may choose other lines. For a
    text with CRLF zot shows the whole file as changed; here only what changed is shown.
    """
    return lines_diff(_lines(before), _lines(after))


def lines_diff(before: Sequence[str], after: Sequence[str], most_bits: int = _MOST_BITS) -> str:
    """The diff of two texts that were split at ``\\n``, their empty last pieces included."""
    if before == after:
        return ""
    suffix = _common_suffix(before, after)
    head, tail = before[: len(before) - suffix], after[: len(after) - suffix]
    prefix = _common_prefix(head, tail)
    middle = (len(head) - prefix) * (len(tail) - prefix)
    if middle <= most_bits:
        start, rows = _exact_rows(head, tail, prefix)
    else:
        start, rows = prefix, _plain_rows(head[prefix:], tail[prefix:])
    around_before = [(" ", line) for line in before[max(0, start - _CONTEXT) : start]]
    # One row more than is shown tells whether rows were left out at the end.
    around_after = [(" ", line) for line in before[len(head) : len(head) + _CONTEXT + 1]]
    return _shown([*around_before, *rows, *around_after])


def _lines(text: Text) -> list[str]:
    return text.content.replace("\r\n", "\n").split("\n")


def _common_suffix(one: Sequence[str], other: Sequence[str]) -> int:
    most, count = min(len(one), len(other)), 0
    while count < most and one[-1 - count] == other[-1 - count]:
        count += 1
    return count


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    most, count = min(len(one), len(other)), 0
    while count < most and one[count] == other[count]:
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class _Table:
    """The longest common subsequences of all beginnings of two line lists, as differences:
    bit j of row i is clear where line j of the second list makes it longer by one."""

    rows: list[int]

    @classmethod
    def of(cls, one: Sequence[str], other: Sequence[str]) -> "_Table":
        places: dict[str, int] = {}
        for index, line in enumerate(other):
            places[line] = places.get(line, 0) | 1 << index
        full = (1 << len(other)) - 1
        row, rows = full, list[int]()
        for line in one:
            both = row & places.get(line, 0)
            row = ((row + both) | (row - both)) & full
            rows.append(row)
        return cls(rows)

    def prefers_insertion(self, one: int, other: int) -> bool:
        """Whether leaving out the last of ``other`` lines costs nothing."""
        return bool(self.rows[one - 1] >> (other - 1) & 1)


def _exact_rows(one: Sequence[str], other: Sequence[str], prefix: int) -> tuple[int, list[Row]]:
    """The rows from where both lists are the same up to there, and that place.

    The walk goes through the common prefix as well: a line that repeats there may be matched
    with a later one, as zot does it.
    """
    table = _Table.of(one[prefix:], other[prefix:])
    rows: list[Row] = []
    i, j = len(one), len(other)
    while not (i == j <= prefix):
        if i and j and one[i - 1] == other[j - 1]:
            i, j = i - 1, j - 1
            rows.append((" ", one[i]))
            continue
        if i > prefix and j > prefix:
            insertion = table.prefers_insertion(i - prefix, j - prefix)
        else:
            insertion = j > i
        if insertion:
            j -= 1
            rows.append(("+", other[j]))
        else:
            i -= 1
            rows.append(("-", one[i]))
    rows.reverse()
    return i, rows


def _plain_rows(one: Sequence[str], other: Sequence[str]) -> list[Row]:
    """A diff of any size in little memory."""
    # Imported where it is needed: the embedded agent must start quickly.
    from lsp_agent.text.diff import diff  # noqa: PLC0415

    rows: list[Row] = []
    done = 0
    for hunk in diff(one, other):
        rows += [(" ", line) for line in one[done : hunk.old_start]]
        rows += [("-", line) for line in one[hunk.old_start : hunk.old_end]]
        rows += [("+", line) for line in other[hunk.new_start : hunk.new_end]]
        done = hunk.old_end
    return [*rows, *((" ", line) for line in one[done:])]


def _shown(rows: Sequence[Row]) -> str:
    kept = _near_a_change(rows)
    shown: list[str] = []
    for index, (sign, line) in enumerate(rows):
        if kept[index]:
            shown.append(f"{sign}{line}\n")
        elif index and kept[index - 1]:
            following = any(kept[index:])
            shown.append(_ELLIPSIS * (2 if following else 1))
    return "".join(shown)


def _near_a_change(rows: Sequence[Row]) -> bytearray:
    kept = bytearray(len(rows))
    for index, (sign, _) in enumerate(rows):
        if sign != " ":
            start, end = max(0, index - _CONTEXT), min(len(rows), index + _CONTEXT + 1)
            kept[start:end] = b"\1" * (end - start)
    return kept
