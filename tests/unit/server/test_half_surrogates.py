"""Half a surrogate pair, which JavaScript may send: nothing ends, nothing silently changes."""

import pytest
from support.project import EVENTS, Project, call, edit, step, write
from support.raw_client import wait_until

HALF = "\ud83d"
#: Neither is a path: what no file's name can hold, and half a surrogate pair.
NO_PATHS = ["/a\0b", f"/a{HALF}"]


def test_a_prompt_with_half_a_pair_is_answered_and_its_session_stored(project: Project) -> None:
    editor = project.editor(step("Hello.", match="^Look \ufffd$"), client=EVENTS)
    session = editor.ask_agent(f"Look {HALF}")["sessionId"]
    assert editor.event("turnEnded")["stopReason"] == "endTurn"
    assert editor.shut_down() == 0
    again = project.editor(step("Never."))
    (listed,) = again.call("agent/sessions")["sessions"]
    assert (listed["sessionId"], listed["title"]) == (session, "Look \ufffd")
    messages = again.call("agent/exportSession", {"sessionId": session})["markdown"]
    assert "Look \ufffd" in messages


def test_the_agent_is_shown_half_a_pair_of_a_document_and_leaves_it_there(
    project: Project,
) -> None:
    path = project.file("a.txt", "one\n")
    steps = [
        step("", call("read", path="a.txt"), edit("a.txt", "two", "2")),
        step("", write("a.txt", "one \ufffd\n2\nthree\n")),
        step("Done."),
    ]
    editor = project.editor(*steps, client=EVENTS)
    document = editor.open(path, f"one {HALF}\ntwo\n")
    context = [{"uri": document.uri}]
    assert editor.ask_agent(f"Go on {HALF}", context=context)["text"] == "Done."
    assert wait_until(lambda: document.text.content == f"one {HALF}\n2\nthree\n")
    read, *rest = editor.tool_texts()
    assert "one \ufffd\ntwo\n" in read
    assert not any("changed since" in text for text in rest)


def test_a_file_is_not_written_with_half_a_pair(project: Project) -> None:
    """The document that had it was saved without and closed, so undoing would write it."""
    path = project.file("a.txt", "one\n")
    steps = [step("", call("read", path="a.txt"), write("a.txt", "two\n")), step("Done.")]
    editor = project.editor(*steps, client=EVENTS)
    document = editor.open(path, f"one {HALF}\n")
    (made,) = editor.ask_agent("Go.")["edits"]
    path.write_text("two\n")
    editor.notify("textDocument/didSave", {"textDocument": {"uri": document.uri}})
    editor.notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
    failure = editor.failure("agent/rejectEdit", {"editId": made["editId"]})
    assert "a.txt" in failure.message
    assert "half a surrogate pair" in failure.message
    assert path.read_text() == "two\n"


@pytest.mark.parametrize("path", NO_PATHS)
def test_a_path_that_can_be_none_is_refused_by_its_field(project: Project, path: str) -> None:
    editor = project.editor(step("Never."))
    asked = [
        ("agent/prompt", "context[0].uri", {"text": "Go.", "context": [{"uri": f"file://{path}"}]}),
        ("agent/edits", "uri", {"uri": f"file://{path}"}),
        ("agent/keepAll", "uri", {"uri": f"file://{path}"}),
        ("agent/nextChange", "uri", {"uri": f"file://{path}"}),
        ("agent/newSession", "cwd", {"cwd": f"file://{path}"}),
        ("agent/newSession", "cwd", {"cwd": path}),
        ("agent/newSession", "model", {"model": path}),
    ]
    for method, field, params in asked:
        failure = editor.failure(method, params)
        assert (failure.code, failure.data) == (-32602, {"field": field}), method


@pytest.mark.parametrize("path", NO_PATHS)
def test_a_document_whose_uri_is_no_path_is_one_of_no_file(project: Project, path: str) -> None:
    editor = project.editor(step("Hello."))
    item = {"uri": f"file://{path}", "languageId": "text", "version": 1, "text": "x"}
    editor.notify("textDocument/didOpen", {"textDocument": item})
    change = {"textDocument": item, "contentChanges": [{"text": "y"}]}
    editor.notify("textDocument/didChange", change)
    editor.notify("textDocument/didClose", {"textDocument": item})
    assert editor.ask_agent("Go.")["text"] == "Hello."
    assert "ERROR" not in editor.stderr
