"""The hunks of the ledger's changes, as a review decides on them: which are still open, which went
with a decision on others, and what a change is once all are decided."""

from collections.abc import Collection, Iterable, Iterator

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.text.diff import diff
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.live_hunks import Accepted, with_hunks
from lsp_agent.text.merge import words
from lsp_agent.text.review import Review
from lsp_agent.text.traces import Key, Lines, Taken
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.ledger import Ledger


def open_indexes(change: Change) -> list[int]:
    """The hunks of a change that are not in and may still be put in: those that were lost, and
    where it is not in also those that nobody has decided on. Its texts must be at hand."""
    hunks = diff((change.before or EMPTY).lines, (change.after or EMPTY).lines)
    undecided = "applied" if change.status in ("applied", "kept") else "lost"
    return [i for i in range(len(hunks)) if change.decided.get(i, undecided) == "lost"]


def accepted(change: Change, indexes: Collection[int]) -> Accepted:
    """These hunks of it, ascending."""
    return Accepted(change.before or EMPTY, change.after or EMPTY, tuple(sorted(indexes)))


def written_by_others(change: Change, before: Text, now: Text) -> Text | None:
    """``before`` with what is not of the change in ``now``. None where its hunks cannot be told
    there: they are others, and not as many."""
    own = [(old, new) for _, old, new in hunk_lines(change)]
    steps = diff(before.lines, now.lines)
    others: list[int] = []
    for index, hunk in enumerate(steps):
        old = before.lines[hunk.old_start : hunk.old_end]
        new = now.lines[hunk.new_start : hunk.new_end]
        if own and own[0] == (old, new):
            del own[0]
        else:
            others.append(index)
    if not own:
        return with_hunks(before, now, others, steps)
    return before if len(own) == len(others) else None


def hunk_lines(
    change: Change, indexes: Collection[int] | None = None
) -> Iterator[tuple[int, Lines, Lines]]:
    """Of these of its hunks, or all, the lines before and after."""
    before, after = (change.before or EMPTY).lines, (change.after or EMPTY).lines
    for index, hunk in enumerate(diff(before, after)):
        if indexes is None or index in indexes:
            yield (
                index,
                before[hunk.old_start : hunk.old_end],
                after[hunk.new_start : hunk.new_end],
            )


def summary(statuses: Iterable[EditStatus]) -> EditStatus:
    """What a change is as a whole once all its hunks are decided: out only if all of them are."""
    found = set(statuses)
    for status in ("lost", "kept", "superseded"):
        if status in found:
            return status
    return "rejected"


def kept_with(ledger: Ledger, review: Review, keys: Collection[Key]) -> list[Key]:
    """The hunks that those took over, also others of the same changes (what goes in beside each
    other in a hunk is one, by the name of the first), and of which something is in their lines
    still."""
    elsewhere = _taken_over_by_others(review, keys)
    found: list[Key] = []
    for hunk in [hunk for hunk in review.hunks if hunk.key in keys]:
        here = words(review.lines_of(hunk))
        for change_id in dict.fromkeys((hunk.change_id, *(over for over, _ in hunk.over))):
            change = ledger.get(change_id)
            if change is None or change.cold:
                continue
            others = elsewhere.difference(hunk.over)
            over = [index for index in superseded(change) if (change_id, index) not in others]
            for index, old, new in hunk_lines(change, over) if over else ():
                if (words(new) - words(old)) & here:
                    found.append((change_id, index))
    return found


def out_with(ledger: Ledger, review: Review, keys: Collection[Key]) -> list[Key]:
    """The hunks that those took over, and that are out of a text with them."""
    elsewhere = _taken_over_by_others(review, keys)
    over = dict.fromkeys(over for hunk in review.hunks if hunk.key in keys for over in hunk.over)
    return [key for key in over if key not in elsewhere and _is_superseded(ledger, *key)]


def _taken_over_by_others(review: Review, keys: Collection[Key]) -> set[Key]:
    """What is decided with other hunks than those."""
    return {over for hunk in review.hunks if hunk.key not in keys for over in hunk.over}


def superseded(change: Change) -> list[int]:
    """Its hunks that others have taken over."""
    return [index for index, status in change.decided.items() if status == "superseded"]


def taken_by(ledger: Ledger, revert: Change) -> list[Taken]:
    """The hunks that it takes out, oldest first, but for those whose texts are not at hand. Of a
    revert that had put in again what another one took out, it is that."""
    changes = [ledger.get(change_id) for change_id in revert.takes_out]
    for change in changes:
        for undone in map(ledger.get, change.takes_out if change else ()):
            if undone is not None and undone.takes_out:
                return taken_by(ledger, undone)
    at_hand = [change for change in changes if change is not None and not change.cold]
    return [
        Taken((change.id, index), old, new)
        for change in sorted(at_hand, key=lambda change: change.time)
        for index, old, new in hunk_lines(change, revert.takes_out[change.id])
    ]


def superseded_by(ledger: Ledger, change: Change, review: Review) -> list[Key]:
    """The hunks that those of a change took over, and that nobody has decided on."""
    taken_over = (h.over for h in review.hunks if h.change_id == change.id)
    return [key for keys in taken_over for key in keys if _is_superseded(ledger, *key)]


def _is_superseded(ledger: Ledger, change_id: str, index: int) -> bool:
    change = ledger.get(change_id)
    return change is not None and change.decided.get(index) == "superseded"
