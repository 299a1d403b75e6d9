"""Sessions over the wire: state, transcript, models, opening and closing."""

import sys
import time
from pathlib import Path

import pytest
from support.project import ALLOWED, EVENTS, Editor, Project, Stopwatch, Stubborn, bash, call, step
from support.raw_client import Json, descendants, wait_until

FAILED = -32803

#: A turn that leaves a transcript which is long enough to be compacted.
LONG = (step("", bash("true")), step("", bash("true")), step("Hello."))


# agent/state


def test_the_state_of_a_session_tells_what_it_is(project: Project) -> None:
    project.file("a.txt", "one\n")
    editor = project.editor(step("", call("read", path="a.txt")), step("Read."))
    fresh = editor.call("agent/state")
    assert fresh["hosting"] == "starting"
    assert (fresh["busy"], fresh["queued"], fresh["questions"]) == (False, [], [])
    assert (fresh["messageCount"], fresh["usage"]) == (0, {})
    assert fresh["cwd"] == str(project.folder)
    assert "turnId" not in fresh
    result = editor.ask_agent("Go.")
    state = editor.call("agent/state")
    assert state["sessionId"] == fresh["sessionId"] == result["sessionId"]
    assert (state["agent"], state["wire"]) == ("scripted", "zot")
    assert (state["provider"], state["model"]) == ("script", "script")
    assert state["agents"] == ["builtin", "scripted"]
    assert state["hosting"] == "hosted"
    assert state["messageCount"] == 4
    assert state["usage"]["output"] > 0
    capabilities = state["capabilities"]
    for name in ("compact", "clear", "models", "images", "permissions", "hostedFiles", "steer"):
        assert capabilities[name] is True, name
    assert capabilities["listSessions"] is False


def test_while_a_turn_runs_the_state_names_it(project: Project) -> None:
    editor = project.editor(step("Slow.", delay_ms=300), client=EVENTS)
    prompt = editor.prompt("Go.")
    turn = editor.event("turnStarted")["turnId"]
    state = editor.call("agent/state")
    assert (state["busy"], state["turnId"]) == (True, turn)
    assert editor.result(prompt)["turnId"] == turn


# agent/messages, agent/models


def test_the_transcript_is_in_canonical_messages(project: Project) -> None:
    project.file("a.txt", "one\n")
    editor = project.editor(step("Let me see.", call("read", path="a.txt")), step("Read."))
    assert editor.call("agent/messages") == {"messages": []}
    editor.ask_agent("Go.")
    messages = editor.call("agent/messages")["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[0]["content"] == [{"type": "text", "text": "Go."}]
    said, called = messages[1]["content"]
    assert said == {"type": "text", "text": "Let me see."}
    assert (called["type"], called["tool"], called["args"]) == (
        "toolCall",
        "read",
        {"path": "a.txt"},
    )
    (result,) = messages[2]["content"]
    assert (result["toolCallId"], result["isError"]) == (called["toolCallId"], False)
    assert "one" in result["content"][0]["text"]


def test_models_are_listed_and_set(project: Project) -> None:
    editor = project.editor(step("Hello."))
    listed = editor.call("agent/models")
    assert listed["current"] == "script"
    (model,) = listed["models"]
    assert (model["id"], model["provider"], model["contextWindow"]) == ("script", "script", 200_000)
    state = editor.call("agent/setModel", {"model": "script"})
    assert state["model"] == "script"
    error = editor.failure("agent/setModel", {"model": "gpt-0"})
    assert (error.code, error.data["kind"]) == (FAILED, "unknownModel")
    assert "gpt-0" in error.message
    assert editor.failure("agent/setModel", {"model": ""}).data == {"field": "model"}
    assert editor.failure("agent/setModel").data == {"field": "model"}


# agent/compact, agent/clear


def test_compact_answers_with_the_summary(project: Project) -> None:
    editor = project.editor(
        *LONG, step("We said hello."), step("Bye."), client=EVENTS, options=ALLOWED
    )
    editor.ask_agent("Hi.")
    assert editor.call("agent/compact") == {"summary": "We said hello."}
    assert editor.event("compacted")["summary"] == "We said hello."
    assert "We said hello." in str(editor.call("agent/messages"))
    assert editor.ask_agent("Bye.")["text"] == "Bye."


def test_a_compaction_waits_for_the_running_turn(project: Project) -> None:
    editor = project.editor(*LONG, step("Summary."), options=ALLOWED)
    prompt = editor.prompt("Hi.")
    compaction = editor.request("agent/compact")
    assert editor.result(compaction) == {"summary": "Summary."}
    assert editor.result(prompt)["text"] == "Hello."


def test_an_agent_that_takes_no_instructions_for_a_summary_is_given_none(project: Project) -> None:
    editor = project.editor(*LONG, step("Never said."), options=ALLOWED)
    editor.ask_agent("Hi.")
    error = editor.failure("agent/compact", {"instructions": "Keep the names."})
    assert error.data["feature"] == "compactInstructions"
    assert "takes no instructions for a summary: leave them out" in error.message


def test_a_compaction_can_be_stopped(project: Project) -> None:
    editor = project.editor(*LONG, step("Slow.", delay_ms=5000), step("Next."), options=ALLOWED)
    editor.ask_agent("Hi.")
    compaction = editor.request("agent/compact")
    assert wait_until(lambda: editor.call("agent/state")["busy"])
    watch = Stopwatch()
    assert editor.call("agent/abort") == {"aborted": True}
    assert watch.seconds < 1
    error = editor.answer(compaction)["error"]
    assert (error["code"], error["data"]["kind"]) == (FAILED, "conflict")
    assert editor.ask_agent("Go on.")["text"] == "Next."


def test_a_failed_compaction_says_why(project: Project) -> None:
    editor = project.editor(*LONG, step(error="overloaded"), options=ALLOWED)
    editor.ask_agent("Hi.")
    error = editor.failure("agent/compact")
    assert error.code == FAILED
    assert "overloaded" in error.message


def test_a_short_transcript_is_not_compacted(project: Project) -> None:
    editor = project.editor(step("Hello."), step("Never said."))
    editor.ask_agent("Hi.")
    assert "nothing to compact" in editor.failure("agent/compact").message


def test_clear_drops_the_transcript(project: Project) -> None:
    editor = project.editor(step("Hello."))
    editor.ask_agent("Hi.")
    assert editor.call("agent/clear") == {}
    assert editor.call("agent/messages") == {"messages": []}
    assert editor.call("agent/state")["messageCount"] == 0


def test_clear_is_refused_while_the_agent_works(project: Project) -> None:
    editor = project.editor(step("Slow.", delay_ms=300), client=EVENTS)
    prompt = editor.prompt("Go.")
    editor.event("turnStarted")
    error = editor.failure("agent/clear")
    assert (error.code, error.data["kind"]) == (FAILED, "busy")
    assert editor.result(prompt)["text"] == "Slow."


# agent/sessions, agent/newSession, agent/closeSession


def test_sessions_are_opened_listed_and_closed(project: Project) -> None:
    inner = project.folder / "inner"
    inner.mkdir()
    editor = project.editor(step("", bash("pwd")), step("Done."), options=ALLOWED, client=EVENTS)
    assert editor.call("agent/sessions") == {"sessions": []}
    opened = editor.call("agent/newSession", {"cwd": str(inner), "model": "script"})["sessionId"]
    (listed,) = editor.call("agent/sessions")["sessions"]
    assert listed == {
        "sessionId": opened,
        "agent": "scripted",
        "cwd": str(inner),
        "status": "idle",
        "model": "script",
        "stored": False,
        "created": listed["updated"],
        "updated": pytest.approx(time.time(), abs=60),
    }
    editor.ask_agent("Where are you?\nSay it.", sessionId=opened)
    assert str(inner) in editor.tool_texts()[0]
    (listed,) = editor.call("agent/sessions")["sessions"]
    assert (listed["status"], listed["title"]) == ("idle", "Where are you?")
    assert editor.call("agent/closeSession", {"sessionId": opened}) == {}
    (listed,) = editor.call("agent/sessions")["sessions"]
    assert listed["status"] == "closed"
    assert descendants(editor.process.pid) == []


def test_a_session_can_have_another_agent(project: Project) -> None:
    agents = {
        "scripted": project.agent(step("I am one.")),
        "other": project.agent(step("I am another.")),
    }
    editor = project.editor(options={"agents": agents})
    opened = editor.call("agent/newSession", {"agent": "other"})["sessionId"]
    assert editor.ask_agent("Who?", sessionId=opened)["text"] == "I am another."
    assert editor.ask_agent("Who?")["text"] == "I am one."
    assert editor.call("agent/state", {"sessionId": opened})["agent"] == "other"


def test_a_sessions_folder_may_be_given_as_uri(project: Project) -> None:
    editor = project.editor(step("Here."))
    opened = editor.call("agent/newSession", {"cwd": project.folder.as_uri()})["sessionId"]
    assert editor.call("agent/state", {"sessionId": opened})["cwd"] == str(project.folder)


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"agent": "nobody"}, "agentNotFound"),
        ({"agent": "builtin"}, "notConfigured"),
        ({"cwd": "/"}, "outsideWorkspace"),
        ({"cwd": "../home"}, "outsideWorkspace"),
        ({"cwd": "missing"}, "outsideWorkspace"),
    ],
)
def test_a_session_that_cannot_be_is_refused(project: Project, params: object, kind: str) -> None:
    editor = project.editor(step("Never."))
    error = editor.failure("agent/newSession", params)
    assert (error.code, error.data["kind"]) == (FAILED, kind)
    assert editor.call("agent/sessions") == {"sessions": []}


def test_a_folder_that_leads_out_of_the_workspace_is_refused(project: Project) -> None:
    (project.folder / "out").symlink_to("/")
    editor = project.editor(step("Never."))
    for cwd in (f"{project.folder}/../home", f"{project.folder}/out"):
        error = editor.failure("agent/newSession", {"cwd": cwd})
        assert error.data["kind"] == "outsideWorkspace"


def test_a_session_needs_a_folder_that_is_there(project: Project) -> None:
    editor = project.editor(step("Never."))
    project.file("a.txt")
    for name in ("missing", "a.txt", "a\0b", "n" * 300):
        error = editor.failure("agent/newSession", {"cwd": str(project.folder / name)})
        assert (error.code, error.data) == (-32602, {"field": "cwd"})


def test_closing_a_session_ends_its_turn_and_its_commands(project: Project) -> None:
    stubborn = Stubborn()
    editor = project.editor(step("", bash(stubborn.command)), options=ALLOWED, client=EVENTS)
    prompt, queued = editor.prompt("Go."), editor.prompt("And then?")
    editor.event("toolProgress")
    assert editor.call("agent/closeSession") == {}
    assert stubborn.processes() == []
    assert [editor.result(answer)["stopReason"] for answer in (prompt, queued)] == ["aborted"] * 2
    assert len(editor.events("turnEnded")) == 2
    assert wait_until(lambda: descendants(editor.process.pid) == [])


def test_no_session_is_made_to_be_closed(project: Project) -> None:
    editor = project.editor(step("Never."))
    assert editor.call("agent/closeSession") == {}
    assert editor.call("agent/sessions") == {"sessions": []}


def test_a_session_closed_while_its_agent_starts_leaves_nothing(project: Project) -> None:
    slow = project.agent(step("Never."), command=["sh", "-c", "sleep 30"])
    editor = project.editor(agent=slow, client=EVENTS)
    prompt = editor.prompt("Go.")
    editor.event("agentStatus", status="starting")
    watch = Stopwatch()
    assert editor.call("agent/closeSession") == {}
    assert watch.seconds < 2
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert wait_until(lambda: descendants(editor.process.pid) == [])


def test_a_closed_session_does_nothing_more_and_the_default_is_a_new_one(
    project: Project,
) -> None:
    editor = project.editor(step("Hello."))
    closed = editor.ask_agent("Hi.")["sessionId"]
    editor.call("agent/closeSession")
    for method, params in [
        ("agent/prompt", {"text": "x"}),
        ("agent/models", {}),
        ("agent/setModel", {"model": "script"}),
        ("agent/compact", {}),
        ("agent/clear", {}),
    ]:
        error = editor.failure(method, {"sessionId": closed} | params)
        assert (method, error.data["kind"]) == (method, "unknownSession")
    assert editor.call("agent/abort", {"sessionId": closed}) == {"aborted": False}
    result = editor.ask_agent("Hi.")
    assert result["text"] == "Hello."  # a new agent, at the beginning of its script
    assert result["sessionId"] != closed


@pytest.mark.parametrize(
    ("method", "needed"),
    [
        ("prompt", {"text": "x"}),
        ("abort", {}),
        ("state", {}),
        ("messages", {}),
        ("models", {}),
        ("setModel", {"model": "m"}),
        ("compact", {}),
        ("clear", {}),
        ("closeSession", {}),
        ("commands", {}),
        ("edits", {}),
    ],
)
def test_an_unknown_session_is_named_as_such(shared: Editor, method: str, needed: Json) -> None:
    error = shared.failure(f"agent/{method}", {"sessionId": "s-none"} | needed)
    assert (error.code, error.data["kind"]) == (FAILED, "unknownSession")
    assert "s-none" in error.message


def test_an_agent_without_slash_commands_says_so(project: Project) -> None:
    double = Path(__file__).parents[2] / "support" / "doubles" / "rkat_rpc.py"
    script = project.file("script.json", '{"runs": []}')
    command = [sys.executable, str(double), "--script", str(script)]
    editor = project.editor(agent={"wire": "meerkat", "command": command})
    assert editor.call("agent/commands") == {"commands": []}
    error = editor.failure("agent/runCommand", {"name": "init"})
    assert (error.code, error.data["kind"]) == (FAILED, "unsupported")
