"""Line diffs: common ends are trimmed, then an exact longest common subsequence.

Works on any strings, so ``merge.py`` diffs tokens with it too.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

# Pairs of lines up to which an exact search is faster than looking for anchors first.
_FAST_CELLS = 100_000_000
# ... and up to which it may be made at all: a bit each, 100 MB.
_EXACT_CELLS = 800_000_000
# What larger ranges are cut at: runs of so many lines that occur once in each text.
_ANCHOR_RUNS = (1, 4, 16)
_BLOCK = 1024
# Larger ranges are first walked through: behind a change so many equal lines in a row must follow,
# at most so many lines further on (or so many inserted or deleted in one piece) ...
_SURE = 16
_NEAR = 64
_FAR = 2000
# ... and so many places may be tried in all.
_TRIES = 100_000
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


def overlap(start: int, end: int, other_start: int, other_end: int) -> bool:
    """Whether two half-open ranges share a line, or an empty one lies inside the other: not at
    its edge."""
    if start == end:
        return other_start < start < other_end
    if other_start == other_end:
        return start < other_start < end
    return start < other_end and other_start < end


def by_line(hunks: Iterable[Hunk]) -> Iterator[Hunk]:
    """Line for line where as many came as went, as if each had been changed by itself."""
    for hunk in hunks:
        size = hunk.old_end - hunk.old_start
        if size != hunk.new_end - hunk.new_start:
            yield hunk
            continue
        for at in range(size):
            old, new = hunk.old_start + at, hunk.new_start + at
            yield Hunk(old, old + 1, new, new + 1)


def diff(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """The changed line ranges, ascending; between two of them lies at least one kept line.

    Minimal where the changed range is up to 10,000 lines long; in a longer one, minimal between
    runs of equal lines that follow on a change, or lines that occur once in each. A near-total
    rewrite of a long range is one hunk. Lines that are the same object in both compare fastest.
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
    start = _common_run(old, new, 0, 0)
    kept_end = _common_suffix(old, new, start)
    old_end, new_end = len(old) - kept_end, len(new) - kept_end
    if start in {old_end, new_end}:
        return [Hunk(start, old_end, start, new_end)] if old_end != new_end else []
    changed, becomes = old[start:old_end], new[start:new_end]
    if len(changed) * len(becomes) > _FAST_CELLS:
        matches = _walked(changed, becomes)
    else:
        matches = _matches(*_intern(changed, becomes))
    return slid_down(list(_hunks(matches, start, old_end, new_end)), old, new)


def _common_run(old: tuple[str, ...], new: tuple[str, ...], old_at: int, new_at: int) -> int:
    """How many lines from the two places on are equal."""
    size = min(len(old) - old_at, len(new) - new_at)
    count, step = 0, _BLOCK
    while step:
        end = count + step
        if end <= size and (
            old[old_at + count : old_at + end] == new[new_at + count : new_at + end]
        ):
            count = end
        else:
            step //= 2
    return count


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


def slid_down(hunks: list[Hunk], old: tuple[str, ...], new: tuple[str, ...]) -> list[Hunk]:
    """Each insertion or deletion as far down as repeated lines allow.

    So the same change has the same place in any two diffs from one base, which a merge needs
    in order to see that both sides made it. Hunks that come to touch become one.
    """
    slid: list[Hunk] = []
    for hunk in reversed(hunks):
        moved = _slide(hunk, old, new, slid[-1].old_start if slid else len(old))
        while slid and moved.old_end == slid[-1].old_start:
            below = slid.pop()
            joined = Hunk(moved.old_start, below.old_end, moved.new_start, below.new_end)
            moved = _slide(joined, old, new, slid[-1].old_start if slid else len(old))
        slid.append(moved)
    slid.reverse()
    return slid


def _slide(hunk: Hunk, old: tuple[str, ...], new: tuple[str, ...], limit: int) -> Hunk:
    if hunk.old_start == hunk.old_end:
        lines, start, end = new, hunk.new_start, hunk.new_end
    elif hunk.new_start == hunk.new_end:
        lines, start, end = old, hunk.old_start, hunk.old_end
    else:
        return hunk
    room = limit - hunk.old_end
    steps = 0
    while steps < room and lines[start + steps] == lines[end + steps]:
        steps += 1
    return Hunk(
        hunk.old_start + steps, hunk.old_end + steps, hunk.new_start + steps, hunk.new_end + steps
    )


def _walked(old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Match]:
    """Runs of equal lines, ascending, of long texts that are mostly alike: from each change to
    where they are in step again. From where that is not found on, the rest is searched at once."""
    old_at = new_at = tries = 0
    while True:
        length = _common_run(old, new, old_at, new_at)
        if length:
            yield old_at, new_at, length
            old_at, new_at = old_at + length, new_at + length
        if old_at == len(old) or new_at == len(new):
            return
        skipped = _to_next_run(old, new, old_at, new_at) if tries < _TRIES else None
        if skipped is None:
            yield from _matches(*_intern(old[old_at:], new[new_at:]), old_at, new_at)
            return
        old_end, new_end = old_at + skipped[0], new_at + skipped[1]
        gap = _intern(old[old_at:old_end], new[new_at:new_end])
        yield from _exact(*gap, old_at, new_at)
        old_at, new_at = old_end, new_end
        tries += sum(skipped) ** 2


def _to_next_run(
    old: tuple[str, ...], new: tuple[str, ...], old_at: int, new_at: int
) -> tuple[int, int] | None:
    """How many lines of each to skip, as few as possible, until ``_SURE`` lines are equal."""
    near = ((skip, apart - skip) for apart in range(1, _NEAR + 1) for skip in range(apart + 1))
    far = (pair for apart in range(_NEAR + 1, _FAR) for pair in ((apart, 0), (0, apart)))
    old_last, new_last = len(old) - _SURE, len(new) - _SURE
    for old_skip, new_skip in chain(near, far):
        old_from, new_from = old_at + old_skip, new_at + new_skip
        if (
            old_from <= old_last
            and new_from <= new_last
            and old[old_from] == new[new_from]
            and old[old_from : old_from + _SURE] == new[new_from : new_from + _SURE]
        ):
            return old_skip, new_skip
    return None


def _matches(
    old: list[int], new: list[int], old_base: int = 0, new_base: int = 0, depth: int = 0
) -> Iterator[Match]:
    """Runs of equal lines, ascending; ``depth`` is how many of ``_ANCHOR_RUNS`` were tried."""
    cells = len(old) * len(new)
    if cells <= (_EXACT_CELLS if depth else _FAST_CELLS):
        yield from _exact(old, new, old_base, new_base)
    elif depth < len(_ANCHOR_RUNS):
        old_at = new_at = 0
        run = _ANCHOR_RUNS[depth]
        for old_end, new_end in (*_anchors(old, new, run), (len(old), len(new))):
            if old_at < old_end and new_at < new_end:  # most anchors follow on one another
                yield from _matches(
                    old[old_at:old_end],
                    new[new_at:new_end],
                    old_base + old_at,
                    new_base + new_at,
                    depth + 1,
                )
            if old_end < len(old):
                yield old_base + old_end, new_base + new_end, 1
            old_at, new_at = old_end + 1, new_end + 1


def _exact(old: list[int], new: list[int], old_base: int, new_base: int) -> Iterator[Match]:
    if not old or not new:
        return
    # Here, since importing it takes 40 ms and a server starts without a diff.
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415

    for op in LCSseq.opcodes(old, new):
        if op.tag == "equal":
            yield old_base + op.src_start, new_base + op.dest_start, op.src_end - op.src_start


def _places(ids: list[int], run: int) -> dict[object, int]:
    """Where each run of ``run`` lines starts that occurs once only."""
    keys = zip(*(ids[skip:] for skip in range(run)), strict=False)
    places: dict[object, int] = {}
    repeated: set[object] = set()
    for place, key in enumerate(keys):
        if key in places:
            repeated.add(key)
        places[key] = place
    for key in repeated:
        del places[key]
    return places


def _anchors(old: list[int], new: list[int], run: int) -> list[tuple[int, int]]:
    """The longest ascending series of places whose runs occur once in each (patience)."""
    in_new = _places(new, run)
    pairs = [(at, in_new[key]) for key, at in _places(old, run).items() if key in in_new]
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
