"""The zot wire where no recording shows it: launch, commands, broken and odd streams."""

import pytest
from support.zot_replay import joined

from lsp_agent.protocol.events import (
    AssistantMessage,
    Compacted,
    ErrorReported,
    Notice,
    StepEnded,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolCall,
    ToolCallStarted,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
    WindowFilled,
)
from lsp_agent.protocol.messages import text
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.wires.wire import (
    Abort,
    Clear,
    Command,
    Compact,
    CompactEnded,
    GetMessages,
    GetModels,
    GetState,
    Hello,
    Prompt,
    Reply,
    SetModel,
    Steer,
    Wire,
)
from lsp_agent.wires.zot.wire import ZotWire

Frame = dict[str, object]

DONE: Frame = {"type": "done"}
STEP: Frame = {"type": "turn_start", "step": 1}


def ok(request_id: str, **data: object) -> Frame:
    return {"type": "response", "id": request_id, "success": True, "data": data}


def refused(request_id: str, error: str) -> Frame:
    return {"type": "response", "id": request_id, "success": False, "error": error}


def delta(text: str) -> Frame:
    return {"type": "text_delta", "delta": text}


def turn_end(stop: str, error: str | None = None) -> Frame:
    return {"type": "turn_end", "stop": stop} | ({"error": error} if error else {})


def tool_start(call_id: str = "c", tool: str = "bash") -> Frame:
    return {"type": "tool_use_start", "id": call_id, "name": tool}


def tool_call(call_id: str = "c", tool: str = "bash", args: object = None) -> Frame:
    return {"type": "tool_call", "id": call_id, "name": tool, "args": args}


def tool_result(call_id: str = "c", value: str = "ok") -> Frame:
    content = [{"type": "text", "text": value}]
    return {"type": "tool_result", "id": call_id, "is_error": False, "content": content}


@pytest.fixture
def wire() -> ZotWire:
    return ZotWire()


@pytest.fixture
def running() -> ZotWire:
    """A wire in the first step of a turn."""
    wire: Wire = ZotWire()
    wire.encode("1", Prompt("go"))
    assert wire.decode([ok("1", started=True), STEP])[-1] == StepStarted(1)
    assert isinstance(wire, ZotWire)
    return wire


# Launch


def test_hosted_the_extension_replaces_the_file_tools(wire: ZotWire) -> None:
    agent = AgentSettings(wire="zot", command=["zot", "rpc"], provider="anthropic", model="m")
    assert wire.launch(agent, "/w", "/ext").argv == (
        *("zot", "rpc", "--provider", "anthropic", "--model", "m", "--cwd", "/w", "--no-ext"),
        *("--ext", "/ext", "--tools", "bash", "--no-skill"),
    )


def test_in_mirror_zots_own_tools_stay(wire: ZotWire) -> None:
    agent = AgentSettings(wire="zot", command=["zot", "rpc"], hosting="mirror")
    plain = ("zot", "rpc", "--cwd", "/w", "--no-ext")
    assert wire.launch(agent, "/w", "/ext").argv == (*plain, "--ext", "/ext")
    assert wire.capabilities["permissions"]
    assert wire.launch(agent, "/w", None).argv == plain
    assert not wire.capabilities["permissions"]


def test_credentials_are_named_as_secrets_and_other_variables_are_not(wire: ZotWire) -> None:
    env = {"MY_API_KEY": "k", "HTTP_PROXY": "p"}
    launch = wire.launch(AgentSettings(wire="zot", command=["zot"], env=env), "/w", None)
    assert launch.env == env
    assert {"MY_API_KEY", "ANTHROPIC_API_KEY", "ZOTCORE_RPC_TOKEN"} <= set(launch.secrets)
    assert "HTTP_PROXY" not in launch.secrets


def test_hello_carries_the_token_that_the_settings_give(wire: ZotWire) -> None:
    env = {"ZOTCORE_RPC_TOKEN": "t"}
    wire.launch(AgentSettings(wire="zot", command=["zot"], env=env), "/w", None)
    frame = wire.encode("1", Hello())
    assert frame == {"id": "1", "type": "hello", "session": "new", "token": "t"}


def shaken(wire: ZotWire, **told: object) -> Reply:
    wire.encode("h", Hello())
    (reply,) = wire.decode([ok("h", **told)])
    assert isinstance(reply, Reply)
    return reply


HERE = {"protocol_version": 1, "provider": "anthropic", "model": "claude"}


@pytest.mark.parametrize("version", [2, 0, None, "1"])
def test_another_version_of_the_protocol_is_an_error(wire: ZotWire, version: object) -> None:
    assert shaken(wire, **HERE).error is None
    error = shaken(wire, **HERE | {"protocol_version": version}).error
    assert error is not None
    assert f"version {version}" in error


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"command": ["zot"]}, None),
        ({"command": ["zot"], "provider": "anthropic", "model": "claude"}, None),
        ({"command": ["zot"], "provider": "deepseek"}, "provider"),
        ({"command": ["zot"], "model": "gpt-5"}, "model"),
        ({"command": ["zot", "--provider", "deepseek"]}, "provider"),
        ({"command": ["zot", "--provider=deepseek"]}, "provider"),
        ({"command": ["zot", "--provider", "deepseek"], "provider": "anthropic"}, None),
        ({"command": ["zot", "--provider"]}, None),
    ],
)
def test_another_provider_or_model_than_was_asked_for_is_an_error(
    wire: ZotWire, settings: Frame, wrong: str | None
) -> None:
    """zot takes an unknown provider for one that it has a key of, and a model of another provider
    for its own default."""
    wire.launch(AgentSettings.model_validate({"wire": "zot"} | settings), "/w", "/ext")
    error = shaken(wire, **HERE).error
    assert (error is None) is (wrong is None)
    assert wrong is None or f"`{wrong}`" in str(error)


# What the embedded agent has beyond zot


def test_steering_and_thinking_are_there_where_hello_says_so(wire: ZotWire) -> None:
    assert not wire.capabilities["steer"]
    wire.encode("h", Hello())
    wire.decode([ok("h", **HERE)])
    assert not wire.capabilities["steer"]
    assert not wire.capabilities["thinking"]
    wire.encode("i", Hello())
    wire.decode([ok("i", **HERE, features=["steer", "thinking", "flying", 3])])
    assert wire.capabilities["steer"]
    assert wire.capabilities["thinking"]
    assert "flying" not in wire.capabilities


def test_steering_is_a_frame_of_its_own_and_starts_no_turn(running: ZotWire) -> None:
    assert running.encode("2", Steer("left")) == {"id": "2", "type": "steer", "message": "left"}
    assert running.decode([ok("2")]) == [Reply("2", {})]


def test_thoughts_and_text_are_joined_each_for_itself(running: ZotWire) -> None:
    thoughts = [{"type": "thinking_delta", "delta": word} for word in ("H", "m")]
    decoded = running.decode([*thoughts, delta("A"), delta("h"), *thoughts, {"type": "usage"}])
    assert decoded[:3] == [ThinkingDelta("Hm"), TextDelta("Ah"), ThinkingDelta("Hm")]


def test_thoughts_outside_of_a_turn_are_only_noted(wire: ZotWire) -> None:
    (notice,) = wire.decode([{"type": "thinking_delta", "delta": "Hm"}])
    assert notice == Notice("debug", "thinking_delta outside a turn", "agent")


# Commands


@pytest.mark.parametrize(
    ("command", "frame"),
    [
        (Hello(), {"type": "hello", "session": "new"}),
        (Hello("c-1"), {"type": "hello", "session": "c-1"}),
        (Prompt("p"), {"type": "prompt", "message": "p"}),
        (
            Prompt("p", (ImageInput(mime_type="image/png", data="AA=="),)),
            {
                "type": "prompt",
                "message": "p",
                "images": [{"mime_type": "image/png", "data": "AA=="}],
            },
        ),
        (Abort(), {"type": "abort"}),
        (Compact(), {"type": "compact"}),
        (Clear(), {"type": "clear"}),
        (GetState(), {"type": "get_state"}),
        (GetMessages(), {"type": "get_messages"}),
        (GetModels(), {"type": "get_models"}),
        (SetModel("m"), {"type": "set_model", "model": "m"}),
    ],
)
def test_each_command_has_its_frame(wire: ZotWire, command: Command, frame: Frame) -> None:
    assert wire.encode("7", command) == {"id": "7", **frame}


def test_a_frame_may_be_as_long_as_zots_reader_takes(wire: ZotWire) -> None:
    assert 15_000_100 < wire.max_frame_bytes < 16 * 1024 * 1024


def test_an_absent_number_stays_absent(wire: ZotWire) -> None:
    wire.encode("s", GetState())
    wire.encode("m", GetModels())
    model = {"id": "x", "provider": "p"}
    assert wire.decode([ok("s", provider="p", usage={"input": 3}), ok("m", models=[model])]) == [
        Reply("s", {"provider": "p", "usage": {"input": 3}}),
        Reply("m", {"models": [model]}),
    ]


def test_a_transcript_is_told_in_canonical_blocks(wire: ZotWire) -> None:
    wire.encode("m", GetMessages())
    call = {"type": "tool_call", "id": "c", "name": "read", "args": {"path": "a"}}
    result = {
        "type": "tool_result",
        "call_id": "c",
        "is_error": True,
        "content": [{"type": "text", "text": "no"}],
    }
    (reply,) = wire.decode(
        [
            ok(
                "m",
                messages=[
                    {"role": "assistant", "content": [call], "time": "2026-01-01T00:00:00Z"},
                    {"role": "tool", "content": [result], "time": "0001-01-01T00:00:00Z"},
                    {"role": "user", "content": [{"type": "hologram"}]},
                ],
            )
        ]
    )
    assert isinstance(reply, Reply)
    assert reply.data["messages"] == [
        {
            "role": "assistant",
            "content": [
                {"type": "toolCall", "toolCallId": "c", "tool": "read", "args": {"path": "a"}}
            ],
            "time": "2026-01-01T00:00:00Z",
        },
        {
            "role": "tool",
            "content": [
                {"type": "toolResult", "toolCallId": "c", "isError": True, "content": [text("no")]}
            ],
        },
        {"role": "user", "content": [text("[hologram block]")]},
    ]


def test_a_command_that_the_agent_does_not_know_lowers_its_capability(wire: ZotWire) -> None:
    wire.encode("c", Compact())
    ended = CompactEnded(None, "unknown command")
    told = [Reply("c", error="unknown command"), ended]
    assert wire.decode([refused("c", "unknown command")]) == told
    assert not wire.capabilities["compact"]
    assert ZotWire().capabilities["compact"]


def test_a_refused_prompt_starts_no_turn(wire: ZotWire) -> None:
    wire.encode("1", Prompt("go"))
    assert wire.decode([refused("1", "no")]) == [Reply("1", error="no")]
    assert wire.lost("error", "exit 1") == []


def test_a_response_counts_once(running: ZotWire) -> None:
    (notice,) = running.decode([ok("1", started=True)])
    assert isinstance(notice, Notice)
    assert notice.level == "debug"


# Calls


def test_a_call_is_told_once_however_often_the_wire_repeats_it(running: ZotWire) -> None:
    args = {"path": "a.py"}
    frames = [
        tool_start("c", "edit"),
        tool_start("c", "edit"),
        {"type": "tool_use_args", "id": "c", "delta": "{"},
        {"type": "tool_use_args", "id": "c", "delta": "}"},
        {"type": "tool_use_end", "id": "c"},
        tool_call("c", "edit", args),
        tool_call("c", "edit", args),
        turn_end("tool_use"),
        tool_result("c"),
        tool_result("c"),
    ]
    decoded = [item for item in running.decode(frames) if not isinstance(item, Notice)]
    assert decoded == [
        ToolCallStarted("c", "edit"),
        ToolArgsDelta("c", "{}"),
        ToolCall("c", "edit", "edit", args, ("a.py",)),
        StepEnded(None),
        ToolResult("c", False, [text("ok")]),
    ]


def test_arguments_of_several_calls_may_interleave(running: ZotWire) -> None:
    frames = [tool_start("a"), tool_start("b", "read")]
    frames += [{"type": "tool_use_args", "id": id_, "delta": id_} for id_ in "aabba"]
    frames += [{"type": "tool_use_end", "id": id_} for id_ in "ab"]
    frames += [tool_call("a", args={"command": "x"}), tool_call("b", "read", {"path": "p"})]
    assert running.decode(frames) == [
        ToolCallStarted("a", "bash"),
        ToolCallStarted("b", "read"),
        ToolArgsDelta("a", "aa"),
        ToolArgsDelta("b", "bb"),
        ToolArgsDelta("a", "a"),
        ToolCall("a", "bash", "command", {"command": "x"}),
        ToolCall("b", "read", "read", {"path": "p"}, ("p",)),
    ]


def test_a_call_that_was_not_announced_starts_where_it_is_seen(running: ZotWire) -> None:
    assert running.decode([tool_call("c", "web", {})]) == [
        ToolCallStarted("c", "web"),
        ToolCall("c", "web", "other", {}),
    ]


def test_an_id_that_a_later_step_uses_again_is_another_call(running: ZotWire) -> None:
    step = [tool_start(), tool_call(), turn_end("tool_use"), tool_result()]
    decoded = running.decode([*step, STEP, *step])
    assert sum(isinstance(item, ToolCall) for item in decoded) == 2
    assert sum(isinstance(item, ToolResult) for item in decoded) == 2


def test_a_call_whose_arguments_were_cut_and_never_ran_is_closed(running: ZotWire) -> None:
    frames = [tool_start(), {"type": "tool_use_args", "id": "c", "delta": '{"comm'}, tool_call()]
    assert running.decode([*frames, turn_end("end"), DONE]) == [
        ToolCallStarted("c", "bash"),
        ToolArgsDelta("c", '{"comm'),
        ToolCall("c", "bash", "command", None),
        StepEnded("endTurn"),
        ToolResult("c", True, [text("no result")]),
        TurnEnded("endTurn"),
    ]


def test_an_abort_while_arguments_stream_closes_the_call(running: ZotWire) -> None:
    running.decode([tool_start()])
    running.encode("a", Abort())
    assert running.decode([turn_end("aborted", "context canceled"), DONE]) == [
        StepEnded("aborted"),
        ToolCall("c", "bash", "command", None),
        ToolResult("c", True, [text("aborted")]),
        TurnEnded("aborted"),
    ]


def test_frames_of_calls_that_are_not_open_are_debug_notices(running: ZotWire) -> None:
    frames: list[Frame] = [
        {"type": "tool_use_args", "id": "x", "delta": "{}"},
        {"type": "tool_progress", "id": "x", "text": "out"},
        tool_result("x"),
    ]
    assert {item.level for item in running.decode(frames) if isinstance(item, Notice)} == {"debug"}


# Stops


def test_a_step_that_ends_in_calls_has_no_stop_reason(running: ZotWire) -> None:
    assert running.decode([turn_end("tool_use")]) == [StepEnded(None)]


@pytest.mark.parametrize("stop", ["end", "end_turn"])
def test_both_names_of_an_ordinary_end_are_known(running: ZotWire, stop: str) -> None:
    assert running.decode([turn_end(stop), DONE]) == [StepEnded("endTurn"), TurnEnded("endTurn")]


def test_an_unknown_stop_is_an_end_with_a_debug_notice(running: ZotWire) -> None:
    notice, *ended = running.decode([turn_end("sideways"), DONE])
    assert isinstance(notice, Notice)
    assert ended == [StepEnded("endTurn"), TurnEnded("endTurn")]


def test_too_many_steps_is_a_stop_reason_of_its_own(running: ZotWire) -> None:
    message = "max steps (50) exceeded"
    frames = [turn_end("tool_use"), {"type": "error", "message": message}, DONE]
    assert running.decode(frames) == [
        StepEnded(None),
        ErrorReported(message),
        TurnEnded("maxSteps", message),
    ]


def test_a_turn_that_ends_in_the_middle_says_so(running: ZotWire) -> None:
    *_, error, step, end = running.decode([turn_end("tool_use"), STEP, DONE])
    assert isinstance(error, ErrorReported)
    assert step == StepEnded("error", error.message)
    assert end == TurnEnded("error", error.message)


def test_an_abort_before_the_first_byte_is_no_error(running: ZotWire) -> None:
    running.encode("a", Abort())
    message = "anthropic: Post: context canceled"
    assert running.decode([ok("a"), turn_end("error", message), DONE]) == [
        Reply("a"),
        StepEnded("aborted"),
        TurnEnded("aborted"),
    ]


def test_an_abort_sent_before_the_turn_started_marks_that_turn_alone(wire: ZotWire) -> None:
    wire.encode("1", Prompt("first"))
    wire.encode("a", Abort())
    wire.encode("2", Prompt("second"))
    turn = [STEP, turn_end("end"), DONE]
    decoded = wire.decode([ok("1"), *turn, ok("2"), *turn])
    ends = [item.stop_reason for item in decoded if isinstance(item, TurnEnded)]
    assert ends == ["aborted", "endTurn"]


def test_a_stop_that_nobody_asked_for_keeps_its_reason(running: ZotWire) -> None:
    assert running.decode([turn_end("aborted", "context canceled"), DONE]) == [
        StepEnded("aborted", "context canceled"),
        ErrorReported("context canceled"),
        TurnEnded("aborted", "context canceled"),
    ]


def test_usage_is_told_with_the_sessions_own_and_what_it_fills(running: ZotWire) -> None:
    step = {"input": 1, "output": 4, "cache_read": 2, "cost_usd": 0.5}
    frame = {"type": "usage", **step, "cumulative": {"cache_read": 2}}
    assert running.decode([frame]) == [
        UsageReported({"input": 1, "output": 4, "cacheRead": 2, "cost": 0.5}, {"cacheRead": 2}),
        WindowFilled(7),
    ]


def test_a_message_emptied_by_an_extension_still_wins(running: ZotWire) -> None:
    first, second = running.decode([delta("x"), {"type": "assistant_message", "content": []}])
    assert first == TextDelta("x")
    assert isinstance(second, AssistantMessage)


# Frames that fit nothing


@pytest.mark.parametrize("frame", [None, 3, "x", [], {}, {"type": 4}, {"type": "hologram"}])
def test_what_is_no_frame_is_a_debug_notice_and_ends_nothing(
    running: ZotWire, frame: object
) -> None:
    (notice,) = running.decode([frame])
    assert isinstance(notice, Notice)
    assert (notice.level, notice.source) == ("debug", "agent")


@pytest.mark.parametrize("frame", [delta("late"), DONE, tool_call(), turn_end("end"), STEP])
def test_late_frames_are_debug_notices(running: ZotWire, frame: Frame) -> None:
    running.decode([turn_end("end"), DONE])
    (notice,) = running.decode([frame])
    assert isinstance(notice, Notice)
    assert notice.level == "debug"


def test_an_error_that_belongs_to_nothing_is_an_error_notice(wire: ZotWire) -> None:
    assert wire.decode([{"type": "error", "message": "m"}]) == [Notice("error", "m", "agent")]


@pytest.mark.parametrize(
    ("told", "level"),
    [("info", "info"), ("success", "info"), ("warn", "warning"), ("error", "error")],
)
def test_an_extensions_levels_are_mapped(wire: ZotWire, told: str, level: str) -> None:
    frame = {"type": "ext_notify", "extension": "e", "level": told, "message": "m"}
    assert wire.decode([frame]) == [Notice(level, "m", "e")]  # type: ignore[arg-type]


def test_a_prompt_that_starts_ends_the_turn_that_had_no_end(running: ZotWire) -> None:
    running.encode("2", Prompt("next"))
    decoded = running.decode([ok("2")])
    assert [type(item) for item in decoded] == [
        Reply,
        ErrorReported,
        StepEnded,
        TurnEnded,
        TurnStarted,
    ]


# Compaction


@pytest.fixture
def compacting(wire: ZotWire) -> ZotWire:
    wire.encode("c", Compact())
    assert wire.decode([ok("c", started=True)]) == [Reply("c")]
    return wire


def test_an_aborted_compaction_ends_when_the_agent_is_idle(compacting: ZotWire) -> None:
    compacting.encode("a", Abort())
    compacting.encode("s", GetState())
    compacting.encode("t", GetState())
    compacting.encode("u", GetState())
    assert compacting.decode([ok("a"), ok("s", busy=True)]) == [Reply("a"), Reply("s")]
    assert compacting.decode([ok("t", busy=False)]) == [Reply("t"), CompactEnded(None)]
    assert compacting.decode([ok("u", busy=False)]) == [Reply("u")]


def test_a_running_compaction_does_not_end_by_a_state(compacting: ZotWire) -> None:
    compacting.encode("s", GetState())
    assert compacting.decode([ok("s", busy=False)]) == [Reply("s")]


def test_a_summary_that_outran_the_abort_counts(compacting: ZotWire) -> None:
    compacting.encode("a", Abort())
    done = {"type": "compact_done", "summary": "s"}
    assert compacting.decode([done]) == [Compacted("s"), CompactEnded("s")]
    assert compacting.lost("error", "exit 1") == []


def test_a_compaction_ends_with_its_agent(compacting: ZotWire) -> None:
    assert compacting.lost("error", "exit 1") == [CompactEnded(None, "exit 1")]
    assert compacting.lost("error", "exit 1") == []


def test_a_refused_compaction_has_ended(wire: ZotWire) -> None:
    wire.encode("c", Compact())
    assert wire.decode([refused("c", "no")]) == [Reply("c", error="no"), CompactEnded(None, "no")]
    assert wire.lost("error", "x") == []


# Loss


def test_a_loss_closes_calls_step_and_turn_once(running: ZotWire) -> None:
    running.decode([tool_start(), tool_call()])
    assert running.lost("error", "exit 1") == [
        ErrorReported("exit 1"),
        ToolResult("c", True, [text("no result")]),
        StepEnded("error", "exit 1"),
        TurnEnded("error", "exit 1"),
    ]
    assert running.lost("error", "exit 1") == []


def test_a_loss_after_an_abort_is_the_aborts_end(running: ZotWire) -> None:
    running.encode("a", Abort())
    assert running.lost("error", "killed") == [StepEnded("aborted"), TurnEnded("aborted")]


def test_a_loss_with_nothing_open_says_nothing(wire: ZotWire) -> None:
    wire.encode("1", Prompt("never answered"))
    assert wire.lost("error", "exit 1") == []


# Speed


def test_adjacent_pieces_of_a_batch_are_one_event(running: ZotWire) -> None:
    frames = [delta("a"), delta(""), delta("b"), tool_start(), delta("c")]
    progress: list[Frame] = [{"type": "tool_progress", "id": "c", "text": t} for t in "xy"]
    decoded = running.decode([*frames, *progress])
    assert decoded == [
        TextDelta("ab"),
        ToolCallStarted("c", "bash"),
        TextDelta("c"),
        ToolCall("c", "bash", "command", None),
        ToolProgress("c", "xy"),
    ]
    assert joined(decoded) == decoded  # type: ignore[arg-type]
