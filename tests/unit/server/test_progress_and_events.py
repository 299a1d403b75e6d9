"""What a person sees of a turn: ``agent/event`` and work done progress."""

import base64

import pytest
from support.project import ALLOWED, EVENTS, Editor, Project, bash, call, edit, step
from support.raw_client import Json, wait_until

# agent/event


def test_the_events_of_a_turn_come_in_order_without_gaps(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(
        step("Let me see.", call("read", path="a.txt"), edit("a.txt", "one", "two")),
        step("", bash("echo hello")),
        step("All done."),
        client=EVENTS,
        options=ALLOWED,
    )
    editor.open(path)
    result = editor.ask_agent("Go.")
    events = editor.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {event["sessionId"] for event in events} == {result["sessionId"]}
    assert sorted(event["time"] for event in events) == [event["time"] for event in events]
    # A window's size may have to be asked for first.
    pieces = ("textDelta", "toolArgsDelta", "toolProgress", "window")
    types = [event["type"] for event in editor.events(turnId=result["turnId"])]
    assert " ".join(kind for kind in types if kind not in pieces) == (
        "turnStarted userMessage"
        " stepStarted toolCallStarted toolCallStarted usage assistantMessage toolCall toolCall"
        " stepEnded toolResult editApplied toolResult"
        " stepStarted toolCallStarted usage assistantMessage toolCall"
        " stepEnded toolResult"
        " stepStarted usage assistantMessage"
        " stepEnded turnEnded"
    )
    last_result = len(types) - types[::-1].index("toolResult")
    assert types.index("toolProgress") < last_result
    assert [event["step"] for event in editor.events("stepStarted")] == [1, 2, 3]
    assert [event["stopReason"] for event in editor.events("turnEnded")] == ["endTurn"]
    assert [event["status"] for event in editor.events("agentStatus")] == ["starting", "ready"]


def test_a_tool_call_is_told_once_with_its_arguments(project: Project) -> None:
    project.file("a.txt", "one\n")
    editor = project.editor(
        step("", call("read", path="a.txt")), step("", bash("echo x")), step("Done."),
        client=EVENTS, options=ALLOWED,
    )  # fmt: skip
    editor.ask_agent("Go.")
    read, command = editor.events("toolCall")
    assert (read["tool"], read["kind"], read["args"], read["paths"]) == (
        "read", "read", {"path": "a.txt"}, ["a.txt"],
    )  # fmt: skip
    assert (command["tool"], command["kind"]) == ("bash", "command")
    assert command["args"] == {"command": "echo x"}
    for tool_call in (read, command):
        call_id = tool_call["toolCallId"]
        pieces = editor.events("toolArgsDelta", toolCallId=call_id)
        assert "".join(piece["text"] for piece in pieces).replace(" ", "").startswith("{")
        (result,) = editor.events("toolResult", toolCallId=call_id)
        assert result["isError"] is False
    assert "x" in editor.events("toolProgress")[0]["text"]


def test_the_deltas_of_a_step_are_its_text(project: Project) -> None:
    text = " ".join(f"word-{n}😀" for n in range(300))
    editor = project.editor(step(text), client=EVENTS)
    assert editor.ask_agent("Go.")["text"] == text
    deltas = editor.events("textDelta")
    assert "".join(delta["text"] for delta in deltas) == text
    assert len(deltas) < 300  # joined
    events = editor.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    (message,) = editor.events("assistantMessage")
    assert message["message"]["content"] == [{"type": "text", "text": text}]


def test_each_session_counts_its_own_events(project: Project) -> None:
    editor = project.editor(step("Hello."), client=EVENTS)
    other = editor.call("agent/newSession")["sessionId"]
    prompts = [editor.prompt("Go."), editor.prompt("Go.", sessionId=other)]
    sessions = [editor.result(prompt)["sessionId"] for prompt in prompts]
    for session in sessions:
        numbers = [event["seq"] for event in editor.events(sessionId=session)]
        assert numbers == list(range(1, len(numbers) + 1))


def test_the_end_of_a_turn_is_told_before_its_result(project: Project) -> None:
    editor = project.editor(step("Hello."), client=EVENTS)
    prompt = editor.prompt("Go.")
    editor.result(prompt)
    order = [
        "result" if message.get("id") == prompt else message["params"]["type"]
        for message in list(editor.messages)
        if message.get("id") == prompt or message.get("method") == "agent/event"
    ]
    assert order.index("turnEnded") < order.index("result")


def test_the_agents_error_is_an_event_and_the_turn_ends_once(project: Project) -> None:
    editor = project.editor(step("So far.", error="overloaded"), client=EVENTS)
    editor.ask_agent("Go.")
    (error,) = editor.events("error")
    assert "overloaded" in error["message"]
    (ended,) = editor.events("turnEnded")
    assert (ended["stopReason"], "overloaded" in ended["error"]) == ("error", True)


def test_a_client_that_did_not_ask_for_events_gets_none(project: Project) -> None:
    editor = project.editor(step("Hello."))
    assert editor.ask_agent("Go.")["text"] == "Hello."
    assert editor.received("agent/event") == []


def test_binary_pictures_in_events_are_base64(project: Project) -> None:
    data = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
    )
    (project.folder / "dot.png").write_bytes(data)
    editor = project.editor(step("", call("read", path="dot.png")), step("Seen."), client=EVENTS)
    editor.ask_agent("Look.")
    (result,) = editor.events("toolResult")
    assert result["isError"] in (True, False)
    assert result["content"][0]["type"] in ("image", "text")


# Progress


def tokens(editor: Editor) -> list[str]:
    return [params["token"] for params in editor.received("window/workDoneProgress/create")]


def assert_begun_and_ended_once(values: list[Json]) -> None:
    kinds = [value["kind"] for value in values]
    assert kinds[0] == "begin"
    assert kinds[-1] == "end"
    assert set(kinds[1:-1]) <= {"report"}


def test_a_turn_has_one_cancellable_progress(project: Project) -> None:
    editor = project.editor(step("Slow.", delay_ms=200))
    editor.ask_agent("Make it so.\nSoon.")
    (token,) = tokens(editor)
    assert wait_until(lambda: editor.progress(token)[-1]["kind"] == "end")
    begin, *_, end = editor.progress(token)
    assert (begin["title"], begin["cancellable"]) == ("agent: Make it so.…", True)
    assert end == {"kind": "end", "message": "Slow."}
    assert_begun_and_ended_once(editor.progress(token))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([step("x\ny")], "x…"),
        ([step("")], "done"),
        ([step("x", error="overloaded")], "overloaded"),
        ([step("x", stop="length")], "stopped at the model's limit of tokens"),
    ],
)
def test_the_progress_says_how_the_turn_ended(
    project: Project, steps: list[Json], message: str
) -> None:
    steps[0]["delay_ms"] = 100
    editor = project.editor(*steps)
    editor.ask_agent("Go.")
    (token,) = tokens(editor)
    assert wait_until(lambda: editor.progress(token)[-1]["kind"] == "end")
    assert message in editor.progress(token)[-1]["message"]


def test_a_tool_call_that_takes_a_while_has_a_progress(project: Project) -> None:
    command = "echo first; sleep 0.35; printf 'half'; sleep 0.2; echo ' a line'; sleep 0.2"
    editor = project.editor(step("", bash(command)), step("Done."), options=ALLOWED)
    editor.ask_agent("Go.")
    turn, tool = tokens(editor)
    assert wait_until(lambda: editor.progress(turn)[-1]["kind"] == "end")
    begin, *reports, end = editor.progress(tool)
    assert begin["title"] == f"bash: {command[:60]}…"
    assert begin["cancellable"] is False
    shown = [value["message"] for value in [begin, *reports] if "message" in value]
    assert shown[0] == "first"
    assert shown[-1] == "half a line"
    assert end == {"kind": "end", "message": "done"}
    assert f"bash: {command[:60]}…" in [value.get("message") for value in editor.progress(turn)]


def test_a_short_tool_call_has_none(project: Project) -> None:
    project.file("a.txt", "one\n")
    steps = [step("", call("read", path="a.txt")), step("Done.")]
    editor = project.editor(*steps * 10, client=EVENTS)
    for _ in range(10):  # on a busy machine some may take long
        before = len(tokens(editor))
        editor.ask_agent("Go.")
        call_begun, call_ended = editor.events("toolCall")[-1], editor.events("toolResult")[-1]
        if call_ended["time"] - call_begun["time"] < 0.05:
            break
    assert len(tokens(editor)) - before == 1  # the turn's own


def test_a_failed_tool_call_says_so(project: Project) -> None:
    editor = project.editor(step("", bash("sleep 0.3; false")), step("Done."), options=ALLOWED)
    editor.ask_agent("Go.")
    _, tool = tokens(editor)
    assert editor.progress(tool)[-1] == {"kind": "end", "message": "failed"}


def test_a_flood_of_output_is_at_most_ten_reports_a_second(project: Project) -> None:
    command = "i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); sleep 0.003; done"
    editor = project.editor(step("", bash(command)), step("Done."), options=ALLOWED, client=EVENTS)
    editor.ask_agent("Go.")
    _, tool = tokens(editor)
    started, ended = editor.events("toolCall")[0]["time"], editor.events("toolResult")[0]["time"]
    reports = [value for value in editor.progress(tool) if value["kind"] == "report"]
    assert 2 <= len(reports) <= (ended - started) * 10 + 1


def test_a_queued_turns_progress_says_that_it_waits(project: Project) -> None:
    editor = project.editor(step("Slow.", delay_ms=400), step("Next."), client=EVENTS)
    first = editor.prompt("One.")
    editor.event("turnStarted")
    second = editor.prompt("Two.", workDoneToken="second")
    editor.result(first)
    editor.result(second)
    messages = [value.get("message") for value in editor.progress("second")]
    assert "waits for the running turn" in messages
    assert_begun_and_ended_once(editor.progress("second"))


@pytest.mark.parametrize(
    "progress", [True, False], ids=["with", "without progress of the server's"]
)
def test_the_clients_own_token_is_used(project: Project, progress: bool) -> None:
    capabilities = {"window": {"workDoneProgress": progress}}
    editor = project.editor(step("Slow.", delay_ms=50), capabilities=capabilities)
    editor.ask_agent("Go.", workDoneToken=7)
    assert tokens(editor) == []
    assert wait_until(lambda: editor.progress(7)[-1]["kind"] == "end")
    assert_begun_and_ended_once(editor.progress(7))


def test_a_client_without_progress_gets_none(project: Project) -> None:
    editor = project.editor(step("Hello.", delay_ms=50), capabilities={"window": {}})
    assert editor.ask_agent("Go.")["text"] == "Hello."
    assert editor.received("$/progress") == []
    assert tokens(editor) == []


def test_a_client_that_refuses_a_progress_still_gets_its_result(project: Project) -> None:
    editor = project.editor(step("Hello.", delay_ms=50))
    del editor.handlers["window/workDoneProgress/create"]
    assert editor.ask_agent("Go.")["text"] == "Hello."
    assert editor.received("$/progress") == []
