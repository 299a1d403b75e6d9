"""``workspace/executeCommand``: the twin of each method, and what one does without arguments."""

import pytest
from support.project import ALLOWED, EVENTS, Editor, Project, Stubborn, bash, edit, step, write
from support.raw_client import Json, wait_until

from lsp_agent.protocol.methods import ANSWER_COMMAND, METHODS, SHOW_QUESTION_COMMAND

BEFORE: Json = {"edits": {"review": "before"}}


def refused(editor: Editor, command: str, *arguments: object) -> object:
    """The kind of the error that a command is answered with, or the field that is wrong."""
    params = {"command": command, "arguments": list(arguments)}
    error = editor.failure("workspace/executeCommand", params)
    return error.data.get("kind") or error.data.get("field")


def test_every_method_is_offered_as_a_command(project: Project) -> None:
    editor = project.start()
    served = editor.initialize()["capabilities"]
    commands = served["executeCommandProvider"]["commands"]
    of_questions = [ANSWER_COMMAND, SHOW_QUESTION_COMMAND]
    assert commands == [*(method.command for method in METHODS), *of_questions]
    assert served["experimental"]["agent"]["methods"] == [method.method for method in METHODS]


def test_the_prompt_command_answers_at_once(project: Project) -> None:
    editor = project.editor(step("Slow.", delay_ms=300), client=EVENTS)
    started = editor.command("prompt", {"text": "Go."})
    assert editor.events("turnEnded") == []
    assert started == {
        "sessionId": editor.call("agent/state")["sessionId"],
        "turnId": editor.event("turnStarted")["turnId"],
    }
    assert editor.event("turnEnded")["turnId"] == started["turnId"]


def test_a_failed_turn_of_the_prompt_command_is_told_by_message(project: Project) -> None:
    editor = project.editor(step(error="overloaded"))
    editor.command("prompt", {"text": "Go."})
    shown = editor.notification("window/showMessage")
    assert (shown["type"], "overloaded" in shown["message"]) == (1, True)


@pytest.mark.parametrize("own_session", [False, True], ids=["default", "another session"])
def test_abort_without_arguments_stops_what_runs(project: Project, own_session: bool) -> None:
    stubborn = Stubborn()
    editor = project.editor(step("", bash(stubborn.command)), options=ALLOWED, client=EVENTS)
    session = editor.call("agent/newSession")["sessionId"] if own_session else None
    prompt = editor.prompt("Go.", sessionId=session)
    editor.event("toolProgress")
    assert editor.command("abort") == {"aborted": True}
    assert stubborn.processes() == []
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert editor.command("abort") == {"aborted": False}


def test_review_commands_without_arguments_mean_the_one_open_edit(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(step("", edit("a.txt", "one", "two")), step("Done."), options=BEFORE)
    document = editor.open(path)
    assert refused(editor, "lspAgent.applyEdit") == "unknownEdit"
    editor.ask_agent("Go.")
    assert editor.command("editText") == {"before": "one\n", "after": "two\n"}
    assert editor.command("applyEdit")["applied"] is True
    assert document.text.content == "two\n"
    assert editor.command("keepEdit")["edit"]["status"] == "kept"
    assert refused(editor, "lspAgent.rejectEdit") == "unknownEdit"


def test_a_review_command_that_could_mean_several_edits_asks_which(project: Project) -> None:
    editor = project.editor(
        step("", write("a.txt", "a\n"), write("b.txt", "b\n")), step("Done."), options=BEFORE
    )
    edits = editor.ask_agent("Go.")["edits"]
    error = editor.failure("workspace/executeCommand", {"command": "lspAgent.applyEdit"})
    assert (error.code, error.data["kind"]) == (-32803, "conflict")
    assert error.data["editIds"] == [item["editId"] for item in edits]
    assert "a.txt" in error.message
    applied = editor.command("applyEdit", {"editId": edits[1]["editId"]})
    assert applied["applied"] is True
    assert (project.folder / "b.txt").read_text() == "b\n"
    assert editor.command("rejectEdit", {"editId": edits[0]["editId"]})["edit"]["status"] == (
        "rejected"
    )


def test_the_other_commands_answer_as_their_methods(project: Project) -> None:
    agent = project.agent(step("", bash("true")), step("", bash("true")), step("A."), step("Sum."))
    editor = project.editor(agent=agent, options=ALLOWED)
    editor.ask_agent("Go.")
    assert wait_until(lambda: "window" in editor.call("agent/state"))  # told behind the turn's end
    for name in ("state", "messages", "models", "edits", "sessions", "commands"):
        assert editor.command(name) == editor.call(f"agent/{name}"), name
    assert editor.command("setModel", {"model": "script"})["model"] == "script"
    assert editor.command("compact") == {"summary": "Sum."}
    assert editor.command("clear") == {}
    opened = editor.command("newSession")["sessionId"]
    assert editor.command("closeSession", {"sessionId": opened}) == {}
    assert editor.command("closeSession") == {}
    assert {session["status"] for session in editor.command("sessions")["sessions"]} == {"closed"}


@pytest.mark.parametrize(
    ("name", "argument", "reason"),
    [
        ("prompt", None, "text"),
        ("prompt", {"text": ""}, "text"),
        ("setModel", None, "model"),
        ("revert", {"turnId": "t-none"}, "unknownTurn"),
        ("resumeSession", None, "sessionId"),
        ("resumeSession", {"sessionId": "s-1"}, "unknownSession"),
        ("runCommand", None, "name"),
        ("runCommand", {"name": "init"}, "unsupported"),
        ("applyEdit", {"editId": "e-none"}, "unknownEdit"),
        ("answer", None, "conflict"),
    ],
)
def test_a_command_is_refused_as_its_method_is(
    shared: Editor, name: str, argument: object, reason: str
) -> None:
    arguments = () if argument is None else (argument,)
    assert refused(shared, f"lspAgent.{name}", *arguments) == reason


@pytest.mark.parametrize("arguments", [None, [], [None], [{}]])
def test_no_argument_may_be_said_in_several_ways(shared: Editor, arguments: object) -> None:
    params = {"command": "lspAgent.sessions", "arguments": arguments}
    assert "sessions" in shared.call("workspace/executeCommand", params)


@pytest.mark.parametrize("arguments", [["text"], [["text"]], {"text": "x"}, 5])
def test_arguments_of_another_shape_are_refused(shared: Editor, arguments: object) -> None:
    params = {"command": "lspAgent.sessions", "arguments": arguments}
    error = shared.failure("workspace/executeCommand", params)
    assert (error.code, error.data) == (-32602, {"field": "arguments"})


@pytest.mark.parametrize("command", ["lspAgent.dance", "agent/prompt", "", None])
def test_an_unknown_command_is_refused(shared: Editor, command: object) -> None:
    error = shared.failure("workspace/executeCommand", {"command": command})
    assert (error.code, error.data) == (-32602, {"field": "command"})


def test_the_command_is_the_only_way_to_answer_for_some(project: Project) -> None:
    """See test_questions.py; here: that nothing is open."""
    editor = project.editor(step("Never."))
    assert editor.command("answer", {"optionId": "allow"}) == {"answered": False}
    assert wait_until(lambda: editor.call("agent/sessions") == {"sessions": []})
