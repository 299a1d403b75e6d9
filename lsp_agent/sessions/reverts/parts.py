"""What a revert goes by: what of changes is in a file, and its text without them. Pure."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from operator import itemgetter

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.diff import diff
from lsp_agent.text.known_order import in_known_order
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.presence import Clash, Step, is_in, put_back_by, taken_out, with_only
from lsp_agent.text.presence import without as text_without
from lsp_agent.workspace.ledger.change import Change

_PREFIX = "r-"
_IN: frozenset[str] = frozenset({"applied", "kept", "superseded", "unknown"})
_NEVER_IN: frozenset[str] = frozenset({"rejected", "conflict", "pending"})


@dataclass(frozen=True, slots=True)
class Part:
    """What of a change is in, with the places of its hunks in the change's diff; or one that is
    ``gone``: an earlier revert took it out, or found it to be out."""

    change_id: str
    time: float
    step: Step
    hunks: tuple[int, ...]
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Left:
    """What ``now`` is without the changes, or where it is not known."""

    now: Text | None
    text: Text | None
    clash: Clash | None = None


class ChangedSince(LspAgentError):
    """``lines`` (0-based) begin the places that were changed since; none where the file is gone."""

    def __init__(self, path: str, lines: Sequence[int]) -> None:
        if not lines:
            super().__init__(f"{path}: the file is gone; bring it back, then revert again")
            return
        where = f"line {lines[0] + 1} was"
        if more := len(lines) - 1:
            places = "place" if more == 1 else "places"
            where = f"line {lines[0] + 1} and {more} more {places} were"
        super().__init__(f"{path}: {where} changed since; undo the rest hunk by hunk")


class TypedIn(LspAgentError):
    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: it is long, and typed in all the time; revert again in a moment")


def new_revert_id() -> str:
    return f"{_PREFIX}{uuid.uuid4().hex[:12]}"


def is_revert(turn_id: str | None) -> bool:
    return turn_id is not None and turn_id.startswith(_PREFIX)


def meant(
    changes: Sequence[Change], turns: Sequence[str | None], *, only: bool = False
) -> list[Change]:
    """The changes of the turns that are taken back: from the first of ``turns`` that has any, or
    ``only`` its own."""
    if is_revert(turns[0]):
        return [change for change in changes if change.turn_id == turns[0]]
    made = [change for change in changes if not is_revert(change.turn_id)]
    if turns[0] is None:
        made = [change for change in made if _any_in(change)]
        turns = [change.turn_id for change in made[-1:]]
    places = [place for place, change in enumerate(made) if change.turn_id in turns]
    if not places:
        return []
    return [made[place] for place in places] if only else made[places[0] :]


def _any_in(change: Change) -> bool:
    if change.status in _NEVER_IN:
        return False
    return change.status in _IN or not _IN.isdisjoint(change.decided.values())


def without(parts: Sequence[Part], now: Text | None, earlier: Sequence[Text]) -> Left:
    """``parts`` are the newest first; what comes back is in the order of the ``earlier`` texts."""
    steps = [part.step for part in parts]
    gone = [place for place, part in enumerate(parts) if part.gone]
    try:
        left = taken_out(steps, now, gone)
    except Clash as clash:
        return Left(now, None, clash)
    if left is not None and now is not None:
        left = in_known_order(left, now, earlier)
    return Left(now, left)


def befores(changes: Sequence[Change], gone: Sequence[Part]) -> list[Text]:
    """The texts before them, oldest first."""
    texts = [(change.time, change.before) for change in changes]
    texts += [(part.time, part.step[0]) for part in gone]
    return [text for _, text in sorted(texts, key=itemgetter(0)) if text is not None]


def was_proposal(change: Change) -> bool:
    """Whether it waited as a proposal until a later one took its place: of what was in a text and
    was taken over, the hunks are known."""
    return change.status == "superseded" and not change.decided


def parts_in(changes: Sequence[Change]) -> list[Part]:
    return [part for change in changes if (part := _part_in(change)) is not None]


def parts_given_up(
    changes: Sequence[Change], unsaved: Collection[str], now: Text | None
) -> list[Part]:
    """Those of ``changes``, oldest first, that are ``unsaved`` and went when their document was
    closed: the file, which is ``now`` with what came later, is without them. What they took out is
    not to be put back, since of that, what had not been saved either went with it. One that only
    put back what another one had taken out seems to be in, as it was before both."""
    out: list[Change] = []
    at_first = next((change.before for change in changes if change.id in unsaved), None)
    for change in reversed(changes) if unsaved else ():
        step = change.before, change.after
        if change.id in unsaved and (not is_in(step, now) or is_in(step, at_first)):
            out.append(change)
        elif _any_in(change):
            now = text_without(step, now)
    return parts_in(out)


def is_rejected(change: Change) -> bool:
    """Whether hunks of it were taken out of the file, or all of it was."""
    return change.status == "rejected" or "rejected" in change.decided.values()


def gone_part(change: Change) -> Part:
    """What was taken out of a change that ``is_rejected``."""
    step = change.before, change.after
    if change.status != "rejected":
        out = [index for index, status in change.decided.items() if status == "rejected"]
        step = with_only(step, out)
    return Part(change.id, change.time, step, (), gone=True)


def parts_under(gone: Sequence[Part], parts: Sequence[Part]) -> list[Part]:
    """Those of ``gone`` that were in when one of ``parts`` was made."""
    return [
        each
        for each in gone
        if any(each.time < part.time and is_in(each.step, part.step[0]) for part in parts)
    ]


def parts_put_back(older: Sequence[Part], gone: Sequence[Part]) -> list[Part]:
    """Those of ``older``, oldest first, that are not ``gone`` themselves and of which a later one
    that is put something back, with nothing between the two: what that put back goes with it,
    unless they go as one."""
    found = list(gone)
    for part in reversed(older):
        later = (each.step for each in found if each.step[0] == part.step[1])
        if part not in found and any(put_back_by(step, part.step) for step in later):
            found.append(part)
    return found[len(gone) :]


def _part_in(change: Change) -> Part | None:
    """What of a change is in the file, as the ledger has it."""
    if not _any_in(change):
        return None
    step = change.before, change.after
    hunks = range(len(diff((step[0] or EMPTY).lines, (step[1] or EMPTY).lines)))
    inside = [index for index in hunks if change.decided.get(index, change.status) in _IN]
    if not inside and change.decided:
        return None
    return Part(change.id, change.time, with_only(step, inside), tuple(inside))
