"""A file that the editor has read, and opens after the agent has written it."""

import time

from support.project import EVENTS, Project, edit, step
from support.raw_client import wait_until

LINES = "one\ntwo\nthree\n"


def test_an_edit_comes_into_a_document_that_was_opened_without_it(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), client=EVENTS)
    editor.ask_agent("Go.")
    document = editor.open(path, LINES)
    editor.call("agent/edits")  # which looks at what is shown
    assert wait_until(lambda: document.text.content == path.read_text())
    (listed,) = editor.call("agent/edits")["edits"]
    assert [hunk["newText"] for hunk in listed["hunks"]] == ["TWO\n"]
    assert not editor.events("editRejected")
    (undone,) = editor.call("agent/undoAll", {"uri": document.uri})["edits"]
    assert undone["status"] == "rejected"
    assert document.text.content == LINES


def test_one_that_shows_another_text_stays_as_it_is(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."))
    editor.ask_agent("Go.")
    document = editor.open(path, "a person's\n")
    assert not wait_until(lambda: document.version > 1, 1)
    assert document.text.content == "a person's\n"


def test_an_edit_comes_into_what_was_unsaved_when_it_was_closed(project: Project) -> None:
    """As with VS Code's hot exit; the edits were kept before the document came back."""
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO"), edit("a.txt", "one", "ONE")),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(path)
    editor.type(document, 2, "TYPED ")
    unsaved = document.text.content
    editor.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
    time.sleep(0.3)  # after which it is not a reload's
    editor.ask_agent("Go.")
    assert path.read_text() == LINES.replace("two", "TWO").replace("one", "ONE")
    for listed in editor.call("agent/edits")["edits"]:
        editor.call("agent/keepEdit", {"editId": listed["editId"]})
    document = editor.open(path, unsaved)
    assert wait_until(lambda: document.text.content == "ONE\nTWO\nTYPED three\n")
