"""What pi's wire makes of frames that stand for themselves, of older builds too."""

import itertools
import json
import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pi_replay import Replay, lines, replay
from support.zot_replay import check_sequence

from lsp_agent.protocol.events import (
    AssistantMessage,
    Compacted,
    ErrorReported,
    Event,
    Notice,
    StepEnded,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallStarted,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from lsp_agent.protocol.messages import plain_text, text
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.protocol.settings.sources import SettingsFile, load
from lsp_agent.wires import new_wire
from lsp_agent.wires.pi.turn import new_output
from lsp_agent.wires.pi.wire import EXTENSION, PiWire
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Answered,
    Approve,
    Clear,
    Command,
    Compact,
    CompactEnded,
    Decoded,
    Dialog,
    GetCommands,
    GetMessages,
    GetState,
    Granted,
    Hello,
    Prompt,
    ReadText,
    Refused,
    Reply,
    Send,
    SetModel,
    Steer,
    Withdrawn,
    WriteText,
)

Json = dict[str, Any]
T = TypeVar("T")
OURS = {"name": "lsp-agent", "source": "extension", "description": "1.5.2"}
OK: Json = {"type": "response", "success": True}
SETTLED: Json = {"type": "agent_settled"}


def play(name: str) -> Replay:
    """Frame by frame, so that order and joining hide nothing."""
    return replay(lines(name), itertools.repeat(True))


def of(kind: type[T], events: list[Any]) -> list[T]:
    return [event for event in events if isinstance(event, kind)]


def sent(decoded: list[Decoded]) -> list[Any]:
    return [dict(item.frame) for item in of(Send, decoded)]


def running(wire: PiWire) -> PiWire:
    """With a turn."""
    wire.encode("p", Prompt("Go"))
    wire.decode([OK | {"id": "p"}, {"type": "agent_start"}])
    return wire


def message(*content: Json, stop: str = "stop", **more: Any) -> Json:
    return {"role": "assistant", "content": list(content), "stopReason": stop} | more


def asked(key: str, **request: Any) -> Json:
    request = {"title": "lsp-agent", "placeholder": json.dumps(request)}
    return {"type": "extension_ui_request", "id": key, "method": "input"} | request


# Start


def test_pi_is_started_without_what_a_repository_names() -> None:
    agent = AgentSettings(
        wire="pi", command=["pi"], provider="fake", model="one", env={"MY_TOKEN": "x", "PI_X": "1"}
    )
    wire = PiWire()
    launch = wire.launch(agent, "/folder", None)
    assert launch.argv == (
        *("pi", "--mode", "rpc", "--no-approve", "--no-extensions", "-e", str(EXTENSION)),
        *("--provider", "fake", "--model", "one"),
    )
    assert EXTENSION.exists()
    assert launch.env["PI_TELEMETRY"] == "0"
    assert launch.env["PI_X"] == "1"
    assert launch.env["LSP_AGENT_HOSTING"] == "hosted"
    assert {"MY_TOKEN", "OPENAI_API_KEY"} <= set(launch.secrets)
    assert wire.capabilities["hostedFiles"]


def test_the_example_on_pis_page_loads_without_a_problem() -> None:
    page = (Path(__file__).parents[3] / "docs/agents/pi.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    loaded = load(user_file=SettingsFile("example", tomllib.loads(example)))
    assert loaded.problems == ()
    assert loaded.settings.agents["pi"].wire == "pi"


def test_a_mirror_agent_keeps_its_own_file_tools() -> None:
    wire = new_wire("pi")
    launch = wire.launch(AgentSettings(wire="pi", command=["pi"], hosting="mirror"), "/", None)
    assert launch.env["LSP_AGENT_HOSTING"] == "mirror"
    assert not wire.capabilities["hostedFiles"]
    assert not wire.bridged


def test_the_handshake_looks_for_our_extension_and_then_for_the_state() -> None:
    wire = PiWire()
    assert wire.encode("r1", Hello()) == {"id": "get_commands:r1", "type": "get_commands"}
    decoded = wire.decode([OK | {"id": "get_commands:r1", "data": {"commands": [OURS]}}])
    assert sent(decoded) == [{"id": "get_state:r1", "type": "get_state"}]
    data = {"model": {"id": "one", "provider": "fake"}, "sessionFile": "/s.jsonl"}
    (reply,) = wire.decode([OK | {"id": "get_state:r1", "data": data | {"messageCount": 3}}])
    assert reply == Reply(
        "r1",
        {
            "provider": "fake",
            "model": "fake/one",
            "messageCount": 3,
            "sessionRef": "/s.jsonl",
            "version": "1.5.2",
        },
    )


@pytest.mark.parametrize("commands", [[], None, [OURS | {"source": "prompt"}]])
def test_a_pi_without_our_extension_is_refused(commands: object) -> None:
    wire = PiWire()
    wire.encode("r1", Hello())
    (reply,) = wire.decode([OK | {"id": "get_commands:r1", "data": {"commands": commands}}])
    assert isinstance(reply, Reply)
    assert reply.error
    assert "extension" in reply.error


@pytest.mark.parametrize(
    "failure", [{"success": False, "error": "no"}, {"data": {"cancelled": True}}]
)
def test_a_session_is_taken_up_again_or_a_new_one_begun_with_a_notice(failure: Json) -> None:
    wire = PiWire()
    frame = wire.encode("r1", Hello("/s.jsonl"))
    assert frame == {
        "id": "switch_session:r1",
        "type": "switch_session",
        "sessionPath": "/s.jsonl",
    }
    answer = OK | {"id": frame["id"], "data": {"cancelled": False}}
    assert sent(wire.decode([answer])) == [{"id": "get_commands:r1", "type": "get_commands"}]
    wire.encode("r2", Hello("/s.jsonl"))
    decoded = wire.decode([OK | {"id": "switch_session:r2"} | failure])
    assert [notice.level for notice in of(Notice, decoded)] == ["warning"]
    assert sent(decoded) == [{"id": "get_commands:r2", "type": "get_commands"}]


def test_a_session_whose_file_is_gone_is_left_for_a_new_one() -> None:
    wire = PiWire()
    wire.encode("r", Hello("/s"))
    wire.decode([OK | {"id": "switch_session:r"}])
    wire.decode([OK | {"id": "get_commands:r", "data": {"commands": [OURS]}}])
    empty = {"sessionFile": "/s", "messageCount": 0}
    decoded = wire.decode([OK | {"id": "get_state:r", "data": empty}])
    assert sent(decoded) == [{"id": "new_session:r", "type": "new_session"}]
    assert sent(wire.decode([OK | {"id": "new_session:r"}])) == [
        {"id": "get_state:r", "type": "get_state"}
    ]
    (reply,) = wire.decode([OK | {"id": "get_state:r", "data": {"sessionFile": "/t"}}])
    assert reply == Reply("r", {"sessionRef": "/t", "version": "1.5.2"})


# Turns


def test_a_prompt_that_an_extensions_command_handled_is_a_turn_that_has_ended() -> None:
    assert [type(event) for event in play("extension_ui").events if "Turn" in type(event).__name__][
        :2
    ] == [TurnStarted, TurnEnded]


def test_the_thought_comes_before_the_text() -> None:
    kinds = [type(event) for event in play("thinking_text").events]
    assert kinds.index(ThinkingDelta) < kinds.index(TextDelta)


@pytest.mark.parametrize("name", ["provider_500_retry", "provider_429"])
def test_a_retry_is_a_new_step_and_no_error(name: str) -> None:
    played = play(name)
    assert of(ErrorReported, played.events) == []
    assert [step.step for step in of(StepStarted, played.events)] == [1, 2]
    assert of(TurnEnded, played.events) == [TurnEnded("endTurn")]
    assert any("trying again" in notice.message for notice in of(Notice, played.events))


def test_a_retry_that_is_given_up_is_one_error() -> None:
    events = play("provider_500_exhausted").events
    (error,) = of(ErrorReported, events)
    assert of(TurnEnded, events) == [TurnEnded("error", error.message)]


FAILED: Json = {"type": "message_end", "message": message(stop="error", errorMessage="500: boom")}
RETRIES: Json = {
    "type": "auto_retry_start",
    "attempt": 1,
    "maxAttempts": 2,
    "delayMs": 9,
    "errorMessage": "500: boom",
}


def test_a_retry_that_never_came_to_an_answer_says_in_the_end_why() -> None:
    """As one that is cancelled while it waits: nothing else tells of the failure."""
    wire = running(PiWire())
    given_up = {"type": "auto_retry_end", "success": False, "finalError": "Retry cancelled"}
    events = wire.decode([{"type": "turn_start"}, FAILED, RETRIES, given_up, SETTLED])
    assert of(ErrorReported, events) == [ErrorReported("Retry cancelled")]
    assert of(TurnEnded, events) == [TurnEnded("error", "Retry cancelled")]


def test_a_turn_whose_retry_just_ends_says_what_had_failed() -> None:
    wire = running(PiWire())
    events = wire.decode([{"type": "turn_start"}, FAILED, RETRIES, SETTLED])
    (error,) = of(ErrorReported, events)
    assert "boom" in error.message
    assert of(TurnEnded, events) == [TurnEnded("error", error.message)]


def test_a_retry_that_a_stop_ended_is_no_error() -> None:
    wire = running(PiWire())
    wire.decode([{"type": "turn_start"}, FAILED, RETRIES])
    wire.encode("a", Abort())
    given_up = {"type": "auto_retry_end", "success": False, "finalError": "Retry cancelled"}
    events = wire.decode([given_up, SETTLED])
    assert of(ErrorReported, events) == []
    assert of(TurnEnded, events) == [TurnEnded("aborted")]


def test_an_abort_is_sent_behind_what_was_steered() -> None:
    wire = running(PiWire())
    assert wire.encode("a1", Abort()) == {"id": "a1", "type": "abort"}
    wire.decode([SETTLED])
    running(wire)
    wire.encode("s", Steer("Left"))
    assert wire.encode("a2", Abort())["type"] == "clear_queue"
    refused = {"type": "response", "id": "clear_queue:a2", "success": False, "error": "Unknown"}
    assert sent(wire.decode([refused])) == [{"id": "a2", "type": "abort"}]
    assert of(TurnEnded, wire.decode([SETTLED])) == [TurnEnded("aborted")]
    assert wire.decode([OK | {"id": "a2"}]) == [Reply("a2")]


def test_an_abort_before_the_turn_began_is_sent_again_when_it_does() -> None:
    wire = PiWire()
    wire.encode("p", Prompt("Go"))
    wire.encode("a", Abort())
    decoded = wire.decode([OK | {"id": "a"}, OK | {"id": "p"}])
    assert sent(decoded) == [{"type": "abort"}]
    assert wire.decode([SETTLED]) == [TurnEnded("aborted")]


def test_what_is_steered_too_late_is_taken_back() -> None:
    wire = running(PiWire())
    wire.encode("s", Steer("Left"))
    late = wire.decode([SETTLED, OK | {"id": "s", "data": {"disposition": "queued"}}])
    assert sent(late) == [{"type": "clear_queue"}]
    assert of(Reply, late) == [Reply("s", error="the turn has ended")]


def test_a_lost_agent_ends_its_turn_its_calls_and_its_compaction_once() -> None:
    wire = running(PiWire())
    wire.encode("c", Compact())
    call = {"type": "tool_execution_start", "toolCallId": "1", "toolName": "bash", "args": {}}
    wire.decode([call, asked("k", ask="approve", call="1", tool="bash", args={})])
    assert wire.lost("error", "gone") == [
        ErrorReported("gone"),
        ToolResult("1", is_error=True, content=[text("no result")]),
        TurnEnded("error", "gone"),
        CompactEnded(None, "gone"),
    ]
    assert wire.lost("error", "gone") == []
    assert wire.answer("k", Granted()) is None


def test_usage_adds_up_and_a_step_that_counted_nothing_reports_none() -> None:
    wire = running(PiWire())
    counted = {"input": 3, "output": 2, "cacheRead": 0, "cost": {"total": 0.5}}
    frames = [
        {"type": "message_end", "message": message(usage=counted)},
        {"type": "message_end", "message": message(usage={"input": 0, "output": 0})},
        {"type": "message_end", "message": message(usage=counted)},
    ]
    reports = of(UsageReported, wire.decode(frames))
    assert [report.usage for report in reports] == [
        {"input": 3, "output": 2, "cacheRead": 0, "cost": 0.5}
    ] * 2
    assert reports[-1].cumulative == {"input": 6, "output": 4, "cacheRead": 0, "cost": 1.0}


def test_repeated_output_is_told_once() -> None:
    progress = of(ToolProgress, play("bash_stream").events)
    result = of(ToolResult, play("bash_stream").events)[0]
    shown = "".join(one.text for one in progress if one.tool_call_id == result.tool_call_id)
    assert shown == "line 1\nline 2\nline 3\nline 4\n"
    assert plain_text(result.content).startswith(shown)


def test_output_that_rolls_is_followed_where_it_overlaps() -> None:
    assert new_output("a\nb\n", "a\nb\nc\n") == "c\n"
    assert new_output("x" * 300 + "end", "x" * 250 + "endmore") == "more"
    assert new_output("gone", "all new") == "all new"
    assert new_output("", "first") == "first"


# The oldest builds


def test_a_build_that_answers_no_command_has_turns_nevertheless() -> None:
    wire = PiWire()
    wire.encode("p", Prompt("List"))
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "ls"}}
    update = {"type": "message_update", "message": {}}
    events: list[Any] = wire.decode(
        [
            {"type": "agent_start"},
            {"type": "turn_start"},
            {"type": "message_end", "message": {"role": "user", "content": "List"}},
            update
            | {"assistantMessageEvent": {"type": "text_delta", "delta": "Now", "partial": {}}},
            update | {"assistantMessageEvent": {"type": "toolcall_start", "contentIndex": 1}},
            update | {"assistantMessageEvent": {"type": "toolcall_end", "toolCall": call}},
            {"type": "message_end", "message": message(call, stop="toolUse")},
            {"type": "tool_execution_start", "toolCallId": "c", "toolName": "bash", "args": {}},
            {"type": "tool_execution_end", "toolCallId": "c", "result": "no such", "isError": True},
            {"type": "turn_end", "message": message(call, stop="toolUse"), "toolResults": []},
            {"type": "agent_end", "messages": []},
        ]
    )
    check_sequence(events)
    assert of(TurnStarted, events) == [TurnStarted("List")]
    assert of(ToolCallStarted, events) == [ToolCallStarted("c", "bash")]
    assert of(ToolResult, events) == [ToolResult("c", is_error=True, content=[text("no such")])]
    assert of(TurnEnded, events) == [TurnEnded("endTurn")]


def test_the_oldest_compaction_and_error_are_understood() -> None:
    wire = PiWire()
    events = wire.decode([{"type": "compaction", "summary": "S", "tokensBefore": 1, "auto": True}])
    assert events == [Compacted("S", tokens_before=1, auto=True)]
    assert wire.decode([{"type": "compaction", "summary": "S"}]) == [Compacted("S", auto=False)]
    assert wire.decode([{"type": "error", "error": "E"}]) == [Notice("error", "E", "agent")]
    wire.encode("r1", Hello())
    assert wire.decode([{"type": "error", "error": "E"}]) == [Reply("r1", error="E")]


@pytest.mark.parametrize(("version", "ended"), [("0.80.3", True), ("0.80.4", False)])
def test_before_settling_was_told_the_end_without_a_retry_is_the_end(
    version: str, ended: bool
) -> None:
    wire = PiWire()
    wire.encode("h", Hello())
    ours = OURS | {"description": version}
    wire.decode([OK | {"id": "get_commands:h", "data": {"commands": [ours]}}])
    running(wire)
    assert of(TurnEnded, wire.decode([{"type": "agent_end", "willRetry": True}])) == []
    assert bool(of(TurnEnded, wire.decode([{"type": "agent_end", "willRetry": False}]))) is ended


def test_a_command_that_a_build_does_not_know_lowers_what_it_can_do() -> None:
    wire = PiWire()
    wire.encode("c", GetCommands())
    unknown = {"type": "response", "id": "c", "success": False, "error": "Unknown command: x"}
    assert wire.decode([unknown]) == [Reply("c", error="Unknown command: x")]
    assert not wire.capabilities["commands"]


@pytest.mark.parametrize(("words", "handled"), [("/pick it", True), ("/fix", False), ("/", False)])
def test_a_build_that_does_not_say_so_handles_its_extensions_commands(
    words: str, handled: bool
) -> None:
    wire = PiWire()
    wire.encode("h", Hello())
    commands = [OURS, OURS | {"name": "pick"}, {"name": "fix", "source": "prompt"}]
    wire.decode([OK | {"id": "get_commands:h", "data": {"commands": commands}}])
    wire.encode("p", Prompt(words))
    assert bool(of(TurnEnded, wire.decode([OK | {"id": "p"}]))) is handled


# Commands


def test_a_model_is_looked_up_before_it_is_set() -> None:
    wire = PiWire()
    known = [
        {"id": "one", "provider": "a"},
        {"id": "one", "provider": "b"},
        {"id": "x/y", "provider": "b"},
    ]
    for number, (wanted, provider, model) in enumerate(
        [("b/one", "b", "one"), ("x/y", "b", "x/y"), ("b/x/y", "b", "x/y")]
    ):
        request = f"get_available_models:{number}"
        assert wire.encode(str(number), SetModel(wanted))["id"] == request
        decoded = wire.decode([OK | {"id": request, "data": {"models": known}}])
        assert sent(decoded) == [
            {
                "id": f"set_model:{number}",
                "type": "set_model",
                "provider": provider,
                "modelId": model,
            }
        ]
        data = {"id": model, "provider": provider}
        assert wire.decode([OK | {"id": f"set_model:{number}", "data": data}]) == [
            Reply(str(number), {"model": f"{provider}/{model}"})
        ]


@pytest.mark.parametrize("wanted", ["one", "three"])
def test_a_model_that_two_have_or_none_is_refused(wanted: str) -> None:
    wire = PiWire()
    wire.encode("m", SetModel(wanted))
    known = [{"id": "one", "provider": "a"}, {"id": "one", "provider": "b"}]
    (reply,) = wire.decode([OK | {"id": "get_available_models:m", "data": {"models": known}}])
    assert isinstance(reply, Reply)
    assert reply.error


def test_replies_are_in_canonical_form() -> None:
    replies = play("state_and_models").replies
    assert replies["2"].data["models"] == [
        {
            "id": f"fake/fake-{number}",
            "provider": "fake",
            "contextWindow": number * 32000,
            "maxOutput": 4096,
            "reasoning": number == 2,
        }
        for number in (1, 2)
    ]
    assert replies["1"].data["model"] == "fake/fake-1"


def test_our_own_command_is_not_among_pis() -> None:
    wire = PiWire()
    wire.encode("c", GetCommands())
    commands = [OURS, {"name": "fix", "description": "Fixes", "source": "prompt"}]
    assert wire.decode([OK | {"id": "c", "data": {"commands": commands}}]) == [
        Reply("c", {"commands": [{"name": "fix", "description": "Fixes"}]})
    ]


def test_messages_leave_out_the_systems_and_keep_the_rest() -> None:
    wire = PiWire()
    wire.encode("m", GetMessages())
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "hi", "timestamp": 0},
        {"role": "compactionSummary", "summary": "S"},
        {"role": "bashExecution", "command": "ls", "output": "a"},
        {"role": "toolResult", "toolCallId": "1", "content": [{"type": "text", "text": "r"}]},
    ]
    (reply,) = wire.decode([OK | {"id": "m", "data": {"messages": messages}}])
    assert isinstance(reply, Reply)
    result = {"type": "toolResult", "toolCallId": "1", "isError": False, "content": [text("r")]}
    assert reply.data["messages"] == [
        {"role": "user", "content": [text("hi")], "time": "1970-01-01T00:00:00+00:00"},
        {"role": "user", "content": [text("S")]},
        {"role": "user", "content": [text("$ ls\na")]},
        {"role": "tool", "content": [result]},
    ]


def test_a_compaction_ends_once_whether_it_is_refused_or_succeeds() -> None:
    played = play("compact")
    assert [ended.summary for ended in played.compactions] == [
        None,
        "## Goal\nsummary of the session",
    ]
    assert of(Compacted, played.events) == [
        Compacted("## Goal\nsummary of the session", tokens_before=121, auto=False)
    ]


@pytest.mark.parametrize(
    ("reason", "auto"),
    [("manual", False), ("threshold", True), ("overflow", True), ("", None)],
)
def test_a_compaction_says_how_much_there_was_and_whether_anybody_asked_for_it(
    reason: str, auto: bool | None
) -> None:
    result = {"summary": "S", "tokensBefore": 150000}
    ended = {"type": "compaction_end", "reason": reason, "result": result}
    assert PiWire().decode([ended]) == [Compacted("S", tokens_before=150000, auto=auto)]


def test_what_a_compaction_is_to_keep_is_told_to_pi() -> None:
    wire = PiWire()
    assert wire.encode("c", Compact()) == {"id": "c", "type": "compact"}
    wanted = {"id": "d", "type": "compact", "customInstructions": "Keep the names."}
    assert wire.encode("d", Compact("Keep the names.")) == wanted


def test_clearing_that_an_extension_prevented_is_an_error() -> None:
    wire = PiWire()
    assert wire.encode("c", Clear()) == {"id": "c", "type": "new_session"}
    (reply,) = wire.decode([OK | {"id": "c", "data": {"cancelled": True}}])
    assert isinstance(reply, Reply)
    assert reply.error


def test_the_state_has_the_usage_so_far() -> None:
    wire = running(PiWire())
    usage = {"input": 3, "output": 2}
    wire.decode([{"type": "message_end", "message": message(usage=usage)}, SETTLED])
    wire.encode("s", GetState())
    assert wire.decode([OK | {"id": "s", "data": {}}]) == [Reply("s", {"usage": usage})]


# What pi asks


@pytest.mark.parametrize(
    ("request_", "decoded", "answer", "value"),
    [
        (
            {"ask": "approve", "call": "1", "tool": "bash", "args": {"command": "ls"}},
            Approve("k", "bash", {"command": "ls"}, "1"),
            Granted("note"),
            {"ok": True, "note": "note"},
        ),
        (
            {"ask": "approve", "call": "1", "tool": "read", "args": {"path": "a"}},
            Approve("k", "read", {"path": "a"}, "1", ("a",)),
            Refused("no"),
            {"ok": False, "reason": "no", "missing": False},
        ),
        (
            {"ask": "read", "call": "1", "path": "/a"},
            ReadText("k", "/a", "1"),
            Answered("text"),
            {"ok": True, "text": "text"},
        ),
        (
            {"ask": "write", "call": "1", "path": "/a", "text": "t"},
            WriteText("k", "/a", "t", "1"),
            Answered("Proposed"),
            {"ok": True, "note": "Proposed"},
        ),
        (
            {"ask": "read", "call": "1", "path": "/a"},
            ReadText("k", "/a", "1"),
            Refused("no", missing=True),
            {"ok": False, "reason": "no", "missing": True},
        ),
    ],
)
def test_what_our_extension_asks_is_answered_in_its_form(
    request_: Json, decoded: Decoded, answer: Answer, value: Json
) -> None:
    wire = running(PiWire())
    assert wire.decode([asked("k", **request_)]) == [decoded]
    response = wire.answer("k", answer)
    assert response is not None
    assert json.loads(str(response["value"])) == value
    assert (response["type"], response["id"]) == ("extension_ui_response", "k")
    assert wire.answer("k", answer) is None


def test_the_end_of_a_call_withdraws_what_it_asked() -> None:
    wire = running(PiWire())
    start = {"type": "tool_execution_start", "toolCallId": "1", "toolName": "read", "args": {}}
    end = {"type": "tool_execution_end", "toolCallId": "1", "result": {}, "isError": True}
    wire.decode([start, asked("k", ask="read", call="1", path="/a")])
    wire.decode([asked("other", ask="read", call="2", path="/a")])
    assert of(Withdrawn, wire.decode([end])) == [Withdrawn("k")]
    assert wire.answer("k", Answered("late")) is None
    assert of(Withdrawn, wire.decode([SETTLED])) == [Withdrawn("other")]


@pytest.mark.parametrize("placeholder", ["", "null", "[]", "{", '{"ask": "fly"}'])
def test_a_request_that_is_none_of_ours_is_cancelled(placeholder: str) -> None:
    wire = running(PiWire())
    frame = asked("k") | {"placeholder": placeholder}
    assert sent(wire.decode([frame])) == [
        {"type": "extension_ui_response", "id": "k", "cancelled": True}
    ]


def test_dialogs_become_questions_and_a_text_cannot_be_asked_for() -> None:
    wire = PiWire()
    dialog = {"type": "extension_ui_request", "title": "T"}
    decoded: list[Decoded] = wire.decode(
        [
            dialog | {"id": "1", "method": "select", "options": ["a", "b"]},
            dialog | {"id": "2", "method": "confirm", "message": "M"},
            dialog | {"id": "3", "method": "confirm"},
            dialog | {"id": "4", "method": "editor"},
            dialog | {"id": "5", "method": "notify", "message": "N", "notifyType": "warning"},
        ]
    )
    select, confirm, _, told, cancelled, notice = decoded
    assert select == Dialog("1", "T", (("0", "a"), ("1", "b")))
    assert confirm == Dialog("2", "T", (("yes", "Yes"), ("no", "No")), "M")
    assert isinstance(told, Notice)
    assert sent([cancelled]) == [{"type": "extension_ui_response", "id": "4", "cancelled": True}]
    assert notice == Notice("warning", "N", "agent")
    said = [wire.answer("1", Answered("1")), wire.answer("2", Answered("yes"))]
    assert [response and dict(response) for response in [*said, wire.answer("3", Refused(""))]] == [
        {"type": "extension_ui_response", "id": "1", "value": "b"},
        {"type": "extension_ui_response", "id": "2", "confirmed": True},
        {"type": "extension_ui_response", "id": "3", "cancelled": True},
    ]


def test_a_failing_extension_is_told() -> None:
    (notice,) = [n for n in of(Notice, play("extension_error").events) if n.level == "error"]
    assert "observer failed" in notice.message


def every(event: type[Event], events: list[Event]) -> int:
    return len(of(event, events))


def test_each_step_ends_and_each_answer_is_a_message() -> None:
    events = play("host_tools_parallel").events
    assert every(StepStarted, events) == every(StepEnded, events)
    assert every(AssistantMessage, events) == every(StepEnded, events)
    assert every(ToolCall, events) == every(ToolResult, events)


def commands() -> list[Command]:
    return [Prompt("p"), Steer("s"), Abort(), Compact(), Clear(), Hello(), GetState()]


def test_no_line_to_pi_is_other_than_an_object() -> None:
    wire = PiWire()
    for number, command in enumerate(commands()):
        assert isinstance(wire.encode(str(number), command), dict)
