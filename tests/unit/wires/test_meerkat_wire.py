"""The Meerkat wire by itself: handshakes, every event of the page, errors, odd streams."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from meerkat_talk import ID, METHODS, Frame, Talk

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import (
    AssistantMessage,
    Compacted,
    ErrorReported,
    Notice,
    StepEnded,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallStarted,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessage,
    WindowFilled,
)
from lsp_agent.protocol.messages import text
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.runtime.tools.toolbox import BUILT_IN
from lsp_agent.wires import new_wire
from lsp_agent.wires.meerkat import messages as meerkat_messages
from lsp_agent.wires.meerkat import tools as meerkat_tools
from lsp_agent.wires.meerkat.wire import MeerkatWire
from lsp_agent.wires.wire import (
    Abort,
    Answered,
    Clear,
    Compact,
    Decoded,
    GetCommands,
    GetMessages,
    GetModels,
    GetState,
    Hello,
    Prompt,
    Refused,
    Reply,
    RunCommand,
    RunTool,
    SetModel,
    Steer,
    Withdrawn,
)


def plain(decoded: list[Decoded]) -> list[Decoded]:
    return [each for each in decoded if not isinstance(each, Notice)]


# Start and handshake


def test_it_is_found_by_its_name():
    assert isinstance(new_wire("meerkat"), MeerkatWire)


def test_it_is_started_in_a_realm_that_stays_and_without_the_repositorys_context():
    launch = MeerkatWire().launch(
        AgentSettings(wire="meerkat", command=["rkat-rpc"], env={"MY_TOKEN": "x"}), "/shop", None
    )
    assert launch.argv == ("rkat-rpc", "--realm", "lsp-agent")
    assert {"MY_TOKEN", "OPENAI_API_KEY", "RKAT_OPENAI_API_KEY"} <= set(launch.secrets)


@pytest.mark.parametrize(
    "command", [["rkat", "rpc"], ["rkat-rpc", "--realm=mine"], ["rkat-rpc", "--isolated"]]
)
def test_a_command_that_chose_its_realm_or_takes_no_flags_is_left_as_it_is(command: list[str]):
    agent = AgentSettings(wire="meerkat", command=command)
    assert MeerkatWire().launch(agent, "/shop", None).argv == tuple(command)


def test_mirror_is_refused():
    agent = AgentSettings(wire="meerkat", command=["rkat-rpc"], hosting="mirror")
    with pytest.raises(RequestFailed, match="without asking anybody"):
        MeerkatWire().launch(agent, "/shop", None)


def test_the_handshake_makes_a_session_that_runs_nothing_with_our_tools_alone():
    talk = Talk(model="claude", provider="anthropic")
    (reply,) = talk.hello()
    assert reply == Reply(
        "h",
        {"version": "0.9.6", "model": "m", "provider": "p", "messageCount": 0},
    )
    register, create = (frame["params"] for frame in talk.asked[1:3])
    assert register["tools"] == create["external_tools"]
    assert (create["prompt"], create["initial_turn"]) == ([], "deferred")
    assert (create["model"], create["provider"]) == ("claude", "anthropic")
    own = {name for name in create if name.startswith("enable_")}
    assert {"enable_builtins", "enable_shell", "enable_mob"} <= own
    assert not any(create[name] for name in own)
    assert [tool["name"] for tool in create["external_tools"]] == ["read", "write", "edit", "bash"]
    assert "/shop" in create["additional_instructions"][0]
    assert 'tool_catalog_load with names ["read"' in create["additional_instructions"][1]


def test_our_tools_are_the_embedded_agents():
    given = {tool["name"]: tool for tool in meerkat_tools.TOOLS}
    assert set(given) == set(BUILT_IN)
    for name, tool in given.items():
        if name != "bash":  # whose limits differ, without a background; no image can be shown
            assert tool["input_schema"] == BUILT_IN[str(name)].schema
            assert BUILT_IN[str(name)].description.startswith(str(tool["description"]))


def test_every_frame_says_its_version(talk: Talk):
    assert {frame["jsonrpc"] for frame in talk.asked} == {"2.0"}


def test_a_server_without_deferred_sessions_gets_the_first_prompt_with_the_creation():
    talk = Talk()
    talk.ask("h", Hello())
    talk.answer({"contract_version": "0.8.26", "methods": METHODS})
    talk.answer({"registered": 4})
    assert talk.fail(-32602) == [Reply("h")]
    frame = talk.ask("p", Prompt("Go."))
    assert isinstance(frame, dict)
    assert (frame["method"], frame["params"]["prompt"]) == ("session/create", "Go.")
    assert "initial_turn" not in frame["params"]
    told = talk.take(talk.event("run_started"))
    assert told[:2] == [Reply("p"), TurnStarted("Go.")]
    talk.end("Done.")
    assert talk.ask("q", Prompt("On."))["params"]["session_id"] == ID  # type: ignore[index]


def test_a_session_of_another_process_is_not_taken_up():
    """It could be given no tools any more. The server tells the agent in short what was in it."""
    talk = Talk()
    talk.ask("h", Hello("an-older-one"))
    talk.answer({"contract_version": "0.9.6", "methods": METHODS})
    talk.answer({"registered": 4})
    assert talk.asked[-1]["method"] == "session/create"
    talk.answer({"session_id": ID})
    (reply,) = talk.answer({"session_id": ID, "model": "m"})
    assert reply == Reply("h", {"model": "m"})
    assert not talk.wire.capabilities["resume"]


# The configuration

CONFIGURED: Frame = {
    "agent": {"model": "m"},
    "max_tokens": 8192,
    "realm": {"r": {"auth": {"a": {"source": {"kind": "inline", "secret": "sk-1"}}}}},
    "servers": [{"api_key": "sk-2"}],
}


def started(config: Frame, *more: str, seed: bool = False) -> Talk:
    """Up to the answer to ``initialize``."""
    talk = Talk(seed=seed, config=config)
    talk.ask("h", Hello())
    version = {} if seed else {"contract_version": "0.9.6"}
    talk.answer({"methods": [*METHODS, *more]} | version)
    return talk


def test_the_configuration_of_the_settings_is_merged_before_a_session_begins():
    talk = started({"max_tokens": 8192})
    assert talk.asked[-1]["method"] == "config/patch"
    assert talk.asked[-1]["params"] == {"patch": {"max_tokens": 8192}}
    assert talk.answer({"config": CONFIGURED, "generation": 2}) == []
    assert talk.asked[-1]["method"] == "tools/register"
    assert talk.answer({"registered": 4}) == []
    assert talk.asked[-1]["method"] == "session/create"


def test_the_first_wire_takes_the_bare_configuration():
    talk = started({"max_tokens": 8192}, seed=True)
    assert talk.asked[-1]["method"] == "config/patch"
    assert talk.asked[-1]["params"] == {"max_tokens": 8192}
    talk.answer(CONFIGURED)
    assert talk.asked[-1]["method"] == "config/get"
    (reply,) = talk.answer({"agent": {"model": "m"}})
    assert reply == Reply("h", {"model": "m", "config": {"agent": {"model": "m"}}})


@pytest.mark.parametrize("code", [-32602, -32601])
def test_a_configuration_that_is_refused_ends_the_start_with_the_reason(code: int):
    talk = started({"max_tokens": "many"})
    (reply,) = talk.fail(code, "invalid type: string")
    assert isinstance(reply, Reply)
    assert "does not take the table `config`" in (reply.error or "")
    assert f"invalid type: string ({code})." in (reply.error or "")


def test_the_state_has_the_configuration_without_its_secrets():
    talk = started({}, "config/get")
    talk.answer({"registered": 4})
    talk.answer({"session_id": ID})
    talk.answer({"session_id": ID, "model": "n", "provider": "p"})
    assert talk.asked[-1]["method"] == "config/get"
    answer = {"config": CONFIGURED, "generation": 1, "realm_id": "lsp-agent"}
    (reply,) = talk.answer(answer)
    assert isinstance(reply, Reply)
    assert reply.data["model"] == "n"  # the session's, whatever the default is
    assert reply.data["config"] == {
        "agent": {"model": "m"},
        "max_tokens": 8192,
        "realm": {"r": {"auth": {"a": {"source": {"kind": "inline", "secret": "…"}}}}},
        "servers": [{"api_key": "…"}],
    }


def test_a_configuration_is_looked_into_to_a_depth_only():
    deep: Any = "sk-1"
    for _ in range(200):
        deep = [deep]
    shown = meerkat_messages.configured({"config": {"deep": deep}})["config"]
    assert "sk-1" not in str(shown)
    assert str(shown).count("[") == 32


def test_the_state_is_told_without_a_configuration_that_cannot_be_had():
    talk = started({}, "config/get")
    talk.answer({"registered": 4})
    talk.answer({"session_id": ID})
    talk.answer({"session_id": ID, "model": "n"})
    assert talk.fail(-32603) == [Reply("h", {"model": "n"})]


@pytest.mark.parametrize("step", [0, 1])
def test_a_refused_handshake_says_why(step: int):
    talk = Talk()
    talk.ask("h", Hello())
    if step == 1:
        talk.answer({"contract_version": "0.9.6", "methods": METHODS})
    (reply,) = talk.fail(-32010, "no credentials")
    assert isinstance(reply, Reply)
    assert reply.error is not None
    assert reply.error.startswith("no credentials (-32010). Check the provider's key")


def test_what_a_build_lacks_is_said():
    talk = Talk()
    talk.ask("h", Hello())
    talk.answer({"contract_version": "0.8.26", "methods": ["session/create", "turn/start"]})
    assert not talk.wire.capabilities["models"]
    assert talk.wire.capabilities["images"]


# A turn


@pytest.mark.parametrize("version", ["0.8.26", "0.9.6"])
def test_a_whole_turn(version: str):
    talk = Talk(version=version)
    talk.hello()
    later = version == "0.9.6"
    used = {"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": 1}
    content = [{"type": "text", "text": "text of it"}]
    completed = [talk.event("turn_completed", stop_reason="tool_use", usage=used)] if later else []
    told = talk.prompt() + talk.take(
        talk.event("reasoning_delta", delta="I "),
        talk.event("reasoning_delta", delta="think"),
        talk.event("reasoning_complete", content="I think"),
        talk.event("text_delta", delta="Let "),
        talk.event("text_delta", delta="me"),
        talk.event("text_complete", content="Let me"),
        talk.event("tool_call_requested", id="c", name="read", args={"path": "a.txt"}),
        *completed,
        talk.event("tool_execution_started", id="c", name="read"),
        {
            "jsonrpc": "2.0",
            "id": "srv-0",
            "method": "tool/execute",
            "params": {"tool_use_id": "c", "name": "read", "arguments": {"path": "a.txt"}},
        },
    )
    assert talk.wire.answer("srv-0", Answered("text of it")) == {
        "jsonrpc": "2.0",
        "id": "srv-0",
        "result": {"content": "text of it", "is_error": False},
    }
    carried = {} if later else {"content": content}
    told += talk.take(
        talk.event("tool_execution_completed", id="c", name="read", is_error=False, **carried),
        talk.event("tool_result_received", id="c", name="read", is_error=False, content=content),
        talk.event("turn_started", turn_number=1),
        talk.event("text_delta", delta="Done."),
        talk.event("text_complete", content="Done."),
        talk.event("turn_completed", stop_reason="end_turn", usage=used),
        talk.event("run_completed", session_id=ID, result="Done.", usage=used),
    )
    total = {"input_tokens": 10, "output_tokens": 4, "cache_read_tokens": 2}
    told += talk.end("Done.", usage=total)

    call = {"type": "toolCall", "toolCallId": "c", "tool": "read", "args": {"path": "a.txt"}}
    thinking = {"type": "thinking", "text": "I think"}
    one = {"input": 5, "output": 2, "cacheRead": 1}
    two = {"input": 10, "output": 4, "cacheRead": 2}
    message = AssistantMessage({"role": "assistant", "content": [thinking, text("Let me"), call]})  # type: ignore[list-item]
    ended = [message, StepEnded(None)]
    expected: list[object] = [
        Reply("p"),
        TurnStarted("Go."),
        UserMessage({"role": "user", "content": [text("Go.")]}),
        StepStarted(1),
        ThinkingDelta("I think"),
        TextDelta("Let me"),
        ToolCallStarted("c", "read"),
        ToolCall("c", "read", "read", {"path": "a.txt"}, ("a.txt",)),
        *([UsageReported(one, one), WindowFilled(8), *ended] if later else []),  # type: ignore[arg-type]
        RunTool("srv-0", "read", {"path": "a.txt"}, "c", 110.0),
        ToolResult("c", False, [text("text of it")]),
        *([] if later else ended),
        StepStarted(2),
        TextDelta("Done."),
        UsageReported(one, two if later else one),  # type: ignore[arg-type]
        WindowFilled(8),
        AssistantMessage({"role": "assistant", "content": [text("Done.")]}),
        StepEnded("endTurn"),
        *([] if later else [UsageReported(one, two)]),  # type: ignore[arg-type]
        TurnEnded("endTurn"),
    ]
    assert told == expected


def test_a_call_that_is_to_be_run_before_it_was_told_of_is_told_once(talk: Talk):
    talk.prompt()
    execute = {"tool_use_id": "c", "name": "bash", "arguments": {"command": "ls"}}
    told = talk.take({"id": 7, "method": "tool/execute", "params": execute})
    assert told == [
        ToolCallStarted("c", "bash"),
        ToolCall("c", "bash", "command", {"command": "ls"}),
        RunTool("7", "bash", {"command": "ls"}, "c", 110.0),
    ]
    late = talk.event("tool_call_requested", id="c", name="bash", args={"command": "ls"})
    assert talk.take(late) == []
    assert talk.wire.answer("7", Refused("no"))["result"] == {"content": "no", "is_error": True}  # type: ignore[index]
    assert talk.wire.answer("7", Refused("no")) is None


def test_the_catalogue_is_no_tool_of_the_turn(talk: Talk):
    talk.prompt()
    told = talk.take(
        talk.event("tool_call_requested", id="k", name="tool_catalog_load", args={"names": []}),
        talk.event("tool_result_received", id="k", name="tool_catalog_load", is_error=False),
    )
    assert [each.level for each in told if isinstance(each, Notice)] == ["debug"]
    assert len(told) == 1


def test_a_request_that_we_do_not_know_is_answered_so(talk: Talk):
    talk.take({"id": "srv-1", "method": "elicit", "params": {}})
    assert talk.asked[-1]["error"]["code"] == -32601


def test_a_tool_that_is_none_of_ours_and_a_late_one_are_refused(talk: Talk):
    params = {"tool_use_id": "c", "name": "read", "arguments": {}}
    talk.take({"id": "srv-1", "method": "tool/execute", "params": params})
    assert talk.asked[-1]["result"] == {"content": "Not run: its turn has ended.", "is_error": True}
    talk.prompt()
    talk.take({"id": "srv-2", "method": "tool/execute", "params": params | {"name": "rm"}})
    assert talk.asked[-1]["result"] == {"content": 'unknown tool "rm"', "is_error": True}


def test_the_final_text_wins_over_lost_deltas(talk: Talk):
    talk.prompt()
    talk.take(talk.event("text_delta", delta="Do"))
    told = talk.end("Done.")
    assert AssistantMessage({"role": "assistant", "content": [text("Done.")]}) in told


def test_a_lost_result_is_what_the_tools_end_said(talk: Talk):
    talk.prompt()
    told = talk.take(
        talk.event("tool_call_requested", id="c", name="read", args={}),
        talk.event("tool_execution_completed", id="c", name="read", is_error=True, content="no"),
        talk.event("turn_started", turn_number=1),
    )
    assert ToolResult("c", True, [text("no")]) in told


def test_what_runs_too_long_is_an_error(talk: Talk):
    talk.prompt()
    told = talk.take(
        talk.event("tool_call_requested", id="c", name="bash", args={}),
        talk.event("tool_execution_timed_out", id="c", name="bash", timeout_ms=5),
        talk.event("tool_result_received", id="c", name="bash", is_error=True, content=[]),
    )
    results = [each for each in told if isinstance(each, ToolResult)]
    assert results == [ToolResult("c", True, [text("timed out after 5 ms")])]


def test_a_retry_drops_the_text_so_far_and_begins_a_step(talk: Talk):
    talk.prompt()
    retry = {
        "failure": {"kind": "overloaded", "provider": "p", "message": "overloaded"},
        "plan": {"attempt": 1, "max_retries": 3, "selected_delay_ms": 10},
    }
    told = talk.take(
        talk.event("text_delta", delta="Hel"),
        talk.event("retrying", retry=retry),
        talk.event("text_delta", delta="Hello"),
    )
    warning = "overloaded; attempt 1 of 3, so the text so far is dropped"
    assert told == [
        TextDelta("Hel"),
        Notice("warning", warning, "agent"),
        StepEnded(None),
        StepStarted(2),
        TextDelta("Hello"),
    ]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("end_turn", "endTurn"),
        ("stop_sequence", "endTurn"),
        ("pause_turn", "endTurn"),
        ("max_tokens", "maxTokens"),
        ("context_window_exceeded", "maxTokens"),
        ("refusal", "refusal"),
        ("content_filter", "refusal"),
        ("cancelled", "aborted"),
        ("of another world", "endTurn"),
    ],
)
def test_the_last_steps_reason_is_the_turns(talk: Talk, name: str, reason: str):
    talk.prompt()
    talk.take(talk.event("turn_completed", stop_reason=name))
    assert talk.end()[-1] == TurnEnded(reason)  # type: ignore[arg-type]


def test_a_limit_of_model_calls_is_its_own_reason(talk: Talk):
    talk.prompt()
    ended = talk.end(terminal_cause_kind="turn_limit_reached")[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.stop_reason == "maxSteps"
    assert "prompt again" in (ended.error or "")


@pytest.mark.parametrize(
    ("kind", "fields", "level", "message"),
    [
        (
            "budget_warning",
            {"budget_type": "tokens", "used": 9, "limit": 10},
            "warning",
            "tokens budget: 9 of 10 used",
        ),
        ("hook_denied", {"message": "not today"}, "warning", "hook denied: not today"),
        ("hook_started", {"hook_id": "h"}, "debug", "hook started"),
        ("hook_failed", {"reason": {"kind": "timeout"}}, "warning", "hook failed: timeout"),
        ("hook_completed", {}, "debug", "hook completed"),
        ("tool_config_changed", {"payload": {}}, "debug", "tool config changed"),
        ("background_job_completed", {"detail": "ok"}, "info", "background job completed: ok"),
        ("stream_truncated", {"reason": "slow"}, "warning", "stream truncated: slow"),
        ("boundary_append_applied", {}, "debug", "boundary append applied"),
        ("model_fallback_staged", {}, "info", "model fallback staged"),
        ("model_fallback_target_failed", {}, "warning", "model fallback target failed"),
        ("compaction_started", {"input_tokens": 5}, "info", "compaction started"),
        ("compaction_failed", {"reason": {"kind": "x"}}, "warning", "compaction failed: x"),
        ("model_fallback_committed", {}, "warning", "model fallback committed"),
        ("server_tool_content", {}, "debug", "server tool content"),
        ("assistant_image_appended", {}, "debug", "assistant image appended"),
        ("run_resumed", {}, "debug", "run resumed"),
        ("from_the_future", {}, "debug", "from the future"),
    ],
)
def test_what_changes_nothing_is_a_notice(
    talk: Talk, kind: str, fields: Mapping[str, object], level: str, message: str
):
    talk.prompt()
    assert talk.take(talk.event(kind, **fields)) == [Notice(level, message, "agent")]  # type: ignore[arg-type]


def test_a_compactions_summary_is_fetched(talk: Talk):
    talk.prompt()
    told = talk.take(talk.event("compaction_completed", summary_tokens=5, messages_after=2))
    assert told == []
    assert talk.asked[-1]["method"] == "session/history"
    rows = [
        {"role": "user", "transcript_role": "compaction_summary", "content": "All so far."},
        {"role": "user", "content": "Go."},
    ]
    assert talk.answer({"messages": rows, "offset": 0, "has_more": False}) == [
        Compacted("All so far.")
    ]


# Ends


def test_events_after_the_response_are_of_no_turn(talk: Talk):
    talk.prompt()
    talk.end("Done.")
    talk.ask("q", Prompt("Next."))
    late = talk.take(
        talk.event("text_delta", delta="late"), talk.event("turn_completed", stop_reason="refusal")
    )
    assert [each.level for each in late if isinstance(each, Notice)] == ["debug", "debug"]
    assert plain(talk.take(talk.event("run_started")))[:2] == [Reply("q"), TurnStarted("Next.")]
    assert plain(talk.end())[-1] == TurnEnded("endTurn")


def test_a_response_without_any_event_is_a_whole_turn(talk: Talk):
    talk.ask("p", Prompt("Go."))
    assert talk.end("Done.") == [
        Reply("p"),
        TurnStarted("Go."),
        StepStarted(1),
        AssistantMessage({"role": "assistant", "content": [text("Done.")]}),
        StepEnded("endTurn"),
        TurnEnded("endTurn"),
    ]


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (-32010, "Check the provider's key"),
        (-32011, "Raise the budget"),
        (-32012, "A hook of Meerkat's configuration"),
        (-32013, "boom (-32013)."),
        (-32603, "boom (-32603)."),
        (-32021, "boom (-32021)."),
        (-32036, "boom (-32036)."),
        (-1, "boom (-1)."),
    ],
)
def test_an_error_ends_the_turn_and_is_told_once(talk: Talk, code: int, remedy: str):
    talk.prompt()
    told = talk.fail(code, "boom")
    (error,) = [each for each in told if isinstance(each, ErrorReported)]
    assert remedy in error.message
    assert told[-1] == TurnEnded("error", error.message)


def test_a_failed_run_and_the_error_of_its_response_are_one(talk: Talk):
    talk.prompt()
    talk.take(talk.event("run_failed", error_report={"class": "llm", "message": "529 overloaded"}))
    told = talk.fail(-32013, "Agent error")
    assert [each for each in told if isinstance(each, ErrorReported)] == [
        ErrorReported("http 529: overloaded (-32013).")
    ]


NO_SUCH = '{"error": {"type": "invalid_request_error", "message": "no such thing"}}'
ABANDONED = "turn abandoned: Terminal failure: Failed"
LLM = "LLM failure terminal turn: LLM error (self_hosted)"


@pytest.mark.parametrize(
    ("code", "message", "told"),
    [
        (
            -32603,
            "turn abandoned: provider authentication failed: provider=openai kind=missing_secret",
            "provider=openai kind=missing_secret (-32603). Check the provider's key",
        ),
        (
            -32010,
            f"{ABANDONED} (LlmFailure): {LLM}: Authentication failed: {NO_SUCH}",
            "no such thing (-32010). Check the provider's key",
        ),
        (
            -32010,
            f"{ABANDONED} (LlmFailure): {LLM}: Invalid request: {NO_SUCH}",
            "http 400: Invalid request: no such thing (-32010).",
        ),
        (
            -32010,
            f"{ABANDONED} (RetryExhausted): retry exhausted: LLM error (self_hosted): Server error:"
            ' 500 - {"error": {"message": "oh"}}',
            "http 500: oh; try again in a while (-32010).",
        ),
    ],
)
def test_a_failure_says_what_the_service_said_and_what_helps(
    talk: Talk, code: int, message: str, told: str
):
    """As the real 0.9.8 words it."""
    talk.prompt()
    (error,) = [each for each in talk.fail(code, message) if isinstance(each, ErrorReported)]
    assert told in error.message
    assert "abandoned" not in error.message


@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32602, -32002, -32003, -32004, -32020])
def test_a_prompt_that_never_ran_is_refused(talk: Talk, code: int):
    talk.ask("p", Prompt("Go."))
    (reply,) = talk.fail(code)
    assert isinstance(reply, Reply)
    assert f"no ({code})." in (reply.error or "")


def test_a_prompt_to_a_session_that_meerkat_has_dropped_is_made_in_another(talk: Talk):
    """It drops one whose only turn was stopped before a tool ran: nothing is lost with it."""
    talk.prompt("One.")
    talk.ask("a", Abort())
    talk.take({"id": talk.asked[-2]["id"], "error": {"code": -32005, "message": "cancelled"}})
    talk.ask("p", Prompt("Two."))
    assert talk.fail(-32001) == []
    anew = talk.asked[-1]
    assert (anew["method"], anew["params"]["prompt"]) == ("session/create", "Two.")
    assert "initial_turn" not in anew["params"]
    told = talk.take(talk.event("run_started", session="another"))
    assert told == [Reply("p"), TurnStarted("Two.")]


def test_a_session_that_is_gone_with_what_it_remembered_is_missed_aloud(talk: Talk):
    talk.prompt("One.")
    talk.end("Done.")
    talk.ask("p", Prompt("Two."))
    (notice,) = talk.fail(-32001)
    assert isinstance(notice, Notice)
    assert (notice.level, talk.asked[-1]["method"]) == ("warning", "session/create")
    assert "remembers nothing" in notice.message


def test_a_prompt_that_was_stopped_on_its_way_is_not_made_again(talk: Talk):
    prompt = talk.ask("p", Prompt("Two."))
    assert isinstance(prompt, dict)
    talk.ask("a", Abort())
    gone = {"code": -32001, "message": "session not found"}
    (reply,) = talk.take({"id": prompt["id"], "error": gone})
    assert isinstance(reply, Reply)
    assert reply.error


def test_a_session_that_is_gone_has_no_transcript(talk: Talk):
    talk.ask("m", GetMessages())
    assert talk.fail(-32001) == [Reply("m", {"messages": []})]


def test_a_stop_interrupts_and_the_turns_own_response_ends_it(talk: Talk):
    talk.prompt()
    params = {"tool_use_id": "c", "name": "bash", "arguments": {"command": "sleep 9"}}
    talk.take({"id": "srv-1", "method": "tool/execute", "params": params})
    (turn,) = talk.asked[-1:]
    frame = talk.ask("a", Abort())
    assert isinstance(frame, dict)
    assert (frame["method"], frame["params"]) == ("turn/interrupt", {"session_id": ID})
    interrupted = {"session_id": ID, "interrupted": True, "result": "interrupted"}
    assert talk.answer(interrupted) == []
    told = talk.take({"id": turn["id"], "error": {"code": -32005, "message": "cancelled"}})
    assert told == [
        ToolResult("c", True, [text("aborted")]),
        AssistantMessage(
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "toolCall",
                        "toolCallId": "c",
                        "tool": "bash",
                        "args": {"command": "sleep 9"},
                    }
                ],
            }
        ),
        StepEnded("aborted"),
        TurnEnded("aborted"),
        Withdrawn("srv-1"),
    ]
    assert talk.wire.answer("srv-1", Answered("late")) is None


def test_a_stop_of_a_prompt_without_a_session_cancels_its_request():
    talk = Talk()
    talk.ask("h", Hello())
    talk.answer({"contract_version": "0.8.26", "methods": METHODS})
    talk.fail(-32602)
    prompt = talk.ask("p", Prompt("Go."))
    cancel = talk.ask("a", Abort())
    assert isinstance(prompt, dict)
    assert isinstance(cancel, dict)
    assert cancel["params"] == {"request_id": prompt["id"]}
    assert "id" not in cancel


def test_a_stop_of_nothing_is_answered_at_once(talk: Talk):
    assert talk.ask("a", Abort()) == Reply("a")


def test_a_lost_agent_ends_what_is_open(talk: Talk):
    talk.prompt()
    talk.take(talk.event("tool_call_requested", id="c", name="read", args={}))
    told = talk.wire.lost("error", "It died.")
    assert ErrorReported("It died.") in told
    assert ToolResult("c", True, [text("no result")]) in told
    assert told[-1] == TurnEnded("error", "It died.")
    assert talk.wire.lost("error", "It died.") == []


def test_another_session_of_the_process_is_none_of_ours(talk: Talk):
    talk.prompt()
    (notice,) = talk.take(talk.event("text_delta", session="other", delta="x"))
    assert notice == Notice("debug", "text_delta of another session", "agent")


# Other commands


def test_images_are_blocks_of_the_prompt(talk: Talk):
    frame = talk.ask("p", Prompt("Look.", (ImageInput(mime_type="image/png", data="AAAA"),)))
    assert frame["params"]["prompt"] == [  # type: ignore[index]
        {"type": "text", "text": "Look."},
        {"type": "image", "media_type": "image/png", "source": "inline", "data": "AAAA"},
    ]


def test_a_chosen_model_goes_with_the_next_turn_alone(talk: Talk):
    models = [{"id": "big", "context_window": 9, "max_output_tokens": 3}, {"id": "small"}]
    catalogue = {"providers": [{"provider": "p", "models": models}]}
    talk.ask("m", GetModels())
    assert talk.answer(catalogue) == [
        Reply(
            "m",
            {
                "models": [
                    {"id": "big", "provider": "p", "contextWindow": 9, "maxOutput": 3},
                    {"id": "small", "provider": "p"},
                ]
            },
        )
    ]
    talk.ask("s", SetModel("none"))
    assert talk.answer(catalogue) == [
        Reply("s", error="Meerkat knows no model 'none'; there is: big, small.")
    ]
    talk.ask("s", SetModel("small"))
    assert talk.answer(catalogue) == [Reply("s", {"model": "small"})]
    talk.ask("t", GetState())
    (state,) = talk.answer({"session_id": ID, "model": "m", "provider": "q"})
    assert isinstance(state, Reply)
    assert (state.data["model"], state.data["provider"]) == ("small", "p")
    talk.ask("p", Prompt("Go."))
    talk.fail(-32002)  # a refused prompt has not taken it
    talk.prompt()
    assert talk.asked[-1]["params"] == {
        "session_id": ID,
        "prompt": "Go.",
        "model": "small",
        "provider": "p",
    }
    talk.end()
    talk.prompt()
    assert "model" not in talk.asked[-1]["params"]


def test_the_transcript_comes_in_pages(talk: Talk):
    talk.ask("m", GetMessages())
    first = [
        {"role": "system", "content": "You are."},
        {"role": "user", "content": "Hi", "created_at": "2026-01-01T00:00:00Z"},
    ]
    assert talk.answer({"messages": first, "offset": 0, "has_more": True}) == []
    assert talk.asked[-1]["params"]["offset"] == 2
    use = {"block_type": "tool_use", "data": {"id": "c", "name": "read", "args": {}}}
    said = {"block_type": "text", "data": {"text": "Ho"}}
    result = {"tool_use_id": "c", "content": "x", "is_error": False}
    rest = [
        {"role": "block_assistant", "blocks": [said, use], "stop_reason": "tool_use"},
        {"role": "tool_results", "results": [result]},
    ]
    (reply,) = talk.answer({"messages": rest, "offset": 2, "has_more": False})
    assert isinstance(reply, Reply)
    assert reply.data["messages"] == [
        {"role": "user", "content": [text("Hi")], "time": "2026-01-01T00:00:00Z"},
        {
            "role": "assistant",
            "content": [
                text("Ho"),
                {"type": "toolCall", "toolCallId": "c", "tool": "read", "args": {}},
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "toolResult",
                    "toolCallId": "c",
                    "isError": False,
                    "content": [text("x")],
                }
            ],
        },
    ]


def test_state_is_what_is_known_where_the_server_does_not_say(talk: Talk):
    talk.ask("s", GetState())
    assert talk.fail(-32001) == [Reply("s", {"version": "0.9.6"})]


def test_clear_makes_another_session(talk: Talk):
    talk.ask("c", Clear())
    assert talk.asked[-1]["params"]["initial_turn"] == "deferred"
    assert talk.answer({"session_id": "second"}) == [Reply("c")]
    assert talk.ask("p", Prompt("Go."))["params"]["session_id"] == "second"  # type: ignore[index]


@pytest.mark.parametrize("command", [Steer("x"), Compact(), RunCommand("x", "")])
def test_what_it_cannot_do_it_says(talk: Talk, command: object):
    assert talk.ask("x", command) == Reply("x", error="Meerkat cannot do this.")


def test_it_has_no_commands(talk: Talk):
    assert talk.ask("x", GetCommands()) == Reply("x", {"commands": []})


# The wire as it was first published


def test_the_first_wire_is_told_of_and_has_no_tools(old: Talk):
    assert old.asked[0]["method"] == "initialize"
    assert old.asked[1]["method"] == "config/get"
    assert not old.wire.capabilities["models"]
    frame = old.ask("p", Prompt("Go."))
    assert isinstance(frame, dict)
    assert frame["params"] == {"prompt": "Go.", "enable_builtins": False, "enable_shell": False}


def test_the_first_wires_events_stand_by_themselves(old: Talk):
    told = old.prompt()
    told += old.take(
        old.event("text_delta", delta="Rust is"),
        old.event("text_complete", content="Rust is"),
        old.event("tool_call_requested", id="c", name="shell", args={"command": "ls"}),
        old.event("tool_execution_completed", id="c", name="shell", result="a", is_error=False),
        old.event("turn_completed", stop_reason="end_turn"),
    )
    told += old.end("Rust is", usage={"input_tokens": 50, "output_tokens": 200})
    assert [type(each).__name__ for each in told] == [
        "Reply",
        "TurnStarted",
        "UserMessage",
        "StepStarted",
        "TextDelta",
        "ToolCallStarted",
        "ToolCall",
        "ToolResult",
        "AssistantMessage",
        "StepEnded",
        "UsageReported",
        "TurnEnded",
    ]


def test_a_stop_on_the_first_wire_waits_for_the_sessions_name(old: Talk):
    old.ask("p", Prompt("Go."))
    assert old.ask("a", Abort()) == Reply("a")
    old.take(old.event("run_started", prompt="Go."))
    assert old.asked[-1]["method"] == "turn/interrupt"
    assert old.asked[-1]["params"] == {"session_id": ID}
    assert old.end("All the same.")[-1] == TurnEnded("aborted")


@pytest.mark.parametrize(
    ("code", "remedy"),
    [(-32002, "Check the provider's key"), (-32003, "Raise the budget"), (-32004, "A hook of")],
)
def test_the_first_wires_numbers_mean_other_things(old: Talk, code: int, remedy: str):
    old.ask("p", Prompt("Go."))
    told = old.fail(code, "boom")
    ended = told[-1]
    assert isinstance(ended, TurnEnded)
    assert ended.stop_reason == "error"
    assert remedy in (ended.error or "")


@pytest.mark.parametrize(("code", "remedy"), [(-32000, "Open a new"), (-32001, "Wait for")])
def test_the_first_wires_refusals(old: Talk, code: int, remedy: str):
    old.ask("p", Prompt("Go."))
    (reply,) = old.fail(code, "no")
    assert isinstance(reply, Reply)
    assert remedy in (reply.error or "")


# Odd streams

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KINDS = st.sampled_from(
    [
        "run_started",
        "turn_started",
        "text_delta",
        "text_complete",
        "reasoning_delta",
        "reasoning_complete",
        "tool_call_requested",
        "tool_execution_completed",
        "tool_result_received",
        "tool_execution_timed_out",
        "turn_completed",
        "retrying",
        "run_completed",
        "run_failed",
        "compaction_completed",
        "budget_warning",
    ]
)
FIELDS = st.dictionaries(
    st.sampled_from(["id", "name", "args", "delta", "content", "usage", "input", "retry", "reason"])
    | st.sampled_from(["stop_reason", "error_report", "terminal_cause_kind", "is_error"]),
    VALUES | st.sampled_from(["c", "d", "read", "tool_catalog_load", "end_turn"]),
)


def nothing_is_left_open(told: list[Decoded]) -> None:
    started = [each for each in told if isinstance(each, TurnStarted)]
    ended = [each for each in told if isinstance(each, TurnEnded)]
    assert len(started) == len(ended)
    open_calls: list[str] = []
    for each in told:
        if isinstance(each, ToolCall):
            assert each.tool_call_id not in open_calls
            open_calls.append(each.tool_call_id)
        elif isinstance(each, ToolResult):
            open_calls.remove(each.tool_call_id)
    assert not open_calls
    steps = [each for each in told if isinstance(each, StepStarted)]
    assert len(steps) == len([each for each in told if isinstance(each, StepEnded)])


@settings(max_examples=40)
@given(st.lists(st.tuples(KINDS, FIELDS), max_size=8), st.booleans())
def test_whatever_the_events_say_a_turn_has_one_end(
    events: list[tuple[str, Frame]], seed: bool
) -> None:
    talk = Talk(seed=seed)
    talk.hello()
    told = talk.prompt()
    told += talk.take(*(talk.event(kind, **fields) for kind, fields in events))
    told += talk.end("Done.")
    nothing_is_left_open(told)


@settings(max_examples=40)
@given(st.lists(VALUES, max_size=10))
def test_garbage_is_never_more_than_a_notice(frames: list[object]) -> None:
    talk = Talk()
    talk.hello()
    talk.prompt()
    assert all(isinstance(each, Notice) for each in talk.take(*frames))


@given(st.dictionaries(st.sampled_from(["id", "method", "params", "result", "error"]), VALUES))
def test_frames_of_the_right_form_with_wrong_contents_raise_nothing(frame: Frame) -> None:
    talk = Talk()
    talk.hello()
    told = talk.prompt() + talk.take(frame) + talk.wire.lost("error", "It died.")
    nothing_is_left_open(told)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8))
def test_how_the_stream_is_cut_changes_no_text(cuts: list[int]) -> None:
    talk = Talk()
    talk.hello()
    talk.prompt()
    frames = [talk.event("text_delta", delta=f"{number} ") for number in range(12)]
    said: list[str] = []
    while frames:
        size = cuts[len(frames) % len(cuts)]
        batch, frames = frames[:size], frames[size:]
        told = talk.take(*batch)
        assert len(told) == 1
        said += [each.text for each in told if isinstance(each, TextDelta)]
    assert "".join(said) == "".join(f"{number} " for number in range(12))
    json.dumps(talk.asked)  # all that we send is JSON
