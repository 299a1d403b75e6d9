"""A conversation's document goes on from an earlier prompt, in one beside it, and after a restart;
each by the person's Send alone."""

from pathlib import Path
from urllib.parse import unquote, urlparse

import pytest
from support.project import Document, Editor, Project, step
from support.raw_client import Json, wait_until
from test_chat_documents import ASKED, LONG, answered, is_whole, say, send, text_of
from test_code_actions import actions, run, the_action, titles

from lsp_agent.server.chat.outline import aligned

TWO = "## You\n\nOne?\n\n## Agent\n\nOne.\n\n## You\n\nTwo?\n\n## Agent\n\nTwo.\n\n## You\n\n"
#: What an agent is told that remembers nothing but the first turn.
ONE_ALONE = r"(?s)Person: One\?(?!.*Two).*End of the note.*"


def path_of(uri: str) -> Path:
    return Path(unquote(urlparse(uri).path))


def two_turns(editor: Editor, project: Project) -> Document:
    document = editor.open(project.file("x.chat.md", ""), "One?")
    send(editor, document)
    assert wait_until(lambda: answered(document))
    say(editor, document, "Two?")
    send(editor, document)
    assert wait_until(lambda: answered(document, 2))
    assert text_of(document) == TWO
    return document


@pytest.mark.parametrize(
    ("here", "kept", "found"),
    [
        (["a", "b"], ["a", "b"], [0, 1]),
        (["a", "B"], ["a", "b"], [0, 1]),
        (["of a file", "a", "b"], ["a", "b"], [None, 0, 1]),
        (["of a file", "A", "b"], ["a", "b"], [None, 0, 1]),
        (["b"], ["a", "b"], [1]),
        (["A", "c"], ["a", "b", "c"], [None, 2]),
        (["a", "a"], ["a", "a"], [0, 1]),
        (["a"], [], [None]),
    ],
)
def test_an_earlier_prompt_is_found_by_those_beside_it(
    here: list[str], kept: list[str], found: list[int | None]
) -> None:
    assert [aligned(here, kept, index) for index in range(len(here))] == found


def test_a_fork_is_a_document_beside_that_ends_with_that_prompt_unsent(project: Project) -> None:
    editor = project.editor(step("One."), step("Two."), step("Three.", match=ONE_ALONE + "Three"))
    document = two_turns(editor, project)
    say(editor, document, "A draft")
    lenses = editor.call("textDocument/codeLens", {"textDocument": {"uri": document.uri}})
    (fork,) = [each for each in lenses if each["range"]["start"]["line"] == 8]
    made = editor.call("workspace/executeCommand", fork["command"])
    assert path_of(made["uri"]) == project.folder / "x-fork.chat.md"
    assert text_of(document) == TWO + "A draft"
    other = editor.open(path_of(made["uri"]))
    assert text_of(other) == "## You\n\nOne?\n\n## Agent\n\nOne.\n\n## You\n\nTwo?\n"
    editor.retype(other, text_of(other).replace("Two?", "Three?"))
    send(editor, other)
    assert wait_until(lambda: answered(other, 2))
    assert text_of(other).endswith("Three?\n\n## Agent\n\nThree.\n\n## You\n\n")
    assert text_of(document) == TWO + "A draft"


def test_an_earlier_prompt_that_was_changed_is_sent_in_a_fork(project: Project) -> None:
    editor = project.editor(step("One."), step("Two."), step("Three.", match=ONE_ALONE + "Three"))
    document = two_turns(editor, project)
    changed = TWO.replace("Two?", "Three?") + "A draft"
    editor.retype(document, changed)
    found = actions(editor, document, (8, 0))
    run(editor, the_action(found, "Fork here and send: Three?"))
    path = project.folder / "x-fork.chat.md"
    assert wait_until(lambda: is_whole(path.read_text(), 2))
    assert path.read_text().endswith("Three?\n\n## Agent\n\nThree.\n\n## You\n\n")
    assert text_of(document) == changed
    assert len(editor.call("agent/sessions")["sessions"]) == 2


def test_a_fork_of_what_no_session_said_is_text_of_a_file(project: Project) -> None:
    told = r"(?s)\ATwo\?.*which is text of a file.*One\."
    editor = project.editor(step("Never."), step("Two.", match=told))
    document = editor.open(project.file("x.chat.md", TWO))
    made = editor.call("agent/forkChat", {"uri": document.uri, "line": 8, "send": True})
    path = path_of(made["uri"])
    assert wait_until(lambda: is_whole(path.read_text(), 2))
    assert len(editor.call("agent/sessions")["sessions"]) == 1


def test_there_is_no_fork_of_the_next_prompt(project: Project) -> None:
    editor = project.editor(step("Never."))
    document = editor.open(project.file("x.chat.md", ASKED))
    assert not any(title.startswith("Fork") for title in titles(actions(editor, document, (2, 0))))
    error = editor.failure("agent/forkChat", {"uri": document.uri, "line": 2})
    assert "There is no earlier prompt in line 3." in str(error)


# After a restart


def of_before(project: Project) -> tuple[Document, Json]:
    """A conversation that is saved, and its session, of a server that has ended in order."""
    editor = project.editor(step("One."), step("Two."))
    document = two_turns(editor, project)
    document.path.write_text(text_of(document))
    (session,) = editor.call("agent/sessions")["sessions"]
    assert editor.shut_down() == 0
    return document, session


def test_after_a_restart_its_session_is_taken_up_by_a_send_and_not_before(
    project: Project,
) -> None:
    document, session = of_before(project)
    editor = project.editor(step("Three.", match=r"(?s)Person: Two\?.*Three\?"))
    document = editor.open(document.path)
    actions(editor, document)
    (listed,) = editor.call("agent/sessions")["sessions"]
    assert listed["status"] == "closed"
    say(editor, document, "Three?")
    send(editor, document)
    assert wait_until(lambda: answered(document, 3))
    assert [one["sessionId"] for one in editor.call("agent/sessions")["sessions"]] == [
        session["sessionId"]
    ]


def test_the_last_one_is_opened_again_after_a_restart_and_goes_on_by_a_send(
    project: Project,
) -> None:
    document, session = of_before(project)
    editor = project.editor(step("Three.", match=r"(?s)Person: Two\?.*Three\?"))
    for _ in range(2):
        opened = editor.call("agent/openChat", {})
        assert opened == {"sessionId": session["sessionId"], "uri": document.uri}
    assert not editor.events("agentStatus")
    document = editor.open(document.path)
    say(editor, document, "Three?")
    send(editor, document)
    assert wait_until(lambda: answered(document, 3))
    new = editor.call("agent/openChat", {"new": True})
    assert new["uri"] != document.uri


def test_one_that_no_editor_has_saved_is_opened_whole_in_another(project: Project) -> None:
    editor = project.editor(step("One."), step("Two."))
    document = two_turns(editor, project)
    document.path.write_text("# A session\n\n## You\n\n")
    (session,) = editor.call("agent/sessions")["sessions"]
    assert editor.shut_down() == 0
    editor = project.editor(step("Three.", match=r"(?s)Person: Two\?.*Three\?"))
    opened = editor.call("agent/openChat", {})
    assert opened["sessionId"] == session["sessionId"]
    assert opened["uri"] != document.uri
    document = editor.open(path_of(opened["uri"]))
    assert answered(document, 2)
    say(editor, document, "Three?")
    send(editor, document)
    assert wait_until(lambda: answered(document, 3))


def test_one_whose_last_turn_was_not_saved_goes_on_with_its_session(project: Project) -> None:
    editor = project.editor(step("One."), step("Two."))
    document = two_turns(editor, project)
    document.path.write_text(text_of(document).partition("Two?")[0])
    assert editor.shut_down() == 0
    editor = project.editor(step("Three.", match=r"(?s)Person: Two\?.*Three\?"))
    document = editor.open(document.path)
    say(editor, document, "Three?")
    send(editor, document)
    assert wait_until(lambda: answered(document, 2))
    assert len(editor.call("agent/sessions")["sessions"]) == 1


def test_one_that_is_gone_is_not_opened_again(project: Project) -> None:
    editor = project.editor(step("One."), step("Two."))
    document = two_turns(editor, project)
    assert editor.shut_down() == 0
    document.path.unlink()
    editor = project.editor(step("Never."))
    assert editor.call("agent/openChat", {})["uri"] != document.uri


def test_another_text_in_its_place_leads_to_no_session_of_the_persons(project: Project) -> None:
    editor = project.editor(step("One."), step("Two."))
    path = two_turns(editor, project).path
    assert editor.shut_down() == 0
    path.write_text("## You\n\nMine?\n\n## Agent\n\nYes.\n\n## You\n\nDo it.\n")
    told = r"(?s)\ADo it\..*which is text of a file.*Mine\?"
    editor = project.editor(step("Never."), step("Done.", match=told))
    document = editor.open(path)
    send(editor, document)
    assert wait_until(lambda: answered(document, 2))
    assert len(editor.call("agent/sessions")["sessions"]) == 2


def test_a_turn_that_a_crash_cut_off_is_said_to_be_and_the_conversation_goes_on(
    project: Project,
) -> None:
    editor = project.editor(step(LONG, pace_ms=60))
    document = editor.open(project.file("x.chat.md", ASKED))
    send(editor, document)
    assert wait_until(lambda: "word30" in text_of(document))
    path = document.path
    path.write_text(text_of(document))
    editor.process.kill()
    editor.process.wait()
    editor = project.editor(step("Two.", match=r"(?s)Person: What is it\?.*word3 .*And then\?"))
    document = editor.open(path)
    say(editor, document, "And then?")
    send(editor, document)
    assert wait_until(lambda: answered(document, 2))
    assert text_of(document).count("*(cut off)*") == 1
    assert text_of(document).endswith("And then?\n\n## Agent\n\nTwo.\n\n## You\n\n")
    assert len(editor.call("agent/sessions")["sessions"]) == 1
