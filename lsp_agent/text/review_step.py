"""One step of a review: what becomes of its base and its hunks when its text is changed.

Pure. Lines are 0-based, ranges half-open.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from lsp_agent.text.diff import Hunk, by_line, diff
from lsp_agent.text.lines import Text
from lsp_agent.text.merge import merge3_beside, merge3_fine, words
from lsp_agent.text.review_base import BaseBuilder
from lsp_agent.text.review_groups import Group, groups
from lsp_agent.text.review_hunks import (
    MAX_REPLACED,
    ReviewHunk,
    Turned,
    agents_lines,
    taken_over,
)
from lsp_agent.text.reviewed import Reviewed
from lsp_agent.text.traces import Key, Lines, Taken, Trace, followed

_R = TypeVar("_R", bound=Reviewed)


def stepped(
    review: _R,
    after: Text,
    steps: Sequence[Hunk],
    owners: Sequence[Key] | None,
    *,
    by_agent: bool = False,
    taken: Sequence[Taken] = (),
) -> tuple[_R, list[Turned]]:
    """``review`` once ``steps`` have made ``after`` of its text; ``owners`` name them if they are
    to be reviewed, else only what is in a hunk is. ``taken`` is what they take out elsewhere."""
    # A hunk that is taken out may be of several lines; what a person types is each line's own.
    named: list[tuple[Hunk, Key | None]] = (
        [(step, None) for step in (steps if taken else by_line(steps))]
        if owners is None
        else list(zip(steps, owners, strict=True))
    )
    base = BaseBuilder()
    hunks: list[ReviewHunk] = []
    gone: list[Turned] = []
    traces: list[Trace] = []
    copied = 0  # of the old base, in lines
    to_base = to_after = to_new_base = 0  # shifts that hold between the groups
    for group in groups(review.base, review.text, review.hunks, after, named, taken):
        base_start = group.start + to_base
        if group.live:
            to_base = group.live[-1].base_end - group.live[-1].end
        base_end = group.end + to_base
        start = group.start + to_after
        if group.steps:
            to_after = group.steps[-1][0].new_end - group.steps[-1][0].old_end
        end = group.end + to_after
        base.add(review.base.lines[copied:base_start])
        copied = base_end
        if not group.live and owners is None:
            base.add(after.lines[start:end])
            to_new_base += end - start - (base_end - base_start)
            was, new = review.text.lines[group.start : group.end], after.lines[start:end]
            traces += _traces_of_taken(taken, start, was, new)
            continue
        old, new = review.base.lines[base_start:base_end], after.lines[start:end]
        left = _left(review, group, new if by_agent else None)
        replaced = tuple(line for hunk in group.live for line in hunk.replaced)
        if owners is not None and (persons := _with_typed(review, group)) is not None:
            old, left = persons, (None, False)
        elif owners is not None and any(hunk.touched for hunk in group.live):
            replaced += _taken_out(review, group, {*old, *new, *replaced})
        base.add(old)
        owner = _owner(group)
        new_base_start = base_start + to_new_base
        to_new_base += len(old) - (base_end - base_start)
        hunk = ReviewHunk(
            *owner,
            new_base_start,
            new_base_start + len(old),
            start,
            end,
            *left,
            taken_over(group.live, owner),
            replaced[-MAX_REPLACED:],
            next((each.by for each in group.live if each.key == owner), None),
        )
        alike = old == new
        if not alike:
            hunks.append(hunk)
        settled = by_agent and owners is None and group.steps
        went = alike or settled or any(h.key != owner for h in group.live[:1])
        if settled:
            traces += _traces_of_kept(review, group, start, new, taken)
        if group.live and went:
            # Where it was brought back and goes again, it is as it was before.
            by = (owner if by_agent else group.live[0].by) if alike and not settled else None
            traces.append(replace(_group_trace(review, group, (start, end), new, taken), by=by))
        gone += _gone(
            group, None if alike else owner, undone=alike and owners is None, by_agent=by_agent
        )
    base.add(review.base.lines[copied:])
    made, found = base.with_hunks(review.base, after, hunks)
    known = followed(review.traces, list(steps), traces)
    return replace(review, base=made, text=after, hunks=found, traces=known), gone


def _owner(group: Group) -> Key:
    """An agent's change takes hunks over; what a person types joins the first of them."""
    for _, key in group.steps:
        if key is not None:
            return key
    return group.live[0].key


def _gone(group: Group, owner: Key | None, *, undone: bool, by_agent: bool) -> Iterator[Turned]:
    """What of a group is no longer open: where a person undoes what had come back, what had taken
    that out is in again."""
    keys = [hunk.key for hunk in group.live]
    keys += [key for _, key in group.steps if key is not None]
    again = {hunk.key: hunk.by for hunk in group.live if undone and not by_agent and hunk.by}
    for key in dict.fromkeys(keys):
        if key != owner:
            yield Turned(key, "rejected" if undone and key not in again else "superseded")
    for by in dict.fromkeys(again.values()):
        yield Turned(by, "superseded")


def _left(review: Reviewed, group: Group, edited: Lines | None) -> tuple[Lines | None, bool]:
    """What the agents have left in a group that a person changes, or has before, and whether it
    is mixed; ``edited`` is what an agent's step makes of the group."""
    touched = any(hunk.touched for hunk in group.live)
    if not group.live or not (touched or (group.steps and edited is None)):
        return None, False
    if not group.steps:
        return group.live[0].left, group.live[0].mixed
    left = agents_lines(review.text, group.start, group.end, group.live)
    mixed = any(hunk.mixed for hunk in group.live)
    if edited is None:
        return left, mixed
    before = review.text.lines[group.start : group.end]
    merge = merge3_fine(Text(before), Text(left), Text(edited))
    return merge.text.lines, mixed or not merge.clean


def _taken_out(review: Reviewed, group: Group, known: Collection[str]) -> Lines:
    """The lines that a person had changed, but for those that are ``known``."""
    touched = (hunk for hunk in group.live if hunk.touched)
    return tuple(line for h in touched for line in review.lines_of(h) if line not in known)


def _group_trace(
    review: Reviewed, group: Group, place: tuple[int, int], stand: Lines, taken: Sequence[Taken]
) -> Trace:
    """Of a group in whose place ``stand`` is now, as if all of it were its first hunk."""
    first = replace(
        group.live[0],
        over=taken_over(group.live, group.live[0].key),
        left=agents_lines(review.text, group.start, group.end, group.live)
        if any(h.touched for h in group.live)
        else None,
        mixed=any(h.mixed for h in group.live),
    )
    was = review.text.lines[group.start : group.end]
    if was == stand:  # the person had taken it out already, and may undo that
        above, last = group.live[0], group.live[-1]
        base_start = above.base_start - (above.start - group.start)
        base_end = last.base_end + group.end - last.end
        was = with_agents(review.base.lines[base_start:base_end], stand, first) or was
    went = [hunk.key for hunk in group.live[1:]]
    went += [each.key for each in taken if each.key in first.over or each.is_out(was, stand)]
    beside = tuple(key for key in dict.fromkeys(went) if key != first.key)
    return replace(trace_of(first, *place, was, stand), beside=beside)


def _traces_of_taken(taken: Sequence[Taken], start: int, was: Lines, new: Lines) -> Iterator[Trace]:
    """Of what was kept where ``was`` has become ``new``, from line ``start`` on."""
    out: list[Taken] = []
    for each in taken:
        # What took out again what an earlier one had put in leaves no other sign.
        took = any(each.took(one) for one in out)
        if took or each.is_out(was, new):
            out.insert(0, each)
    if len(out) == 1 and (narrow := _narrow_trace(out[0], start, was, new)) is not None:
        yield narrow
    elif out:
        others = tuple(each.key for each in out[1:])
        left = None if others else _left_of(out[0], was, new)
        yield Trace(out[0].key, others, start, start + len(new), was, new, left, beside=others)


def _left_of(taken: Taken, was: Lines, new: Lines) -> Lines | None:
    """What the agent had left where ``was`` has become ``new``, if a person has changed that and
    it can be told: where that was not saved, the disk has it still."""
    merge = merge3_beside(Text(new), Text(was), Text(taken.old))
    is_told = merge.clean and merge.text.lines == taken.new != was
    return taken.new if is_told else None


def _traces_of_kept(
    review: Reviewed, group: Group, start: int, new: Lines, taken: Sequence[Taken]
) -> Iterator[Trace]:
    """Of what was kept and lay beside open hunks, whose own traces do not tell of it."""
    was = review.text.lines[group.start : group.end]
    for each in taken if group.live else ():
        if not any(each.key in (hunk.key, *hunk.over) for hunk in group.live):
            narrow = _narrow_trace(each, start, was, new)
            if narrow is not None:
                yield narrow


def _narrow_trace(taken: Taken, start: int, was: Lines, new: Lines) -> Trace | None:
    """Of its own lines alone, where more was changed beside them."""
    if not taken.is_out(was, new) or (at := taken.place(was, new)) is None:
        return None
    start += at
    return Trace(taken.key, (), start, start + len(taken.old), taken.new, taken.old)


def _with_typed(review: Reviewed, group: Group) -> Lines | None:
    """The base's lines of a group that an agent changes, with what a person typed in its hunks, so
    that undoing the agent's change brings that back. None where nothing was typed, or it cannot
    be told from the agents': line ends above all, and what the base has already."""
    if not any(hunk.touched for hunk in group.live):
        return None
    lines: list[str] = []
    at = group.start
    for hunk in group.live:
        told = _can_be_told(review, hunk)
        without = review.without_hunk(hunk, beside=True) if told else None
        if without is None:
            return None
        lines += review.text.lines[at : hunk.start]
        lines += without
        at = hunk.end
    return (*lines, *review.text.lines[at : group.end])


def _can_be_told(review: Reviewed, hunk: ReviewHunk) -> bool:
    """Whether what a person typed in a hunk is no line end inside of a line, of which nobody knows
    whose it is, and nothing that the base has already or that agents had put there."""
    if hunk.left is None:
        return True
    left, now, base = hunk.left, review.lines_of(hunk), review.base_lines_of(hunk)
    sizes = [(h.old_end - h.old_start, h.new_end - h.new_start) for h in diff(left, now)]
    if any(old != new and old and new for old, new in sizes):
        return False
    theirs = words(tuple(line for t in review.traces if t.key in hunk.over for line in t.lines))
    return not (words(now) - words(left)) & (words(base) - words(left) | theirs)


def with_agents(base: Lines, stand: Lines, hunk: ReviewHunk) -> Lines | None:
    """What the agents had left in a hunk, with what a person typed beside it that stands there:
    where the person has taken all of theirs out, it comes back so by the editor's undo. None where
    that cannot be told."""
    if hunk.left is None or hunk.mixed:
        return None
    merge = merge3_fine(Text(base), Text(stand), Text(hunk.left))
    return merge.text.lines if merge.clean else None


def trace_of(hunk: ReviewHunk, start: int, end: int, lines: Lines, stood: Lines) -> Trace:
    return Trace(hunk.key, hunk.over, start, end, lines, stood, hunk.left, hunk.mixed)
