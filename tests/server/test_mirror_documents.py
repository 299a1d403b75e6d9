"""What an agent, or any command, writes to disk reaches the documents that are open."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from project import ALLOWED, Document, Editor, Project, bash, edit, step, write
from raw_client import Json, wait_until

TEXT = "one\ntwo\nthree\nfour\nfive\n"


def mirror(project: Project, *steps: Json, **options: object) -> Editor:
    agent = project.agent(*steps, step("Done."), hosting="mirror")
    return project.editor(agent=agent, client={"events": True}, options=ALLOWED | options)


def hosted(project: Project, *steps: Json, **options: object) -> Editor:
    return project.editor(*steps, step("Done."), client={"events": True}, options=ALLOWED | options)


def changes(editor: Editor) -> list[tuple[str, str]]:
    edits = editor.call("agent/edits")["edits"]
    return [(edit["uri"].rpartition("/")[2], edit["status"]) for edit in edits]


def notices(editor: Editor) -> str:
    return "\n".join(event["message"] for event in editor.events("notice", level="warning"))


Start = Callable[..., Editor]


@pytest.fixture(params=["mirror's edit", "mirror's command", "hosted command"])
def change(request: pytest.FixtureRequest, project: Project) -> Start:
    """An editor whose agent replaces ``old`` by ``new`` in a.txt on disk."""

    def start(old: str, new: str, **options: object) -> Editor:
        if request.param == "mirror's edit":
            return mirror(project, step("", edit("a.txt", old, new)), **options)
        run = mirror if request.param == "mirror's command" else hosted
        return run(project, step("", bash(f"sed -i s/{old}/{new}/ a.txt")), **options)

    return start


def test_a_clean_document_that_its_editor_does_not_reload_is_edited(
    project: Project, change: Start
) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2")
    document = editor.open(path)
    result = editor.ask_agent("Go.")
    assert document.text.content == path.read_text() == TEXT.replace("two", "2")
    assert [edit["status"] for edit in result["edits"]] == ["applied"]
    assert changes(editor) == [("a.txt", "applied")]


def test_unsaved_text_elsewhere_in_the_document_stays(project: Project, change: Start) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2")
    document = editor.open(path)
    editor.type(document, 4, "typed ")
    editor.ask_agent("Go.")
    assert document.text.content == "one\n2\nthree\nfour\ntyped five\n"
    assert path.read_text() == TEXT.replace("two", "2")
    assert changes(editor) == [("a.txt", "applied")]


def test_unsaved_text_in_the_same_line_stays_and_the_agents_is_proposed(
    project: Project, change: Start
) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2")
    document = editor.open(path, TEXT.replace("two", "TWO"))
    editor.ask_agent("Go.")
    assert document.text.content == TEXT.replace("two", "TWO")
    assert path.read_text() == TEXT.replace("two", "2")
    assert changes(editor) == [("a.txt", "proposed")]
    assert "a.txt on disk where you have unsaved text" in notices(editor)
    (proposal,) = editor.call("agent/edits")["edits"]
    assert editor.call("agent/applyEdit", {"editId": proposal["editId"]})["applied"]
    assert document.text.content == TEXT.replace("two", "2")


def test_a_file_that_is_not_open_is_recorded(project: Project, change: Start) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2")
    editor.ask_agent("Go.")
    (made,) = editor.call("agent/edits")["edits"]
    assert made["status"] == "applied"
    assert editor.call("agent/editText", {"editId": made["editId"]}) == {
        "before": TEXT,
        "after": TEXT.replace("two", "2"),
    }
    assert path.read_text() == TEXT.replace("two", "2")


def test_without_review_it_is_kept(project: Project, change: Start) -> None:
    path = project.file("a.txt", TEXT)
    editor = change("two", "2", edits={"review": "off"})
    document = editor.open(path)
    editor.ask_agent("Go.")
    assert document.text.content == TEXT.replace("two", "2")
    assert changes(editor) == [("a.txt", "kept")]


def reloads_after(editor: Editor, document: Document, seconds: float) -> None:
    """Lets the editor take the text on disk, so long after it has changed, if it is clean."""
    before = document.path.read_bytes()
    shown = document.text
    wait_until(lambda: document.path.read_bytes() != before)
    time.sleep(seconds)
    if document.text == shown:
        editor.open(document.path, version=document.version + 1)
