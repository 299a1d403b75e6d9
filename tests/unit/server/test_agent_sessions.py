"""``agent/agentSessions``: what an agent itself keeps, and going on with it here."""

import json
import sys
from pathlib import Path
from typing import Any

from support.project import EVENTS, Editor, Project

ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")


def start(project: Project, *refs: str, **more: Any) -> Editor:
    """An agent that has kept these sessions of the folder, an hour apart, and others elsewhere."""
    kept = [
        {
            "sessionId": ref,
            "cwd": str(project.folder),
            "title": f"About {ref}",
            "updatedAt": f"2026-11-21T{10 + number:02}:00:00Z",
        }
        for number, ref in enumerate(refs)
    ]
    elsewhere = {"sessionId": "far", "cwd": str(project.folder.parent), "title": "Elsewhere"}
    command = [sys.executable, ACP_AGENT, json.dumps({"sessions": [elsewhere, *kept], **more})]
    return project.editor(agent={"wire": "acp", "command": command}, client=EVENTS)


def refs(editor: Editor) -> list[str]:
    return [one["ref"] for one in editor.call("agent/agentSessions")["sessions"]]


def test_those_of_the_folder_are_listed_the_newest_first(project: Project) -> None:
    editor = start(project, "one", "two")
    found = editor.call("agent/agentSessions")["sessions"]
    assert [one["title"] for one in found] == ["About two", "About one"]
    assert found[0]["updated"] == found[1]["updated"] + 3600
    assert refs(editor) == ["two", "one"]


def test_one_is_shown_and_gone_on_with_and_is_then_ours(project: Project) -> None:
    editor = start(project, "one", "two")
    ours = editor.call("agent/newSession", {"ref": "one"})["sessionId"]
    (message,) = editor.call("agent/messages", {"sessionId": ours})["messages"]
    assert message["content"][0]["text"] == "said in one"
    assert editor.ask_agent("Go on.", sessionId=ours)["text"] == "default/low"
    assert refs(editor) == ["two"]
    assert editor.shut_down() == 0
    again = start(project, "one", "two")
    assert refs(again) == ["two"]
    again.call("agent/resumeSession", {"sessionId": ours})
    assert again.ask_agent("Still?", sessionId=ours)["text"] == "default/low"
    assert refs(again) == ["two"]


def test_one_that_the_agent_cannot_take_up_begins_anew_and_says_so(project: Project) -> None:
    editor = start(project)
    ours = editor.call("agent/newSession", {"ref": "none such"})["sessionId"]
    assert editor.ask_agent("Hello.", sessionId=ours)["text"] == "default/low"
    assert "begins a new session" in editor.event("notice", level="warning")["message"]


def test_an_agent_that_cannot_tell_says_so(project: Project) -> None:
    error = project.editor().failure("agent/agentSessions")
    assert error.data["kind"] == "unsupported"
    assert error.message.endswith("choose one of those that are stored here.")
