"""What is asked of a model, and what becomes of its answer: through the real agent and SDKs."""

import base64
import json
import sys
from pathlib import Path

import pytest
from model_desk import KEY, PROVIDERS, Desk
from support.loopback_service import Frame, Handler, ModelServer, answer, call, text
from support.raw_client import wait_until
from support.rpc_process import RpcProcess, result_texts, types

from lsp_agent.runtime.options import NotConfigured, Options
from lsp_agent.runtime.providers import remote

pytestmark = pytest.mark.sampled

#: Of one pixel, as far as its header goes.
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1" + b"\0" * 24
THINKS = {"type": "adaptive", "display": "summarized"}
STEP = ["turn_start", "assistant_start", "text_delta"]


def usages(frames: list[Frame]) -> list[Frame]:
    return [frame for frame in frames if frame["type"] == "usage"]


def thoughts(frames: list[Frame]) -> str:
    return "".join(frame["delta"] for frame in frames if frame["type"] == "thinking_delta")


def shown_images(request: Frame) -> list[str]:
    """MIME types, in the order in which the model is shown the images."""
    words = json.dumps(request["messages"])
    parts = words.split('"media_type": "')[1:] or words.split('"url": "data:')[1:]
    return [part.split('"')[0].split(";")[0] for part in parts]


# -- the answer


def test_text_and_calls_are_streamed_and_run_to_the_end(desk: Desk):
    path = desk.folder / "a.txt"
    path.write_text("one\n", encoding="utf-8")
    edit = call("edit", path="a.txt", edits=[{"oldText": "one", "newText": "two"}])
    desk.server.answers[:] = [
        answer({"text": "I look."}, call("read", path="a.txt")),
        answer(edit, call("bash", command="cat a.txt")),
        text("Done."),
    ]
    frames = desk.agent.prompt("change it")
    after = path.read_text(encoding="utf-8")
    path.unlink()
    assert after == "two\n"
    stops = [frame["stop"] for frame in frames if frame["type"] == "turn_end"]
    assert stops == ["tool_use", "tool_use", "end"]
    assert result_texts(frames)[0] == "one\n"
    assert "two" in result_texts(frames)[2]
    pieces = [frame for frame in frames if frame["type"] == "tool_use_args"]
    assert len(pieces) > 4
    for one in (frame for frame in frames if frame["type"] == "tool_call"):
        streamed = "".join(piece["delta"] for piece in pieces if piece["id"] == one["id"])
        assert json.loads(streamed) == one["args"]


def test_thinking_is_told_beside_the_text_and_goes_back_where_it_is_wanted(desk: Desk):
    desk.server.answers[:] = [
        answer({"thinking": "deep thought"}, {"text": "Ah."}, call("bash", command="true")),
        text("Done."),
    ]
    frames = desk.agent.prompt()
    assert thoughts(frames) == "deep thought"
    told = types(frames)
    assert told[told.index("assistant_start") + 1] == "thinking_delta"
    assert "deep" not in str([one for one in frames if one["type"] != "thinking_delta"])
    assert "deep" not in str(desk.agent.ask("get_messages"))
    if desk.provider == "anthropic":
        asked = desk.server.requests[1]["messages"][1]["content"]
        assert [block["type"] for block in asked] == ["thinking", "text", "tool_use"]
        assert asked[0]["signature"] == "signed deep thought"


def test_a_service_like_openais_gets_back_what_its_calls_must_come_with(desk: Desk):
    if desk.provider == "anthropic":
        return
    signed = {"google": {"thought_signature": "c2ln"}}

    def first(handler: Handler) -> None:
        function = {"name": "bash", "arguments": '{"command": "true"}'}
        one = {"index": 0, "id": "c1", "function": function, "extra_content": signed}
        details = [
            [{"type": "reasoning.text", "text": "dee", "signature": None, "index": 0}],
            [{"type": "reasoning.text", "text": "p", "signature": "sig", "index": 0}],
        ]
        deltas = [
            {"reasoning_content": "dee", "reasoning_details": details[0]},
            {"reasoning_content": "p", "reasoning_details": details[1]},
            {"tool_calls": [one]},
        ]
        frames = [{"choices": [{"delta": delta}]} for delta in deltas]
        handler.stream([*frames, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}])

    thoughtless = answer(call("bash", "c2", command="true"))
    desk.server.answers[:] = [first, thoughtless, text("Done.")]
    desk.agent.prompt()
    desk.agent.prompt("and?")
    one, other, last = [
        message
        for message in desk.server.requests[-1]["messages"]
        if message["role"] == "assistant"
    ]
    assert one["reasoning_content"] == "deep"
    whole = {"type": "reasoning.text", "text": "deep", "signature": "sig", "index": 0}
    assert one["reasoning_details"] == [whole]
    assert one["tool_calls"][0]["extra_content"] == signed
    # DeepSeek refuses a call that comes without thoughts once there were some.
    assert other["reasoning_content"] == ""
    assert last == {"role": "assistant", "content": "Done."}


def test_an_answer_in_parts_is_the_text_of_them(desk: Desk):
    if desk.provider == "anthropic":
        return

    def parts(handler: Handler) -> None:
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "deep"}]}
        content = [thinking, {"type": "text", "text": "Ah."}]
        choice = {"index": 0, "delta": {"content": content}, "finish_reason": "stop"}
        handler.stream([{"choices": [choice]}])

    desk.server.answers[:] = [parts]
    frames = desk.agent.prompt()
    assert "".join(frame["delta"] for frame in frames if frame["type"] == "text_delta") == "Ah."


def test_how_much_it_thinks_is_an_option_that_the_next_answer_follows(desk: Desk):
    desk.server.answers[:] = [text("Ah."), text("Hm.")]
    (option,) = desk.agent.ask("get_options")["data"]["options"]
    desk.agent.prompt()
    (now,) = desk.agent.ask("set_option", option=option["id"], value="high")["data"]["options"]
    desk.agent.prompt()
    assert desk.agent.ask("set_option", option=option["id"], value="default")["success"]
    assert not desk.agent.ask("set_option", option=option["id"], value="wild")["success"]
    assert (option["value"], now["value"]) == ("default", "high")
    if desk.provider == "anthropic":  # OpenAI's default model does not think where it has tools
        told = [request.get("thinking") for request in desk.server.requests]
        assert told == [None, THINKS]


def test_an_answer_of_thinking_alone_ends_the_turn_without_a_message(desk: Desk):
    desk.server.answers[:] = [answer({"thinking": "hm"})]
    frames = desk.agent.prompt()
    assert "assistant_message" not in types(frames)
    assert frames[-2] == {"type": "turn_end", "stop": "end"}


def test_a_call_gets_an_id_of_its_own_where_the_service_repeats_one(desk: Desk):
    same = call("bash", "call_0", command="true")
    desk.server.answers[:] = [answer(same), answer(same), text("Done.")]
    frames = desk.agent.prompt()
    ids = [frame["id"] for frame in frames if frame["type"] == "tool_call"]
    assert len(set(ids)) == 2
    told = json.dumps(desk.server.requests[2]["messages"])
    assert all(told.count(f'"{call_id}"') == 2 for call_id in ids)


def test_two_calls_in_one_answer_are_both_answered(desk: Desk):
    calls = [call("bash", command=f"echo {word}") for word in ("left", "right")]
    desk.server.answers[:] = [answer(*calls), text("Done.")]
    results = result_texts(desk.agent.prompt())
    assert [word in result for word, result in zip(("left", "right"), results, strict=True)] == [
        True,
        True,
    ]


def whole(path: str, **more: str) -> Frame:
    return more | {"function": {"name": "read", "arguments": json.dumps({"path": path})}}


@pytest.mark.parametrize(
    "deltas",
    [
        [whole("a.txt", id="c1"), whole("b.txt", id="c2")],
        [whole("a.txt"), whole("b.txt")],
        [
            whole("a.txt", id="c1"),
            {"id": "c2", "function": {"name": "read", "arguments": '{"path"'}},
            {"function": {"arguments": ': "b.txt"}'}},
        ],
        [
            {"id": "c1", "function": {"name": "read", "arguments": '{"path"'}},
            {"id": "c1", "function": {"name": "read", "arguments": ': "a.txt"}'}},
            whole("b.txt", id="c2"),
        ],
    ],
    ids=["ids of their own", "no ids", "the last one in pieces", "the first one in pieces"],
)
def test_calls_that_share_an_index_are_all_run(desk: Desk, deltas: list[Frame]):
    """As gateways to Gemini have it."""
    if desk.provider == "anthropic":
        return

    def calls(handler: Handler) -> None:
        frames = [{"choices": [{"delta": {"tool_calls": [{"index": 0} | one]}}]} for one in deltas]
        handler.stream([*frames, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}])

    files = [desk.folder / name for name in ("a.txt", "b.txt")]
    for file in files:
        file.write_text(f"this is {file.name}\n", encoding="utf-8")
    desk.server.answers[:] = [calls, text("Done.")]
    results = result_texts(desk.agent.prompt())
    for file in files:
        file.unlink()
    assert results == ["this is a.txt\n", "this is b.txt\n"]


def test_arguments_that_come_with_the_start_of_a_call_are_its_own(desk: Desk):
    """As some services like Anthropic's have it."""
    if desk.provider == "openai":
        return
    block = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "echo all"}}

    def at_once(handler: Handler) -> None:
        kinds = [
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ]
        handler.stream(kinds)

    desk.server.answers[:] = [at_once, text("Done.")]
    (result,) = result_texts(desk.agent.prompt())
    assert "echo all" in result
    assert block in desk.server.requests[1]["messages"][1]["content"]


def test_an_answer_is_whole_once_it_has_said_why_it_stops(desk: Desk):
    """Whatever becomes of the connection then."""

    def cut(handler: Handler) -> None:
        if handler.speaks_anthropic:
            block = {"type": "tool_use", "id": "t1", "name": "bash", "input": {}}
            delta = {"type": "input_json_delta", "partial_json": '{"command": "echo whole"}'}
            frames = [
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            ]
        else:
            function = {"name": "bash", "arguments": '{"command": "echo whole"}'}
            delta = {"tool_calls": [{"index": 0, "id": "t1", "function": function}]}
            frames = [{"choices": [{"delta": delta, "finish_reason": "tool_calls"}]}]
        handler.stream(frames)
        handler.reset()

    desk.server.answers[:] = [cut, text("Done.")]
    frames = desk.agent.prompt()
    assert "whole" in result_texts(frames)[0]
    assert [frame["stop"] for frame in frames if frame["type"] == "turn_end"] == ["tool_use", "end"]


# -- usage and cost


def test_usage_has_the_caches_numbers_and_what_they_cost(desk: Desk):
    numbers = {
        "anthropic": {
            "input_tokens": 1000,
            "output_tokens": 200,
            "cache_read_input_tokens": 5000,
            "cache_creation_input_tokens": 400,
        },
        "openai": {
            "prompt_tokens": 6400,
            "completion_tokens": 200,
            "prompt_tokens_details": {"cached_tokens": 5000, "cache_write_tokens": 400},
        },
    }[desk.provider]
    desk.server.answers[:] = [text("hi", usage=numbers)] * 2
    before = desk.agent.ask("get_state")["data"]["usage"]["output"]
    used = usages([*desk.agent.prompt(), *desk.agent.prompt()])
    one = {"input": 1000, "output": 200, "cache_read": 5000, "cache_write": 400}
    for usage in used:
        assert {name: usage[name] for name in one} == one
        # Both defaults cost 2 in, 10 out, 0.2 cached and 2.5 to cache, a million tokens.
        assert usage["cost_usd"] == pytest.approx(0.002 + 0.002 + 0.001 + 0.001)
    assert used[1]["cumulative"]["output"] == before + 400


def test_usage_that_is_told_with_each_piece_is_counted_once(desk: Desk):
    if desk.provider == "anthropic":
        return

    def counting(handler: Handler) -> None:
        for number in range(1, 4):
            choice: Frame = {"index": 0, "delta": {"content": "x"}}
            choice["finish_reason"] = "stop" if number == 3 else None
            usage = {"prompt_tokens": 10, "completion_tokens": number}
            frames.append({"choices": [choice], "usage": usage})
        handler.stream(frames)

    frames: list[Frame] = []
    desk.server.answers[:] = [counting]
    (used,) = usages(desk.agent.prompt())
    assert (used["input"], used["output"]) == (10, 3)


def uncounted(handler: Handler) -> None:
    if handler.speaks_anthropic:
        kinds = ({"type": "text", "text": "hi"}, {"stop_reason": "end_turn"})
        start = {"type": "content_block_start", "index": 0, "content_block": kinds[0]}
        end = {"type": "message_delta", "delta": kinds[1]}
        handler.stream([start, end, {"type": "message_stop"}])
    else:
        choice = {"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}
        handler.stream([{"choices": [choice]}])


def test_an_answer_without_usage_is_one_all_the_same(desk: Desk):
    desk.server.answers[:] = [uncounted]
    assert desk.agent.prompt()[-2] == {"type": "turn_end", "stop": "end"}


# -- the request


def test_the_request_has_the_prompt_the_tools_and_the_key(desk: Desk):
    desk.agent.prompt("my words")
    request, headers = desk.server.requests[0], desk.server.headers[0]
    assert "my words" in json.dumps(request["messages"])
    assert headers["authorization"] == f"Bearer {KEY}"
    tools = [tool.get("function", tool)["name"] for tool in request["tools"]]
    assert tools == ["bash", "bash_kill", "bash_output", "edit", "read", "write"]
    assert "coding agent" in json.dumps(request.get("system", request["messages"][0]))


def test_what_stays_the_same_is_marked_for_the_cache(desk: Desk):
    if desk.provider == "openai":
        return  # caches by itself
    desk.server.answers[:] = [answer(call("bash", command="true")), text("Done.")]
    desk.agent.prompt()
    for request in desk.server.requests:
        assert request["system"][-1]["cache_control"] == {"type": "ephemeral"}
        marked = [
            "cache_control" in block for one in request["messages"] for block in one["content"]
        ]
        assert marked[-1]
    # The last one, too, is told where the one before had ended.
    messages = desk.server.requests[-1]["messages"]
    ends = [["cache_control" in block for block in one["content"]][-1] for one in messages]
    assert ends == [True, False, True]


def test_of_a_long_conversation_no_more_is_marked_than_the_service_takes(desk: Desk):
    if desk.provider == "openai":
        return
    desk.server.answers[:] = [answer(call("bash", command="true"))] * 5
    desk.agent.prompt()
    told = json.dumps(desk.server.requests[-1])
    assert told.count("cache_control") == 3


def test_two_prompts_in_a_row_are_one_message_for_the_model(desk: Desk):
    desk.server.answers[:] = [lambda handler: handler.error(401, "authentication_error", "no")]
    desk.agent.prompt("first")
    desk.agent.prompt("second")
    roles = [one["role"] for one in desk.server.requests[1]["messages"] if one["role"] != "system"]
    assert roles == ["user"]


def test_a_prompt_of_blanks_is_a_message_all_the_same(desk: Desk):
    desk.agent.prompt(" \n")
    (told,) = [one for one in desk.server.requests[0]["messages"] if one["role"] == "user"]
    assert told["content"]
    if desk.provider == "anthropic":  # which refuses blank text
        assert [block["text"] for block in told["content"]] == ["(an empty message)"]


def test_an_empty_result_is_no_image(desk: Desk):
    path = desk.folder / "empty.txt"
    path.touch()
    desk.server.answers[:] = [answer(call("read", path="empty.txt")), text("Done.")]
    desk.agent.prompt()
    path.unlink()
    told = json.dumps(desk.server.requests[1]["messages"])
    assert "an image" not in told
    assert ('"(empty)"' in told) == (desk.provider == "openai")


# -- images


def test_a_prompts_image_reaches_the_model_and_only_its_size_the_client(desk: Desk):
    image = {"mime_type": "image/jpeg", "data": base64.b64encode(PNG).decode()}
    desk.agent.send("prompt", id="p", message="what is this?", images=[image])
    frames = desk.agent.until("done")
    user = next(frame for frame in frames if frame["type"] == "user_message")
    assert user["content"][1] == {"type": "image", "mime_type": "image/jpeg", "bytes": len(PNG)}
    assert shown_images(desk.server.requests[0]) == ["image/png"]  # what it really is
    assert image["data"] not in json.dumps(desk.agent.ask("get_messages"))


def test_an_image_that_is_read_is_shown_to_the_model(desk: Desk):
    path = desk.folder / "a.png"
    path.write_bytes(PNG)
    desk.server.answers[:] = [answer(call("read", path="a.png")), text("A square.")]
    frames = desk.agent.prompt()
    path.unlink()
    result = next(frame for frame in frames if frame["type"] == "tool_result")
    assert result["content"] == [{"type": "image", "mime_type": "image/png", "bytes": len(PNG)}]
    assert shown_images(desk.server.requests[1]) == ["image/png"]


def test_what_is_no_image_goes_as_words_and_does_not_spoil_the_session(desk: Desk):
    image = {"mime_type": "image/png", "data": base64.b64encode(b"no picture").decode()}
    desk.agent.send("prompt", id="p", message="see", images=[image])
    desk.agent.until("done")
    assert shown_images(desk.server.requests[0]) == []
    assert "an image that is no PNG" in json.dumps(desk.server.requests[0])


# -- compaction


def test_the_model_summarizes_when_asked_to(desk: Desk):
    desk.server.answers[:] = [text(f"a{n}") for n in (1, 2, 3)] + [text("the notes")]
    for n in (1, 2, 3):
        desk.agent.prompt(f"question {n}")
    desk.agent.send("compact", id="c")
    assert desk.agent.until("compact_done")[-1]["summary"] == "the notes"
    record = json.dumps(desk.server.requests[3]["messages"])
    assert "question 1" in record
    assert "tools" not in desk.server.requests[3]
    desk.agent.prompt("go on")
    told = json.dumps(desk.server.requests[4]["messages"])
    assert "the notes" in told
    assert "question 1" not in told
    assert "question 3" in told


def full(provider: str) -> Frame:
    name = "input_tokens" if provider == "anthropic" else "prompt_tokens"
    return {name: 900_000}


def test_a_nearly_full_context_is_summarized_before_the_next_step(desk: Desk):
    """The running turn keeps its prompt and its calls."""
    steps = [answer(call("bash", command=f"echo step {n}")) for n in (1, 2, 3)]
    last = answer(call("bash", command="echo step 4"), usage=full(desk.provider))
    desk.server.answers[:] = [*steps, last, text("the notes"), text("Done.")]
    frames = desk.agent.prompt("the task")
    kinds = types(frames)
    assert kinds.count("compact_done") == 1
    assert kinds.index("compact_done") > len(kinds) - 10
    assert kinds[-2:] == ["turn_end", "done"]
    told = json.dumps(desk.server.requests[-1]["messages"])
    assert all(words in told for words in ("the notes", "the task", "step 3", "step 4"))
    assert "echo step 1" not in told
    messages = desk.agent.ask("get_messages")["data"]["messages"]
    called = [b["id"] for one in messages for b in one["content"] if b["type"] == "tool_call"]
    results = [
        b["call_id"] for one in messages for b in one["content"] if b["type"] == "tool_result"
    ]
    assert called == results


def test_what_a_service_does_not_count_is_guessed(desk: Desk):
    default = desk.agent.ask("get_state")["data"]["model"]
    assert desk.agent.ask("set_model", model="small-one")["success"]
    desk.server.answers[:] = [uncounted] * 8
    kinds = [kind for _ in range(4) for kind in types(desk.agent.prompt("x" * 200_000))]
    assert desk.agent.ask("set_model", model=default)["success"]
    assert "compact_done" in kinds


def test_a_conversation_that_did_not_fit_is_summarized_and_asked_again(desk: Desk):
    for n in (1, 2, 3):
        desk.agent.prompt(f"question {n}")
    words = "prompt is too long: 1200000 tokens > 1000000 maximum"
    desk.server.answers[:] = [
        lambda handler: handler.error(400, "invalid_request_error", words),
        text("the notes"),
        text("fine"),
    ]
    frames = desk.agent.prompt("the last straw")
    assert types(frames)[-2:] == ["turn_end", "done"]
    assert [frame["stop"] for frame in frames if frame["type"] == "turn_end"] == ["end"]
    assert "compact_done" in types(frames)
    assert "the last straw" in json.dumps(desk.server.requests[-1]["messages"])


def test_a_summary_that_fails_is_told_and_the_step_is_tried_all_the_same(desk: Desk):
    for n in (1, 2):
        desk.agent.prompt(f"question {n}")
    desk.server.answers[:] = [
        text("long", usage=full(desk.provider)),
        lambda handler: handler.error(403, "permission_error", "no"),
        text("fine"),
    ]
    desk.agent.prompt("fill")
    frames = desk.agent.prompt("go on")
    began, failed = [frame["message"] for frame in frames if frame["type"] == "ext_notify"]
    assert began == "summarizing the conversation, to make room"
    assert failed.startswith("the conversation could not be summarized: ")
    assert [frame["stop"] for frame in frames if frame["type"] == "turn_end"] == ["end"]


def test_a_summary_that_is_aborted_changes_nothing(desk: Desk):
    for n in (1, 2):
        desk.agent.prompt(f"question {n}")
    desk.server.answers[:] = [
        text("long", usage=full(desk.provider)),
        lambda handler: handler.server.over.wait(),
        text("the notes"),
        text("fine"),
    ]
    desk.agent.prompt("fill")
    desk.agent.send("prompt", id="p", message="stopped")
    assert wait_until(lambda: len(desk.server.requests) == 4, timeout=20)  # for the notes
    desk.agent.send("abort", id="a")
    assert "compact_done" not in types(desk.agent.until("done"))
    assert desk.agent.ask("get_state")["data"]["message_count"] == 7
    frames = desk.agent.prompt("go on")
    assert [frame["stop"] for frame in frames if frame["type"] == "turn_end"] == ["end"]
    told = json.dumps(desk.server.requests[-1]["messages"])
    assert "the notes" in told
    assert "go on" in told


def test_a_prompt_that_fits_into_no_context_spoils_only_itself(desk: Desk):
    default = desk.agent.ask("get_state")["data"]["model"]
    assert desk.agent.ask("set_model", model="small-one")["success"]
    words = "prompt is too long: 300000 tokens > 200000 maximum"
    desk.server.answers[:] = [
        lambda handler: handler.error(400, "invalid_request_error", words),
        text("the notes"),
        text("fine"),
    ]
    too_long = desk.agent.prompt("x" * 1_000_000)
    assert [frame["stop"] for frame in too_long if frame["type"] == "turn_end"] == ["error"]
    frames = desk.agent.prompt("a short one")
    assert [frame["stop"] for frame in frames if frame["type"] == "turn_end"] == ["end"]
    last = json.dumps(desk.server.requests[-1])
    assert "a short one" in last
    assert len(last) < 20_000
    assert desk.agent.ask("set_model", model=default)["success"]


# -- models


def test_the_models_are_listed_and_any_other_can_be_named(desk: Desk):
    models = desk.agent.ask("get_models")["data"]["models"]
    assert all(model["context_window"] >= 100_000 for model in models)
    default = desk.agent.ask("get_state")["data"]["model"]
    assert models[0]["id"] == default
    assert desk.agent.ask("set_model", model="")["success"] is False
    assert desk.agent.ask("set_model", model="my-own")["success"]
    desk.agent.prompt()
    assert desk.server.requests[0]["model"] == "my-own"
    assert desk.agent.ask("set_model", model=default)["success"]


def test_a_model_that_takes_no_tools_while_it_thinks_is_asked_not_to_think(desk: Desk):
    if desk.provider == "anthropic":
        return  # thinks and calls
    words = (
        "Function tools with reasoning_effort are not supported for new-one in"
        " /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort"
        " to 'none'."
    )
    default = desk.agent.ask("get_state")["data"]["model"]
    desk.agent.ask("set_model", model="new-one")
    desk.server.answers[:] = [
        lambda handler: handler.error(400, "invalid_request_error", words),
        text("fine"),
    ]
    frames = desk.agent.prompt()
    desk.agent.prompt()
    desk.agent.ask("set_model", model=default)
    assert [frame["stop"] for frame in frames if frame["type"] == "turn_end"] == ["end"]
    efforts = [request.get("reasoning_effort") for request in desk.server.requests]
    assert efforts == [None, "none", "none"]


def test_a_level_that_a_model_does_not_have_is_told_and_another_is_taken(desk: Desk):
    if desk.provider == "anthropic":
        return
    words = (
        "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported"
        " values are: 'none', 'low', 'medium', and 'high'."
    )
    default = desk.agent.ask("get_state")["data"]["model"]
    (option,) = desk.agent.ask("get_options")["data"]["options"]
    desk.agent.ask("set_model", model="plain-one")
    desk.server.answers[:] = [lambda handler: handler.error(400, "invalid_request_error", words)]
    desk.agent.ask("set_option", option=option["id"], value="xhigh")
    frames = desk.agent.prompt()
    desk.agent.ask("set_option", option=option["id"], value="high")
    desk.agent.prompt()
    desk.agent.ask("set_option", option=option["id"], value="default")
    desk.agent.ask("set_model", model=default)
    told = next(frame["message"] for frame in frames if frame["type"] == "error")
    assert "choose another reasoning level" in told
    efforts = [request.get("reasoning_effort") for request in desk.server.requests]
    assert efforts == ["xhigh", "high"]


# -- where the key and the words come from


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_key_in_the_environment_is_all_that_it_takes(tmp_path: Path, provider: str):
    server = ModelServer()
    name = provider.upper()
    env = {f"{name}_API_KEY": "sk-from-the-environment", f"{name}_BASE_URL": f"{server.url}/v1"}
    server.answers[:] = [answer(call("bash", command="env; true")), text("hello")]
    (tmp_path / "AGENTS.md").write_text("Use tabs.", encoding="utf-8")
    try:
        flags = ("--reasoning", "low", "--append-system-prompt", "Be kind.")
        with RpcProcess(tmp_path, (), *flags, env=env, script=False) as agent:
            assert agent.ask("hello")["data"]["provider"] == provider
            frames = agent.prompt()
    finally:
        server.close()
    assert [frame["stop"] for frame in frames if frame["type"] == "turn_end"] == ["tool_use", "end"]
    assert "sk-from-the-environment" not in str(frames)
    assert server.headers[0]["authorization"] == "Bearer sk-from-the-environment"
    assert server.paths[0] in ("/v1/messages", "/v1/chat/completions")
    request = server.requests[0]
    told = json.dumps(request.get("system", request["messages"][0]))
    assert "Use tabs." in told
    assert "Be kind." in told
    if provider == "anthropic":
        assert request["output_config"] == {"effort": "low"}
        assert request["thinking"] == THINKS


def keyring(folder: Path, code: str) -> dict[str, str]:
    """Variables with which a keyring's ``get_password(service, name)`` does this."""
    module = folder / "modules" / "keyring"
    module.mkdir(parents=True)
    program = f"import time\ndef get_password(service, name): {code}\n"
    (module / "__init__.py").write_text(program, encoding="utf-8")
    return {"PYTHONPATH": str(module.parent)}


def test_a_key_in_the_systems_keyring_is_taken(tmp_path: Path):
    env = keyring(tmp_path, "return f'sk-{service}-{name}'")
    server = ModelServer()
    work = tmp_path / "work"
    work.mkdir()
    try:
        flags = ("--provider", "anthropic", "--base-url", server.url, "--system-prompt", "Only I.")
        with RpcProcess(work, (), *flags, env=env, script=False) as agent:
            agent.prompt()
            assert "sk-lsp-agent" not in agent.stderr
    finally:
        server.close()
    assert server.headers[0]["authorization"] == "Bearer sk-lsp-agent-anthropic"
    assert [block["text"] for block in server.requests[0]["system"]] == ["Only I."]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise RuntimeError('locked: sk-1')", "RuntimeError"),
        ("time.sleep(5)", "no answer within 0.1 s; is it locked?"),
    ],
)
def test_a_keyring_that_does_not_answer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, words: str
):
    monkeypatch.syspath_prepend(keyring(tmp_path, code)["PYTHONPATH"])
    monkeypatch.delitem(sys.modules, "keyring", raising=False)
    monkeypatch.setattr(remote, "KEYRING_SECONDS", 0.1 if "sleep" in code else 20)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(NotConfigured) as told:
        remote.access("anthropic", Options(str(tmp_path)))
    assert f"no key for anthropic (the system's keyring: {words}); set " in str(told.value)
    sys.modules.pop("keyring", None)
