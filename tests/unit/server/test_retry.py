"""A failed turn is tried again: the same words, on the files as they are now."""

import sys
from pathlib import Path

from support.project import EVENTS, Project, edit, step

ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")


def test_a_failed_turn_is_tried_again_with_the_same_prompt(project: Project) -> None:
    path = project.file("a.txt", "one\ntwo\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "ONE")),
        step("So far.", error="overloaded"),
        step("", edit("a.txt", "two", "TWO")),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(path)
    item = {"uri": document.uri}
    assert editor.ask_agent("Shout.", context=[item])["stopReason"] == "error"
    failed = editor.event("turnStarted")["prompt"]
    again = editor.call("agent/retry")
    assert (again["stopReason"], again["text"]) == ("endTurn", "Done.")
    assert editor.event("turnStarted", turnId=again["turnId"])["prompt"] == failed
    assert document.text.content == "ONE\nTWO\n"


def test_the_commands_form_answers_at_once(project: Project) -> None:
    editor = project.editor(step("", error="overloaded"), step("Back again."), client=EVENTS)
    failed = editor.ask_agent("Go.")
    started = editor.command("retry")
    assert started["sessionId"] == failed["sessionId"]
    assert editor.event("turnEnded", turnId=started["turnId"])["stopReason"] == "endTurn"


def test_after_its_agent_died_another_tries_it(project: Project) -> None:
    editor = project.editor(
        agent={"wire": "acp", "command": [sys.executable, ACP_AGENT, "{}"]}, client=EVENTS
    )
    assert editor.failure("agent/prompt", {"text": "die"}).data["kind"] == "agentExited"
    assert editor.failure("agent/retry").data["kind"] == "agentExited"
    assert [event["prompt"] for event in editor.events("turnStarted")] == ["die", "die"]


def test_what_has_not_failed_is_not_tried_again(project: Project) -> None:
    editor = project.editor(step("Done."), client=EVENTS)
    for _ in range(2):
        assert editor.failure("agent/retry").data["kind"] == "conflict"
        editor.ask_agent("Go.")


def test_what_failed_before_the_conversation_was_cleared_is_not_tried_again(
    project: Project,
) -> None:
    editor = project.editor(step("", error="overloaded"), step("Done."), client=EVENTS)
    assert editor.ask_agent("Go.")["stopReason"] == "error"
    editor.call("agent/clear")
    assert editor.failure("agent/retry").data["kind"] == "conflict"
