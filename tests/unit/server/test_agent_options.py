"""``agent/options``: what an agent is set to, and the modes in which it asks nobody."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.project import EVENTS, Editor, Project
from support.raw_client import Json

ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")


#: The double, but it takes no mode that it is set to.
STUBBORN = f"""
import sys
sys.path.insert(0, {str(Path(ACP_AGENT).parent)!r})
import acp_agent
class Stubborn(acp_agent.Agent):
    def answer(self, method, params):
        refused = method == "session/set_mode"
        return {{"refused": True}} if refused else super().answer(method, params)
    def send(self, frame):
        if frame.get("result") == {{"refused": True}}:
            frame = {{"id": frame["id"], "error": {{"code": -32603, "message": "I like it here"}}}}
        super().send(frame)
Stubborn({{}}).serve()
"""


def start(project: Project, **told: Any) -> Editor:
    command = [sys.executable, ACP_AGENT, json.dumps(told)]
    return project.editor(agent={"wire": "acp", "command": command}, client=EVENTS)


def values(options: list[Json]) -> dict[str, str]:
    return {option["id"]: option["value"] for option in options}


def test_the_options_are_listed_set_and_part_of_the_state(project: Project) -> None:
    editor = start(project)
    options = editor.call("agent/options")["options"]
    assert values(options) == {"mode": "default", "thought": "low"}
    assert options[1]["values"] == [
        {"value": "low", "name": "Low"},
        {"value": "high", "name": "High"},
    ]
    editor.call("agent/setOption", {"id": "thought", "value": "high"})
    now = editor.command("setOption", {"id": "mode", "value": "plan"})["options"]
    assert values(now) == {"mode": "plan", "thought": "high"}
    assert values(editor.call("agent/state")["options"]) == values(now)
    assert editor.ask_agent("What are you set to?")["text"] == "plan/high"
    changes = [(each["optionId"], each["value"]) for each in editor.events("optionChanged")]
    assert changes == [("thought", "high"), ("mode", "plan")]


@pytest.mark.parametrize(
    ("params", "field"),
    [({"id": "no", "value": "x"}, "id"), ({"id": "mode", "value": "x"}, "value")],
)
def test_what_there_is_not_cannot_be_set(project: Project, params: Json, field: str) -> None:
    error = start(project).failure("agent/setOption", params)
    assert error.code == -32602
    assert field in error.message


def test_an_agent_without_any_has_an_empty_list(project: Project) -> None:
    editor = project.editor()
    assert editor.call("agent/options")["options"] == []
    assert editor.call("agent/state")["options"] == []


def test_an_agent_that_begins_by_asking_nobody_is_made_to_ask(project: Project) -> None:
    editor = start(project, mode="yolo")
    assert editor.ask_agent("What are you set to?")["text"] == "default/low"


def test_an_agent_that_takes_to_asking_nobody_is_put_back_and_told_of(project: Project) -> None:
    editor = start(project)
    editor.ask_agent("mode yolo")
    assert "put back to asking" in editor.event("notice", level="warning")["message"]
    editor.event("optionChanged", value="default")
    assert editor.ask_agent("What are you set to?")["text"] == "default/low"


def test_one_that_will_not_go_back_to_asking_is_told_nothing_more(project: Project) -> None:
    command = [sys.executable, "-c", STUBBORN]
    editor = project.editor(agent={"wire": "acp", "command": command}, client=EVENTS)
    editor.ask_agent("mode yolo")
    assert "I like it here" in editor.event("notice", level="error")["message"]
    refused = editor.failure("agent/prompt", {"text": "Delete it all."})
    assert "asks nobody" in refused.message
    editor.call("agent/clear")
    assert editor.ask_agent("What are you set to?")["text"] == "default/low"


def test_only_a_person_can_choose_that_it_asks_nobody_and_is_told_what_it_means(
    project: Project,
) -> None:
    editor = start(project)
    editor.call("agent/setOption", {"id": "mode", "value": "yolo"})
    assert "asks nobody" in editor.event("notice", level="warning")["message"]
    assert editor.ask_agent("What are you set to?")["text"] == "yolo/low"
