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
#: Lines before a change that are looked at first; enough unless they repeat.
_FIRST_REACH = 64
_BLOCK = 1024
#: Bits of the table of the exact diff: 50 MB. zot's own table is 64 times that.
_MOST_BITS = 400_000_000

Row = tuple[str, str]


def edit_result(before: Text, after: Text) -> str:
    """What ``edit`` answers with; "" if nothing changed.

    Both texts are compared without their BOM and with CRLF read as LF. For a text without CRLF
    the result is zot's, byte for byte, as long as the product of the two changed regions'
    line counts stays under 4e8; beyond, the diff is as good but may choose other lines. For a
    text with CRLF zot shows the whole file as changed; here only what changed is shown.

    A small change in a long text costs little: only the lines around it are looked at.
    """
    old, new = before.lines, after.lines
    suffix = common_suffix(old, new)
    prefix = common_prefix(old[: len(old) - suffix], new[: len(new) - suffix])
    while suffix and not (_begins(old, len(old) - suffix) and _begins(new, len(new) - suffix)):
        suffix -= 1
    reach = _FIRST_REACH
    while True:
        start = _boundary_before(old, prefix - reach)
        one = _pieces(old, start, len(old) - suffix)
        other = _pieces(new, start, len(new) - suffix)
        diff = lines_diff(one, other, cut=start > 0)
        if diff is not None:
            return diff
        reach *= 8


def lines_diff(
    before: Sequence[str], after: Sequence[str], *, cut: bool = False, most_bits: int = _MOST_BITS
) -> str | None:
    """The diff of two texts that were split at ``\\n``, their empty last pieces included.

    With ``cut``, both go on equally before their beginnings; None if those lines are needed.
    """
    if before == after:
        return ""
    suffix = common_suffix(before, after)
    head, tail = before[: len(before) - suffix], after[: len(after) - suffix]
    prefix = common_prefix(head, tail)
    middle = (len(head) - prefix) * (len(tail) - prefix)
    if middle <= most_bits:
        start, rows = _exact_rows(head, tail, prefix)
        if cut and start is None:
            return None
        start = start or 0
    else:
        start, rows = prefix, _plain_rows(head[prefix:], tail[prefix:])
    around_before = [(" ", line) for line in before[max(0, start - _CONTEXT) : start]]
    # One row more than is shown tells whether rows were left out at the end.
    around_after = [(" ", line) for line in before[len(head) : len(head) + _CONTEXT + 1]]
    return _shown([*around_before, *rows, *around_after])


def _begins(lines: Sequence[str], index: int) -> bool:
    """Whether a line begins there for zot, too, who knows no lone CR."""
    return index == 0 or lines[index - 1].endswith("\n")


def _boundary_before(lines: Sequence[str], index: int) -> int:
    index = max(index, 0)
    while not _begins(lines, index):
        index -= 1
    return index


def _pieces(lines: Sequence[str], start: int, end: int) -> list[str]:
    """Lines ``start`` to ``end`` and as many more as may be shown, as zot splits them."""
    for _ in range(_CONTEXT + 1):
        end += 1
        while end < len(lines) and not _begins(lines, end):
            end += 1
    pieces = "".join(lines[start:end]).replace("\r\n", "\n").split("\n")
    return pieces if end >= len(lines) else pieces[:-1]


def common_suffix(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items both end with."""
    most, count = min(len(one), len(other)), 0
    while count + _BLOCK <= most and (
        one[len(one) - count - _BLOCK : len(one) - count]
        == other[len(other) - count - _BLOCK : len(other) - count]
    ):
        count += _BLOCK
    while count < most and one[-1 - count] == other[-1 - count]:
        count += 1
    return count


def common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items both begin with."""
    most, count = min(len(one), len(other)), 0
    while count + _BLOCK <= most and one[count : count + _BLOCK] == other[count : count + _BLOCK]:
        count += _BLOCK
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


def _exact_rows(
    one: Sequence[str], other: Sequence[str], prefix: int
) -> tuple[int | None, list[Row]]:
    """The rows from where both lists are the same up to there, and that place; None where only
    their very beginnings are the same.

    The walk goes through the common prefix as well: a line that repeats there may be matched
    with a later one, as zot does it.
    """
    table = _Table.of(one[prefix:], other[prefix:])
    rows: list[Row] = []
    i, j = len(one), len(other)
    ran_out = False
    while not (i == j <= prefix):
        ran_out = ran_out or not i or not j
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
    return None if ran_out else i, rows


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
