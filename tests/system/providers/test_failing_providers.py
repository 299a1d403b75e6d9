"""A service that fails: the right stop reason, one error that a person can act on, without the
key; and a session that goes on."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from model_desk import KEY, PROVIDERS, Desk
from support.loopback_service import Behaviour, Frame, Handler, ModelServer, answer, call, text
from support.rpc_process import RpcProcess, result_texts, types

pytestmark = pytest.mark.sampled

TITLE = "A model's service that fails"
HEAD = f"{'what it does':44}{'asked':>6}  {'stop':9}the message"
PARTLY = "so far"


def error(status: int, kind: str, message: str, **headers: str) -> Behaviour:
    return lambda handler: handler.error(status, kind, message, **headers)


def reset(handler: Handler) -> None:
    handler.reset()


def half(*after: Frame | str, then: Callable[[Handler], None] | None = None) -> Behaviour:
    """Some text, ``after``, and then the end of the connection."""

    def behave(handler: Handler) -> None:
        if handler.speaks_anthropic:
            block = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": PARTLY}
            frames = [
                {"type": "message_start", "message": {"usage": {"input_tokens": 3}}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
            ]
        else:
            frames = [{"choices": [{"index": 0, "delta": {"content": PARTLY}}]}]
        handler.stream([*frames, *after])
        if then is not None:
            then(handler)

    return behave


def half_a_thought(handler: Handler) -> None:
    if handler.speaks_anthropic:
        block = {"type": "thinking", "thinking": "", "signature": ""}
        delta = {"type": "thinking_delta", "thinking": "Hm"}
        handler.stream(
            [
                {"type": "message_start", "message": {"usage": {"input_tokens": 3}}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
            ]
        )
    else:
        handler.stream([{"choices": [{"index": 0, "delta": {"reasoning_content": "Hm"}}]}])


def half_a_call(handler: Handler) -> None:
    if handler.speaks_anthropic:
        block = {"type": "tool_use", "id": "toolu_1", "name": "write", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": '{"path": "no.txt", "con'}
        handler.stream(
            [
                {"type": "message_start", "message": {"usage": {}}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
            ]
        )
    else:
        function = {"name": "write", "arguments": '{"path": "no.txt", "con'}
        one = {"index": 0, "id": "call_1", "function": function}
        handler.stream([{"choices": [{"index": 0, "delta": {"tool_calls": [one]}}]}])


#: JSON, but nothing that the protocols know.
STRANGE = [
    'event: content_block_delta\ndata: {"type": "content_block_delta", "delta": 3}\n\n',
    'event: message_delta\ndata: {"type": "message_delta", "delta": [], "usage": "x"}\n\n',
    "event: x\ndata: [1]\n\n",
    'data: {"choices": [{"delta": {"tool_calls": [null, {"index": "a"}]}}]}\n\n',
    'data: {"choices": {}}\n\n',
]


def overloaded(handler: Handler) -> None:
    """As the first event of a stream that began well."""
    one = {"type": "overloaded_error", "message": "Overloaded"}
    frame = {"type": "error", "error": one}
    handler.stream([f"event: error\ndata: {json.dumps(frame)}\n\n"])


def list_of_one(handler: Handler) -> None:
    """As Gemini has it."""
    handler.head(400, "application/json")
    one = {"error": {"code": 400, "message": "Missing a signature", "status": "INVALID_ARGUMENT"}}
    handler.wfile.write(json.dumps([one]).encode())


def page(handler: Handler) -> None:
    handler.head(200, "text/html")
    handler.wfile.write(b"<html><body>Sign in to the hotel's network</body></html>")


def whole_json(handler: Handler) -> None:
    handler.head(200, "application/json")
    handler.wfile.write(b'{"choices": [{"message": {"content": "not streamed"}}]}')


def redirect(handler: Handler) -> None:
    handler.head(307, "text/plain", location="http://elsewhere.invalid:81/v1/x?y")


def echo_of_the_key(handler: Handler) -> None:
    key = handler.headers["authorization"].removeprefix("Bearer ")
    handler.error(401, "authentication_error", f"Incorrect API key provided: {key}. ")


BROKE = '{"half": '
NEVER = {"retry_after": "0"}
MEGABYTES = "0123456789abcde\n" * (10 << 16)


@dataclass(frozen=True)
class Case:
    """``words`` must all be in the message; ``asked``: how often the service was; ``waits``: how
    often the person was told to wait; ``kept``: the text that stays."""

    what: str
    answers: Sequence[Behaviour]
    stop: str = "error"
    words: Sequence[str] = ()
    asked: int = 1
    waits: int = 0
    kept: str = ""
    results: Sequence[str] = field(default=())


CASES = [
    Case("401, and repeats the key", [echo_of_the_key], words=["http 401", "check --api-key"]),
    Case(
        "403",
        [error(403, "permission_error", "Not for this key")],
        words=["http 403: Not for this key", "choose another model"],
    ),
    Case(
        "404: no such model",
        [error(404, "not_found_error", "model: no-such")],
        words=["http 404: model: no-such", "choose another model than"],
    ),
    Case(
        "429, retry-after 0.1 s, then well",
        [error(429, "rate_limit_error", "Slow down", retry_after="0.1"), text("fine")],
        stop="end",
        asked=2,
        waits=1,
        kept="fine",
    ),
    Case(
        "429, retry-after a date gone by, then well",
        [
            error(429, "rate_limit_error", "Slow", retry_after="Sun, 06 Nov 1994 08:49:37 GMT"),
            text("fine"),
        ],
        stop="end",
        asked=2,
        waits=1,
        kept="fine",
    ),
    Case(
        "429, retry-after an hour",
        [error(429, "rate_limit_error", "Slow down", retry_after="3600")],
        words=["http 429: Slow down", "try again in 3600 s"],
    ),
    Case(
        "429, again and again",
        [error(429, "rate_limit_error", "Slow down", **NEVER)] * 4,
        words=["http 429"],
        asked=4,
        waits=3,
    ),
    Case(
        "no credit left",
        [error(429, "insufficient_quota", "You exceeded your current quota", **NEVER)],
        words=["no credit left"],
    ),
    Case(
        "500, again and again",
        [error(500, "api_error", "Internal error", **NEVER)] * 4,
        words=["http 500: Internal error", "try again in a while"],
        asked=4,
        waits=3,
    ),
    Case(
        "529, then well",
        [error(529, "overloaded_error", "Overloaded", **NEVER), text("fine")],
        stop="end",
        asked=2,
        waits=1,
        kept="fine",
    ),
    Case("reset, then well", [reset, text("fine")], stop="end", asked=2, waits=1, kept="fine"),
    Case(
        "half a thought, then well",
        [half_a_thought, text("fine")],
        stop="end",
        asked=2,
        waits=1,
        kept="fine",
    ),
    Case("half a stream", [half()], words=["broke off"], kept=PARTLY),
    Case("a reset amid the stream", [half(then=reset)], words=["check the network"], kept=PARTLY),
    Case("half a call", [half_a_call], words=["broke off"]),
    Case(
        "malformed SSE",
        [half(f"event: content_block_delta\ndata: {BROKE}\n\n")],
        words=["no event stream"],
        kept=PARTLY,
    ),
    Case(
        "bytes that are no UTF-8",
        [half(then=lambda h: h.wfile.write(b"data: \xff\xfe\n\n"))],
        words=["ask again"],
        kept=PARTLY,
    ),
    Case("events of other shapes", [half(*STRANGE)], words=["broke off"], kept=PARTLY),
    Case(
        "overloaded in the stream, then well",
        [overloaded, text("fine")],
        stop="end",
        asked=2,
        waits=1,
        kept="fine",
    ),
    Case(
        "JSON of a call's arguments is cut",
        [answer({"call": "write", "args": '{"path": "no.txt", "con'}), text("fine")],
        stop="end",
        asked=2,
        kept="fine",
        results=["invalid args"],
    ),
    Case(
        "the token limit amid a call",
        [
            lambda handler: answer(
                {"call": "write", "args": '{"path": "no.txt", "con'},
                stop="max_tokens" if handler.speaks_anthropic else "length",
            )(handler)
        ],
        stop="length",
        results=["cut off by the token limit"],
    ),
    Case("10 MB of output", [text(MEGABYTES, pieces=1 << 17)], stop="end", kept=MEGABYTES),
    Case("400, as a list", [list_of_one], words=["http 400: Missing a signature"]),
    Case("an empty answer", [answer()], words=["answered nothing"]),
    Case("a web page", [page], words=["text/html", "base URL"]),
    Case("an answer that is not streamed", [whole_json], words=["application/json", "base URL"]),
    Case("a redirect to elsewhere", [redirect], words=["http://elsewhere.invalid:81", "base URL"]),
    Case(
        "a tool that does not exist",
        [answer(call("launch_rocket", n=1)), text("fine")],
        stop="end",
        asked=2,
        kept="fine",
        results=['unknown tool "launch_rocket"'],
    ),
    Case(
        "context too long",
        [error(400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum")],
        words=["prompt is too long", "compact or clear"],
    ),
    Case(
        "more bytes than it takes",
        [error(413, "request_too_large", "Request exceeds the maximum size \ud83d")],
        words=["http 413: Request exceeds the maximum size \ufffd", "compact or clear"],
    ),
    Case(
        "halves of a letter", [text("a\ud83d\ude00b", pieces=1)], stop="end", kept="a\ufffd\ufffdb"
    ),
    Case(
        "a body that is no JSON",
        [lambda h: (h.head(502, "text/html", **NEVER), h.wfile.write(b"<h1>Bad gateway</h1>"))] * 4,
        words=["http 502: Bad gateway"],
        asked=4,
        waits=3,
    ),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.what) for case in CASES])
def test_a_failure_is_told_once_and_the_session_goes_on(
    desk: Desk, case: Case, record_property: Callable[[str, object], None]
):
    agent, server = desk.agent, desk.server
    server.answers[:] = case.answers
    frames = agent.prompt("do it")
    ends = [frame for frame in frames if frame["type"] == "turn_end"]
    errors = [frame["message"] for frame in frames if frame["type"] == "error"]
    assert ends[-1]["stop"] == case.stop, frames
    assert len(errors) == (case.stop == "error")
    assert [ends[-1].get("error")] == (errors or [None])
    for words in case.words:
        assert words in errors[0]
    assert all(message.startswith(f"{desk.provider}: ") for message in errors)
    assert len(server.requests) == case.asked
    notices = [frame["message"] for frame in frames if frame["type"] == "ext_notify"]
    assert len(notices) == case.waits
    assert all("trying again in" in notice for notice in notices)
    assert not any("; " in notice for notice in notices)
    said = "".join(frame["delta"] for frame in frames if frame["type"] == "text_delta")
    assert said == case.kept
    results = result_texts(frames)
    assert len(results) == len(case.results)
    assert all(words in result for words, result in zip(case.results, results, strict=True))
    assert KEY not in str(frames)
    assert list(desk.folder.iterdir()) == []

    server.answers.clear()
    again = agent.prompt("and now?")
    assert types(again)[-2:] == ["turn_end", "done"]
    assert [frame["stop"] for frame in again if frame["type"] == "turn_end"] == ["end"]

    shown = errors[0] if errors else ""
    row = f"{case.what:44}{case.asked:>6}  {case.stop:9}{re.sub(r':[0-9]{4,5}', ':…', shown)[:110]}"
    if desk.provider == PROVIDERS[0]:
        record_property("table", (TITLE, HEAD, row))


def test_a_slow_answer_is_shown_as_it_drips_and_can_be_stopped_at_once(desk: Desk):
    def drip(handler: Handler) -> None:
        half()(handler)
        handler.server.over.wait(60)

    desk.server.answers[:] = [drip]
    desk.agent.send("prompt", id="p", message="go")
    desk.agent.until("text_delta")
    desk.agent.send("abort", id="a")
    frames = desk.agent.until("done")
    stops = [frame["stop"] for frame in frames if frame["type"] == "turn_end"]
    assert stops == ["aborted"]
    assert types(desk.agent.prompt())[-1] == "done"


def test_a_wait_for_another_try_can_be_stopped_at_once(desk: Desk):
    desk.server.answers[:] = [error(429, "rate_limit_error", "Slow down", retry_after="50")]
    desk.agent.send("prompt", id="p", message="go")
    assert "trying again in 50.0 s" in desk.agent.until("ext_notify")[-1]["message"]
    desk.agent.send("abort", id="a")
    frames = desk.agent.until("done")
    assert [frame["stop"] for frame in frames if frame["type"] == "turn_end"] == ["aborted"]
    assert len(desk.server.requests) == 1


# -- those that need an agent of their own


def test_a_base_url_that_may_lack_its_end_is_named(desk: Desk):
    desk.server.answers[:] = [error(404, "", "page not found")]
    told = next(one["message"] for one in desk.agent.prompt() if one["type"] == "error")
    assert re.search(r"correct the base URL \(http://127\.0\.0\.1:\d+[;)]", told)
    assert ("; most end in /v1)" in told) == (desk.provider == "openai")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_service_that_is_not_there_is_named(tmp_path: Path, provider: str):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://user:pass@127.0.0.1:{taken.getsockname()[1]}"
        flags = ("--provider", provider, "--base-url", url, "--api-key", KEY)
        with RpcProcess(tmp_path, (), *flags, script=False) as agent:
            frames = agent.prompt()
    message = next(frame["message"] for frame in frames if frame["type"] == "error")
    assert message.startswith(f"{provider}: cannot talk to http://127.0.0.1:")
    assert message.endswith("check the network, and the base URL")
    assert "pass" not in str(frames)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("proxy", ["socks5://user:pass@127.0.0.1:1", "http://[::1"])
def test_a_proxy_that_cannot_be_used_is_named(tmp_path: Path, provider: str, proxy: str):
    flags = ("--provider", provider, "--base-url", "http://model.invalid", "--api-key", KEY)
    env = {"ALL_PROXY": proxy}
    with RpcProcess(tmp_path, (), *flags, env=env, script=False) as agent:
        frames = agent.prompt()
    message = next(frame["message"] for frame in frames if frame["type"] == "error")
    assert message.startswith(f"{provider}: the proxy that the environment names cannot be used: ")
    assert "correct HTTPS_PROXY or ALL_PROXY" in message
    assert "user:pass" not in str(frames)


def test_a_service_without_tls_where_tls_was_asked_for_is_named(tmp_path: Path):
    server = ModelServer()
    url = server.url.replace("http:", "https:")
    try:
        flags = ("--provider", "anthropic", "--base-url", url, "--api-key", KEY)
        with RpcProcess(tmp_path, (), *flags, script=False) as agent:
            frames = agent.prompt()
    finally:
        server.close()
    message = next(frame["message"] for frame in frames if frame["type"] == "error")
    assert re.search(r"cannot talk to https://127.0.0.1:\d+: .*(SSL|TLS)", message)


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (["--provider", "anthropic"], 1, ["no key for anthropic", "ANTHROPIC_API_KEY", "keyring"]),
        (["--provider", "openai"], 1, ["no key for openai", "OPENAI_API_KEY", "OPENAI_BASE_URL"]),
        (["--provider", "openai", "--base-url", "localhost:80"], 1, ["--base-url must be a URL"]),
        (["--provider", "openai", "--base-url", "http://"], 1, ["--base-url must be a URL"]),
        (["--provider", "openai", "--api-key", KEY, "--reasoning", "much"], 2, ["--reasoning"]),
    ],
)
def test_what_keeps_it_from_starting_is_said(
    tmp_path: Path, flags: list[str], code: int, words: list[str]
):
    with RpcProcess(tmp_path, (), *flags, script=False) as agent:
        assert agent.wait() == code
    assert all(word in agent.stderr for word in words)
    assert KEY not in agent.stderr
    assert agent.stderr.count("\n") == 1


def test_a_missing_sdk_is_named_with_the_command_that_installs_it(tmp_path: Path):
    code = (
        "import sys; sys.modules['anthropic'] = None;"
        " from lsp_agent.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "rpc", "--provider", "anthropic", "--api-key", KEY],
        capture_output=True,
        check=False,
        text=True,
        cwd=tmp_path,
        env=os.environ,
        stdin=subprocess.DEVNULL,
    )
    assert ended.returncode == 1
    assert "-m pip install anthropic" in ended.stderr
