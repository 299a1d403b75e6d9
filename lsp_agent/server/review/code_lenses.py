"""Code lenses on what there is to review, for editors that draw them."""

from collections.abc import Iterable, Iterator
from typing import Any

from lsprotocol import types

from lsp_agent.server.review.open_review import FileReview, OpenHunk

Json = dict[str, Any]


def review_lenses(uri: str, review: FileReview) -> list[types.CodeLens]:
    """For the whole file in its first line if it has several hunks, then above each hunk."""
    lenses = list(_for_all(uri, review)) if len(review.hunks) > 1 else []
    for each in review.hunks:
        lenses += _for_hunk(each)
    return lenses


def _for_all(uri: str, review: FileReview) -> Iterator[types.CodeLens]:
    proposed = sum(each.proposed for each in review.hunks)
    changed = len(review.hunks) - proposed
    if changed:
        yield lens(0, f"Keep all {changed}", "lspAgent.keepAll", {"uri": uri})
    if proposed:
        yield lens(0, f"Apply all {proposed}", "lspAgent.applyAll", {"uri": uri})
    reject = "Undo all" if changed else f"Reject all {proposed}"
    yield lens(0, reject, "lspAgent.undoAll", {"uri": uri})


def _for_hunk(each: OpenHunk) -> Iterator[types.CodeLens]:
    argument = {"editId": each.edit.edit_id, "hunks": [each.hunk.hunk_id]}
    if each.proposed:
        yield lens(each.line, "Apply", "lspAgent.applyEdit", argument)
        yield lens(each.line, "Reject", "lspAgent.rejectEdit", argument)
        yield lens(each.line, "Preview", "lspAgent.previewEdit", argument)
    else:
        yield lens(each.line, "Keep", "lspAgent.keepEdit", argument)
        yield lens(each.line, "Undo", "lspAgent.rejectEdit", argument)


def lens(line: int, title: str, command: str, argument: Json) -> types.CodeLens:
    place = types.Position(line=line, character=0)
    return types.CodeLens(
        range=types.Range(start=place, end=place),
        command=types.Command(title=title, command=command, arguments=[argument]),
    )


def told_apart(lenses: Iterable[types.CodeLens]) -> list[types.CodeLens]:
    """Titles that a line has already get a number: hunks may start at one line."""
    seen: dict[tuple[int, str], int] = {}
    told: list[types.CodeLens] = []
    for lens in lenses:
        assert lens.command is not None
        key = lens.range.start.line, lens.command.title
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            lens.command.title += f" ({seen[key]})"
        told.append(lens)
    return told
