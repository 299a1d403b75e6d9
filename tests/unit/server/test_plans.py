"""What an agent means to do in a turn: told as it gets on, kept with the session, shown to clients
without any extension too."""

import json
import sys
from pathlib import Path

from support.project import EVENTS, Editor, Project
from support.raw_client import Json, wait_until

ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")


def start(project: Project, client: Json = EVENTS) -> Editor:
    command = [sys.executable, ACP_AGENT, json.dumps({})]
    return project.editor(agent={"wire": "acp", "command": command}, client=client)


def steps(*states: str) -> list[Json]:
    words = ("Read", "Change", "Test")
    return [
        {"content": word, "status": state, "priority": "medium"}
        for word, state in zip(words, states, strict=True)
    ]


BEGUN = steps("in_progress", "pending", "pending")
LAST = steps("completed", "completed", "in_progress")


def test_a_plan_is_told_whole_in_its_turn_each_time_that_it_changes(project: Project) -> None:
    editor = start(project)
    result = editor.ask_agent("plan 0 0 2 of Read Change Test")
    plans = editor.events("plan")
    assert [plan["entries"] for plan in plans] == [BEGUN, LAST]
    assert {plan["turnId"] for plan in plans} == {result["turnId"]}
    assert result["text"] == "2 done. "
    assert not editor.events("notice")


def test_a_plan_is_among_the_messages_as_it_was_last_before_and_after_a_restart(
    project: Project,
) -> None:
    editor = start(project)
    session = editor.ask_agent("plan 0 2 of Read Change Test")["sessionId"]
    editor.ask_agent("plan 3 of Read Change Test")
    done = steps("completed", "completed", "completed")
    assert plans(editor, session) == [LAST, done]
    editor.shut_down()
    again = start(project)
    again.call("agent/resumeSession", {"sessionId": session})
    assert plans(again, session) == [LAST, done]


def test_a_plan_is_a_checklist_in_the_exported_session(project: Project) -> None:
    editor = start(project)
    session = editor.ask_agent("plan 1 of Read Change Test")["sessionId"]
    exported = editor.call("agent/exportSession", {"sessionId": session})["markdown"]
    assert "\n\n- [x] Read\n- [ ] (in progress) Change\n- [ ] Test\n\n" in exported


def test_a_client_without_events_sees_in_the_progress_how_far_the_plan_is(project: Project) -> None:
    editor = start(project, {})
    prompt = editor.prompt("plan 1 wait of Read Change Test")
    create = editor.notification("window/workDoneProgress/create")
    assert wait_until(
        lambda: "Plan 1/3 · Change" in [v.get("message") for v in editor.progress(create["token"])]
    )
    editor.call("agent/abort")
    editor.result(prompt)
    (log,) = [each["message"] for each in editor.received("window/logMessage")]
    assert log == "Plan:\n- [x] Read\n- [ ] (in progress) Change\n- [ ] Test"


def plans(editor: Editor, session: str) -> list[list[Json]]:
    messages = editor.call("agent/messages", {"sessionId": session})["messages"]
    blocks = [block for message in messages for block in message["content"]]
    return [block["entries"] for block in blocks if block["type"] == "plan"]
