"""A model service on loopback in OpenAI's newer form (``/v1/responses``, streamed)."""

import contextlib
import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from itertools import count

from support.model_server import Call, Json, ModelServer, Step

_USAGE: Json = {
    "input_tokens": 10,
    "input_tokens_details": {"cached_tokens": 4},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 15,
}
_FREE_FORM = ("apply_patch", "exec")
#: What a tool answered, by the kind of its call.
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


class ResponsesServer(ModelServer):
    """Use as a context manager, as :class:`ModelServer`. It answers ``/v1/responses`` alone."""

    def tool_results(self) -> list[str]:
        """The texts of all tool results that the last request has, in order."""
        return [_text(item["output"]) for item in self.requests[-1]["input"] if _is_output(item)]

    def tools(self) -> list[str]:
        """The names of the tools that the last request offers."""
        return [tool.get("name", tool["type"]) for tool in self.requests[-1].get("tools", [])]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self
        numbers = count(1)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with contextlib.suppress(ConnectionError):  # an aborted turn hangs up
                    if self.path.partition("?")[0] != "/v1/responses":
                        self._say(404, {"error": {"message": f"There is no {self.path}."}})
                        return
                    key = self.headers.get("authorization", "").removeprefix("Bearer ")
                    self._answer(service.take(body, key or None))

            def do_GET(self) -> None:
                self._say(404, {"error": {"message": f"There is no {self.path}."}})

            def _answer(self, step: Step) -> None:
                service.wait(step.delay)
                if step.refusal is not None:
                    self._say(step.refusal.status, {"error": {"message": step.refusal.message}})
                    return
                self._head(200, "text/event-stream")
                for event in events(step, numbers):
                    self.wfile.write(f"event: {event['type']}\n".encode())
                    self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                    self.wfile.flush()
                    service.wait(step.pause)

            def _say(self, status: int, body: Json) -> None:
                self._head(status, "application/json")
                self.wfile.write(json.dumps(body).encode())

            def _head(self, status: int, kind: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: what came is in ``requests``."""

        return Handler


def events(step: Step, numbers: "count[int]") -> Iterator[Json]:
    """The events of an answer."""
    response: Json = {"id": f"resp_{next(numbers):02}", "object": "response", "output": []}
    yield {"type": "response.created", "response": response}
    if step.reasoning:
        yield from _reasoning(step.reasoning, f"rs_{next(numbers):02}")
    if step.text:
        yield from _message(step.text, f"msg_{next(numbers):02}")
    for call in step.calls:
        item: Json = {"id": f"fc_{next(numbers):02}", "call_id": f"call_{next(numbers):02}"}
        item |= {"name": call.name} | _arguments(call)
        yield {"type": "response.output_item.added", "item": item}
        yield {"type": "response.output_item.done", "item": item}
    ended = response | {"status": "completed", "usage": _USAGE}
    if step.stop == "length":
        ended |= {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        yield {"type": "response.incomplete", "response": ended}
    else:
        yield {"type": "response.completed", "response": ended}


def _arguments(call: Call) -> Json:
    """Of a tool that takes a text as it stands, that text."""
    if call.name in _FREE_FORM:
        return {"type": "custom_tool_call", "input": call.args["input"]}
    return {"type": "function_call", "arguments": json.dumps(call.args)}


def _reasoning(text: str, item_id: str) -> Iterator[Json]:
    item: Json = {"type": "reasoning", "id": item_id, "summary": []}
    where: Json = {"item_id": item_id, "output_index": 0, "summary_index": 0}
    part: Json = {"type": "summary_text", "text": ""}
    yield {"type": "response.output_item.added", "item": item}
    yield {"type": "response.reasoning_summary_part.added", "part": part} | where
    for piece in _pieces(text):
        yield {"type": "response.reasoning_summary_text.delta", "delta": piece} | where
    yield {"type": "response.output_item.done", "item": item | {"summary": [part | {"text": text}]}}


def _message(text: str, item_id: str) -> Iterator[Json]:
    item: Json = {"type": "message", "id": item_id, "role": "assistant", "content": []}
    where: Json = {"item_id": item_id, "output_index": 0, "content_index": 0}
    yield {"type": "response.output_item.added", "item": item}
    for piece in _pieces(text):
        yield {"type": "response.output_text.delta", "delta": piece} | where
    content = [{"type": "output_text", "text": text, "annotations": []}]
    yield {"type": "response.output_item.done", "item": item | {"content": content}}


def _pieces(text: str) -> list[str]:
    return re.findall(r"\s*\S+\s?|\s+", text)


def _is_output(item: Json) -> bool:
    return item["type"] in _OUTPUTS


def _text(output: str | list[Json]) -> str:
    if isinstance(output, str):
        return output
    return "".join(part.get("text", "") for part in output)
