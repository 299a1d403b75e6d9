"""A loopback stand-in for a model's service, in both wire formats. Standard library only.

It knows nothing of the code under test: what it streams is what the services' documents show.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Frame = dict[str, Any]
#: Answers one request: gets the handler, with the request's JSON in ``body``.
Behaviour = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "ModelServer"
    body: Frame

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.close_connection = True
        with self.server.lock:
            self.server.requests.append(self.body)
            self.server.headers.append(
                {name.lower(): value for name, value in self.headers.items()}
            )
            self.server.paths.append(self.path)
            behaviour = self.server.answers.pop(0) if self.server.answers else text("ok")
        with suppress(BrokenPipeError, ConnectionResetError):
            behaviour(self)

    def log_message(self, *_: object) -> None:
        pass

    @property
    def speaks_anthropic(self) -> bool:
        return self.path.endswith("/messages")

    def head(self, status: int, kind: str, **headers: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("connection", "close")
        self.end_headers()

    def stream(self, frames: Sequence[Frame | str]) -> None:
        """Events; a str is sent as it is."""
        self.head(200, "text/event-stream; charset=utf-8")
        for frame in frames:
            self.send(frame)

    def send(self, frame: Frame | str) -> None:
        if isinstance(frame, str):
            self.wfile.write(frame.encode())
        elif self.speaks_anthropic:
            self.wfile.write(f"event: {frame['type']}\ndata: {json.dumps(frame)}\n\n".encode())
        else:
            self.wfile.write(f"data: {json.dumps(frame)}\n\n".encode())
        self.wfile.flush()

    def error(self, status: int, kind: str, message: str, **headers: str) -> None:
        error = {"type": kind, "message": message}
        data = {"type": "error", "error": error} if self.speaks_anthropic else {"error": error}
        self.head(status, "application/json", **headers)
        self.wfile.write(json.dumps(data).encode())

    def reset(self) -> None:
        """Ends the connection with a RST."""
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()


class ModelServer(ThreadingHTTPServer):
    """Plays ``answers`` in turn, one a request; then says "ok"."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.answers: list[Behaviour] = []
        self.requests: list[Frame] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        #: Set at the end, so that no behaviour waits on.
        self.over = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, args=(0.05,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # clients go away in the middle, on purpose

    def close(self) -> None:
        self.over.set()
        self.shutdown()
        self.server_close()
        self._thread.join()


# -- whole answers


def answer(
    *content: Frame, stop: str | None = None, usage: Frame | None = None, pieces: int = 8
) -> Behaviour:
    """``content``: {"text"}, {"thinking"} or {"call", "args", "id"?}. ``stop`` in the words of
    the service; ``args`` may be a str, which is sent as it is."""

    def behave(handler: Handler) -> None:
        if handler.speaks_anthropic:
            handler.stream(list(anthropic_frames(content, stop, usage, pieces)))
        else:
            frames = list(openai_frames(content, stop, usage, pieces))
            handler.stream([*frames, "data: [DONE]\n\n"])

    return behave


def text(words: str, **options: Any) -> Behaviour:
    return answer({"text": words}, **options)


def call(name: str, call_id: str = "", **args: object) -> Frame:
    return {"call": name, "args": args, "id": call_id}


def cut(words: str, size: int) -> list[str]:
    return [words[start : start + size] for start in range(0, len(words), size)]


def anthropic_frames(
    content: Sequence[Frame], stop: str | None, usage: Frame | None, pieces: int
) -> Iterator[Frame]:
    given = {"input_tokens": 10, "output_tokens": 5} | (usage or {})
    start = {**given, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "usage": start}
    yield {"type": "message_start", "message": message}
    for index, part in enumerate(content):
        place = {"index": index}
        if "text" in part:
            block, kind, key = {"type": "text", "text": ""}, "text_delta", "text"
            words = part["text"]
        elif "thinking" in part:
            block = {"type": "thinking", "thinking": "", "signature": ""}
            kind, key, words = "thinking_delta", "thinking", part["thinking"]
        else:
            number = part.get("id") or f"toolu_{index}_{time.monotonic_ns()}"
            block = {"type": "tool_use", "id": number, "name": part["call"], "input": {}}
            args = part["args"]
            words = args if isinstance(args, str) else json.dumps(args)
            kind, key = "input_json_delta", "partial_json"
        yield {"type": "content_block_start", **place, "content_block": block}
        for piece in cut(words, pieces):
            yield {"type": "content_block_delta", **place, "delta": {"type": kind, key: piece}}
        if "thinking" in part:
            delta = {"type": "signature_delta", "signature": f"signed {part['thinking']}"}
            yield {"type": "content_block_delta", **place, "delta": delta}
        yield {"type": "content_block_stop", **place}
    stop = stop or ("tool_use" if any("call" in part for part in content) else "end_turn")
    delta = {"stop_reason": stop, "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": given}
    yield {"type": "message_stop"}


def openai_frames(
    content: Sequence[Frame], stop: str | None, usage: Frame | None, pieces: int
) -> Iterator[Frame]:
    def chunk(delta: Frame, reason: str | None = None) -> Frame:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    calls = 0
    for part in content:
        if "text" in part:
            for piece in cut(part["text"], pieces):
                yield chunk({"content": piece})
        elif "thinking" in part:
            for piece in cut(part["thinking"], pieces):
                yield chunk({"reasoning_content": piece})
        else:
            args = part["args"]
            words = args if isinstance(args, str) else json.dumps(args)
            number = part.get("id") or f"call_{time.monotonic_ns()}"
            function = {"name": part["call"], "arguments": ""}
            first = {"index": calls, "id": number, "type": "function", "function": function}
            yield chunk({"tool_calls": [first]})
            for piece in cut(words, pieces):
                later = {"index": calls, "function": {"arguments": piece}}
                yield chunk({"tool_calls": [later]})
            calls += 1
    yield chunk({}, stop or ("tool_calls" if calls else "stop"))
    given = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15} | (usage or {})
    yield {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": given}
