"""zot's values in canonical form: blocks, messages, usage, replies, stop reasons."""

from collections.abc import Mapping
from dataclasses import fields

from lsp_agent.protocol.events import BackgroundCommand, Level, StopReason, camel
from lsp_agent.protocol.messages import Block, ImageBlock, Message, Role, Usage, text
from lsp_agent.toolset.loose_json import Frame, frame, frames, integer, items, number, string
from lsp_agent.wires.usage import token_counts
from lsp_agent.wires.wire import (
    Command,
    GetBackground,
    GetCommands,
    GetMessages,
    GetModels,
    GetOptions,
    GetState,
    Hello,
    RunCommand,
    SetModel,
    SetOption,
)

#: zot's reasons; ``tool_use`` ends a step only. ``end_turn`` is what its documentation says.
STOP_REASONS: Mapping[str, StopReason | None] = {
    "end": "endTurn",
    "end_turn": "endTurn",
    "length": "maxTokens",
    "aborted": "aborted",
    "error": "error",
    "tool_use": None,
}

_LEVELS: Mapping[str, Level] = {"warn": "warning", "warning": "warning", "error": "error"}

#: Go's zero time: the message has none.
_NO_TIME = "0001-01-01T00:00:00Z"

_ROLES: Mapping[str, Role] = {"user": "user", "assistant": "assistant", "tool": "tool"}


def level(name: str) -> Level:
    return _LEVELS.get(name, "info")


def usage(value: object) -> Usage:
    source = frame(value)
    result = token_counts(source, ("input", "output", "cache_read", "cache_write"))
    if (cost := number(source, "cost_usd")) is not None:
        result["cost"] = cost
    return result


def blocks(value: object) -> list[Block]:
    return [_block(frame(item)) for item in items(value)]


def message(source: Frame, role: Role) -> Message:
    result: Message = {"role": role, "content": blocks(source.get("content"))}
    time = string(source, "time")
    if time and time != _NO_TIME:
        result["time"] = time
    return result


def reply_data(command: Command, data: object) -> dict[str, object]:
    """The data of the successful answer to ``command``."""
    source = frame(data)
    match command:
        case Hello() | GetState():
            return _state(source)
        case GetMessages():
            told = [frame(item) for item in items(source.get("messages"))]
            return {
                "messages": [
                    message(item, _ROLES.get(string(item, "role"), "assistant")) for item in told
                ]
            }
        case GetModels():
            return {"models": [_model(frame(item)) for item in items(source.get("models"))]}
        case SetModel(model):
            return {"model": string(source, "model") or model}
        case GetOptions() | SetOption():
            told = (_option(frame(item)) for item in items(source.get("options")))
            return {"options": [item for item in told if item["id"]]}
        case GetCommands():
            told = (_command(frame(item)) for item in items(source.get("commands")))
            return {"commands": [item for item in told if item["name"]]}
        case GetBackground():
            return {"commands": [_background(each) for each in frames(source.get("commands"))]}
        case RunCommand():
            action = string(source, "action")
            known = action in ("prompt", "insert", "display")
            return {"action": action if known else "noop", "text": string(source, "text")}
        case _:
            return {}


def _state(source: Frame) -> dict[str, object]:
    result: dict[str, object] = {
        key: value for key in ("provider", "model", "version") if (value := string(source, key))
    }
    if (count := integer(source, "message_count")) is not None:
        result["messageCount"] = count
    if isinstance(source.get("usage"), dict):
        result["usage"] = usage(source.get("usage"))
    if kept := string(source, "session"):
        result["sessionRef"] = kept
    return result


def _model(source: Frame) -> dict[str, object]:
    result: dict[str, object] = {
        "id": string(source, "id"),
        "provider": string(source, "provider"),
    }
    for key, name in (("context_window", "contextWindow"), ("max_output", "maxOutput")):
        if (count := integer(source, key)) is not None:
            result[name] = count
    if isinstance(reasoning := source.get("reasoning"), bool):
        result["reasoning"] = reasoning
    return result


def _command(source: Frame) -> dict[str, object]:
    result: dict[str, object] = {"name": string(source, "name")}
    if description := string(source, "description"):
        result["description"] = description
    return result


def background_command(source: Frame) -> BackgroundCommand:
    ended = string(source, "state") == "ended"
    return BackgroundCommand(
        string(source, "id"),
        string(source, "call_id"),
        string(source, "command"),
        number(source, "since") or 0.0,
        "ended" if ended else "running",
        integer(source, "exit"),
        number(source, "seconds"),
    )


def _background(source: Frame) -> dict[str, object]:
    told = background_command(source)
    values = {camel(each.name): getattr(told, each.name) for each in fields(told)}
    lines = [line for line in items(source.get("lines")) if isinstance(line, str)]
    return {**{name: value for name, value in values.items() if value is not None}, "lines": lines}


def _option(source: Frame) -> dict[str, object]:
    values = [
        {"value": string(each, "value"), "name": string(each, "name")}
        for each in frames(source.get("values"))
    ]
    told: dict[str, object] = {key: string(source, key) for key in ("id", "name", "value")}
    return {**told, "values": values}


def _block(source: Frame) -> Block:
    match string(source, "type"):
        case "text":
            return text(string(source, "text"))
        case "image":
            return _image(source)
        case "tool_call":
            return {
                "type": "toolCall",
                "toolCallId": string(source, "id"),
                "tool": string(source, "name"),
                "args": source.get("args"),
            }
        case "tool_result":
            return {
                "type": "toolResult",
                "toolCallId": string(source, "call_id"),
                "isError": source.get("is_error") is True,
                "content": blocks(source.get("content")),
            }
        case other:
            return text(f"[{other or 'unknown'} block]")


def _image(source: Frame) -> ImageBlock:
    image: ImageBlock = {"type": "image", "mimeType": string(source, "mime_type")}
    if data := string(source, "data"):
        image["data"] = data
    if (size := integer(source, "bytes")) is not None:
        image["size"] = size
    return image
