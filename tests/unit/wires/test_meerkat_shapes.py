"""Meerkat's shapes as its pages and its generated types have them: of the wire as it was first
published, of 0.8 and of 0.9, with the fields that we have no use for."""

import json
from typing import Any

import pytest
from meerkat_talk import ID, METHODS, Frame, Talk

from lsp_agent.protocol.events import (
    ErrorReported,
    Notice,
    StepStarted,
    TextDelta,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessage,
)
from lsp_agent.protocol.messages import text
from lsp_agent.wires.wire import (
    Abort,
    Answered,
    Decoded,
    GetMessages,
    GetModels,
    GetState,
    Granted,
    Hello,
    Prompt,
    Refused,
    Reply,
    RunTool,
)


def of(kind: type[Any], told: list[Decoded]) -> list[Any]:
    return [each for each in told if isinstance(each, kind)]


def replied(told: list[Decoded]) -> Reply:
    (reply,) = of(Reply, told)
    return reply


# The wire as it was first published


def test_its_first_answer_has_no_contract_and_is_known_by_that():
    talk = Talk(seed=True)
    talk.ask("h", Hello())
    talk.take(
        json.loads(
            """{"jsonrpc": "2.0", "id": 1, "result": {
              "server_info": {"name": "meerkat-rpc", "version": "0.1.0"},
              "methods": ["session/create", "session/list", "session/read", "session/archive",
                "turn/start", "turn/interrupt", "config/get", "config/set", "config/patch"]}}"""
        )
    )
    reply = replied(talk.answer({"agent": {"model": "gpt-5.2"}, "max_tokens": 8192}))
    config = {"agent": {"model": "gpt-5.2"}, "max_tokens": 8192}
    assert reply.data == {"version": "0.1.0", "model": "gpt-5.2", "config": config}


def test_its_session_is_made_with_the_first_turn_and_its_usage_has_two_counts(old: Talk):
    old.ask("p", Prompt("What is Rust?"))
    assert old.asked[-1]["method"] == "session/create"
    told = old.take(
        old.event("run_started", prompt="What is Rust?"),
        old.event("turn_started"),
        old.event("text_delta", delta="Rust is"),
        old.event("text_complete", content="Rust is a language."),
        old.event("turn_completed", stop_reason="end_turn"),
        old.event("run_completed", session_id=ID, result="Rust is a language."),
    )
    told += old.end("Rust is a language.", usage={"input_tokens": 50, "output_tokens": 200})
    assert told[0] == Reply("p")
    used = {"input": 50, "output": 200}
    assert of(UsageReported, told) == [UsageReported(used, used)]  # type: ignore[arg-type]
    assert told[-1] == TurnEnded("endTurn")
    old.ask("q", Prompt("And ownership?"))
    assert old.asked[-1]["method"] == "turn/start"
    assert old.asked[-1]["params"] == {"session_id": ID, "prompt": "And ownership?"}


def test_its_interrupt_is_answered_with_nothing_and_the_turns_response_ends_the_turn(old: Talk):
    old.prompt()
    turn = old.asked[-1]["id"]
    old.ask("a", Abort())
    assert old.answer({}) == []
    result = {"session_id": ID, "text": "", "turns": 0, "tool_calls": 0}
    assert old.take({"id": turn, "result": result})[-1] == TurnEnded("aborted")


@pytest.mark.parametrize(
    ("kind", "fields", "notice"),
    [
        (
            "budget_warning",
            {"budget_type": "tokens", "used": 9, "limit": 10, "percent": 90},
            Notice("warning", "tokens budget: 9 of 10 used", "agent"),
        ),
        (
            "retrying",
            {},
            Notice("warning", "the model failed; trying again", "agent"),
        ),
    ],
)
def test_what_it_only_tells_is_a_notice(old: Talk, kind: str, fields: Frame, notice: Notice):
    old.prompt()
    assert old.take(old.event(kind, **fields)) == [notice]


def test_its_failed_run_ends_the_turn_with_what_it_says(old: Talk):
    old.prompt()
    old.take(old.event("run_failed", session_id=ID, error="no key"))
    told = old.fail(-32002, "anthropic: no key")
    assert len(of(ErrorReported, told)) == 1
    assert told[-1].stop_reason == "error"  # type: ignore[union-attr]


def test_its_agents_shell_is_shown_though_it_is_off(old: Talk):
    old.prompt()
    told = old.take(
        old.event("tool_call_requested", id="c", name="shell", args={"command": "ls"}),
        old.event("tool_execution_started", id="c", name="shell"),
        old.event("tool_execution_completed", id="c", name="shell", result="a", is_error=False),
    )
    assert of(ToolCall, told) == [ToolCall("c", "shell", "command", {"command": "ls"})]
    assert of(ToolResult, told) == [ToolResult("c", False, [text("a")])]


def test_it_cannot_take_a_session_up_and_has_no_transcript(old: Talk):
    assert not old.wire.capabilities["resume"]
    assert old.ask("m", GetMessages()) == Reply("m", {"messages": []})


# Today's wire: starting


def test_what_a_created_session_is_called_is_all_that_counts_of_it():
    talk = Talk()
    talk.ask("h", Hello())
    talk.answer(
        {
            "server_info": {"name": "meerkat-rpc", "version": "0.9.6"},
            "contract_version": "0.9.6",
            "methods": [*METHODS, "capabilities/get", "turn/stop_run", "live/open"],
        }
    )
    talk.answer({"registered": 4})
    talk.answer({"session_id": ID, "session_ref": f"lsp-agent:{ID}"})
    read = {
        "session_id": ID,
        "model": "claude",
        "provider": "anthropic",
        "message_count": 3,
        "is_active": False,
        "created_at": 1790000000,
        "updated_at": 1790000001,
        "last_assistant_text": "Hi",
        "labels": {},
        "resolved_capabilities": {"vision": True},
    }
    state = {"model": "claude", "provider": "anthropic", "messageCount": 3}
    assert replied(talk.answer(read)).data == {"version": "0.9.6"} | state


def test_the_configuration_comes_in_an_envelope():
    talk = Talk()
    talk.ask("h", Hello())
    talk.answer({"contract_version": "0.8.26", "methods": ["session/create", "config/get"]})
    talk.fail(-32602)
    envelope = {
        "config": {"agent": {"model": "m", "provider": "p"}},
        "generation": 4,
        "realm_id": "lsp-agent",
        "instance_id": "i",
        "backend": "sqlite",
        "resolved_paths": {"root": "/data"},
    }
    told = replied(talk.answer(envelope)).data
    config = {"agent": {"model": "m", "provider": "p"}}
    assert told == {"model": "m", "provider": "p", "config": config}


def test_the_models_come_by_provider(talk: Talk):
    talk.ask("m", GetModels())
    entry = {
        "id": "claude",
        "display_name": "Claude",
        "tier": "recommended",
        "context_window": 200_000,
        "max_output_tokens": 8192,
        "profile": {"family": "claude"},
    }
    groups = [
        {"provider": "anthropic", "default_model_id": "claude", "models": [entry]},
        {"provider": "mine", "default_model_id": "x", "models": [{"id": "x", "tier": "other"}]},
    ]
    told = replied(talk.answer({"contract_version": "0.9.6", "providers": groups})).data
    assert told["models"] == [
        {"id": "claude", "provider": "anthropic", "contextWindow": 200_000, "maxOutput": 8192},
        {"id": "x", "provider": "mine"},
    ]


# Today's wire: a turn


def test_a_run_may_begin_with_the_results_of_tools(talk: Talk):
    talk.ask("p", Prompt("Go."))
    pending = {"kind": "pending_tool_results"}
    identity = {"run_id": "r"}
    told = talk.take(talk.event("run_started", session_id=ID, input=pending, identity=identity))
    assert told == [Reply("p"), TurnStarted("Go.")]


def test_a_run_that_begins_with_blocks_is_the_persons_message(talk: Talk):
    talk.ask("p", Prompt("Look."))
    content = [
        {"type": "text", "text": "Look."},
        {"type": "image", "media_type": "image/png", "source": "inline", "data": "AAAA"},
    ]
    (said,) = of(
        UserMessage,
        talk.take(talk.event("run_started", input={"kind": "content", "content": content})),
    )
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    assert said.message["content"] == [text("Look."), image]


def test_deltas_of_0_9_name_their_message(talk: Talk):
    talk.prompt()
    told = talk.take(talk.event("text_delta", delta="Hi", assistant_message_id="a"))
    assert told == [TextDelta("Hi")]


def test_a_tool_of_ours_is_asked_for_with_more_in_0_9(talk: Talk):
    talk.prompt()
    params = {
        "tool_use_id": "c",
        "name": "read",
        "arguments": {"path": "a.txt"},
        "dedupe_key": {"run_id": "r", "round": 0, "call_id": "c", "call_digest": "d"},
    }
    request = {"jsonrpc": "2.0", "id": "srv-0", "method": "tool/execute", "params": params}
    told = talk.take(request)
    assert of(RunTool, told) == [RunTool("srv-0", "read", {"path": "a.txt"}, "c", 110.0)]


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (Answered("text"), {"content": "text", "is_error": False}),
        (Granted("noted"), {"content": "noted", "is_error": False}),
        (Refused("no"), {"content": "no", "is_error": True}),
    ],
)
def test_a_tool_is_answered_with_a_text_which_0_8_takes_too(talk: Talk, answer: Any, result: Frame):
    talk.prompt()
    params = {"tool_use_id": "c", "name": "read", "arguments": {}}
    talk.take({"jsonrpc": "2.0", "id": "srv-0", "method": "tool/execute", "params": params})
    sent = talk.wire.answer("srv-0", answer)
    assert sent == {"jsonrpc": "2.0", "id": "srv-0", "result": result}


def test_the_usage_of_a_run_is_told_by_the_response_of_0_9(talk: Talk):
    talk.prompt()
    counted = {
        "input_tokens": 5,
        "output_tokens": 2,
        "total_tokens": 7,
        "cache_creation_tokens": 3,
        "cache_read_tokens": 1,
        "reasoning_tokens": 1,
    }
    told = talk.end(
        "Hi",
        usage={name: 2 * count for name, count in counted.items()},
        run_usage=counted,
        request_usage=counted,
        structured_output=None,
        skill_diagnostics=[],
    )
    one = {"input": 5, "output": 2, "cacheRead": 1, "cacheWrite": 3}
    two = {name: 2 * count for name, count in one.items()}
    assert of(UsageReported, told) == [UsageReported(one, two)]  # type: ignore[arg-type]


def test_a_limit_may_be_told_by_the_runs_end(talk: Talk):
    talk.prompt()
    talk.take(
        talk.event(
            "run_completed",
            session_id=ID,
            result="",
            usage={},
            extraction_required=False,
            terminal_cause_kind="turn_limit_reached",
        )
    )
    assert talk.end()[-1].stop_reason == "maxSteps"  # type: ignore[union-attr]


def test_a_gap_in_the_numbers_of_events_changes_nothing(talk: Talk):
    talk.prompt()
    talk.seq += 40
    told = talk.take(talk.event("turn_started", turn_number=1))
    assert of(StepStarted, told) == [StepStarted(2)]


# Today's wire: ends and errors


@pytest.mark.parametrize("result", ["interrupted", "staged_noop"])
def test_what_an_interrupt_says_ends_nothing_by_itself(talk: Talk, result: str):
    talk.prompt()
    turn = talk.asked[-1]["id"]
    talk.ask("a", Abort())
    assert talk.answer({"session_id": ID, "interrupted": True, "result": result}) == []
    cancelled = {"code": -32005, "message": "request cancelled"}
    assert talk.take({"id": turn, "error": cancelled})[-1] == TurnEnded("aborted")


@pytest.mark.parametrize("code", [-32001, -32002, -32600])
def test_an_interrupt_that_fails_leaves_the_turn_to_its_response(talk: Talk, code: int):
    talk.prompt()
    turn = talk.asked[-1]["id"]
    talk.ask("a", Abort())
    (notice,) = talk.fail(code, "not now")
    assert isinstance(notice, Notice)
    assert notice.level == "debug"
    result = {"session_id": ID, "text": "All the same.", "turns": 1, "tool_calls": 0}
    assert talk.take({"id": turn, "result": result})[-1] == TurnEnded("aborted")


def test_a_complaint_about_a_line_that_it_could_not_read_belongs_to_no_request(talk: Talk):
    talk.prompt()
    error = {"code": -32700, "message": "Parse error: expected value"}
    (notice,) = talk.take({"jsonrpc": "2.0", "id": None, "error": error})
    said = "response to nothing: Parse error: expected value"
    assert notice == Notice("debug", said, "agent")


def test_a_failed_run_says_its_class_and_reason(talk: Talk):
    talk.prompt()
    report = {"class": "llm", "reason": {"kind": "auth"}, "message": "401 invalid x-api-key"}
    talk.take(talk.event("run_failed", session_id=ID, error_report=report))
    told = talk.fail(-32010, "provider error")
    (end,) = of(TurnEnded, told)
    assert (end.stop_reason, (end.error or "").partition(" (")[0]) == (
        "error",
        "http 401: invalid x-api-key",
    )


# Today's wire: the transcript


def test_every_kind_of_row_and_block_is_read(talk: Talk):
    talk.ask("m", GetMessages())
    rows: list[Frame] = [
        {"role": "system", "content": "You are."},
        {"role": "system_notice", "content": "The clock has struck."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look."},
                {"type": "image", "media_type": "image/png"},
                {"type": "structured", "data": {}},
                {"type": "skill_context", "skill": "x"},
            ],
        },
        {"role": "user", "transcript_role": "injected_context", "content": "By the way."},
        {
            "role": "block_assistant",
            "blocks": [
                {"block_type": "reasoning", "data": {"text": "Hm."}},
                {"block_type": "text", "data": {"text": "Let me."}},
                {"block_type": "image", "data": {"media_type": "image/png"}},
                {"block_type": "server_tool", "data": {}},
                {"block_type": "tool_use", "data": {"id": "c", "name": "read", "args": {}}},
            ],
            "stop_reason": "tool_use",
        },
        {
            "role": "tool_results",
            "results": [
                {
                    "tool_use_id": "c",
                    "content": [{"type": "text", "text": "a"}],
                    "is_error": True,
                }
            ],
        },
    ]
    page = {"session_id": ID, "message_count": 6, "offset": 0, "limit": 200, "has_more": False}
    said = replied(talk.answer(page | {"messages": rows})).data["messages"]
    image = {"type": "image", "mimeType": "image/png"}
    call = {"type": "toolCall", "toolCallId": "c", "tool": "read", "args": {}}
    result = {"type": "toolResult", "toolCallId": "c", "isError": True, "content": [text("a")]}
    assert said == [
        {
            "role": "user",
            "content": [
                text("Look."),
                image,
                text("[structured block]"),
                text("[skill_context block]"),
            ],
        },
        {"role": "user", "content": [text("By the way.")]},
        {
            "role": "assistant",
            "content": [{"type": "thinking", "text": "Hm."}, text("Let me."), image, call],
        },
        {"role": "tool", "content": [result]},
    ]


def test_the_calls_that_load_our_tools_are_not_in_it(talk: Talk):
    talk.ask("m", GetMessages())

    def used(call_id: str, name: str) -> Frame:
        return {"block_type": "tool_use", "data": {"id": call_id, "name": name, "args": {}}}

    def results(*ids: str) -> Frame:
        each = [{"tool_use_id": call_id, "content": call_id} for call_id in ids]
        return {"role": "tool_results", "results": each}

    first = [
        {"role": "block_assistant", "blocks": [used("k", "tool_catalog_load")]},
        results("k"),
        {
            "role": "block_assistant",
            "blocks": [used("s", "tool_catalog_search"), used("c", "read")],
        },
    ]
    assert talk.answer({"messages": first, "offset": 0, "has_more": True}) == []
    rest = [
        results("s", "c"),
        {"role": "block_assistant", "blocks": [used("k", "read")]},  # the id is counted anew
        results("k"),
    ]
    said = replied(talk.answer({"messages": rest, "offset": 3, "has_more": False})).data["messages"]
    told = [[block["toolCallId"] for block in row["content"]] for row in said]  # type: ignore[index,union-attr]
    assert told == [["c"], ["c"], ["k"], ["k"]]


def test_the_state_goes_on_where_the_server_leaves_out_what_it_knows(talk: Talk):
    talk.ask("s", GetState())
    assert replied(talk.answer({"session_id": ID})).data == {"version": "0.9.6"}
