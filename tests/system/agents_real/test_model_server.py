"""The scripted model service, asked by a plain HTTP client."""

import json
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.model_server import Call, ModelServer, Refusal, Step

Json = dict[str, Any]


def ask(server: ModelServer, *messages: Json, path: str = "/v1/messages") -> HTTPResponse:
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=5)
    body = {"model": "any", "max_tokens": 100, "stream": True, "messages": messages}
    headers = {"Content-Type": "application/json", "x-api-key": "k"}
    connection.request("POST", path, json.dumps(body), headers)
    return connection.getresponse()


def user(*content: Json) -> Json:
    return {"role": "user", "content": list(content)}


def events(response: HTTPResponse) -> list[Json]:
    assert response.status == 200
    assert response.getheader("Content-Type") == "text/event-stream"
    found: list[Json] = []
    for part in response.read().decode().split("\n\n")[:-1]:
        name, data = part.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def deltas(found: list[Json], index: int) -> list[Json]:
    return [
        event["delta"]
        for event in found
        if event["type"] == "content_block_delta" and event["index"] == index
    ]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    steps = [
        Step("Let me see, \N{GRINNING FACE}  now.", (Call("read", {"path": "ä" * 40}),)),
        Step("Cut", stop="length"),
        Step(refusal=Refusal(401, "invalid x-api-key")),
        Step("Late.", delay=0.2),
    ]
    with ModelServer(*steps) as running:
        yield running


def test_an_answer_streams_text_then_calls(server: ModelServer) -> None:
    found = events(ask(server, user({"type": "text", "text": "Go."})))
    kinds = [event["type"] for event in found if event["type"] != "content_block_delta"]
    block = ["content_block_start", "content_block_stop"]
    assert kinds == ["message_start", *block, *block, "message_delta", "message_stop"]
    assert found[0]["message"]["model"] == "any"
    text = "".join(delta["text"] for delta in deltas(found, 0))
    assert text == "Let me see, \N{GRINNING FACE}  now."
    (call,) = [e["content_block"] for e in found if e.get("content_block", {}).get("name")]
    assert (call["type"], call["name"], call["input"]) == ("tool_use", "read", {})
    pieces = [delta["partial_json"] for delta in deltas(found, 1)]
    assert len(pieces) > 1
    assert json.loads("".join(pieces)) == {"path": "ä" * 40}
    assert found[-2]["delta"]["stop_reason"] == "tool_use"
    assert found[-2]["usage"] == {"input_tokens": 10, "output_tokens": 5}


def test_each_request_takes_the_next_step(server: ModelServer) -> None:
    events(ask(server))
    assert events(ask(server))[-2]["delta"]["stop_reason"] == "max_tokens"
    refused = ask(server)
    assert refused.status == 401
    error = {"type": "authentication_error", "message": "invalid x-api-key"}
    assert json.loads(refused.read()) == {"type": "error", "error": error}
    start = time.monotonic()
    assert deltas(events(ask(server)), 0) == [{"type": "text_delta", "text": "Late."}]
    assert time.monotonic() - start >= 0.2
    beyond = ask(server)
    assert (beyond.status, b"no more steps" in beyond.read()) == (500, True)
    assert len(server.requests) == 5


def test_requests_are_kept_with_their_keys_and_tool_results(server: ModelServer) -> None:
    plain = {"type": "tool_result", "tool_use_id": "toolu_01", "content": "a"}
    blocks = plain | {"content": [{"type": "text", "text": "b"}, {"type": "text", "text": "c"}]}
    sent = [{"role": "user", "content": "Go."}, user(plain), user(blocks)]
    ask(server, *sent).read()
    assert server.requests[0]["messages"] == sent
    assert server.keys == ["k"]
    assert server.tool_results() == ["a", "bc"]


def test_other_addresses_are_refused_and_take_no_step(server: ModelServer) -> None:
    assert ask(server, path="/v1/complete").status == 404
    assert server.requests == []
    assert events(ask(server))[0]["type"] == "message_start"


def test_the_end_waits_for_no_answer_that_is_still_delayed() -> None:
    with ModelServer(Step("Never.", delay=60)) as server:
        connection = HTTPConnection(urlsplit(server.url).netloc, timeout=5)
        connection.request("POST", "/v1/messages", '{"model": "any", "messages": []}')
        while not server.requests:
            time.sleep(0.01)
        start = time.monotonic()
    assert time.monotonic() - start < 2
    connection.close()


COMPLETIONS = "/v1/chat/completions"


def chunks(response: HTTPResponse) -> list[Json]:
    assert response.status == 200
    lines = response.read().decode().split("\n\n")
    assert lines[-2:] == ["data: [DONE]", ""]
    return [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]


def test_openais_form_streams_reasoning_text_then_calls() -> None:
    call = Call("edit", {"path": "ä" * 40})
    with ModelServer(Step("Let me see.", (call,), reasoning="Hm, well.")) as server:
        found = chunks(ask(server, user(), path=COMPLETIONS))
    assert server.keys == [None]
    assert found[-1]["usage"]["total_tokens"] == 15
    assert found[-2]["choices"][0]["finish_reason"] == "tool_calls"
    said = [chunk["choices"][0]["delta"] for chunk in found[:-2]]
    assert "".join(delta.get("reasoning_content", "") for delta in said) == "Hm, well."
    assert "".join(delta.get("content", "") for delta in said) == "Let me see."
    calls = [part for delta in said for part in delta.get("tool_calls", [])]
    assert calls[0]["function"]["name"] == "edit"
    assert json.loads("".join(part["function"]["arguments"] for part in calls)) == call.args


def test_openais_form_may_be_asked_for_whole(server: ModelServer) -> None:
    connection = HTTPConnection(urlsplit(server.base_url).netloc, timeout=5)
    connection.request("POST", COMPLETIONS, json.dumps({"model": "any", "messages": []}))
    (choice,) = json.loads(connection.getresponse().read())["choices"]
    assert choice["message"]["content"].startswith("Let me see")
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "read"
    assert choice["finish_reason"] == "tool_calls"


def test_openais_form_has_the_tool_results_of_the_last_request(server: ModelServer) -> None:
    result = {"role": "tool", "tool_call_id": "call_01", "content": "found"}
    ask(server, {"role": "user", "content": "Go."}, result, path=COMPLETIONS).read()
    assert server.tool_results() == ["found"]
