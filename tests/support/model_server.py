"""A model service on loopback that says what it is told, in Anthropic's form (``/v1/messages``,
streamed) and OpenAI's (``/v1/chat/completions``, streamed or whole); Gemini's and OpenAI's newer
one are in ``model_forms.py``.

Each request for a message takes the next step, whoever asks; one past the last is refused. What
an agent's model was sent is in ``requests``. A request that is no turn's, as for a session's title,
is answered beside the script (``aside``).
"""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any, Literal

from support import model_forms
from support.model_forms import pieces

Json = dict[str, Any]

#: Anthropic's words for a step's end.
_STOPS = {"end": "end_turn", "length": "max_tokens"}
#: OpenAI's.
_FINISHES = {"end": "stop", "length": "length"}
_KINDS = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
_USAGE: Json = {"input_tokens": 10, "output_tokens": 5}
_OPENAI_USAGE: Json = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
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
    """One answer. ``delay`` is the silence before it and ``pause`` the one after each piece of a
    stream, in seconds. ``usage`` (OpenAI's names) is OpenAI's form's alone."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    stop: Literal["end", "length"] = "end"
    refusal: Refusal | None = None
    delay: float = 0.0
    pause: float = 0.0
    reasoning: str = ""
    usage: Json = field(default_factory=lambda: _OPENAI_USAGE)


class ModelServer:
    """Use as a context manager; ``url`` is the base address, ``base_url`` OpenAI's clients'.
    ``aside`` tells of a request that takes no step."""

    def __init__(self, *steps: Step, aside: Callable[[Json], bool] = lambda _body: False) -> None:
        #: The bodies of the requests for messages, and the key that each came with.
        self.requests: list[Json] = []
        self.keys: list[str | None] = []
        self._steps = iter(steps)
        self._aside = aside
        self._taking = threading.Lock()
        self.numbers = count(1)
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.base_url = f"{self.url}/v1"

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(self, *_exc: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()  # waits for the answers under way

    def then(self, *steps: Step) -> None:
        """What it says from now on, in place of all that it had to say yet."""
        self.follow(iter(steps))

    def follow(self, steps: Iterator[Step]) -> None:
        """As :meth:`then`; each step is taken once its request is among those received."""
        with self._taking:
            self._steps = steps

    def begin_anew(self, *steps: Step) -> None:
        """As :meth:`then`, and what it was asked before is forgotten."""
        self.then(*steps)
        self.requests.clear()
        self.keys.clear()

    def tool_results(self) -> list[str]:
        """The texts of all tool results that the last request has, in order."""
        return model_forms.tool_results(self.requests[-1])

    def take(self, body: Json, key: str | None) -> Step:
        """The step that answers this request."""
        if self._aside(body):
            return Step("A title")
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
            "id": f"msg_{next(self.numbers):02}",
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
        if step.reasoning:
            deltas: list[Json] = [
                {"type": "thinking_delta", "thinking": piece} for piece in pieces(step.reasoning)
            ]
            deltas.append({"type": "signature_delta", "signature": "signed"})
            block = {"type": "thinking", "thinking": "", "signature": ""}
            yield from _block(index, block, deltas)
            index += 1
        if step.text:
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(step.text)]
            yield from _block(index, {"type": "text", "text": ""}, deltas)
            index += 1
        for call in step.calls:
            block = {"type": "tool_use", "id": f"toolu_{next(self.numbers):02}"}
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

    def chunks(self, model: str, step: Step) -> Iterator[Json]:
        """An answer's pieces in OpenAI's form; the last one has its usage."""
        chunk: Json = {
            "id": f"chatcmpl-{next(self.numbers):02}",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": model,
        }
        deltas: list[Json] = [{"role": "assistant", "content": ""}]
        deltas += [{"reasoning_content": piece} for piece in pieces(step.reasoning)]
        deltas += [{"content": piece} for piece in pieces(step.text)]
        for index, call in enumerate(self._openai_calls(step)):
            function = call["function"]
            args = function["arguments"]
            head = call | {"index": index, "function": function | {"arguments": ""}}
            deltas.append({"tool_calls": [head]})
            for start in range(0, len(args), _ARGUMENTS_PIECE):
                piece = {"arguments": args[start : start + _ARGUMENTS_PIECE]}
                deltas.append({"tool_calls": [{"index": index, "function": piece}]})
        for delta in deltas:
            yield chunk | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        choice: Json = {"index": 0, "delta": {}, "finish_reason": _finish(step)}
        yield chunk | {"choices": [choice]}
        yield chunk | {"choices": [], "usage": step.usage}

    def completion(self, model: str, step: Step) -> Json:
        """A whole answer in OpenAI's form."""
        message: Json = {"role": "assistant", "content": step.text or None}
        if step.reasoning:
            message["reasoning_content"] = step.reasoning
        if calls := self._openai_calls(step):
            message["tool_calls"] = calls
        return {
            "id": f"chatcmpl-{next(self.numbers):02}",
            "object": "chat.completion",
            "created": 1,
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": _finish(step)}],
            "usage": step.usage,
        }

    def _openai_calls(self, step: Step) -> list[Json]:
        return [
            {
                "id": f"call_{next(self.numbers):02}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.args)},
            }
            for call in step.calls
        ]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            #: Seconds until one who has connected must ask: an aborted turn may leave it at that,
            #: and ``__exit__`` would wait for the agent to hang up.
            timeout = 5.0

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with contextlib.suppress(ConnectionError):  # an aborted turn hangs up
                    match self.path.partition("?")[0]:
                        case "/v1/messages":
                            key = self.headers.get("x-api-key") or self._bearer()
                            self._answer(body, service.take(body, key))
                        case "/v1/chat/completions":
                            self._answer_openai(body, service.take(body, self._bearer()))
                        case "/v1/responses":
                            self._answer_responses(service.take(body, None))
                        case path if path.endswith(":streamGenerateContent"):
                            body["model"] = path.rpartition("/")[2].partition(":")[0]
                            self._answer_gemini(service.take(body, None))
                        case path:
                            self._refuse(404, f"There is no {path}.")

            def _bearer(self) -> str | None:
                return self.headers.get("authorization", "").removeprefix("Bearer ") or None

            def do_GET(self) -> None:
                self._refuse(404, f"There is no {self.path}.")

            def _answer(self, body: Json, step: Step) -> None:
                service.wait(step.delay)
                if step.refusal is not None:
                    self._refuse(step.refusal.status, step.refusal.message)
                    return
                self._head(200, "text/event-stream")
                for event in service.stream(body["model"], step):
                    self._write(f"event: {event['type']}\ndata: {json.dumps(event)}", step)

            def _answer_openai(self, body: Json, step: Step) -> None:
                service.wait(step.delay)
                if step.refusal is not None:
                    self._refuse(step.refusal.status, step.refusal.message)
                elif not body.get("stream"):
                    self._head(200, "application/json")
                    self.wfile.write(json.dumps(service.completion(body["model"], step)).encode())
                else:
                    self._head(200, "text/event-stream")
                    for chunk in service.chunks(body["model"], step):
                        self._write(f"data: {json.dumps(chunk)}", step)
                    self._write("data: [DONE]", step)

            def _answer_responses(self, step: Step) -> None:
                service.wait(step.delay)
                if step.refusal is not None:
                    self._refuse(step.refusal.status, step.refusal.message)
                    return
                self._head(200, "text/event-stream")
                for event in model_forms.responses(step, service.numbers):
                    self._write(f"event: {event['type']}\ndata: {json.dumps(event)}", step)

            def _answer_gemini(self, step: Step) -> None:
                service.wait(step.delay)
                if step.refusal is not None:
                    self._head(step.refusal.status, "application/json")
                    refusal = model_forms.gemini_refusal(step.refusal.status, step.refusal.message)
                    self.wfile.write(json.dumps(refusal).encode())
                    return
                self._head(200, "text/event-stream")
                for chunk in model_forms.gemini(step):
                    self._write(f"data: {json.dumps(chunk)}", step)

            def _write(self, event: str, step: Step) -> None:
                self.wfile.write(f"{event}\n\n".encode())
                self.wfile.flush()
                service.wait(step.pause)

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


def _finish(step: Step) -> str:
    return "tool_calls" if step.calls and step.stop == "end" else _FINISHES[step.stop]
