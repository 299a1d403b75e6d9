"""A person may think for an hour: no time limit runs out between a question and its answer.

The server and the agent run with clocks that are put forward; what has no clock of ours (the
gate, the shell) is left to wait. The limits of the person's own settings are far below an hour.
"""

import re
import sys
import time
from pathlib import Path

import pytest
from support import project as stage
from support.project import Editor, Project, bash, call, step
from support.raw_client import Json, wait_until

pytestmark = pytest.mark.slow

TIME_MACHINE = str(Path(__file__).parents[2] / "support" / "time_machine.py")
HOUR = 3600
ASK: Json = {"events": True, "ask": True}


class Clock:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.write_text("0")
        self._ahead = 0

    def forward(self, editor: Editor, seconds: int) -> None:
        """In steps, as timers come due one after the other; each wakes server and agent."""
        for _ in range(6):
            self._ahead += seconds // 6
            aside = self.path.with_suffix(".new")
            aside.write_text(str(self._ahead))
            aside.replace(self.path)
            editor.call("agent/state")  # the agent is asked as well
            time.sleep(0.1)


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """That of the server and of the agent that a project starts."""
    made = Clock(tmp_path / "clock")
    command = [sys.executable, "-P", TIME_MACHINE, str(made.path)]
    monkeypatch.setattr(stage, "LSP_AGENT", command)
    return made


def warnings(editor: Editor) -> list[str]:
    return [
        event["message"]
        for event in editor.events("notice", "error")
        if event.get("level") in ("warning", "error", None)
    ]


@pytest.mark.parametrize("client", [ASK, {"events": True}], ids=["asked", "by command"])
def test_a_command_waits_an_hour_for_its_answer_then_runs(
    project: Project, clock: Clock, client: Json
) -> None:
    editor = project.editor(
        step("", call("bash", command="echo ran > ran.txt", timeout=2)),
        step("Done."),
        client=client,
        options={"limits": {"idle_seconds": 30}},
    )
    prompt = editor.prompt("Go.")
    question = editor.event("questionAsked")["question"]
    clock.forward(editor, HOUR)
    assert [one["questionId"] for one in editor.call("agent/state")["questions"]] == [
        question["questionId"]
    ]
    assert not (project.folder / "ran.txt").exists()
    assert editor.events("toolResult", "turnEnded") == []
    answer = {"questionId": question["questionId"], "optionId": "allow"}
    assert editor.command("answer", answer) == {"answered": True}
    result = editor.result(prompt)
    assert (result["stopReason"], result["text"]) == ("endTurn", "Done.")
    assert (project.folder / "ran.txt").read_text() == "ran\n"
    assert re.search(r"\[exit 0\]  Took \d\.\ds$", editor.tool_texts()[0])
    assert warnings(editor) == []


def test_a_commands_own_limit_begins_when_it_is_allowed(project: Project, clock: Clock) -> None:
    editor = project.editor(
        step("", call("bash", command="echo begun; sleep 60", timeout=5)),
        step("Done."),
        client=ASK,
        options={"permissions": {"reading": "ask"}},
    )
    prompt = editor.prompt("Go.")
    asked = editor.notification("agent/ask")
    clock.forward(editor, HOUR)
    editor.command("answer", {"questionId": asked["questionId"], "optionId": "allow"})
    assert editor.event("toolProgress")["text"] == "begun\n"
    assert editor.events("toolResult") == []
    clock.forward(editor, 12)
    assert editor.result(prompt)["text"] == "Done."
    assert "begun" in editor.tool_texts()[0]
    assert "[exit -1]" in editor.tool_texts()[0]


def test_an_hour_without_an_answer_is_no_consent_when_the_turn_is_stopped(
    project: Project, clock: Clock
) -> None:
    editor = project.editor(step("", bash("echo ran > ran.txt")), step("Done."), client=ASK)
    prompt = editor.prompt("Go.")
    editor.notification("agent/ask")
    clock.forward(editor, HOUR)
    assert editor.call("agent/abort") == {"aborted": True}
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert editor.event("questionAnswered").get("optionId") is None
    assert "[exit" not in "".join(editor.tool_texts())
    assert not (project.folder / "ran.txt").exists()


def test_a_file_call_ends_before_the_agent_gives_up_and_the_next_one_alike_has_the_answer(
    project: Project, clock: Clock
) -> None:
    project.file("a.txt", "one\n")
    read = call("read", path="a.txt")
    editor = project.editor(
        step("", read), step("", read), step("", read), step("Done."),
        client=ASK,
        options={"permissions": {"read": "ask"}},
    )  # fmt: skip
    prompt = editor.prompt("Go.")
    asked = editor.notification("agent/ask")
    clock.forward(editor, 42)
    assert editor.events("toolResult") == []
    clock.forward(editor, 12)
    assert wait_until(lambda: editor.events("toolResult"))
    assert editor.tool_texts()[0].startswith("Not run yet: the user is still being asked")
    assert len(editor.call("agent/state")["questions"]) == 1
    editor.answers = ["deny"]
    editor.command("answer", {"questionId": asked["questionId"], "optionId": "allow"})
    assert editor.result(prompt)["text"] == "Done."
    assert editor.tool_texts()[1:] == ["one\n", "Not run: the user declined this call."]
    assert len(editor.received("agent/ask")) == 2
    assert editor.call("agent/state")["questions"] == []
