"""What a person chose for a session holds: in an agent that is started anew, in a new
conversation, after a restart of the server."""

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from support.project import EVENTS, LSP_AGENT, Editor, Project
from support.raw_client import Json, descendants, wait_until

ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")
MODELS = ["x/one", "x/two"]


def start(project: Project, **told: Any) -> Editor:
    command = [sys.executable, ACP_AGENT, json.dumps(told)]
    return project.editor(agent={"wire": "acp", "command": command}, client=EVENTS)


def choose(editor: Editor, session: str | None = None, **options: str) -> None:
    named = {"sessionId": session} if session else {}
    for option, value in options.items():
        editor.call("agent/setOption", {"id": option, "value": value} | named)


def settings(editor: Editor, session: str | None = None) -> str:
    """What the agent itself says that it is set to."""
    named = {"sessionId": session} if session else {}
    return editor.ask_agent("What are you set to?", **named)["text"]


def die(editor: Editor) -> None:
    assert editor.failure("agent/prompt", {"text": "die"}).data["kind"] == "agentExited"


def warnings(editor: Editor) -> list[str]:
    notices = [event["message"] for event in editor.events("notice", level="warning")]
    return [message for message in notices if message.startswith("Not set again")]


def changes(editor: Editor) -> list[tuple[str, str]]:
    return [(event["optionId"], event["value"]) for event in editor.events("optionChanged")]


def test_options_and_model_hold_when_the_agent_is_started_anew(project: Project) -> None:
    editor = start(project, models=MODELS)
    choose(editor, mode="plan", thought="high")
    editor.call("agent/setModel", {"model": "x/two"})
    die(editor)
    assert settings(editor) == "plan/high/x/two"
    assert warnings(editor) == []


def test_a_mode_that_asks_nobody_holds_in_its_session_and_is_told_of_again(
    project: Project,
) -> None:
    editor = start(project)
    choose(editor, mode="yolo")
    die(editor)
    assert settings(editor) == "yolo/low"

    def told() -> int:
        notices = editor.events("notice", level="warning")
        return sum("asks nobody" in notice["message"] for notice in notices)

    assert wait_until(lambda: told() == 2)


def test_they_hold_in_a_new_conversation(project: Project) -> None:
    editor = start(project, models=MODELS)
    choose(editor, mode="plan", thought="high")
    editor.call("agent/setModel", {"model": "x/two"})
    editor.call("agent/clear")
    assert settings(editor) == "plan/high/x/two"


def test_what_the_agent_changed_itself_begins_anew_in_a_new_conversation_and_is_told(
    project: Project,
) -> None:
    editor = start(project)
    choose(editor, thought="high")
    editor.ask_agent("mode plan")
    editor.call("agent/clear")
    assert settings(editor) == "default/high"
    told = [("thought", "high"), ("mode", "plan"), ("thought", "high"), ("mode", "default")]
    assert wait_until(lambda: changes(editor) == told)


def test_a_mode_that_the_agent_left_is_chosen_no_more(project: Project) -> None:
    editor = start(project)
    choose(editor, mode="plan")
    editor.ask_agent("mode auto-edit")
    assert editor.event("optionChanged", value="default")
    die(editor)
    assert settings(editor) == "default/low"


def test_they_hold_after_a_restart_of_the_server(project: Project) -> None:
    editor = start(project, models=MODELS)
    choose(editor, mode="plan", thought="high")
    editor.call("agent/setModel", {"model": "x/two"})
    session = editor.ask_agent("Hello.")["sessionId"]
    assert editor.shut_down() == 0
    editor = start(project, models=MODELS)
    editor.call("agent/resumeSession", {"sessionId": session})
    assert editor.call("agent/state", {"sessionId": session})["model"] == "x/two"
    assert settings(editor, session) == "plan/high/x/two"
    assert warnings(editor) == []


def test_a_mode_that_asks_nobody_is_to_be_chosen_again_after_a_restart_of_the_server(
    project: Project,
) -> None:
    editor = start(project)
    choose(editor, mode="yolo", thought="high")
    session = editor.ask_agent("Hello.")["sessionId"]
    assert editor.shut_down() == 0
    editor = start(project)
    editor.call("agent/resumeSession", {"sessionId": session})
    assert settings(editor, session) == "default/high"
    assert wait_until(lambda: warnings(editor))
    (warning,) = warnings(editor)
    assert "mode yolo (in it the agent asks nobody" in warning
    choose(editor, session, mode="yolo")
    assert editor.failure("agent/prompt", {"text": "die", "sessionId": session})
    assert settings(editor, session) == "yolo/high"
    assert len(warnings(editor)) == 1


def test_what_the_agent_has_no_more_is_told_once_and_the_session_goes_on(
    project: Project,
) -> None:
    editor = start(project, models=MODELS)
    choose(editor, mode="plan", thought="high")
    editor.call("agent/setModel", {"model": "x/two"})
    session = editor.ask_agent("Hello.")["sessionId"]
    assert editor.shut_down() == 0
    (warning,) = taken_up_with_less(project, session)
    assert "x/two" in warning
    assert "mode plan" in warning
    assert taken_up_with_less(project, session) == []


def taken_up_with_less(project: Project, session: str) -> list[str]:
    """The warnings."""
    editor = start(project, models=["x/one"], modes=["default", "yolo"])
    editor.call("agent/resumeSession", {"sessionId": session})
    assert settings(editor, session) == "default/high/x/one"
    options = editor.call("agent/options", {"sessionId": session})["options"]
    assert [option["value"] for option in options] == ["default", "high"]
    assert editor.shut_down() == 0
    return warnings(editor)


# The embedded agent


def thinking(project: Project) -> Editor:
    """An embedded agent with a model that is never asked."""
    command = [*LSP_AGENT, "rpc", "--api-key", "no-key", "--base-url", "http://127.0.0.1:9"]
    model = {"provider": "anthropic", "model": "claude-sonnet-4-5"}
    return project.editor(agent={"wire": "zot", "command": command, **model}, client=EVENTS)


def kill_agent(editor: Editor) -> None:
    for process in descendants(editor.process.pid):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            if b"rpc" in words and not any(b"supervise" in word for word in words):
                os.kill(process, signal.SIGKILL)
    editor.event("agentStatus", status="exited")


def test_a_thinking_level_and_a_model_hold_in_an_embedded_agent_that_is_killed(
    project: Project,
) -> None:
    editor = thinking(project)
    (option,) = editor.call("agent/options")["options"]
    assert option["value"] == "default"
    other = next(
        each["id"]
        for each in editor.call("agent/models")["models"]
        if each["id"] != "claude-sonnet-4-5" and each.get("reasoning")
    )
    editor.call("agent/setModel", {"model": other})
    choose(editor, thinkingLevel="high")
    assert wait_until(lambda: changes(editor) == [("thinkingLevel", "high")])
    kill_agent(editor)
    (option,) = editor.call("agent/options")["options"]
    state: Json = editor.call("agent/state")
    assert (option["value"], state["model"]) == ("high", other)
    assert changes(editor) == [("thinkingLevel", "high")]
