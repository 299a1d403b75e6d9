"""While a question is open everything else works; its end is an answer, or a refusal."""

import os
import signal
from typing import Any

import pytest
from support.project import BESIDE, EVENTS, Editor, Project, bash, edit, processes_with, step, write
from support.raw_client import NO_ANSWER, Json, left_behind, wait_until

ASK: Json = {"events": True, "ask": True}
SHOW: Json = {"window": {"showMessage": {}, "workDoneProgress": True}}
MARK = "ran.txt"
RUN = [step("", bash(f"echo x >> {MARK}"), match="^Run"), step("Ran.")]


def times_run(project: Project) -> int:
    path = project.folder / MARK
    return len(path.read_text().splitlines()) if path.exists() else 0


def questions(editor: Editor, session: str | None = None) -> list[Json]:
    params = {"sessionId": session} if session else {}
    return editor.call("agent/state", params)["questions"]


def actions(editor: Editor, uri: str) -> list[str]:
    start = {"line": 0, "character": 0}
    params = {
        "textDocument": {"uri": uri},
        "range": {"start": start, "end": start},
        "context": {"diagnostics": []},
    }
    return [action["title"] for action in editor.call("textDocument/codeAction", params)]


def test_typing_other_methods_and_another_sessions_turn_go_on(project: Project) -> None:
    path = project.file("a.txt", "one\ntwo\n")
    editor = project.editor(
        *RUN, step("", edit("a.txt", "two", "TWO"), match="^Edit"), step("Edited."), client=ASK
    )
    document = editor.open(path)
    prompt = editor.prompt("Run it.")
    asked = editor.notification("agent/ask")
    editor.type(document, 0, "agent: typed meanwhile\n")
    assert "Ask the agent: typed meanwhile" in actions(editor, document.uri)
    for method in ("agent/sessions", "agent/messages", "agent/models", "agent/edits"):
        editor.call(method)
    other = editor.call("agent/newSession")["sessionId"]
    result = editor.ask_agent("Edit it.", sessionId=other)
    assert result["text"] == "Edited."
    assert document.text.content == "agent: typed meanwhile\none\nTWO\n"
    assert [one["questionId"] for one in questions(editor)] == [asked["questionId"]]
    assert (questions(editor, other), times_run(project)) == ([], 0)
    editor.command("answer", {"questionId": asked["questionId"], "optionId": "allow"})
    assert editor.result(prompt)["text"] == "Ran."
    assert times_run(project) == 1


def test_an_abort_closes_its_own_question_and_leaves_another_sessions_open(
    project: Project,
) -> None:
    editor = project.editor(*RUN, client=ASK)
    one, other = (editor.call("agent/newSession")["sessionId"] for _ in range(2))
    prompts = [editor.prompt("Run it.", sessionId=session) for session in (one, other)]
    for session in (one, other):
        editor.notification("agent/ask", sessionId=session)
    assert editor.call("agent/abort", {"sessionId": one}) == {"aborted": True}
    assert editor.result(prompts[0])["stopReason"] == "aborted"
    assert (len(questions(editor, one)), len(questions(editor, other))) == (0, 1)
    editor.command("answer", {"optionId": "allow"})
    assert editor.result(prompts[1])["text"] == "Ran."
    assert times_run(project) == 1


def test_a_closed_sessions_question_is_closed_with_it(project: Project) -> None:
    editor = project.editor(*RUN, client=ASK)
    prompt = editor.prompt("Run it.")
    asked = editor.notification("agent/ask")
    editor.call("agent/closeSession", {"sessionId": asked["sessionId"]})
    assert editor.result(prompt)["stopReason"] == "aborted"
    answer = {"questionId": asked["questionId"], "optionId": "allow"}
    assert editor.command("answer", answer) == {"answered": False}
    assert times_run(project) == 0


@pytest.mark.parametrize(
    ("first", "late", "ran"), [("deny", "Allow", 0), ("allow", "Deny", 1)], ids=["deny", "allow"]
)
def test_the_late_answer_of_a_dialog_does_nothing(
    project: Project, first: str, late: str, ran: int
) -> None:
    editor = project.editor(*RUN, client=EVENTS, capabilities=SHOW, clientInfo=BESIDE)
    prompt = editor.prompt("Run it.")
    dialog = editor.wait_for(lambda m: m.get("method") == "window/showMessageRequest")
    editor.command("answer", {"optionId": first})
    editor.notification("$/cancelRequest", id=dialog["id"])
    editor.send({"id": dialog["id"], "result": {"title": late}})
    assert editor.result(prompt)["text"] == "Ran."
    assert [event["optionId"] for event in editor.events("questionAnswered")] == [first]
    assert times_run(project) == ran


@pytest.mark.parametrize(
    "answer",
    [7, "allow", [], ["allow"], {"optionId": ["allow"]}, {"optionId": 1}, {"title": "Allow"}, {}],
    ids=repr,
)
@pytest.mark.slow
def test_garbage_is_no_consent(project: Project, answer: Any) -> None:
    editor = project.editor(*RUN, client=ASK)
    editor.handlers["agent/ask"] = lambda _question: answer
    assert editor.ask_agent("Run it.")["text"] == "Ran."
    assert "was not answered" in editor.tool_texts()[0]
    assert times_run(project) == 0


def test_a_client_that_goes_has_allowed_nothing(project: Project) -> None:
    editor = project.editor(*RUN, client=ASK)
    editor.prompt("Run it.")
    editor.notification("agent/ask")
    editor.close_input()
    editor.wait_for_exit()
    assert wait_until(lambda: left_behind(editor.mark) == [])
    assert times_run(project) == 0


@pytest.mark.parametrize(
    ("answer", "text"), [("allow", "new\n"), ("deny", None)], ids=["allow", "deny"]
)
def test_a_call_that_cannot_wait_leaves_its_question_for_the_next_one_alike(
    project: Project, answer: str, text: str | None
) -> None:
    """An agent that writes by itself waits seconds for whether it may."""
    new = write("a.txt", "new\n")
    agent = project.agent(step("", new), step("", bash("sleep 1")), step("", new), step("Done."))
    editor = project.editor(
        agent=agent | {"hosting": "mirror"},
        client=ASK,
        options={"edits": {"review": "before"}, "permissions": {"allow": ["command: sleep 1"]}},
    )
    prompt = editor.prompt("Go.")
    asked = editor.notification("agent/ask")
    editor.event("toolResult")
    assert "Not run yet: the user is still being asked" in editor.tool_texts()[0]
    assert not (project.folder / "a.txt").exists()
    editor.command("answer", {"questionId": asked["questionId"], "optionId": answer})
    assert editor.result(prompt)["text"] == "Done."
    path = project.folder / "a.txt"
    assert (path.read_text() if path.exists() else None) == text
    assert len(editor.received("agent/ask")) == 1


# Patterns


def options(question: Json) -> dict[str, str]:
    return {option["kind"]: option["name"] for option in question["options"]}


def agents(project: Project) -> list[int]:
    """The agents' own processes, without those that hold them."""
    started = processes_with(f"rpc --script {project.folder.parent}")
    return [pid for pid in started if pid not in processes_with("supervise.py")]


READ_TWO = [
    step("", bash("cat a.txt"), match="^Read"),
    step("", bash("cat b.txt")),
    step("", bash("cat /etc/hostname")),
    step("Read."),
]


def test_a_pattern_is_allowed_for_its_session_and_no_other(project: Project) -> None:
    project.file("a.txt", "one\n")
    project.file("b.txt", "two\n")
    editor = project.editor(*READ_TWO, client=ASK, options={"permissions": {"reading": "ask"}})
    editor.answers = ["allowPattern", "deny"]
    first = editor.ask_agent("Read them.")["sessionId"]
    asked = editor.received("agent/ask")
    assert [question["title"] for question in asked] == [
        "bash: cat a.txt",
        "bash: cat /etc/hostname",
    ]
    assert options(asked[0])["allowPattern"] == "Allow `cat*` in this session"
    assert "allowPattern" not in options(asked[1])
    told = editor.event("notice", level="info")
    assert told["message"] == "Allowed for this session: command: cat*"
    assert ["one" in text or "two" in text for text in editor.tool_texts()] == [True, True, False]

    # Its agent is started again, and the session is still the person's.
    for pid in agents(project):
        os.kill(pid, signal.SIGKILL)
    editor.event("agentStatus", status="exited")
    editor.answers = ["deny"]
    editor.ask_agent("Read them.", sessionId=first)
    assert [question["title"] for question in editor.received("agent/ask")[2:]] == [
        "bash: cat /etc/hostname"
    ]

    # Another session is asked about everything, before and after the first is closed.
    for _ in range(2):
        before = len(editor.received("agent/ask"))
        editor.answers = ["deny", "deny", "deny"]
        other = editor.call("agent/newSession")["sessionId"]
        editor.ask_agent("Read them.", sessionId=other)
        assert len(editor.received("agent/ask")) - before == 3
        editor.call("agent/closeSession", {"sessionId": first})


def test_a_pattern_allowed_by_its_button_reads_the_same(project: Project) -> None:
    editor = project.editor(
        step("", bash("git status"), bash("git status --short")), step("Done."), capabilities=SHOW,
        client=EVENTS, clientInfo=BESIDE, options={"permissions": {"reading": "ask"}},
    )  # fmt: skip
    editor.answers = ["Allow `git status*` in this session"]
    editor.ask_agent("Go.")
    (shown,) = editor.received("window/showMessageRequest")
    assert [action["title"] for action in shown["actions"]] == [
        "Show all of it",
        "Allow",
        "Deny",
        "Allow this command in this session",
        "Allow `git status*` in this session",
        "Allow every command in this session",
        "Allow `git status*` always in this project",
        "Allow `git status*` always",
    ]
    assert len(editor.events("toolResult")) == 2
    told = editor.event("notice", level="info")
    assert told["message"] == "Allowed for this session: command: git status*"


def test_a_question_that_is_left_open_ends_with_its_turn_as_a_refusal(project: Project) -> None:
    editor = project.editor(*RUN, client=ASK)
    editor.answers = [NO_ANSWER]
    prompt = editor.prompt("Run it.")
    editor.notification("agent/ask")
    editor.cancel(prompt)
    assert wait_until(lambda: questions(editor) == [])
    assert editor.event("turnEnded")["stopReason"] == "aborted"
    assert times_run(project) == 0
