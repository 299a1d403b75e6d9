"""``agent/prompt``: what it answers, what it sends along, and what it refuses."""

import pytest
from project import ALLOWED, EVENTS, Project, bash, edit, step, write

# The result


def test_a_prompt_resolves_at_the_turns_end_with_the_last_steps_text(project: Project) -> None:
    project.file("a.txt", "one\n")
    editor = project.editor(
        step("First words.", edit("a.txt", "one", "two"), write("b.txt", "new\n")),
        step("Last words."),
        client=EVENTS,
    )
    result = editor.ask_agent("Go.")
    assert result["stopReason"] == "endTurn"
    assert result["text"] == "Last words."
    assert "error" not in result
    assert result["usage"]["output"] > 0
    assert [(e["uri"].rsplit("/", 1)[1], e["status"]) for e in result["edits"]] == [
        ("a.txt", "applied"),
        ("b.txt", "applied"),
    ]
    assert (project.folder / "a.txt").read_text() == "two\n"
    assert (project.folder / "b.txt").read_text() == "new\n"
    ended = editor.events("turnEnded")
    assert [event["turnId"] for event in ended] == [result["turnId"]]
    assert {event["sessionId"] for event in editor.events()} == {result["sessionId"]}


def test_an_open_document_is_edited_in_the_editor(project: Project) -> None:
    path = project.file("a.txt", "one\nthree\n")
    editor = project.editor(step("", edit("a.txt", "three", "four")), step("Done."))
    document = editor.open(path)
    editor.type(document, 1, "two\n")
    assert editor.ask_agent("Go.")["edits"][0]["status"] == "applied"
    assert document.text.content == "one\ntwo\nfour\n"
    assert path.read_text() == "one\nthree\n"  # unsaved text stays unsaved
    (label,) = [params["label"] for params in editor.received("workspace/applyEdit")]
    assert label == "agent: edit a.txt"
