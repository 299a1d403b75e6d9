"""What zot can, cell by cell of docs/agents.md: from recordings of the real one, as the wire
tells them. tests/agents_real has the same with a zot on PATH."""

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from desks import NONE
from zot_recordings import frames
from zot_replay import NAMES, Replay, lines, replay

from lsp_agent.protocol.events import (
    Compacted,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolCall,
    ToolProgress,
    ToolResult,
    UsageReported,
    UserMessage,
)
from lsp_agent.wires.zot import ZotWire

Json = dict[str, Any]

pytestmark = pytest.mark.xdist_group("capabilities zot")

#: Of zot's side; ours of resuming and steering is what it is for the embedded agent, whose wire
#: is the same.
VERDICTS = {
    "version": "recordings of 0.0.0",
    "thinking": f"{NONE} (recorded)",
    "abort_before_the_answer": "not recorded",
    "sessions": "not recorded",
    "steer": f"{NONE} (recorded)",
    "resume": f"{NONE} (recorded)",
    "own_sessions": f"{NONE} (recorded)",
}


@pytest.fixture(autouse=True)
def cell(request: pytest.FixtureRequest, record_property: Callable[[str, object], None]) -> None:
    name: str = request.function.__name__.removeprefix("test_")
    record_property("capability", ("zot", name, VERDICTS.get(name, "recorded")))


def played(name: str) -> Replay:
    return replay(lines(name))


def joined(replayed: Replay, kind: type[Any]) -> str:
    return "".join(event.text for event in replayed.of(kind))


def sent_by_zot(kind: str) -> Iterator[Json]:
    """Every frame of this type, of all recordings."""
    return (frame for name in NAMES for frame in frames(name) if frame.get("type") == kind)


def test_version() -> None:
    hellos = (each for each in sent_by_zot("response") if each["command"] == "hello")
    said = {each["data"]["version"] for each in hellos if each["success"]}
    assert said == {VERDICTS["version"].split()[-1]}


def test_text() -> None:
    replayed = played("simple_text")
    (turn,) = replayed.turns
    assert turn.text.startswith("Hello, world — <b>&amp;</b> 😀")
    assert joined(replayed, TextDelta) == turn.text
    assert [end.stop_reason for end in turn.ends] == ["endTurn"]


def test_thinking() -> None:
    """In this one the model did nothing else."""
    replayed = played("thinking_only")
    assert not replayed.of(ThinkingDelta)
    assert not replayed.of(TextDelta)


def test_argument_streaming() -> None:
    replayed = played("bash_progress")
    assert len(frames_of("bash_progress", "tool_use_args")) > 1
    (call,) = replayed.of(ToolCall)
    assert json.loads(joined(replayed, ToolArgsDelta)) == call.args


def test_progress() -> None:
    assert len(frames_of("bash_progress", "tool_progress")) > 1
    assert joined(played("bash_progress"), ToolProgress) == "line 1\nline 2\nline 3\nerr\n"


def test_hosted_read() -> None:
    check_hosted("read")


def test_hosted_edit() -> None:
    check_hosted("edit")


def test_hosted_write() -> None:
    check_hosted("write")


def check_hosted(tool: str) -> None:
    """What our side of the bridge answered is what zot took for the result."""
    name = "gate_hosted_tools_and_bash"
    said = [entry["line"] for entry in lines(name) if entry["dir"] == "ext"]
    said = [each for each in said if isinstance(each, dict)]
    asked = [
        each["id"] for each in said if each.get("type") == "tool_call" and each["name"] == tool
    ]
    answers = {each["id"]: each["content"] for each in said if each.get("type") == "tool_result"}
    replayed = played(name)
    calls = [call.tool_call_id for call in replayed.of(ToolCall) if call.tool == tool]
    results = {result.tool_call_id: result.content for result in replayed.of(ToolResult)}
    assert calls
    assert [results[each] for each in calls] == [answers[each] for each in asked]


def test_command_gate() -> None:
    replayed = played("gate_hosted_tools_and_bash")
    calls = [call.tool_call_id for call in replayed.of(ToolCall) if call.tool == "bash"]
    results = {result.tool_call_id: str(result.content) for result in replayed.of(ToolResult)}
    allowed, denied = (results[each] for each in calls)
    assert "TWO é" in allowed
    assert "Not run: the user declined this command." in denied


# There is none where nothing had come yet.
def test_abort_before_the_answer() -> None:
    for name in NAMES:
        before = itertools.takewhile(lambda each: not is_abort(each), lines(name))
        types = [each["line"]["type"] for each in before if each["dir"] == "out"]
        aborted = any(map(is_abort, lines(name)))
        assert not aborted or not types or types[-1] not in ("assistant_start", "turn_start"), name


def is_abort(entry: Json) -> bool:
    frame = entry.get("line")
    return entry["dir"] == "in" and isinstance(frame, dict) and frame.get("type") == "abort"


def test_abort_in_the_answer() -> None:
    aborted, later = played("abort_midstream").turns
    assert [end.stop_reason for end in aborted.ends] == ["aborted"]
    assert aborted.text == "w0 w1 w2 w3 w4 w5 "
    assert later.text == "fresh answer"


def test_abort_at_a_question() -> None:
    (turn,) = played("gate_abort_while_waiting").turns
    assert [end.stop_reason for end in turn.ends] == ["aborted"]
    assert [is_error for _, is_error, _ in turn.results] == [True, True, True]


def test_abort_in_a_command() -> None:
    aborted, later = played("abort_during_bash").turns
    assert [end.stop_reason for end in aborted.ends] == ["aborted"]
    assert later.text == "next"


def test_steer() -> None:
    """A second prompt waits for the end of the first one's turn."""
    first, second = played("queue_second_prompt").turns
    assert first.prompt == "first"
    assert first.text.endswith("w19 ")
    assert (second.prompt, second.text) == ("second", "second answer")


def test_compact() -> None:
    replayed = played("compact_ok")
    assert [event.summary for event in replayed.of(Compacted)] == ["## Goal\nsummary text"]
    assert [ended.summary for ended in replayed.compactions] == ["## Goal\nsummary text"]


def test_models() -> None:
    replayed = played("state_commands")
    models: Any = replayed.replies["gm"].data["models"]
    assert len(models) > 1
    assert replayed.replies["sm"].data == {"model": "claude-haiku-4-5"}
    assert replayed.replies["s2"].data["model"] == "claude-haiku-4-5"
    assert replayed.replies["sm2"].error


# One process has one session, and each recording is of one process.
def test_sessions() -> None:
    for name in NAMES:
        assert [entry.get("event") for entry in lines(name)].count("spawn") <= 1, name


def test_resume() -> None:
    """Nothing that it says of itself is a session to come back to."""
    told = [each for each in sent_by_zot("response") if each["command"] in ("hello", "get_state")]
    assert not [each for each in told if "session" in json.dumps(each).lower()]
    assert "sessionRef" not in played("state_commands").replies["s"].data


def test_own_sessions() -> None:
    assert not ZotWire().capabilities["listSessions"]


def test_images() -> None:
    (message,) = (event.message for event in played("prompt_image").of(UserMessage))
    assert {block["type"] for block in message["content"]} == {"text", "image"}


def test_usage() -> None:
    (told,) = played("simple_text").of(UsageReported)
    assert (told.usage["input"], told.usage["output"]) == (1200, 4)


def test_cost() -> None:
    (told,) = played("simple_text").of(UsageReported)
    assert told.usage["cost"] > 0


def frames_of(name: str, kind: str) -> list[Json]:
    return [frame for frame in frames(name) if frame["type"] == kind]
