"""Stopping: by ``agent/abort``, ``$/cancelRequest`` and the progress' cancel.

Each answers within a second though the command ignores SIGTERM and hides a child in a session
of its own, and nothing of the command is left then.
"""

import pytest
from support.project import (
    ALLOWED,
    EVENTS,
    Editor,
    Project,
    Stopwatch,
    Stubborn,
    bash,
    edit,
    step,
    write,
)
from support.raw_client import NO_ANSWER, Json, RpcError, wait_until


@pytest.fixture
def stubborn() -> Stubborn:
    return Stubborn()


@pytest.fixture
def editor(project: Project, stubborn: Stubborn) -> Editor:
    """An agent that runs a stubborn command, and goes on well with the next prompt."""
    project.file("a.txt", "one\n")
    return project.editor(
        step("Starting.", bash(stubborn.command), edit("a.txt", "one", "two")),
        step("Never said."),
        step("Well again.", match="next"),
        options=ALLOWED,
        client=EVENTS,
    )


def running(editor: Editor, stubborn: Stubborn, **params: object) -> int:
    """Prompts, and waits until the command runs; the request's id."""
    prompt = editor.prompt("Go.", **params)
    editor.event("toolProgress")
    assert wait_until(lambda: stubborn.runs)
    return prompt


def assert_stopped(editor: Editor, stubborn: Stubborn) -> None:
    assert stubborn.processes() == []
    (ended,) = editor.events("turnEnded")
    assert ended["stopReason"] == "aborted"


def assert_next_prompt_works(editor: Editor) -> None:
    assert editor.ask_agent("The next one.")["text"] == "Well again."
    assert editor.events("editApplied", "editProposed") == []
    assert [event["stopReason"] for event in editor.events("turnEnded")] == ["aborted", "endTurn"]


def test_an_abort_ends_the_running_turn_and_its_processes(
    editor: Editor, stubborn: Stubborn
) -> None:
    prompt = running(editor, stubborn)
    watch = Stopwatch()
    assert editor.call("agent/abort") == {"aborted": True}
    assert watch.seconds < 1
    assert_stopped(editor, stubborn)
    result = editor.result(prompt)
    assert (result["stopReason"], result["edits"]) == ("aborted", [])
    assert "error" not in result
    assert_next_prompt_works(editor)
    assert editor.documents == {}
    assert editor.received("workspace/applyEdit") == []


def test_a_cancelled_prompt_is_answered_as_cancelled(editor: Editor, stubborn: Stubborn) -> None:
    prompt = running(editor, stubborn)
    watch = Stopwatch()
    editor.cancel(prompt)
    with pytest.raises(RpcError) as caught:
        editor.result(prompt)
    assert watch.seconds < 1
    assert caught.value.code == -32800
    assert_stopped(editor, stubborn)
    assert_next_prompt_works(editor)


def test_cancelling_the_progress_stops_the_turn(editor: Editor, stubborn: Stubborn) -> None:
    prompt = running(editor, stubborn)
    token = editor.received("window/workDoneProgress/create")[0]["token"]
    watch = Stopwatch()
    editor.notify("window/workDoneProgress/cancel", {"token": token})
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert watch.seconds < 1
    assert wait_until(lambda: editor.progress(token)[-1]["kind"] == "end")
    assert_stopped(editor, stubborn)
    assert_next_prompt_works(editor)


def test_cancelling_the_clients_own_progress_stops_the_turn(
    editor: Editor, stubborn: Stubborn
) -> None:
    prompt = running(editor, stubborn, workDoneToken="mine")
    editor.notify("window/workDoneProgress/cancel", {"token": "mine"})
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert_stopped(editor, stubborn)


def test_a_prompt_sent_right_after_the_stop_waits_and_runs(
    editor: Editor, stubborn: Stubborn
) -> None:
    first = running(editor, stubborn)
    abort = editor.request("agent/abort")
    second = editor.prompt("The next one.")
    assert editor.result(abort) == {"aborted": True}
    assert editor.result(first)["stopReason"] == "aborted"
    assert editor.result(second)["text"] == "Well again."


def test_the_running_turn_can_be_named(editor: Editor, stubborn: Stubborn) -> None:
    running(editor, stubborn)
    turn = editor.call("agent/state")["turnId"]
    assert editor.call("agent/abort", {"turnId": turn}) == {"aborted": True}
    assert_stopped(editor, stubborn)


def test_an_abort_drops_the_queue_each_turn_aborted(editor: Editor, stubborn: Stubborn) -> None:
    first = running(editor, stubborn)
    others = [editor.prompt("The next one."), editor.prompt("And one more.")]
    assert editor.call("agent/abort") == {"aborted": True}
    reasons = [editor.result(answer)["stopReason"] for answer in (first, *others)]
    assert reasons == ["aborted"] * 3
    assert len({event["turnId"] for event in editor.events("turnEnded")}) == 3
    assert len(editor.events("turnEnded")) == 3
    assert editor.events("queueChanged")[-1]["queued"] == []
    assert editor.call("agent/state")["queued"] == []


def test_an_abort_drops_words_for_the_running_turn_that_it_has_not_taken_up(
    editor: Editor, stubborn: Stubborn
) -> None:
    first = running(editor, stubborn)
    words = editor.prompt("The next one.", whenBusy="steer")
    stop = editor.request("agent/abort", {})
    assert editor.result(stop) == {"aborted": True}
    assert [editor.result(answer)["stopReason"] for answer in (first, words)] == ["aborted"] * 2
    assert len(editor.events("turnStarted")) == 1


def test_with_the_id_of_a_queued_turn_only_that_one_is_dropped(project: Project) -> None:
    editor = project.editor(step("First.", delay_ms=400), step("Second."), client=EVENTS)
    first, dropped, kept = (editor.prompt(text) for text in ("One.", "Two.", "Three."))
    editor.event("turnStarted")
    queued = editor.call("agent/state")["queued"]
    assert len(queued) == 2
    assert editor.call("agent/abort", {"turnId": queued[0]}) == {"aborted": True}
    assert editor.result(dropped)["stopReason"] == "aborted"
    assert [editor.result(answer)["text"] for answer in (first, kept)] == ["First.", "Second."]
    assert [event["prompt"] for event in editor.events("turnStarted")] == ["One.", "Three."]


def test_cancelling_a_queued_prompt_leaves_the_running_one(project: Project) -> None:
    editor = project.editor(step("First.", delay_ms=400), client=EVENTS)
    first, queued = editor.prompt("One."), editor.prompt("Two.")
    editor.event("turnStarted")
    editor.cancel(queued)
    with pytest.raises(RpcError) as caught:
        editor.result(queued)
    assert caught.value.code == -32800
    assert editor.result(first)["text"] == "First."


def test_cancelling_the_running_prompt_leaves_the_queue(editor: Editor, stubborn: Stubborn) -> None:
    first = running(editor, stubborn)
    others = [editor.prompt("The next one."), editor.prompt("And the next one.")]
    editor.cancel(first)
    with pytest.raises(RpcError) as caught:
        editor.result(first)
    assert caught.value.code == -32800
    assert [editor.result(other)["stopReason"] for other in others] == ["endTurn"] * 2
    assert stubborn.processes() == []


def test_cancelling_the_progress_leaves_the_queue(editor: Editor, stubborn: Stubborn) -> None:
    first = running(editor, stubborn, workDoneToken="mine")
    other = editor.prompt("The next one.")
    editor.notify("window/workDoneProgress/cancel", {"token": "mine"})
    assert editor.result(first)["stopReason"] == "aborted"
    assert editor.result(other)["stopReason"] == "endTurn"


def test_cancelling_a_steering_prompt_leaves_the_turn_that_took_it_up(project: Project) -> None:
    editor = project.editor(step("word " * 100, pace_ms=10), client=EVENTS)
    first = editor.prompt("Go.")
    editor.event("textDelta")
    steering = editor.prompt("Faster.", whenBusy="steer")
    editor.call("agent/state")  # by then it was handed over
    editor.cancel(steering)
    with pytest.raises(RpcError) as caught:
        editor.result(steering)
    assert caught.value.code == -32800
    assert editor.result(first)["stopReason"] == "endTurn"


@pytest.mark.parametrize("made", [False, True], ids=["without a session", "with an idle one"])
def test_when_nothing_runs_nothing_is_aborted(project: Project, made: bool) -> None:
    editor = project.editor(step("Done."))
    if made:
        turn = editor.ask_agent("Go.")["turnId"]
        assert editor.call("agent/abort", {"turnId": turn}) == {"aborted": False}
    assert editor.call("agent/abort") == {"aborted": False}


def test_an_agent_that_is_starting_can_be_stopped(project: Project) -> None:
    slow = project.agent(step("Never."), command=["sh", "-c", "sleep 30"])
    editor = project.editor(agent=slow, client=EVENTS)
    prompt = editor.prompt("Go.")
    editor.event("agentStatus", status="starting")
    watch = Stopwatch()
    assert editor.call("agent/abort") == {"aborted": True}
    assert watch.seconds < 1
    assert editor.result(prompt)["stopReason"] == "aborted"


def test_streaming_stops_and_nothing_of_it_comes_after_the_end(project: Project) -> None:
    editor = project.editor(
        step("word " * 400, pace_ms=5), step("Well again.", match="next"), client=EVENTS
    )
    prompt = editor.prompt("Go.")
    editor.event("textDelta")
    assert editor.call("agent/abort") == {"aborted": True}
    turn = editor.result(prompt)["turnId"]
    assert editor.ask_agent("The next one.")["text"] == "Well again."
    types = [event["type"] for event in editor.events(turnId=turn)]
    assert types[-1] == "turnEnded"
    assert types.count("turnEnded") == 1


def test_an_edit_that_the_editor_has_not_answered_does_not_delay_the_stop(
    project: Project,
) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "two"), write("b.txt", "b\n")), step("Never."), client=EVENTS
    )
    editor.open(path)
    editor.handlers["workspace/applyEdit"] = _never
    prompt = editor.prompt("Go.")
    editor.notification("workspace/applyEdit")
    watch = Stopwatch()
    assert editor.call("agent/abort") == {"aborted": True}
    assert watch.seconds < 1
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert not (project.folder / "b.txt").exists()


def _never(_params: Json) -> object:
    return NO_ANSWER
