"""The code actions on what there is to review in a file: which, with what titles. Pure."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from lsprotocol import types

from lsp_agent.protocol.edits import Edit
from lsp_agent.server.client.titles import shortened
from lsp_agent.server.review.open_review import FileReview, OpenHunk, lost_hunks, open_hunks

NEXT = "Next change of the agent's"
#: Of many edits those nearest to the cursor; the others are found by "Next change".
_NEAREST = 5
#: The latest turns, and the latest edits that did not get in.
_LATEST = 3


class ReviewAction(NamedTuple):
    title: str
    command: str
    argument: dict[str, Any]


def review_actions(
    review: FileReview,
    uri: str,
    range_: types.Range,
    prompt_of: Callable[[str], str | None],
) -> Iterator[ReviewAction]:
    """For the hunks under ``range_``, or the nearest edits where there is none; then for the
    file, its turns, the next change; last what did not get in. ``prompt_of`` says how a turn's
    prompt began, None where nobody knows."""
    under = [each for each in review.hunks if _is_under(each, range_)]
    if under:
        for each in under:
            yield from _on_hunk(each)
    else:
        for edit in _nearest(review.edits, range_.start.line):
            yield from _on_edit(edit)
    if review.edits:
        yield from _on_file(review, uri)
        yield from _on_turns(review.edits, prompt_of)
    if review.hunks:
        start = {"line": range_.start.line, "character": range_.start.character}
        argument = {"uri": uri, "position": start}
        yield _command(NEXT, "nextChange", argument)
        yield from _previews(review, under)
    for edit in review.stranded[-_LATEST:]:
        yield from _on_stranded(edit)


def _on_hunk(each: OpenHunk) -> Iterator[ReviewAction]:
    argument = {"editId": each.edit.edit_id, "hunks": [each.hunk.hunk_id]}
    yield from _decisions(f" (line {each.line + 1})", argument, proposed=each.proposed)


def _on_edit(edit: Edit) -> Iterator[ReviewAction]:
    proposed = edit.status == "proposed"
    yield from _decisions(_place(edit), {"editId": edit.edit_id}, proposed=proposed)


def _decisions(place: str, argument: dict[str, Any], *, proposed: bool) -> Iterator[ReviewAction]:
    if proposed:
        yield _command(f"Apply the agent's proposal{place}", "applyEdit", argument)
        yield _command(f"Reject the agent's proposal{place}", "rejectEdit", argument)
    else:
        yield _command(f"Keep the agent's change{place}", "keepEdit", argument)
        yield _command(f"Undo the agent's change{place}", "rejectEdit", argument)


def _on_file(review: FileReview, uri: str) -> Iterator[ReviewAction]:
    proposals = any(edit.status == "proposed" for edit in review.edits)
    argument = {"uri": uri}
    changes = any(edit.status == "applied" for edit in review.edits)
    if changes:
        yield _command("Keep all changes of the agent in this file", "keepAll", argument)
    if proposals:
        yield _command("Apply all proposals of the agent in this file", "applyAll", argument)
    if changes:
        what = "changes and proposals" if proposals else "changes"
        yield _command(f"Undo all {what} of the agent in this file", "undoAll", argument)
    else:
        yield _command("Reject all proposals of the agent in this file", "undoAll", argument)


def _on_turns(
    edits: Iterable[Edit], prompt_of: Callable[[str], str | None]
) -> Iterator[ReviewAction]:
    turns = {edit.turn_id: edit.session_id for edit in edits if edit.turn_id is not None}
    for turn_id, session_id in list(reversed(turns.items()))[:_LATEST]:
        prompt = shortened(prompt_of(turn_id) or "")
        title = (
            f"Undo the agent's turn: {prompt}" if prompt else "Undo an earlier turn of the agent's"
        )
        yield _command(title, "undoAll", {"sessionId": session_id, "turnId": turn_id})


def _previews(review: FileReview, under: Sequence[OpenHunk]) -> Iterator[ReviewAction]:
    """Whole edits: a proposal is looked at before its hunks are."""
    proposals = [each.edit for each in under if each.proposed]
    proposals = proposals or [edit for edit in review.edits if edit.status == "proposed"]
    for edit in {edit.edit_id: edit for edit in proposals[:_NEAREST]}.values():
        argument = {"editId": edit.edit_id}
        yield _command(f"Preview the agent's proposal{_place(edit)}", "previewEdit", argument)


def _on_stranded(edit: Edit) -> Iterator[ReviewAction]:
    kind = "conflicting" if edit.status == "conflict" else "lost"
    lost = lost_hunks(edit)
    hunks = lost or edit.hunks
    place = f" (line {hunks[0].range.start.line + 1})" if hunks else ""
    argument: dict[str, Any] = {"editId": edit.edit_id}
    if lost:
        argument["hunks"] = [hunk.hunk_id for hunk in lost]
    yield _command(f"Apply the agent's {kind} change{place}", "applyEdit", argument)
    yield _command(f"Drop the agent's {kind} change{place}", "rejectEdit", argument)


def _place(edit: Edit) -> str:
    """Where the open hunks of an edit are; "" for one that has none, as an empty file's."""
    hunks = open_hunks([edit])
    if not hunks:
        return ""
    line = hunks[0].line + 1
    return f" (line {line})" if len(hunks) == 1 else f" ({len(hunks)} hunks from line {line})"


def _nearest(edits: Sequence[Edit], line: int) -> list[Edit]:
    """In their order of age."""

    def distance(edit: Edit) -> int:
        return min((abs(each.line - line) for each in open_hunks([edit])), default=0)

    if len(edits) <= _NEAREST:
        return list(edits)
    nearest = {edit.edit_id for edit in sorted(edits, key=distance)[:_NEAREST]}
    return [edit for edit in edits if edit.edit_id in nearest]


def _is_under(each: OpenHunk, range_: types.Range) -> bool:
    """Whether the range touches a line of the hunk; one that only took lines away is touched in
    the lines above and below it."""
    first, last = range_.start.line, range_.end.line
    if last > first and range_.end.character == 0:
        last -= 1
    start = each.line - 1 if each.empty else each.line
    return start <= last and first <= each.last_line


def _command(title: str, name: str, argument: dict[str, Any]) -> ReviewAction:
    return ReviewAction(title, f"lspAgent.{name}", argument)
