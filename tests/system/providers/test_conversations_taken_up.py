"""A conversation that a later process takes up, with another service or the same."""

import base64
import json
import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest
from model_desk import KEY
from support.loopback_service import Frame, ModelServer, answer, call, text
from support.rpc_process import RpcProcess

ODD_ID = "functions.bash:0"
PICTURE = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1").decode()


#: The messages of the last request of a conversation that was begun with the first provider and
#: went on with the second, by a model of the same name.
Asked = Callable[[str, str], list[Frame]]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    server = ModelServer()

    @cache
    def ask(first: str, then: str) -> list[Frame]:
        work = tmp_path_factory.mktemp("work")
        session = "new"
        for provider in (first, then):
            thinking = {"thinking": f"deep with {provider}"}
            step = answer(thinking, {"text": "I look."}, call("bash", ODD_ID, command="true"))
            server.answers[:] = [step, text("Done.")]
            flags = ("--provider", provider, "--base-url", server.url, "--model", "one-model")
            env = {"XDG_DATA_HOME": str(work / "data")}
            with RpcProcess(work, (), *flags, "--api-key", KEY, env=env, script=False) as agent:
                session = agent.ask("hello", session=session)["data"]["session"]
                agent.send("prompt", message="go", images=[{"mime_type": "", "data": PICTURE}])
                assert agent.until("done")[-2]["stop"] == "end"
        return server.requests[-1]["messages"]

    yield ask
    server.close()


@pytest.mark.parametrize(
    ("first", "then"), [("anthropic", "openai"), ("openai", "anthropic"), ("openai", "openai")]
)
def test_all_goes_to_another_service_but_what_the_model_thought(
    asked: Asked, first: str, then: str
):
    told = json.dumps(asked(first, then))
    assert told.count("I look.") == 2
    assert f"deep with {then}" in told
    assert (f"deep with {first}" in told) == (first == then)
    assert told.count(PICTURE) == 2


def test_a_calls_id_is_one_that_the_service_takes(asked: Asked):
    blocks = [block for message in asked("openai", "anthropic") for block in message["content"]]
    called = [block["id"] for block in blocks if block["type"] == "tool_use"]
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    assert called == answered
    assert len(set(called)) == 2
    assert re.fullmatch("[A-Za-z0-9_-]+", called[0])


def test_a_calls_id_is_not_given_again(asked: Asked):
    messages = asked("openai", "openai")
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert answered[0] == ODD_ID
    assert len(set(answered)) == 2
