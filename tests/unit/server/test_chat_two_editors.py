"""One conversation, open in two editors, each with a server of its own: one of them writes it."""

from pathlib import Path

import pytest
from support.project import Document, Editor, Project, step
from support.raw_client import Json, RpcError, wait_until
from test_chat_documents import ASKED, answered, say, send, text_of

MORE = "And then?\n"


@pytest.fixture
def path(project: Project) -> Path:
    return project.file("x.chat.md", ASKED)


def saved(editor: Editor, document: Document) -> str:
    """What the person saves."""
    document.path.write_text(text_of(document))
    editor.notify("textDocument/didSave", {"textDocument": {"uri": document.uri}})
    return text_of(document)


def begun(project: Project, path: Path) -> tuple[Editor, str]:
    """The first editor, and what it has saved of the conversation that it began."""
    first = project.editor(step("First."), step("Second."))
    document = first.open(path)
    send(first, document)
    assert wait_until(lambda: answered(document))
    return first, saved(first, document)


def conversations(editor: Editor) -> list[Json]:
    return [each for each in editor.call("agent/sessions")["sessions"] if each.get("title")]


def test_what_is_sent_in_the_second_is_refused_in_words_and_stays(
    project: Project, path: Path
) -> None:
    _, text = begun(project, path)
    second = project.editor(step("Never."))
    document = second.open(path)
    say(second, document, MORE)
    with pytest.raises(RpcError, match="goes on in another editor"):
        send(second, document)
    assert text_of(document) == text + MORE
    assert len(conversations(second)) == 1


def test_once_the_first_is_gone_the_second_goes_on_with_it(project: Project, path: Path) -> None:
    first, _ = begun(project, path)
    second = project.editor(step("Second."))
    document = second.open(path)
    first.kill()
    say(second, document, MORE)
    send(second, document)
    assert wait_until(lambda: answered(document, 2))
    assert len(conversations(second)) == 1


def test_a_fork_of_it_goes_on_in_the_second(project: Project, path: Path) -> None:
    begun(project, path)
    second = project.editor(step("Again."))
    document = second.open(path)
    forked = second.command("forkChat", {"uri": document.uri, "line": 0, "send": True})
    (elsewhere,) = (each for each in conversations(second) if each["status"] == "elsewhere")
    assert forked["turnId"]
    assert forked["sessionId"] != elsewhere["sessionId"]
