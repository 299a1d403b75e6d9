"""A model service on loopback that says what it is told: Anthropic's messages, streamed.

Each request for a message takes the next step, whoever asks; one past the last is refused. What
an agent's model was sent is in ``requests``.
"""

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Literal

Json = dict[str, Any]

#: Anthropic's words for a step's end.
_STOPS = {"end": "end_turn", "length": "max_tokens"}
_KINDS = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
_USAGE: Json = {"input_tokens": 10, "output_tokens": 5}
_ARGUMENTS_PIECE = 24


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    args: Json


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP status instead of an answer, and the message in its body."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Step:
    """One answer. ``delay`` is the silence before it, in seconds."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: Literal["end", "length"] = "end"
    refusal: Refusal | None = None
    delay: float = 0.0


class ModelServer:
    """Use as a context manager; ``url`` is the base address."""

    def __init__(self, *steps: Step) -> None:
        #: The bodies of the requests for messages, and the key that each came with.
        self.requests: list[Json] = []
        self.keys: list[str | None] = []
        self._steps = iter(steps)
        self._taking = threading.Lock()
        self._numbers = count(1)
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()  # waits for the answers under way

    def tool_results(self) -> list[str]:
        """The texts of all tool results that the last request has, in order."""
        blocks = [
            block
            for message in self.requests[-1]["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
        ]
        return [_text(block["content"]) for block in blocks if block["type"] == "tool_result"]

    def take(self, body: Json, key: str | None) -> Step:
        """The step that answers this request."""
        with self._taking:
            self.requests.append(body)
            self.keys.append(key)
            return next(self._steps, None) or Step(
                refusal=Refusal(500, "The script has no more steps.")
            )

    def wait(self, seconds: float) -> None:
        self._closing.wait(seconds)

    def stream(self, model: str, step: Step) -> Iterator[Json]:
        """The events of an answer."""
        message: Json = {
            "id": f"msg_{next(self._numbers):02}",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": _USAGE | {"output_tokens": 1},
        }
        yield {"type": "message_start", "message": message}
        index = 0
        if step.text:
            pieces = re.findall(r"\s*\S+\s?|\s+", step.text)
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
            yield from _block(index, {"type": "text", "text": ""}, deltas)
            index += 1
        for call in step.calls:
            block: Json = {"type": "tool_use", "id": f"toolu_{next(self._numbers):02}"}
            args = json.dumps(call.args)
            deltas = [
                {"type": "input_json_delta", "partial_json": args[start : start + _ARGUMENTS_PIECE]}
                for start in range(0, len(args), _ARGUMENTS_PIECE)
            ]
            yield from _block(index, block | {"name": call.name, "input": {}}, deltas)
            index += 1
        stop = "tool_use" if step.calls and step.stop == "end" else _STOPS[step.stop]
        delta = {"stop_reason": stop, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": _USAGE}
        yield {"type": "message_stop"}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with contextlib.suppress(ConnectionError):  # an aborted turn hangs up
                    if self.path.partition("?")[0] == "/v1/messages":
                        self._answer(body, service.take(body, self.headers.get("x-api-key")))
                    else:
                        self._refuse(404, f"There is no {self.path}.")

            def do_GET(self) -> None:
                self._refuse(404, f"There is no {self.path}.")

            def _answer(self, body: Json, step: Step) -> None:
                service.wait(step.delay)
                if step.refusal is not None:
                    self._refuse(step.refusal.status, step.refusal.message)
                    return
                self._head(200, "text/event-stream")
                for event in service.stream(body["model"], step):
                    self.wfile.write(
                        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
                    )
                    self.wfile.flush()

            def _refuse(self, status: int, message: str) -> None:
                error = {"type": _KINDS.get(status, "api_error"), "message": message}
                self._head(status, "application/json")
                self.wfile.write(json.dumps({"type": "error", "error": error}).encode())

            def _head(self, status: int, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: what came is in ``requests``."""

        return Handler


def _block(index: int, start: Json, deltas: list[Json]) -> Iterator[Json]:
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _text(content: str | list[Json]) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)
