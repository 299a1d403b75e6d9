"""The editor's own undo and redo are ordinary changes: an agent's lines are known again, whatever
brought them back, and a revert takes them out."""

import pytest
from support.project import EVENTS, Document, Editor, Project, edit, step
from support.raw_client import Json

LINES = "one\ntwo\nthree\nfour\nfive\nsix\n"
MADE = [
    pytest.param(edit("a.txt", "two", "TWO"), LINES.replace("two", "TWO"), id="changed"),
    pytest.param(
        edit("a.txt", "two\n", "two\nnew\n"), LINES.replace("two", "two\nnew"), id="put in"
    ),
    pytest.param(edit("a.txt", "two\n", ""), LINES.replace("two\n", ""), id="deleted"),
]


def after_an_edit(project: Project, made: Json, edited: str) -> tuple[Editor, Document, str]:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", made), step("Done."), client=EVENTS)
    document = editor.open(path)
    editor.ask_agent("Go.")
    assert document.text.content == edited
    (listed,) = editor.call("agent/edits")["edits"]
    return editor, document, listed["editId"]


def status(editor: Editor, edit_id: str) -> str:
    edits = editor.call("agent/edits")["edits"]
    return next(each["status"] for each in edits if each["editId"] == edit_id)


def reverted(editor: Editor) -> str:
    (file,) = editor.call("agent/revert")["files"]
    return file["outcome"]


@pytest.mark.parametrize(("made", "edited"), MADE)
def test_an_edit_whose_rejection_was_undone_is_open_again(
    project: Project, made: Json, edited: str
) -> None:
    editor, document, edit_id = after_an_edit(project, made, edited)
    editor.call("agent/rejectEdit", {"editId": edit_id})
    assert (document.text.content, status(editor, edit_id)) == (LINES, "rejected")
    editor.retype(document, edited)
    assert status(editor, edit_id) == "applied"
    editor.call("agent/rejectEdit", {"editId": edit_id})
    assert (document.text.content, status(editor, edit_id)) == (LINES, "rejected")
    editor.retype(document, edited)
    assert reverted(editor) == "restored"
    assert (document.text.content, status(editor, edit_id)) == (LINES, "rejected")


@pytest.mark.parametrize(("made", "edited"), MADE)
def test_an_edit_that_was_undone_and_redone_is_open_again(
    project: Project, made: Json, edited: str
) -> None:
    editor, document, edit_id = after_an_edit(project, made, edited)
    for _ in range(2):
        editor.retype(document, LINES)
        assert status(editor, edit_id) == "rejected"
        editor.retype(document, edited)
        assert status(editor, edit_id) == "applied"
    assert reverted(editor) == "restored"
    assert document.text.content == LINES


@pytest.mark.parametrize(("made", "edited"), MADE)
def test_it_is_known_again_beside_what_was_typed_and_undone(
    project: Project, made: Json, edited: str
) -> None:
    editor, document, edit_id = after_an_edit(project, made, edited)
    editor.call("agent/rejectEdit", {"editId": edit_id})
    editor.retype(document, LINES.replace("two", "two typed"))
    assert status(editor, edit_id) == "rejected"
    editor.retype(document, LINES)
    editor.retype(document, edited)
    assert status(editor, edit_id) == "applied"
    editor.retype(document, edited.replace("six", "six typed"))
    assert reverted(editor) == "merged"
    assert document.text.content == LINES.replace("six", "six typed")


@pytest.mark.parametrize(("made", "edited"), MADE)
def test_what_a_revert_took_out_and_an_undo_brought_back_is_taken_out_again(
    project: Project, made: Json, edited: str
) -> None:
    editor, document, edit_id = after_an_edit(project, made, edited)
    assert reverted(editor) == "restored"
    editor.retype(document, edited)
    assert status(editor, edit_id) == "applied"
    assert reverted(editor) == "restored"
    assert document.text.content == LINES
