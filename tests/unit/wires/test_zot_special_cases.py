"""What is special in single recordings (tests/recordings/README.md), each as an assertion."""

import itertools

import pytest
from support.zot_replay import Replay, lines, replay

from lsp_agent.protocol.events import (
    AssistantMessage,
    Compacted,
    ErrorReported,
    Notice,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolCall,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessage,
)
from lsp_agent.wires.wire import CompactEnded


def play(name: str) -> Replay:
    """Frame by frame, so that order and joining hide nothing."""
    return replay(lines(name), itertools.repeat(True))


def ends(name: str) -> list[tuple[str, str | None]]:
    return [(end.stop_reason, end.error) for end in play(name).of(TurnEnded)]


def result_text(result: ToolResult) -> str:
    (block,) = result.content
    assert block["type"] == "text"
    return block["text"]


def results(name: str) -> list[tuple[bool, str]]:
    return [(result.is_error, result_text(result)) for result in play(name).of(ToolResult)]


# Text, stop reasons, errors


def test_text_is_joined_without_a_change() -> None:
    (turn,) = play("simple_text").turns
    assert turn.text == "Hello, world — <b>&amp;</b> 😀\u2028 end."


def test_another_provider_makes_the_same_events() -> None:
    assert {type(event) for event in play("simple_text_openai").events} == {
        type(event) for event in play("simple_text").events
    }


@pytest.mark.parametrize("name", ["thinking_only", "thinking_only_openai"])
def test_a_turn_of_thinking_alone_has_no_message(name: str) -> None:
    assert play(name).of(AssistantMessage) == []
    assert ends(name) == [("endTurn", None)]


@pytest.mark.parametrize("name", ["stop_max_tokens", "stop_max_tokens_openai"])
def test_the_token_limit_is_no_error(name: str) -> None:
    assert ends(name) == [("maxTokens", None)]
    assert play(name).of(ErrorReported) == []


@pytest.mark.parametrize("name", ["stop_refusal", "stream_dropped", "ollama_any_model"])
def test_what_zot_cannot_tell_from_an_end_is_an_end(name: str) -> None:
    assert ends(name) == [("endTurn", None)]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("provider_401", "anthropic: http 401: "),
        ("provider_429", "anthropic: http 429: "),
        ("provider_500_no_retry", "anthropic: http 500: oops"),
        ("provider_503_exhausted", "anthropic: http 503: busy"),
        ("provider_529", "anthropic: http 529: "),
        ("provider_unreachable", "anthropic: Post "),
        ("stream_error_event", "anthropic overloaded_error: Overloaded"),
        ("ext_block_turn", "turn budget reached"),
    ],
)
def test_a_failure_is_told_once_and_ends_the_turn(name: str, message: str) -> None:
    seen = play(name)
    (error,) = seen.of(ErrorReported)
    assert error.message.startswith(message)
    assert seen.of(TurnEnded)[0] == TurnEnded("error", error.message)


@pytest.mark.parametrize("name", ["provider_401", "stream_error_event"])
def test_the_next_prompt_after_a_failure_works(name: str) -> None:
    assert [reason for reason, _ in ends(name)] == ["error", "endTurn"]


def test_the_text_before_a_failure_is_kept() -> None:
    assert play("stream_error_event").turns[0].text != ""


@pytest.mark.parametrize("name", ["provider_503_retry_ok", "provider_connection_reset"])
def test_a_retry_that_succeeds_is_no_error(name: str) -> None:
    assert ends(name) == [("endTurn", None)]
    assert play(name).of(ErrorReported) == []


def test_a_message_wins_over_its_deltas_and_has_no_zero_time() -> None:
    seen = play("ext_rewrite_message")
    assert seen.of(TextDelta) == [TextDelta("secret")]
    assert seen.turns[0].text == "REWRITTEN: secret"
    assert "time" not in seen.of(AssistantMessage)[0].message


def test_the_deltas_are_the_text_of_a_hidden_message() -> None:
    seen = play("ext_hide_message")
    assert seen.of(AssistantMessage) == []
    assert seen.turns[0].text == "ok"


def test_notices_come_outside_turns() -> None:
    seen = play("ext_notify")
    after = seen.events[seen.events.index(TurnEnded("endTurn")) + 1 :]
    assert after == [
        Notice("warning", f"saw {event}", "bridge")
        for event in ("session_start", "turn_start", "turn_end", "assistant_message")
    ]


def test_an_image_of_a_prompt_comes_back_as_its_size() -> None:
    (message,) = play("prompt_image").of(UserMessage)
    assert message.message["content"] == [
        {"type": "text", "text": "what is this"},
        {"type": "image", "mimeType": "image/png", "size": 70},
    ]


def test_an_empty_prompt_reaches_the_model() -> None:
    (message,) = play("prompt_empty_message").of(UserMessage)
    assert message.message["content"] == []


def test_a_prompt_near_the_limit_is_one_turn() -> None:
    assert ends("line_15mb") == [("endTurn", None)]


# Commands


def test_state_commands_have_canonical_answers() -> None:
    replies = play("state_commands").replies
    assert replies["h"].data == {
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "version": "0.0.0",
    }
    usage = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "cost": 0}
    assert replies["s"].data == {
        "provider": "anthropic",
        "model": "claude-sonnet-4-5",
        "messageCount": 0,
        "usage": usage,
    }
    assert replies["m"].data == {"messages": []}
    models = replies["gm"].data["models"]
    assert isinstance(models, list)
    assert models[0] == {
        "id": "claude-sonnet-4-5",
        "provider": "anthropic",
        "contextWindow": 200000,
        "maxOutput": 64000,
        "reasoning": True,
    }
    assert replies["sm"].data == {"model": "claude-haiku-4-5"}
    assert replies["sm2"].error == 'unknown model "gpt-5" (provider="anthropic")'
    assert replies["cl"].error is None


def test_an_unknown_provider_is_seen_in_the_state() -> None:
    (reply,) = play("bad_provider").replies.values()
    assert reply.data["provider"] == "anthropic"


def test_a_queued_prompt_starts_after_the_first_turn() -> None:
    seen = play("queue_second_prompt")
    edges = [event for event in seen.events if isinstance(event, TurnStarted | TurnEnded)]
    assert edges == [
        TurnStarted("first"),
        TurnEnded("endTurn"),
        TurnStarted("second"),
        TurnEnded("endTurn"),
    ]
    assert list(seen.replies) == ["1", "s", "2"]


def test_a_model_set_in_mid_turn_changes_the_price_of_the_next_step() -> None:
    seen = play("set_model_while_busy")
    assert seen.replies["sm"].error is None
    first, second = seen.of(UsageReported)
    assert first.usage["cost"] != second.usage["cost"]


def test_a_clear_in_mid_turn_leaves_an_orphan_result() -> None:
    messages = play("clear_while_busy").replies["m"].data["messages"]
    assert isinstance(messages, list)
    assert messages[0]["role"] == "tool"
    assert messages[0]["content"][0]["type"] == "toolResult"


def test_odd_lines_are_debug_notices_and_refused_prompts_start_no_turn() -> None:
    seen = play("malformed_and_unknown")
    notices = seen.of(Notice)
    assert len(notices) == 13
    assert {(notice.level, notice.source) for notice in notices} == {("debug", "agent")}
    assert [started.prompt for started in seen.of(TurnStarted)] == [""]
    assert {key for key, reply in seen.replies.items() if reply.error} == {"x", "im", "i2"}


@pytest.mark.parametrize("name", ["auth_token_missing", "auth_token_wrong", "auth_token_ok"])
def test_without_the_token_commands_are_refused(name: str) -> None:
    seen = play(name)
    assert seen.of(TurnStarted) == []
    errors = [reply.error for reply in seen.replies.values() if reply.error]
    notices = [notice.message for notice in seen.of(Notice)]
    assert any("token" in text for text in (*errors, *notices))


def test_a_token_is_seen_by_commands() -> None:
    assert "s3cret" in results("auth_token_leaks_to_bash")[0][1]


@pytest.mark.parametrize("name", ["bad_model", "no_credential", "line_20mb"])
def test_an_agent_that_dies_before_a_turn_leaves_no_turn(name: str) -> None:
    seen = play(name)
    assert [event for event in seen.events if not isinstance(event, Notice)] == []
    assert seen.replies == {}


# Aborts and ends


@pytest.mark.parametrize(
    "name",
    [
        "abort_midstream",
        "abort_during_bash",
        "abort_bash_ignores_term",
        "gate_abort_while_waiting",
        "gate_abort_hosted_call_pending",
    ],
)
def test_an_abort_is_told_as_one_and_as_no_error(name: str) -> None:
    assert ends(name)[0] == ("aborted", None)
    assert play(name).of(ErrorReported) == []


@pytest.mark.parametrize(
    "name", ["abort_midstream", "abort_during_bash", "gate_abort_hosted_call_pending"]
)
def test_the_prompt_after_an_abort_is_not_aborted(name: str) -> None:
    assert ends(name)[1] == ("endTurn", None)


def test_the_text_before_an_abort_is_kept() -> None:
    seen = play("abort_midstream")
    assert seen.turns[0].text == "w0 w1 w2 w3 w4 w5 "
    assert seen.of(StepEnded)[0] == StepEnded("aborted")


def test_a_write_that_still_runs_after_the_abort_is_recorded() -> None:
    seen = play("abort_during_bash")
    bash, write = seen.of(ToolResult)
    assert bash.is_error
    assert (write.is_error, result_text(write)) == (False, "written after abort\n")


def test_calls_after_an_abort_end_in_their_own_errors() -> None:
    assert [text for _, text in results("gate_abort_while_waiting")[1:]] == [
        "extension bridge/write failed: context canceled",
        "aborted: start: context canceled",
    ]


def test_an_abort_of_nothing_does_not_hit_the_next_turn() -> None:
    assert ends("abort_idle") == [("endTurn", None)]


def test_the_end_of_stdin_does_not_end_the_turn() -> None:
    assert ends("stdin_close_mid_turn") == [("endTurn", None)]
    assert [step.step for step in play("stdin_close_mid_turn").of(StepStarted)] == [1, 2, 3]


# Compaction


@pytest.mark.parametrize(
    ("name", "summary"),
    [("compact_ok", "## Goal\nsummary text"), ("compact_queued_behind_prompt", "sum")],
)
def test_a_compaction_ends_in_its_summary(name: str, summary: str) -> None:
    seen = play(name)
    assert seen.compactions == [CompactEnded(summary)]
    assert seen.of(Compacted) == [Compacted(summary)]
    assert {end.stop_reason for end in seen.of(TurnEnded)} == {"endTurn"}


def test_a_failed_compaction_ends_in_its_error() -> None:
    assert play("compact_too_short").compactions == [
        CompactEnded(None, "nothing to compact"),
        CompactEnded(None, "nothing to compact: keep-tail covers the whole transcript"),
    ]
    assert play("compact_provider_error").compactions == [
        CompactEnded(None, 'anthropic: http 500: {"error":"boom"}')
    ]


@pytest.mark.parametrize("name", ["compact_too_short", "compact_provider_error"])
def test_a_failed_compaction_is_no_turn_and_no_error_of_one(name: str) -> None:
    seen = play(name)
    assert seen.of(ErrorReported) == []
    assert len(seen.of(TurnEnded)) == len(seen.of(TurnStarted))


# Tools


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("multi_tool_calls", [("read", "read"), ("bash", "command"), ("write", "edit")]),
        (
            "gate_several_calls",
            [
                ("read", "read"),
                ("read", "read"),
                ("bash", "command"),
                ("write", "edit"),
                ("nosuch", "other"),
                ("edit", "edit"),
            ],
        ),
    ],
)
def test_each_call_of_a_step_is_called_and_answered_once(
    name: str, calls: list[tuple[str, str]]
) -> None:
    seen = play(name)
    made = seen.of(ToolCall)
    assert [(call.tool, call.kind) for call in made] == calls
    assert [r.tool_call_id for r in seen.of(ToolResult)] == [c.tool_call_id for c in made]


def test_a_calls_path_is_told_as_given() -> None:
    assert [call.paths for call in play("write_tool").of(ToolCall)] == [("src/new/hello.py",)]


def test_edits_of_one_call_come_in_the_models_order() -> None:
    calls = play("edit_lf_multiple").of(ToolCall)
    assert [call.tool for call in calls] == ["read", "edit"]
    assert isinstance(calls[1].args, dict)
    assert len(calls[1].args["edits"]) == 2


def test_an_empty_text_is_a_text() -> None:
    assert "" in [text for _, text in results("edit_delete_all")]


def test_failed_edits_are_failed_calls_of_an_ordinary_turn() -> None:
    failures = results("edit_failing")
    assert [is_error for is_error, _ in failures] == [True] * 8
    assert len({text for _, text in failures}) == 8
    assert ends("edit_failing") == [("endTurn", None)]


def test_a_result_may_be_an_images_size() -> None:
    (result,) = play("read_image").of(ToolResult)
    assert result.content == [{"type": "image", "mimeType": "image/png", "size": 75}]


def test_a_crlf_edit_is_told_in_zots_words() -> None:
    ((is_error, text),) = results("edit_crlf")
    assert not is_error
    assert "\r\n" in text


def test_progress_comes_before_a_commands_result() -> None:
    seen = play("bash_progress")
    kinds = [type(event) for event in seen.events if isinstance(event, ToolProgress | ToolResult)]
    assert len(kinds) > 2
    assert kinds.index(ToolResult) == len(kinds) - 1
    assert "[exit 3]" in result_text(seen.of(ToolResult)[0])


def test_a_result_is_whole_where_its_progress_was_cut_inside_characters() -> None:
    seen = play("bash_big_utf8")
    assert "\ufffd" in "".join(progress.text for progress in seen.of(ToolProgress))
    assert "\ufffd" not in result_text(seen.of(ToolResult)[0])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("bash_timeout", "[exit -1]"),
        ("no_tools", 'unknown tool "write"'),
        ("tools_read_bash", 'unknown tool "write"'),
        ("gate_deny", "[exit 126]"),
        ("gate_server_gone", "[exit 126]"),
        ("gate_allow_after_70s", "[exit 3]  Took 1m11s"),
        ("gate_timeout_while_waiting", "[exit -1]"),
        ("gate_timeout_after_allow", "[exit -1]"),
    ],
)
def test_a_call_that_fails_leaves_the_turn_an_ordinary_one(name: str, said: str) -> None:
    is_error, text = results(name)[0]
    assert is_error
    assert said in text
    assert ends(name) == [("endTurn", None)]


def test_the_step_goes_on_after_a_declined_command() -> None:
    assert [is_error for is_error, _ in results("gate_deny")] == [True, False]


def test_a_blocked_calls_reason_is_its_error() -> None:
    ((is_error, text),) = results("ext_block_write")
    assert is_error
    assert text != ""


def test_a_hosted_turn_tells_our_answers_as_it_tells_zots() -> None:
    calls = [call.tool for call in play("gate_hosted_tools_and_bash").of(ToolCall)]
    assert calls == ["read", "edit", "edit", "write", "read", "bash", "bash"]
    texts = [text for _, text in results("gate_hosted_tools_and_bash")]
    assert texts[2] == "edit 1: oldText not found in a.txt"
    assert "Not run: the user declined this command." in texts[-1]


@pytest.mark.parametrize(
    "name",
    [
        "ext_intercept_all",
        "ext_intercept_slow_3s",
        "ext_intercept_timeout",
        "ext_modify_args",
        "ext_own_file_tools_no_tools",
        "ext_redirect_path",
        "ext_snapshot_before_write",
        "ext_tools_shadowed_by_builtin",
        "no_tools_no_skill",
    ],
)
def test_what_an_extension_does_leaves_the_turn_an_ordinary_one(name: str) -> None:
    assert ends(name) == [("endTurn", None)]


def test_without_its_bridge_zot_runs_a_command_unasked() -> None:
    first, second, write = results("gate_socket_lost_fails_open")
    assert not first[0]
    assert not second[0]
    assert write[1].startswith("extension bridge/write failed: no extension registered")
