"""Two more forms of a model service's answers: Gemini's (``:streamGenerateContent``) and OpenAI's
newer one (``/v1/responses``), streamed; and what a request of any form has of tools' results."""

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from support.model_server import Step

Json = dict[str, Any]

_INPUT, _OUTPUT = 10, 5


def gemini(step: "Step") -> Iterator[Json]:
    """The chunks of an answer."""
    thoughts = [{"text": step.reasoning, "thought": True}] if step.reasoning else []
    texts = [{"text": piece} for piece in pieces(step.text)]
    calls = [{"functionCall": {"name": call.name, "args": call.args}} for call in step.calls]
    for part in [*thoughts, *texts, *calls]:
        yield _candidate([part])
    usage = {"promptTokenCount": _INPUT, "candidatesTokenCount": _OUTPUT}
    finish = "MAX_TOKENS" if step.stop == "length" else "STOP"
    last = _candidate([{"text": ""}], finishReason=finish)
    yield last | {"usageMetadata": usage | {"totalTokenCount": _INPUT + _OUTPUT}}


def gemini_refusal(status: int, message: str) -> Json:
    return {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}}


def _candidate(parts: list[Json], **more: str) -> Json:
    content: Json = {"role": "model", "parts": parts}
    return {"candidates": [{"index": 0, "content": content} | more]}


def responses(step: "Step", numbers: "count[int]") -> Iterator[Json]:
    """The events of an answer."""
    response: Json = {"id": f"resp_{next(numbers)}", "object": "response", "output": []}
    yield {"type": "response.created", "response": response}
    if step.reasoning:
        item: Json = {"type": "reasoning", "id": f"rs_{next(numbers)}", "summary": []}
        yield {"type": "response.output_item.added", "item": item}
        about = {"item_id": item["id"], "summary_index": 0}
        part = {"type": "summary_text", "text": ""}
        yield {"type": "response.reasoning_summary_part.added", "part": part} | about
        for piece in pieces(step.reasoning):
            yield {"type": "response.reasoning_summary_text.delta", "delta": piece} | about
        summary = [{"type": "summary_text", "text": step.reasoning}]
        yield {"type": "response.output_item.done", "item": item | {"summary": summary}}
    if step.text:
        item = {"type": "message", "role": "assistant", "id": f"msg_{next(numbers)}", "content": []}
        yield {"type": "response.output_item.added", "item": item}
        for piece in pieces(step.text):
            about = {"item_id": item["id"], "content_index": 0}
            yield {"type": "response.output_text.delta", "delta": piece} | about
        content = [{"type": "output_text", "text": step.text}]
        yield {"type": "response.output_item.done", "item": item | {"content": content}}
    for call in step.calls:
        called = {"call_id": f"call_{next(numbers)}", "arguments": json.dumps(call.args)}
        item = {"type": "function_call", "id": f"fc_{next(numbers)}", "name": call.name} | called
        yield {"type": "response.output_item.done", "item": item}
    usage = {"input_tokens": _INPUT, "output_tokens": _OUTPUT, "total_tokens": _INPUT + _OUTPUT}
    yield {"type": "response.completed", "response": response | {"usage": usage}}


def tool_results(body: Json) -> list[str]:
    """The texts of all tool results that a request has, in order."""
    results: list[str] = []
    for message in body.get("messages", []):
        if message["role"] == "tool":
            results.append(_text(message["content"]))
        elif isinstance(message.get("content"), list):
            blocks = [block for block in message["content"] if block["type"] == "tool_result"]
            results += [_text(block["content"]) for block in blocks]
    for content in body.get("contents", []):
        answers = [part["functionResponse"] for part in content["parts"] if _is_answer(part)]
        results += [json.dumps(each["response"], ensure_ascii=False) for each in answers]
    for item in body.get("input", []):
        if item["type"] == "function_call_output":
            results.append(_text(item["output"]))
    return results


def pieces(text: str) -> list[str]:
    return re.findall(r"\s*\S+\s?|\s+", text)


def _is_answer(part: Json) -> bool:
    return "functionResponse" in part


def _text(content: str | list[Json]) -> str:
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)
