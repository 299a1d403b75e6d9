"""What a person may expect of any agent, hosted or mirrored: twelve scenarios."""

import contextlib
import os
import signal
from collections.abc import Callable

import pytest
from support.acp_agents import PATIENCE
from support.actors import Actor, Call, Refusal, Step
from support.project import Editor, Project, Stubborn
from support.raw_client import Json, RpcError, descendants, wait_until

pytestmark = pytest.mark.sampled

ALLOWED: Json = {"permissions": {"command": "allow"}}
LINES = "one\ntwo\nthree\nfour\nfive\n"
#: In which a stop is answered, in seconds, however busy the machine is: long before the model says
#: something or the command ends.
STOPPED = 20.0

Start = Callable[..., Editor]
#: For its start and its end; and for a stop before the first word, which in a second conversation
#: ends the process of Claude Code that its adapter (0.101) has started for it.
own_agent = pytest.mark.usefixtures("own_agent")


def say(text: str, **more: object) -> Step:
    return Step(text, **more)  # type: ignore[arg-type]


def do(*calls: Call) -> Step:
    return Step(calls=calls)


def soon(true: Callable[[], object]) -> bool:
    """A real agent takes its time to start, beside other tests."""
    return wait_until(true, PATIENCE)


def streamed(editor: Editor) -> str:
    return "".join(event["text"] for event in editor.events("textDelta"))


def ends(editor: Editor) -> list[str]:
    return [event["stopReason"] for event in editor.events("turnEnded")]


@own_agent
def test_01_an_answer_streams_and_ends_the_turn_once(start: Start) -> None:
    editor = start(say("Hello, this is the whole answer."))
    result = editor.ask_agent("Say hello.")
    assert (result["stopReason"], result["text"]) == ("endTurn", "Hello, this is the whole answer.")
    assert streamed(editor) == "Hello, this is the whole answer."
    assert ends(editor) == ["endTurn"]
    events = editor.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


def test_02_it_reads_what_the_editor_shows_or_else_the_disk(
    project: Project, actor: Actor, start: Start
) -> None:
    path = project.file("read.txt", LINES)
    editor = start(do(actor.read(str(path))), say("Read."))
    document = editor.open(path)
    editor.type(document, 0, "typed\n")
    assert editor.ask_agent("Read it.")["text"] == "Read."
    (text,) = actor.told(editor)
    assert "three" in text
    assert ("typed" in text) is (actor.hosted and not actor.reads_disk)


def test_03_an_edit_reaches_an_unsaved_document_beside_what_is_typed(
    project: Project, actor: Actor, start: Start
) -> None:
    path = project.file("edited.txt", LINES)
    editor = start(
        do(actor.read(str(path))), do(actor.edit(str(path), "four\n", "4\n")), say("Done.")
    )
    document = editor.open(path)
    editor.type(document, 0, "typed\n")
    result = editor.ask_agent("Edit it.")
    assert result["text"] == "Done."
    assert document.text.content == "typed\n" + LINES.replace("four", "4")
    assert path.read_text() == (LINES if actor.hosted else LINES.replace("four", "4"))
    assert [edit["status"] for edit in result["edits"]] == ["applied"]
    assert editor.call("agent/state")["hosting"] == ("hosted" if actor.hosted else "mirror")


def test_04_a_new_file_is_written(project: Project, actor: Actor, start: Start) -> None:
    path = project.folder / "new.txt"
    editor = start(do(actor.write(str(path), "né 😀\n")), say("Done."))
    result = editor.ask_agent("Write it.")
    assert result["text"] == "Done."
    assert path.read_bytes() == "né 😀\n".encode()
    assert [edit["uri"].rsplit("/", 1)[1] for edit in result["edits"]] == ["new.txt"]


def test_05_a_command_that_is_allowed_runs_and_its_output_is_told(
    actor: Actor, start: Start
) -> None:
    editor = start(do(actor.command("sh -c 'echo first'; exit 3")), say("Done."))
    editor.answers = ["allow"]
    assert editor.ask_agent("Run it.")["text"] == "Done."
    (text,) = actor.told(editor)
    assert "first" in text
    (question,) = editor.received("agent/ask")
    assert "sh -c 'echo first'; exit 3" in question["detail"]


def test_06_a_command_that_is_denied_does_not_run(
    project: Project, actor: Actor, start: Start
) -> None:
    editor = start(do(actor.command("echo x > ran.txt")), say("A pity."), say("Well."))
    editor.answers = ["deny"]
    first = editor.ask_agent("Run it.")
    assert first["stopReason"] in ("endTurn", "aborted")  # some agents stop there by themselves
    assert not (project.folder / "ran.txt").exists()
    (result,) = editor.events("toolResult")
    assert result["isError"]
    assert editor.ask_agent("Go on.")["stopReason"] == "endTurn"


@own_agent
def test_07_a_stop_while_the_model_is_silent_is_answered_at_once(
    actor: Actor, start: Start
) -> None:
    editor = start(say("Never.", delay=30), say("Well again."))
    prompt = editor.prompt("Go.")
    assert soon(lambda: actor.model_calls(editor) == 1)
    assert editor.call("agent/abort", timeout=STOPPED) == {"aborted": True}
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert editor.ask_agent("Again.")["text"] == "Well again."
    assert ends(editor) == ["aborted", "endTurn"]


@own_agent
def test_08_a_stop_while_a_command_runs_leaves_nothing_running(actor: Actor, start: Start) -> None:
    stubborn = Stubborn()
    editor = start(do(actor.command(stubborn.command)), say("Well again."), options=ALLOWED)
    prompt = editor.prompt("Go.")
    assert soon(lambda: stubborn.runs)
    assert editor.call("agent/abort", timeout=STOPPED) == {"aborted": True}
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert stubborn.processes() == []
    again = editor.ask_agent("Again.")
    assert (again["stopReason"], again["text"]) == ("endTurn", "Well again."), again


def test_09_several_calls_of_one_step_are_each_told_once(
    project: Project, actor: Actor, start: Start
) -> None:
    one, two = project.file("a.txt", "a\n"), project.file("b.txt", "b\n")
    editor = start(do(actor.read(str(one)), actor.read(str(two))), say("Both."))
    assert editor.ask_agent("Read both.")["text"] == "Both."
    calls = [event["toolCallId"] for event in editor.events("toolCall")]
    assert len(set(calls)) == len(calls) == 2
    assert sorted(event["toolCallId"] for event in editor.events("toolResult")) == sorted(calls)
    assert [event["isError"] for event in editor.events("toolResult")] == [False, False]


def test_10_a_prompt_while_one_runs_waits_for_its_turn(actor: Actor, start: Start) -> None:
    editor = start(say("First.", delay=1), say("Second."))
    first = editor.prompt("One.")
    assert soon(lambda: actor.model_calls(editor) == 1)
    second = editor.prompt("Two.")
    assert len(editor.call("agent/state")["queued"]) == 1
    assert editor.result(first)["text"] == "First."
    assert editor.result(second)["text"] == "Second."
    assert ends(editor) == ["endTurn", "endTurn"]


@own_agent
def test_11_a_provider_that_refuses_ends_the_turn_with_its_words(start: Start) -> None:
    editor = start(say("Never.", refusal=Refusal(400, "no such thing")), say("Back again."))
    result = editor.ask_agent("Go.")
    assert result["stopReason"] == "error"
    assert "no such thing" in result["error"]
    assert ends(editor) == ["error"]
    assert editor.ask_agent("Again.")["text"] == "Back again."


@own_agent
def test_12_an_agent_that_is_killed_ends_its_turn_and_is_started_again(
    project: Project, actor: Actor, start: Start
) -> None:
    path = project.file("a.txt", LINES)
    editor = start(
        do(actor.read(str(path))),
        do(actor.edit(str(path), "four\n", "4\n")),
        say("Never.", delay=30),
        say("Never.", delay=30),
    )
    document = editor.open(path)
    prompt = editor.prompt("Go.")
    assert soon(lambda: actor.model_calls(editor) == 3)
    assert soon(lambda: document.text.content == LINES.replace("four", "4"))
    for pid in descendants(editor.process.pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    with pytest.raises(RpcError) as failure:
        editor.result(prompt)
    assert failure.value.data["kind"] == "agentExited"
    assert ends(editor) == ["error"]
    assert document.text.content == LINES.replace("four", "4")
    again = editor.prompt("Again.")
    assert soon(lambda: actor.model_calls(editor) > 3)
    editor.call("agent/abort")
    editor.result(again)
