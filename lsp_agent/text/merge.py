"""Three-way merge, strict: what could be read in two ways is a conflict.

Both sides' hunks are taken against *base*. Two of them clash when they share a base line, or
when one is an insertion that touches the other; the same change on both sides is agreement;
changes to neighbouring lines both stand (git calls those a conflict).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise

from lsp_agent.text.diff import diff
from lsp_agent.text.lines import Text, append_lines, split_lines
from lsp_agent.text.regions import Clash, Lines, Region, regions_of, touch, touch_inside
from lsp_agent.text.token_diff import token_diff, tokens_of, words_of


@dataclass(frozen=True, slots=True)
class Conflict:
    """Lines that both sides changed, each side's whole; ``start_line`` is the 0-based line of
    the merged text at which *ours* was kept."""

    base: Lines
    ours: Lines
    theirs: Lines
    start_line: int


@dataclass(frozen=True, slots=True)
class Merge:
    """The merged text, *ours* where the two clash."""

    text: Text
    conflicts: tuple[Conflict, ...] = ()

    @property
    def clean(self) -> bool:
        return not self.conflicts


def merge3(base: Text, ours: Text, theirs: Text) -> Merge:
    """Both sides' changes of ``base``, by lines; encoding and BOM are those of ``ours``."""
    return _merged(base, ours, theirs, _no_second_try)


def merge3_fine(base: Text, ours: Text, theirs: Text) -> Merge:
    """``merge3`` that tries the lines that clash once more by tokens, equally strictly."""
    return _merged(base, ours, theirs, _by_tokens)


def merge3_beside(base: Text, ours: Text, theirs: Text) -> Merge:
    """``merge3_fine`` in which what one side puts right before or behind the other's change is no
    clash: for taking a change out, where it cannot matter."""
    return _merged(base, ours, theirs, _by_tokens_beside, touch_inside, _with_put_back_above)


def preferring(base: Text, ours: Text, theirs: Text) -> Text:
    """``merge3_fine`` with *ours* in the tokens that clash, and in these alone."""
    return _merged(base, ours, theirs, _by_preferred_tokens, touch_inside, _with_what_replaced).text


def _merged(
    base: Text,
    ours: Text,
    theirs: Text,
    second_try: Callable[[Region], Lines | None],
    clash: Clash = touch,
    gather: Callable[[list[Region], Lines], list[Region]] | None = None,
) -> Merge:
    if theirs in (ours, base):
        return Merge(ours)
    if ours == base:
        return Merge(ours.with_lines(theirs.lines))
    regions = regions_of(base.lines, ours.lines, theirs.lines, diff, clash)
    regions = (gather or _with_same_put_in)(regions, ours.lines)
    out: list[str] = []
    conflicts: list[Conflict] = []
    done = 0
    for region in regions:
        append_lines(out, ours.lines[done : region.ours_start])
        done = region.ours_end
        outcome = region.outcome
        if outcome is None:
            outcome = second_try(region)
        if outcome is None:
            conflicts.append(Conflict(region.base, region.ours, region.theirs, len(out)))
            outcome = region.ours
        append_lines(out, outcome)
    append_lines(out, ours.lines[done:])
    return Merge(ours.with_lines(tuple(out)), tuple(conflicts))


def _no_second_try(_: Region) -> None:
    return None


def _by_tokens(region: Region) -> Lines | None:
    return _token_wise(region, strict=True)


def _by_tokens_beside(region: Region) -> Lines | None:
    lines = _token_wise(region, strict=True, clash=touch_inside)
    if lines is not None:
        return lines
    sides = (region.ours, region.theirs), (region.theirs, region.ours)
    for longer, same in sides:
        # Both made the same of it, and one put something beside it or between: nothing that was
        # there before.
        if same and _only_puts_in(same, longer):
            beside = words(longer) - words(same)
            return None if beside & words(region.base) else longer
    for puts_in, other in sides:
        if _only_puts_in(region.base, puts_in) and not _only_puts_in(region.base, other):
            return _put_between(region.base, puts_in, other)
    return None


def _only_puts_in(before: Lines, after: Lines) -> bool:
    return all(hunk.old_start == hunk.old_end for hunk in diff(before, after))


def _put_between(base: Lines, puts_in: Lines, other: Lines) -> Lines | None:
    """``other`` with the lines that were put into ``base``, each at the place that is most like its
    own; None where they may have been put into both."""
    put: list[str] = []
    lines: list[str] = []
    at = 0
    for hunk in diff(base, puts_in):
        place = max(at, _place_like(base, hunk.old_start, other))
        new = puts_in[hunk.new_start : hunk.new_end]
        append_lines(lines, other[at:place])
        append_lines(lines, new)
        put += new
        at = place
    append_lines(lines, other[at:])
    twice = words(tuple(put)) & (words(other) - words(base))
    return None if twice else tuple(lines)


def _place_like(base: Lines, at: int, other: Lines) -> int:
    """The place in ``other`` that is most like ``at`` in ``base``, by the words above and below it;
    where these do not tell, the nearest."""
    above, below = words(base[:at]), words(base[at:])
    likeness = [0]
    for line in other:
        here = words((line,))
        likeness.append(likeness[-1] + (here & above).total() - (here & below).total())
    return max(range(len(likeness)), key=lambda place: (likeness[place], -abs(place - at)))


def _by_preferred_tokens(region: Region) -> Lines | None:
    return _token_wise(region, strict=False, clash=touch_inside)


def _with_same_put_in(regions: list[Region], _: Lines) -> list[Region]:
    """``regions`` in which neighbours are one where the sides, each in its own, put in the same
    line, which would be there twice: one of more than a word, perhaps with more in it, or any at
    the same place."""
    found = regions[:1]
    for below in regions[1:]:
        above = found[-1]
        if above.ours_end == below.ours_start and _put_in_the_same(above, below):
            found[-1] = above.joined((), below)
        else:
            found.append(below)
    return found


def _with_put_back_above(regions: list[Region], ours: Lines) -> list[Region]:
    """``_with_same_put_in`` in which what *theirs* put in behind a line stands above what *ours*
    put in there, where *ours* changed the line as well: it was there first."""
    found: list[Region] = []
    for below in _with_same_put_in(regions, ours):
        above = found[-1] if found else None
        only_theirs = not below.base and not below.ours
        meets = above is not None and above.ours_end == below.ours_start
        tail = _put_in_behind(above) if above is not None and meets and only_theirs else ()
        if above is None or not tail:
            found.append(below)
            continue
        at = above.ours_end - len(tail)
        rest = above.ours[: -len(tail)]
        found[-1] = Region(above.base, rest, above.theirs, above.ours_start, at)
        found.append(Region((), tail, (*below.theirs, *tail), at, above.ours_end))
    return found


def _put_in_behind(region: Region) -> Lines:
    """The lines that *ours* alone put in behind the last of *base*: no word of it is in them, but
    above them there is one."""
    more = len(region.ours) - len(region.base)
    known = words(region.base)
    if more <= 0 or region.theirs != region.base or not known & words(region.ours):
        return ()
    last = reversed(region.ours[-more:])
    size = next((size for size, line in enumerate(last) if words((line,)) & known), more)
    return region.ours[len(region.ours) - size :]


def _put_in_the_same(above: Region, below: Region) -> bool:
    if _has_within(_put_in(above), _put_in(below)) or _has_within(_put_in(below), _put_in(above)):
        return True
    same = _put_in(above) & _put_in(below)
    if not same:
        return False
    return _meet(above.ours, below.theirs, same) or _meet(above.theirs, below.ours, same)


def _has_within(lines: Collection[str], others: Collection[str]) -> list[str]:
    """Those of ``others`` of more than a word all of which one of ``lines`` has as well."""
    by_word: defaultdict[str, list[Counter[str]]] = defaultdict(list)
    for line in lines:
        for word in (here := words((line,))):
            by_word[word].append(here)
    found: list[str] = []
    for other in others:
        here = words((other,))
        if here.total() > 1:
            seldom = min((by_word.get(word, []) for word in here), key=len)
            found += [other] if any(here <= each for each in seldom) else []
    return found


def _meet(above: Lines, below: Lines, same: Collection[str]) -> bool:
    """Whether one ends with what the other begins with, in lines that are the ``same``."""
    ends = (above[-size:] for size in range(1, min(len(above), len(below)) + 1))
    return any(end == below[: len(end)] and words(end) and {*end} <= {*same} for end in ends)


def _put_in(region: Region) -> Counter[str]:
    return (Counter(region.ours) | Counter(region.theirs)) - Counter(region.base)


def _with_what_replaced(regions: list[Region], ours: Lines) -> list[Region]:
    """``regions`` in which what *theirs* took out, where that clashes, and what *theirs* put in
    close by in its place are one. A line that is alike by chance, a blank one mostly, parts the
    two in a diff, and what *ours* has of them would then stand beside what *theirs* has."""
    found = regions[:1]
    for below in regions[1:]:
        above = found[-1]
        between = ours[above.ours_end : below.ours_start]
        if _replaced(above, below, between) or _replaced(below, above, between):
            found[-1] = above.joined(between, below)
        else:
            found.append(below)
    return found


def _replaced(out: Region, put: Region, between: Lines) -> bool:
    """Whether *theirs* took out lines in ``out``, which clashes, and has most of their words in
    lines that it put in in ``put``. No more lines lie ``between`` than were taken out: more of
    them would be matched again, word by word, as the lines were."""
    taken_out = len(out.base) - len(out.theirs)
    if taken_out <= 0 or len(put.theirs) <= len(put.base) or len(between) > taken_out:
        return False
    gone = words(out.base)
    shared = (gone & words(put.theirs)).total()
    return 2 * shared >= max(gone.total(), 1) and out.outcome is None and _by_tokens(out) is None


def words(lines: Lines) -> Counter[str]:
    """How often each word is in the lines."""
    return Counter(words_of(lines))


def _token_wise(region: Region, *, strict: bool, clash: Clash = touch) -> Lines | None:
    base, ours, theirs = map(tokens_of, (region.base, region.ours, region.theirs))
    out: list[str] = []
    done = 0
    for part in regions_of(base, ours, theirs, token_diff, clash):
        outcome = part.outcome
        if outcome is None:
            if strict:
                return None
            outcome = part.ours
        out += ours[done : part.ours_start]
        out += outcome
        done = part.ours_end
    out += ours[done:]
    merged = tuple(split_lines("".join(out)))
    return None if strict and _is_doubled(region, merged) else merged


def _is_doubled(region: Region, merged: Lines) -> bool:
    """Whether half of what one side put in the other did as well, or a line of more than a word,
    perhaps with more in it, or one of a word twice in a row, and it is there twice: where tokens
    are alike, the same change can seem to be one in another place."""
    once = (Counter(region.ours) & Counter(region.theirs)) - Counter(region.base)
    there = Counter(merged) - (Counter(region.ours) | Counter(region.theirs))
    in_a_row = {line for line, below in pairwise(merged) if line == below}
    if any(len(words_of((line,))) > (line not in in_a_row) for line in once & there):
        return True
    base = words(region.base)
    ours, theirs = words(region.ours) - base, words(region.theirs) - base
    both = ours & theirs
    twice = both & ((words(merged) - base) - (ours | theirs))
    of_ours, of_theirs = set(region.ours) - {*region.base}, set(region.theirs) - {*region.base}
    within = _has_within(of_ours, of_theirs) + _has_within(of_theirs, of_ours)
    if any(words((line,)) <= twice for line in within):
        return True
    return 0 < min(ours.total(), theirs.total()) <= 2 * twice.total()
