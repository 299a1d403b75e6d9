"""Line diffs: common ends are trimmed, then an exact longest common subsequence.

Works on any strings, so ``merge.py`` diffs tokens with it too.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

# Cells of the bit matrix that an exact search may take: 100 MB.
_EXACT_CELLS = 800_000_000
# Up to here exact search is so fast that looking for anchors would not pay.
_SMALL_CELLS = 1_000_000
_BLOCK = 1024
# Below this share of kept lines, scattered matches help no reader; short texts are left alone.
_KEPT_SHARE = 0.2
_REWRITE_LINES = 40


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines ``old_start`` to ``old_end`` (0-based, half-open) become ``new_start`` to ``new_end``.

    One of the two may be empty, never both.
    """

    old_start: int
    old_end: int
    new_start: int
    new_end: int


Match = tuple[int, int, int]
"""A run of equal lines: old start, new start, length."""


def diff(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """The changed line ranges, ascending; between two of them lies at least one kept line.

    Minimal up to 1,000,000 pairs of lines and between lines that occur once in each; larger
    ranges of repeated lines only get a good alignment. A near-total rewrite of a long range is
    one hunk. Lines that are the same object in both compare fastest.
    """
    hunks = raw_diff(old, new)
    if len(hunks) > 1:
        first, last = hunks[0], hunks[-1]
        changed = sum(hunk.old_end - hunk.old_start for hunk in hunks)
        old_size = last.old_end - first.old_start
        smaller = min(old_size, last.new_end - first.new_start)
        if smaller >= _REWRITE_LINES and old_size - changed < _KEPT_SHARE * smaller:
            return [Hunk(first.old_start, last.old_end, first.new_start, last.new_end)]
    return hunks


def raw_diff(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """``diff`` that keeps every match, also in a rewrite."""
    old = old if isinstance(old, tuple) else tuple(old)
    new = new if isinstance(new, tuple) else tuple(new)
    start = _common_prefix(old, new)
    kept_end = _common_suffix(old, new, start)
    old_end, new_end = len(old) - kept_end, len(new) - kept_end
    if start in {old_end, new_end}:
        return [Hunk(start, old_end, start, new_end)] if old_end != new_end else []
    old_ids, new_ids = _intern(old[start:old_end], new[start:new_end])
    return list(_hunks(_matches(old_ids, new_ids), start, old_end, new_end))


def _common_prefix(old: tuple[str, ...], new: tuple[str, ...]) -> int:
    size = min(len(old), len(new))
    start = 0
    while start < size and old[start : start + _BLOCK] == new[start : start + _BLOCK]:
        start += _BLOCK
    while start < size and old[start] == new[start]:
        start += 1
    return min(start, size)


def _common_suffix(old: tuple[str, ...], new: tuple[str, ...], start: int) -> int:
    """How many lines at the ends are equal, leaving ``start`` lines out."""
    end_old, end_new = len(old), len(new)
    size = min(end_old, end_new) - start
    count = 0
    while (
        count + _BLOCK <= size
        and old[end_old - count - _BLOCK : end_old - count]
        == new[end_new - count - _BLOCK : end_new - count]
    ):
        count += _BLOCK
    while count < size and old[end_old - count - 1] == new[end_new - count - 1]:
        count += 1
    return count


def _intern(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]]:
    # Numbers, because rapidfuzz compares elements by their hash alone.
    ids: dict[str, int] = {}
    number = ids.setdefault
    return [number(x, len(ids)) for x in old], [number(x, len(ids)) for x in new]


def _hunks(matches: Iterator[Match], start: int, old_end: int, new_end: int) -> Iterator[Hunk]:
    """What lies between ``matches`` (relative to ``start``) up to the two ends."""
    old_at = new_at = start
    for old_match, new_match, length in matches:
        if old_at < start + old_match or new_at < start + new_match:
            yield Hunk(old_at, start + old_match, new_at, start + new_match)
        old_at, new_at = start + old_match + length, start + new_match + length
    if old_at < old_end or new_at < new_end:
        yield Hunk(old_at, old_end, new_at, new_end)


def _matches(old: list[int], new: list[int]) -> Iterator[Match]:
    if len(old) * len(new) <= _SMALL_CELLS:
        yield from _exact(old, new, 0, 0)
        return
    for gap, anchor in _between(_anchors(old, new, _only_once), len(old), len(new)):
        old_start, old_end, new_start, new_end = gap
        yield from _gap(old[old_start:old_end], new[new_start:new_end], old_start, new_start)
        if anchor:
            yield anchor


def _gap(old: list[int], new: list[int], old_base: int, new_base: int) -> Iterator[Match]:
    """Matches of a range without lines of its own; by occurrence where it is too large."""
    if len(old) * len(new) <= _EXACT_CELLS:
        yield from _exact(old, new, old_base, new_base)
        return
    for gap, anchor in _between(_anchors(old, new, _by_occurrence), len(old), len(new)):
        old_start, old_end, new_start, new_end = gap
        if (old_end - old_start) * (new_end - new_start) <= _EXACT_CELLS:
            yield from _exact(
                old[old_start:old_end],
                new[new_start:new_end],
                old_base + old_start,
                new_base + new_start,
            )
        if anchor:
            yield old_base + anchor[0], new_base + anchor[1], 1


def _exact(old: list[int], new: list[int], old_base: int, new_base: int) -> Iterator[Match]:
    if not old or not new:
        return
    # Here, since importing it takes 40 ms and a server starts without a diff.
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415

    for op in LCSseq.opcodes(old, new):
        if op.tag == "equal":
            yield old_base + op.src_start, new_base + op.dest_start, op.src_end - op.src_start


Gap = tuple[int, int, int, int]


def _between(
    anchors: list[tuple[int, int]], old_size: int, new_size: int
) -> Iterator[tuple[Gap, Match | None]]:
    """The gap before each anchor with that anchor, and the last gap."""
    old_at = new_at = 0
    for old_anchor, new_anchor in anchors:
        yield (old_at, old_anchor, new_at, new_anchor), (old_anchor, new_anchor, 1)
        old_at, new_at = old_anchor + 1, new_anchor + 1
    yield (old_at, old_size, new_at, new_size), None


Keys = Callable[[list[int]], "dict[object, int]"]


def _only_once(ids: list[int]) -> dict[object, int]:
    places: dict[object, int] = {}
    repeated: set[int] = set()
    for place, number in enumerate(ids):
        if number in places:
            repeated.add(number)
        places[number] = place
    for number in repeated:
        del places[number]
    return places


def _by_occurrence(ids: list[int]) -> dict[object, int]:
    seen: dict[int, int] = {}
    places: dict[object, int] = {}
    for place, number in enumerate(ids):
        nth = seen.get(number, 0)
        seen[number] = nth + 1
        places[number, nth] = place
    return places


def _anchors(old: list[int], new: list[int], keys: Keys) -> list[tuple[int, int]]:
    """The longest ascending run of the places that ``keys`` names in both (patience)."""
    in_new = keys(new)
    pairs = [(at, in_new[key]) for key, at in keys(old).items() if key in in_new]
    pairs.sort()
    tops: list[int] = []
    top_pair: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        before.append(top_pair[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(place)
            top_pair.append(index)
        else:
            tops[pile] = place
            top_pair[pile] = index
    chain: list[tuple[int, int]] = []
    index = top_pair[-1] if top_pair else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    chain.reverse()
    return chain
