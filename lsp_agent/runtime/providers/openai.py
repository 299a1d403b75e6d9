"""The provider ``openai``: chat completions, by OpenAI or any server that speaks the same."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

import orjson

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
from lsp_agent.runtime.transcript import (
    Block,
    Message,
    Native,
    Usage,
    images_in,
    native_of,
    results_of,
    text_in,
)

if TYPE_CHECKING:
    from openai import AsyncOpenAI


#: Under which names services tell thoughts; of these some refuse calls that come without them.
_THOUGHTS = "reasoning_content"
_THOUGHT_TEXTS = (_THOUGHTS, "reasoning")
_THOUGHT_PARTS = "reasoning_details"
#: The members of calls that are not the protocol's, by the call's id: Gemini signs its own there.
_BESIDE_CALLS = "calls"


class OpenAIProvider(RemoteProvider):
    name = "openai"
    base_url_end = "/v1"
    _client: AsyncOpenAI | None = None

    async def _stream(self, request: Request) -> AsyncGenerator[Piece]:
        if self._client is None:
            self._client = await self._in_thread(self._connect)
        from openai import APIError  # noqa: PLC0415  with the client

        answer = _Answer(self, request)
        create = cast(Any, self._client.chat.completions.create)
        asked = self._asked(request.model)
        level = (request.model, self.reasoning)  # a person may set another meanwhile
        try:
            body = self._body(request)
            async with aclosing(event_frames(create, APIError, body, asked)) as frames:
                async for frame in frames:
                    for piece in answer.take(frame):
                        yield piece
        except Failed as failed:
            if failed.refuses_thoughts and level not in self._thoughtless:
                self._thoughtless.add(level)
                async with aclosing(self._stream(request)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            if not answer.stop:  # else only the end of the stream is missing
                raise
        for piece in answer.finish():
            yield piece

    def _connect(self) -> AsyncOpenAI:
        """In a thread: importing the SDK takes a second."""
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout  # noqa: PLC0415

        timeout = Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
        return AsyncOpenAI(
            api_key=self._access.key,
            base_url=self._access.base_url,
            max_retries=0,  # ours tell the person
            timeout=timeout,
            # What is said here is for nobody else, wherever the server may send us.
            http_client=DefaultAsyncHttpxClient(follow_redirects=False, timeout=timeout),
        )

    def _body(self, request: Request) -> dict[str, object]:
        """No more than it must have: servers refuse what they do not know."""
        body: dict[str, object] = {
            "model": request.model,
            "messages": list(self._messages(request)),
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": {"type": "object", **tool.schema},
                    },
                }
                for tool in request.tools
            ]
        if effort := self._effort(request):
            body["reasoning_effort"] = effort
        return body

    def _effort(self, request: Request) -> str:
        known = self._known(request.model)
        without = known.thinking == "not with tools" and bool(request.tools)
        if without or (request.model, self.reasoning) in self._thoughtless:
            return "none"
        return "none" if self.reasoning == "off" else self.reasoning or ""

    def _messages(self, request: Request) -> Iterator[dict[str, object]]:
        takes_images = self._known(request.model).model.images
        images = Images(request.messages, takes_images=takes_images)
        if request.system:
            yield {"role": "system", "content": request.system}
        thinks = any(_sent_back(one, request.model).get(_THOUGHTS) for one in request.messages)
        waiting: list[Block] = []  # neighbours of the role user go as one message
        for source in request.messages:
            if source["role"] == "user":
                waiting += source["content"]
                continue
            yield from _user(waiting, images)
            waiting = []
            if source["role"] == "assistant":
                yield _assistant(source, request.model, thinks=thinks)
            else:
                for block, content in results_of(source):
                    # Results are text alone, so images follow them as if the person showed them.
                    below = images_in(content)
                    text = text_in(content) or ("(an image, shown below)" if below else "(empty)")
                    yield {"role": "tool", "tool_call_id": block["call_id"], "content": text}
                    waiting += below
        yield from _user(waiting, images)


def _user(blocks: Sequence[Block], images: Images) -> Iterator[dict[str, object]]:
    parts: list[dict[str, object]] = []
    for block in blocks:
        shown = images.shown(block) if block["type"] == "image" else ""
        if isinstance(shown, str):
            parts.append({"type": "text", "text": shown or block["text"]})
        else:
            url = f"data:{shown[0]};base64,{shown[1]}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
    if any(one["type"] == "image_url" for one in parts):
        yield {"role": "user", "content": parts}
    elif parts:  # what every server takes
        yield {"role": "user", "content": "\n\n".join(str(one["text"]) for one in parts)}


def _assistant(source: Message, model: str, *, thinks: bool) -> dict[str, object]:
    """``thinks``: the service has told thoughts, and so may insist on them with every call."""
    message: dict[str, object] = {"role": "assistant", "content": text_in(source["content"])}
    back = _sent_back(source, model)
    beside = part(back, _BESIDE_CALLS)
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {
                "name": block["name"],
                "arguments": orjson.dumps(block["args"] or {}).decode(),
            },
            **part(beside, str(block["id"])),
        }
        for block in source["content"]
        if block["type"] == "tool_call"
    ]
    if not calls:
        return message
    thoughts = {name: value for name, value in back.items() if name != _BESIDE_CALLS}
    return message | ({_THOUGHTS: ""} if thinks else {}) | thoughts | {"tool_calls": calls}


def _sent_back(source: Message, model: str) -> Frame:
    """What the model gave beside words and calls, and wants back with its calls."""
    native = native_of(source, OpenAIProvider.name, model)
    return cast(Frame, native.content[0]) if native is not None else {}


_OF_A_CALL = frozenset({"index", "id", "type", "function"})


class _Call:
    """``call_id`` is "" until its name has come; ``text`` is its arguments so far."""

    def __init__(self) -> None:
        self.call_id = ""
        self.given_id = ""
        self.name = ""
        self.text = ""
        self.beside: dict[str, object] = {}


class _Answer:
    """An answer as it comes in; its calls are told apart by their index."""

    def __init__(self, provider: OpenAIProvider, request: Request) -> None:
        self.stop = ""
        self._provider = provider
        self._request = request
        self._anything = False
        self._calls: list[_Call] = []
        #: The newest call of each index.
        self._at: dict[int, _Call] = {}
        self._thoughts: dict[str, str] = {}
        self._thought_parts: dict[object, dict[str, object]] = {}
        self._usage: Usage | None = None

    def take(self, frame: Frame) -> Iterator[Piece]:
        choices = frame.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            choice = cast(Frame, choices[0])
            yield from self._go_on(part(choice, "delta"))
            self.stop = string(choice, "finish_reason") or self.stop
        if usage := part(frame, "usage"):
            self._usage = self._spent(usage)  # some services tell it anew with each frame

    def finish(self) -> Iterator[Piece]:
        """Raises Failed where the stream broke off."""
        if not self.stop:
            raise Failed("the answer broke off in the middle", "ask again", again=True)
        if self._usage is not None:
            yield self._usage
        called = [call for call in self._calls if call.call_id]
        for call in called:
            yield CallEnded(call.call_id)
        if called and (back := self._to_send_back()):
            yield Native(self._provider.name, self._request.model, [back])
        match self.stop:
            case "content_filter":
                yield Stopped("error", "openai: the answer was withheld by the service's filter")
            case "length":
                yield Stopped("length")
            case _ if called:
                yield Stopped("tool_use")
            case _ if not self._anything and self._request.step == 1:
                yield Stopped("error", "openai: the model answered nothing; ask again")
            case _:
                yield Stopped("end")

    def _go_on(self, delta: Frame) -> Iterator[Piece]:
        yield from self._think(delta)
        if text := _text(delta.get("content")) or string(delta, "refusal"):
            self._anything = True
            yield TextPiece(text)
        calls = delta.get("tool_calls")
        for call in cast(list[object], calls) if isinstance(calls, list) else []:
            if isinstance(call, dict):
                yield from self._call(cast(Frame, call))

    def _think(self, delta: Frame) -> Iterator[Piece]:
        """OpenAI itself shows no thinking; services like it do, and want some of it back."""
        told = {name: thought for name in _THOUGHT_TEXTS if (thought := string(delta, name))}
        for name, thought in told.items():
            self._anything = True
            self._thoughts[name] = self._thoughts.get(name, "") + thought
        for thought in [*told.values()][:1]:  # the same under either name
            yield ThinkingPiece(thought)
        parts = delta.get(_THOUGHT_PARTS)
        for given in cast(list[object], parts) if isinstance(parts, list) else []:
            if isinstance(given, dict):
                one = cast(Frame, given)
                place = (one.get("index"), one.get("type"))
                _grow(self._thought_parts.setdefault(place, {}), one)

    def _to_send_back(self) -> dict[str, object]:
        back: dict[str, object] = dict(self._thoughts)
        if self._thought_parts:
            back[_THOUGHT_PARTS] = list(self._thought_parts.values())
        if beside := {call.call_id: call.beside for call in self._calls if call.beside}:
            back[_BESIDE_CALLS] = beside
        return back

    def _call(self, given: Frame) -> Iterator[Piece]:
        call = self._call_of(given)
        function = part(given, "function")
        call.given_id = call.given_id or string(given, "id")
        call.beside |= {name: value for name, value in given.items() if name not in _OF_A_CALL}
        call.name = call.name or string(function, "name")
        text = string(function, "arguments")
        call.text += text
        if call.call_id:
            if text:
                yield CallArguments(call.call_id, text)
        elif call.name:
            call.call_id = self._provider.new_id(call.given_id)
            yield CallStarted(call.call_id, call.name)
            if call.text:
                yield CallArguments(call.call_id, call.text)

    def _call_of(self, given: Frame) -> _Call:
        """The one that a piece belongs to, which may be new."""
        index = given.get("index")
        if isinstance(index, int):
            call = self._at.get(index)
        elif string(given, "id") or not self._calls:
            call = None  # some servers send each call whole, without an index
        else:
            call = self._calls[-1]
        if call is None or _begins_another(call, given):
            call = _Call()
            self._calls.append(call)
        if isinstance(index, int):
            self._at[index] = call
        return call

    def _spent(self, usage: Frame) -> Usage:
        details = part(usage, "prompt_tokens_details")
        read, written = number(details, "cached_tokens"), number(details, "cache_write_tokens")
        spent = Usage(
            input=max(0, number(usage, "prompt_tokens") - read - written),
            output=number(usage, "completion_tokens"),
            cache_read=read,
            cache_write=written,
        )
        return self._provider.priced(self._request.model, spent, spent)


def _begins_another(call: _Call, given: Frame) -> bool:
    """Whether a piece of the index of ``call`` is another's: some gateways give all calls of an
    answer one index. These are whole, with ids of their own or with none; others repeat the name
    with each piece of one call."""
    function, given_id = part(given, "function"), string(given, "id")
    if not call.name or not string(function, "name"):
        return False
    if given_id and call.given_id:
        return given_id != call.given_id
    told = bool(call.text and string(function, "arguments").strip())
    return told and json_text.arguments(call.text) is not None


def _text(content: object) -> str:
    """Some services send parts, of which those with thoughts are no text."""
    if isinstance(content, str):
        return content
    parts = cast(list[object], content) if isinstance(content, list) else []
    frames = [cast(Frame, one) for one in parts if isinstance(one, dict)]
    return "".join(string(one, "text") for one in frames if one.get("type") == "text")


def _grow(whole: dict[str, object], piece: Frame) -> None:
    """Texts come in pieces, all else at once."""
    for name, value in piece.items():
        before = whole.get(name)
        if isinstance(value, str) and isinstance(before, str) and name in _GROWING:
            whole[name] = before + value
        elif value is not None or name not in whole:
            whole[name] = value


_GROWING = frozenset({"text", "summary", "data"})
