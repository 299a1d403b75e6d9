"""What there is to review is found once for each state of a document."""

import pytest
from anyio import create_task_group, sleep
from review_kit import URI, FakeEdits, hunk
from review_kit import edit as an_edit
from support.scripted_editor import in_virtual_time

from lsp_agent.protocol.edits import Edit
from lsp_agent.server.review.open_review import FileReview, OpenReviews, open_hunks
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument

PATH = "/w/a.txt"


def opened(documents: Documents) -> OpenDocument:
    documents.open(URI, 1, "one\ntwo\n")
    document = documents.get(URI)
    assert document is not None
    return document


def type_in(documents: Documents) -> None:
    documents.change(URI, 2, [{"text": "typed\n"}])


@in_virtual_time
async def test_moves_of_the_cursor_look_nothing_up() -> None:
    document, edits = opened(Documents()), FakeEdits(an_edit("e", hunk(1)))
    reviews = OpenReviews(edits)  # type: ignore[arg-type]
    first = await reviews.of(document)
    assert [await reviews.of(document) for _ in range(100)] == [first] * 100
    assert edits.found == 1


@in_virtual_time
async def test_it_is_found_anew_after_a_key_a_decision_and_a_reopening() -> None:
    documents = Documents()
    document, edits = opened(documents), FakeEdits()
    reviews = OpenReviews(edits)  # type: ignore[arg-type]
    await reviews.of(document)
    type_in(documents)
    await reviews.of(document)
    assert edits.found == 2
    edits.changed(PATH)
    await reviews.of(document)
    assert edits.found == 3
    documents.close(URI)
    await reviews.of(opened(documents))
    assert edits.found == 4


@pytest.mark.parametrize("what", ["key", "decision"])
@in_virtual_time
async def test_what_changed_while_it_was_looked_for_is_not_remembered(what: str) -> None:
    class Slow(FakeEdits):
        async def find(self, *args: object, **options: object) -> list[Edit]:
            found = await super().find()
            await sleep(0.05)
            return found

    documents = Documents()
    document, edits = opened(documents), Slow()
    reviews = OpenReviews(edits)  # type: ignore[arg-type]
    async with create_task_group() as tasks:
        tasks.start_soon(reviews.of, document)
        await sleep(0.01)
        edits.edits = [an_edit("e", hunk(1))]
        if what == "key":
            type_in(documents)
        else:
            edits.changed(PATH)
    assert (await reviews.of(document)).hunks == open_hunks(edits.edits)


@in_virtual_time
async def test_a_document_that_is_no_file_has_no_review() -> None:
    edits = FakeEdits(an_edit("e", hunk(1)))
    document = OpenDocument("untitled:1", None)
    assert await OpenReviews(edits).of(document) == FileReview()  # type: ignore[arg-type]


def test_hunks_come_from_the_top_down_and_without_the_decided_ones() -> None:
    edits = [
        an_edit("late", hunk(5, name="1"), hunk(1, name="0", status="kept")),
        an_edit("early", hunk(3)),
        an_edit("gone", hunk(2, status="lost"), status="lost"),
        an_edit("empty"),
    ]
    review = FileReview.of(edits)
    assert [(each.edit.edit_id, each.line) for each in review.hunks] == [("early", 3), ("late", 5)]
    assert [edit.edit_id for edit in review.edits] == ["late", "early", "empty"]
    assert [edit.edit_id for edit in review.stranded] == ["gone"]
