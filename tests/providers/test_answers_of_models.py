"""What is asked of a model, and what becomes of its answer: through the real agent and SDKs."""

import base64
import json
from pathlib import Path

import pytest
from loopback_service import Frame, ModelServer, answer, call, text
from model_desk import KEY, PROVIDERS, Desk
from rpc_process import RpcProcess, result_texts, types

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
STEP = ["turn_start", "assistant_start", "text_delta"]


def usages(frames: list[Frame]) -> list[Frame]:
    return [frame for frame in frames if frame["type"] == "usage"]


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


def test_thinking_stays_out_of_the_text_and_goes_back_where_it_is_wanted(desk: Desk):
    desk.server.answers[:] = [
        answer({"thinking": "deep thought"}, {"text": "Ah."}, call("bash", command="true")),
        text("Done."),
    ]
    frames = desk.agent.prompt()
    assert "deep" not in str(frames)
    assert "deep" not in str(desk.agent.ask("get_messages"))
    if desk.provider == "anthropic":
        asked = desk.server.requests[1]["messages"][1]["content"]
        assert [block["type"] for block in asked] == ["thinking", "text", "tool_use"]
        assert asked[0]["signature"] == "signed deep thought"


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
        assert told == [None, {"type": "adaptive"}]


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


# -- the request


def test_the_request_has_the_prompt_the_tools_and_the_key(desk: Desk):
    desk.agent.prompt("my words")
    request, headers = desk.server.requests[0], desk.server.headers[0]
    assert "my words" in json.dumps(request["messages"])
    assert headers["authorization"] == f"Bearer {KEY}"
    tools = [tool.get("function", tool)["name"] for tool in request["tools"]]
    assert tools == ["bash", "edit", "read", "write"]
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
        assert marked == [*[False] * (len(marked) - 1), True]


def test_two_prompts_in_a_row_are_one_message_for_the_model(desk: Desk):
    desk.server.answers[:] = [lambda handler: handler.error(401, "authentication_error", "no")]
    desk.agent.prompt("first")
    desk.agent.prompt("second")
    roles = [one["role"] for one in desk.server.requests[1]["messages"] if one["role"] != "system"]
    assert roles == ["user"]


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
    notice = next(frame["message"] for frame in frames if frame["type"] == "ext_notify")
    assert notice.startswith("the conversation could not be summarized: ")
    assert [frame["stop"] for frame in frames if frame["type"] == "turn_end"] == ["end"]


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


# -- where the key and the words come from


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_key_in_the_environment_is_all_that_it_takes(tmp_path: Path, provider: str):
    server = ModelServer()
    name = provider.upper()
    env = {f"{name}_API_KEY": "sk-from-the-environment", f"{name}_BASE_URL": server.url}
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
    request = server.requests[0]
    told = json.dumps(request.get("system", request["messages"][0]))
    assert "Use tabs." in told
    assert "Be kind." in told
    if provider == "anthropic":
        assert request["output_config"] == {"effort": "low"}
        assert request["thinking"] == {"type": "adaptive"}


def test_a_key_in_the_systems_keyring_is_taken(tmp_path: Path):
    modules = tmp_path / "modules"
    (modules / "keyring").mkdir(parents=True)
    (modules / "keyring" / "__init__.py").write_text(
        "def get_password(service, name): return f'sk-{service}-{name}'\n", encoding="utf-8"
    )
    (modules / "keyring" / "errors.py").write_text(
        "class KeyringError(Exception): pass\n", encoding="utf-8"
    )
    server = ModelServer()
    work = tmp_path / "work"
    work.mkdir()
    try:
        flags = ("--provider", "anthropic", "--base-url", server.url, "--system-prompt", "Only I.")
        env = {"PYTHONPATH": str(modules)}
        with RpcProcess(work, (), *flags, env=env, script=False) as agent:
            agent.prompt()
            assert "sk-lsp-agent" not in agent.stderr
    finally:
        server.close()
    assert server.headers[0]["authorization"] == "Bearer sk-lsp-agent-anthropic"
    assert [block["text"] for block in server.requests[0]["system"]] == ["Only I."]
