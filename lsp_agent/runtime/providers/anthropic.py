"""The provider ``anthropic``: the Messages API, through Anthropic's own SDK."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from lsp_agent.runtime import json_text
from lsp_agent.runtime.providers.failures import Failed
from lsp_agent.runtime.providers.frames import Frame, event_frames, number, part, string
from lsp_agent.runtime.providers.images import Images
from lsp_agent.runtime.providers.provider import (
    CallArguments,
    CallEnded,
    CallStarted,
    Piece,
    Request,
    Stopped,
    TextPiece,
    ThinkingPiece,
)
from lsp_agent.runtime.providers.remote import CONNECT_SECONDS, SILENCE_SECONDS, RemoteProvider
from lsp_agent.runtime.transcript import Block, Message, Native, Usage, native_of, results_of

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

#: The SDK adds it; others name it in their base URL, so it is meant there.
_VERSION = "/v1"
_CACHED = {"cache_control": {"type": "ephemeral"}}
#: Tokens of thinking, for models that are told a number.
_BUDGETS: Mapping[str, int] = {"minimal": 1024, "low": 4096, "medium": 8192, "high": 16384}
_LARGEST_BUDGET = 32768
_EFFORTS: Mapping[str, str] = {"off": "low", "minimal": "low"}


class AnthropicProvider(RemoteProvider):
    name = "anthropic"
    _client: AsyncAnthropic | None = None

    async def _stream(self, request: Request) -> AsyncGenerator[Piece]:
        if self._client is None:
            self._client = await self._in_thread(self._connect)
        from anthropic import APIError  # noqa: PLC0415  with the client

        answer = _Answer(self, request)
        create = cast(Any, self._client.messages.create)
        asked = self._asked(request.model)
        body = self._body(request)
        try:
            async with aclosing(event_frames(create, APIError, body, asked)) as frames:
                async for frame in frames:
                    for piece in answer.take(frame):
                        yield piece
                    if answer.ended:
                        break
        except Failed:
            if not answer.stop:  # else only the end of the stream is missing
                raise
        for piece in answer.finish():
            yield piece

    def _connect(self) -> AsyncAnthropic:
        """In a thread: importing the SDK takes a second."""
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient, Timeout  # noqa: PLC0415

        access = self._access
        timeout = Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
        return AsyncAnthropic(
            api_key=None if access.bearer else access.key,
            auth_token=access.key if access.bearer else None,
            base_url=access.base_url.rstrip("/").removesuffix(_VERSION),
            max_retries=0,  # ours tell the person
            timeout=timeout,
            # What is said here is for nobody else, wherever the server may send us.
            http_client=DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout),
        )

    def _body(self, request: Request) -> dict[str, object]:
        model = self._known(request.model).model
        body: dict[str, object] = {
            "model": request.model,
            "max_tokens": model.max_output,
            "messages": _messages(request, takes_images=model.images),
            **self._thinking(request.model),
        }
        if request.system:
            body["system"] = [{"type": "text", "text": request.system, **_CACHED}]
        if request.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": {"type": "object", **tool.schema},
                }
                for tool in request.tools
            ]
        return body

    def _thinking(self, model: str) -> dict[str, object]:
        level, known = self.reasoning, self._known(model)
        if not level or not known.model.reasoning:
            return {}
        effort: dict[str, object] = {"output_config": {"effort": _EFFORTS.get(level, level)}}
        match known.thinking:
            case "always":
                return effort
            case "adaptive" if level != "off":
                # Newer models keep what they think to themselves unless they are asked to show it.
                return {"thinking": {"type": "adaptive", "display": "summarized"}, **effort}
            case "budget" if level != "off":
                tokens = min(_BUDGETS.get(level, _LARGEST_BUDGET), known.model.max_output // 2)
                return {"thinking": {"type": "enabled", "budget_tokens": tokens}}
            case _:
                return {"thinking": {"type": "disabled"}}


def _messages(request: Request, *, takes_images: bool) -> list[dict[str, object]]:
    """Neighbours of one role as one message. The end of the last one is where the next request's
    cached beginning ends. That of the person's or the tools' before is where this one's does: the
    service looks back from a mark by 20 blocks only, and many calls at once have more."""
    merged: list[tuple[str, list[object]]] = []
    ids: dict[object, str] = {}
    images = Images(request.messages, takes_images=takes_images)
    for source in request.messages:
        role = "assistant" if source["role"] == "assistant" else "user"
        native = native_of(source, AnthropicProvider.name, request.model)
        ours = _content(source, ids, images)
        content: list[object] = list(native.content if native else ours)
        if not content and source["role"] == "user":  # blank text is refused, and no text as well
            content = [{"type": "text", "text": "(an empty message)"}]
        if merged and merged[-1][0] == role:
            merged[-1][1].extend(content)
        elif content:
            merged.append((role, content))
    for _, content in [one for one in merged if one[0] == "user"][-2:]:
        content[-1] = {**cast(Frame, content[-1]), **_CACHED}
    return [{"role": role, "content": content} for role, content in merged]


#: What ids of calls may not have; some services give such ones.
_NOT_IN_IDS = re.compile("[^A-Za-z0-9_-]")


def _content(source: Message, ids: dict[object, str], images: Images) -> Iterator[object]:
    """``ids`` grows by the calls' ids, each with the one that it goes by."""
    if source["role"] != "tool":
        for block in source["content"]:
            if block["type"] == "tool_call":
                call_id = ids[block["id"]] = _NOT_IN_IDS.sub("_", str(block["id"]))
                yield {
                    "type": "tool_use",
                    "id": call_id,
                    "name": block["name"],
                    "input": block["args"] if isinstance(block["args"], dict) else {},
                }
            else:
                yield from _shown(block, images)
        return
    for block, content in results_of(source):
        shown = [one for inner in content for one in _shown(inner, images)]
        yield {
            "type": "tool_result",
            "tool_use_id": ids.get(block["call_id"], block["call_id"]),
            "is_error": block["is_error"],
            "content": shown,
        }


def _shown(block: Block, images: Images) -> Iterator[object]:
    if block["type"] == "text":
        if str(block["text"]).strip():  # others are refused
            yield {"type": "text", "text": block["text"]}
        return
    image = images.shown(block)
    if isinstance(image, str):
        yield {"type": "text", "text": image}
    else:
        source = {"type": "base64", "media_type": image[0], "data": image[1]}
        yield {"type": "image", "source": source}


class _Answer:
    """An answer as it comes in; its blocks are told apart by their index."""

    def __init__(self, provider: AnthropicProvider, request: Request) -> None:
        self.ended = False
        self.stop = ""
        self._provider = provider
        self._request = request
        self._usage = Usage()
        self._blocks: dict[int, dict[str, object]] = {}

    def take(self, frame: Frame) -> Iterator[Piece]:
        index = number(frame, "index")
        match frame.get("type"):
            case "message_start":
                yield from self._spend(part(part(frame, "message"), "usage"), with_output=False)
            case "content_block_start":
                yield from self._begin(index, part(frame, "content_block"))
            case "content_block_delta" if index in self._blocks:
                yield from self._go_on(self._blocks[index], part(frame, "delta"))
            case "content_block_stop" if index in self._blocks:
                block = self._blocks[index]
                if block["type"] == "tool_use":
                    yield from self._input_at_once(block)
                    yield CallEnded(str(block["id"]))
            case "message_delta":
                self.stop = string(part(frame, "delta"), "stop_reason") or self.stop
                yield from self._spend(part(frame, "usage"), with_output=True)
            case "message_stop":
                self.ended = True
            case _:
                pass  # pings, and what may come later

    def finish(self) -> Iterator[Piece]:
        """Raises Failed where the stream broke off."""
        if not self.stop:
            raise Failed("the answer broke off in the middle", "ask again", again=True)
        content = [_native(block) for block in self._blocks.values()]
        content = [block for block in content if block is not None]
        if content:
            yield Native(self._provider.name, self._request.model, content)
        calls = any(block["type"] == "tool_use" for block in self._blocks.values())
        match self.stop:
            case "refusal":
                yield Stopped("error", "anthropic: the model refused; ask in another way")
            case "max_tokens" | "model_context_window_exceeded":
                yield Stopped("length")
            case _ if calls:
                yield Stopped("tool_use")
            case _ if not self._blocks and self._request.step == 1:
                yield Stopped("error", "anthropic: the model answered nothing; ask again")
            case _:
                yield Stopped("end")

    def _begin(self, index: int, given: Frame) -> Iterator[Piece]:
        block = self._blocks[index] = dict(given)
        if block.get("type") == "tool_use":
            block["id"] = self._provider.new_id(string(given, "id"))
            block["json"] = ""
            yield CallStarted(str(block["id"]), string(given, "name"))
        elif block.get("type") == "text" and (text := string(given, "text")):
            yield TextPiece(text)
        block.setdefault("type", "")

    def _input_at_once(self, block: dict[str, object]) -> Iterator[Piece]:
        """Some services like Anthropic's give a call's arguments with its start, and no pieces."""
        if not block["json"] and (given := part(block, "input")):
            text = block["json"] = json.dumps(given)
            yield CallArguments(str(block["id"]), text)

    def _go_on(self, block: dict[str, object], delta: Frame) -> Iterator[Piece]:
        match delta.get("type"):
            case "text_delta":
                text = string(delta, "text")
                block["text"] = string(block, "text") + text
                yield TextPiece(text)
            case "input_json_delta" if block["type"] == "tool_use":
                text = string(delta, "partial_json")
                block["json"] = string(block, "json") + text
                if text:
                    yield CallArguments(str(block["id"]), text)
            case "thinking_delta":
                text = string(delta, "thinking")
                block["thinking"] = string(block, "thinking") + text
                yield ThinkingPiece(text)
            case "signature_delta":
                block["signature"] = string(delta, "signature")
            case _:
                pass

    def _spend(self, given: Frame, *, with_output: bool) -> Iterator[Piece]:
        """What is new: the numbers of a later frame are sums, and need not have all."""
        now = Usage(
            input=max(number(given, "input_tokens"), self._usage.input),
            output=number(given, "output_tokens") if with_output else 0,
            cache_read=max(number(given, "cache_read_input_tokens"), self._usage.cache_read),
            cache_write=max(number(given, "cache_creation_input_tokens"), self._usage.cache_write),
        )
        new = Usage(
            now.input - self._usage.input,
            max(0, now.output - self._usage.output),
            now.cache_read - self._usage.cache_read,
            now.cache_write - self._usage.cache_write,
        )
        self._usage += new
        if new.tokens:
            yield self._provider.priced(self._request.model, new, self._usage)


def _native(block: dict[str, object]) -> object | None:
    """As it goes back: unchanged, but for what the API would refuse."""
    match block["type"]:
        case "text":
            text = string(block, "text")
            return {"type": "text", "text": text} if text.strip() else None
        case "thinking":
            signed = bool(block.get("signature"))
            names = ("type", "thinking", "signature")
            return {name: block[name] for name in names if name in block} if signed else None
        case "redacted_thinking":
            return {"type": "redacted_thinking", "data": block.get("data")}
        case "tool_use":
            return {
                "type": "tool_use",
                "id": block["id"],
                "name": block.get("name"),
                "input": _arguments(string(block, "json")),
            }
        case _:
            return None


def _arguments(text: str) -> object:
    value = json_text.arguments(text)
    return cast(object, value) if isinstance(value, dict) else {}
