"""Code lenses on what there is to review, for editors that draw them."""

from collections.abc import Iterable, Iterator
from typing import Any

from lsprotocol import types

from lsp_agent.server.review.open_review import FileReview, OpenHunk, OpenReviews
from lsp_agent.workspace.documents.documents import Documents

Json = dict[str, Any]


async def code_lenses(
    documents: Documents, reviews: OpenReviews, params: types.CodeLensParams
) -> list[types.CodeLens]:
    """For the whole file in its first line if it has several hunks, then above each hunk."""
    document = documents.get(params.text_document.uri)
    if document is None:
        return []
    review = await reviews.of(document)
    lenses = list(_for_all(document.uri, review)) if len(review.hunks) > 1 else []
    for each in review.hunks:
        lenses += _for_hunk(each)
    return _told_apart(lenses)


def _for_all(uri: str, review: FileReview) -> Iterator[types.CodeLens]:
    proposed = sum(each.proposed for each in review.hunks)
    changed = len(review.hunks) - proposed
    if changed:
        yield _lens(0, f"Keep all {changed}", "keepAll", {"uri": uri})
    if proposed:
        yield _lens(0, f"Apply all {proposed}", "applyAll", {"uri": uri})
    reject = "Undo all" if changed else f"Reject all {proposed}"
    yield _lens(0, reject, "undoAll", {"uri": uri})


def _for_hunk(each: OpenHunk) -> Iterator[types.CodeLens]:
    argument = {"editId": each.edit.edit_id, "hunks": [each.hunk.hunk_id]}
    if each.proposed:
        yield _lens(each.line, "Apply", "applyEdit", argument)
        yield _lens(each.line, "Reject", "rejectEdit", argument)
        yield _lens(each.line, "Preview", "previewEdit", argument)
    else:
        yield _lens(each.line, "Keep", "keepEdit", argument)
        yield _lens(each.line, "Undo", "rejectEdit", argument)


def _lens(line: int, title: str, command: str, argument: Json) -> types.CodeLens:
    place = types.Position(line=line, character=0)
    return types.CodeLens(
        range=types.Range(start=place, end=place),
        command=types.Command(title=title, command=f"lspAgent.{command}", arguments=[argument]),
    )


def _told_apart(lenses: Iterable[types.CodeLens]) -> list[types.CodeLens]:
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
