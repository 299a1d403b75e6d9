"""pi's values in canonical form: blocks, messages, usage, replies, stop reasons.

Everything is optional: builds differ.
"""

from collections.abc import Mapping
from datetime import UTC, datetime

from lsp_agent.protocol.events import Level, StopReason
from lsp_agent.protocol.messages import Block, Message, Usage, text
from lsp_agent.toolset.loose_json import Frame, frame, integer, items, number, string
from lsp_agent.wires.usage import token_counts

#: pi's reasons; ``toolUse`` ends a step only.
STOP_REASONS: Mapping[str, StopReason | None] = {
    "stop": "endTurn",
    "deferred": "endTurn",
    "length": "maxTokens",
    "toolUse": None,
    "error": "error",
    "aborted": "aborted",
}

_LEVELS: Mapping[str, Level] = {"warning": "warning", "error": "error"}

#: What our extension registers for no other reason than to be seen.
HOST_COMMAND = "lsp-agent"

#: The id of its one option.
THINKING = "thinkingLevel"

#: Messages of pi's own in the transcript, and what they are to a reader.
_SUMMARIES = ("compactionSummary", "branchSummary")


def level(name: str) -> Level:
    return _LEVELS.get(name, "info")


def blocks(value: object) -> list[Block]:
    """A message's or a result's content: a list of blocks, or a text alone."""
    if isinstance(value, str):
        return [text(value)] if value else []
    return [_block(frame(item)) for item in items(value)]


def message(source: Frame) -> Message | None:
    """A message of the transcript; None for the system's, which no person wrote or reads."""
    content = source.get("content")
    match role := string(source, "role"):
        case "user" | "assistant":
            result: Message = {"role": role, "content": blocks(content)}
        case "toolResult":
            call: Block = {
                "type": "toolResult",
                "toolCallId": string(source, "toolCallId"),
                "isError": source.get("isError") is True,
                "content": blocks(content),
            }
            result = {"role": "tool", "content": [call]}
        case "bashExecution":
            ran = f"$ {string(source, 'command')}\n{string(source, 'output')}"
            result = {"role": "user", "content": [text(ran)]}
        case "custom":
            result = {"role": "user", "content": blocks(content)}
        case _ if role in _SUMMARIES:
            result = {"role": "user", "content": blocks(source.get("summary"))}
        case _:
            return None
    if (time := _time(source)) is not None:
        result["time"] = time
    return result


def usage(value: object) -> Usage:
    """Empty where pi counted nothing, as in a step that was cut: a zero would be wrong."""
    source = frame(value)
    result = token_counts(source, ("input", "output", "cacheRead", "cacheWrite"))
    if not any(result.values()):
        return {}
    # A model without prices costs 0 to pi: unknown, not free.
    cost = number(frame(source.get("cost")), "total")
    if cost is not None and cost > 0:
        result["cost"] = cost
    return result


def state(source: Frame) -> dict[str, object]:
    """``model`` is "provider/id", as pi's own ``--model`` takes it."""
    result: dict[str, object] = {}
    model = frame(source.get("model"))
    if string(model, "id"):
        result |= {"provider": string(model, "provider"), "model": model_id(model)}
    if (count := integer(source, "messageCount")) is not None:
        result["messageCount"] = count
    if file := string(source, "sessionFile"):
        result["sessionRef"] = file
    return result


def models(source: Frame) -> list[Frame]:
    return [frame(item) for item in items(source.get("models"))]


def model(source: Frame) -> dict[str, object]:
    result: dict[str, object] = {"id": model_id(source), "provider": string(source, "provider")}
    for key, name in (("contextWindow", "contextWindow"), ("maxTokens", "maxOutput")):
        if (count := integer(source, key)) is not None:
            result[name] = count
    if isinstance(reasoning := source.get("reasoning"), bool):
        result["reasoning"] = reasoning
    return result


def model_id(source: Frame) -> str:
    """Two providers may have models of one name."""
    return f"{string(source, 'provider')}/{string(source, 'id')}"


def find_model(wanted: str, source: Frame) -> Frame | None:
    """The one model that ``wanted`` names, with its provider or without."""
    known = models(source)
    whole = [found for found in known if model_id(found) == wanted]
    named = whole or [found for found in known if string(found, "id") == wanted]
    return named[0] if len(named) == 1 else None


def options(levels: list[str], state: Frame) -> list[dict[str, object]]:
    """The level is the one thing that a session can be set to, where there is a choice."""
    if len(levels) < 2:
        return []
    values = [{"value": level, "name": level.capitalize()} for level in levels]
    value = string(state, "thinkingLevel")
    return [{"id": THINKING, "name": "Thinking level", "value": value, "values": values}]


def commands(source: Frame) -> list[dict[str, object]]:
    """Without our own extension's."""
    return [
        {key: value for key in ("name", "description") if (value := string(found, key))}
        for found in map(frame, items(source.get("commands")))
        if string(found, "name") != HOST_COMMAND
    ]


def extension_commands(source: Frame) -> frozenset[str]:
    """Which need no run of the model."""
    found = map(frame, items(source.get("commands")))
    return frozenset(string(one, "name") for one in found if string(one, "source") == "extension")


def host_version(source: Frame) -> str | None:
    """pi's version, which our extension gives as its command's description; None without it."""
    for found in map(frame, items(source.get("commands"))):
        if (string(found, "name"), string(found, "source")) == (HOST_COMMAND, "extension"):
            return string(found, "description")
    return None


def compacted_unasked(source: Frame) -> bool | None:
    """Of the end of a compaction: whether pi did it by itself; None where it does not tell. The
    oldest builds say ``auto`` of one that they did, and nothing of the others."""
    if source.get("type") == "compaction":
        return source.get("auto") is True
    reason = string(source, "reason")
    return reason != "manual" if reason else None


def _block(source: Frame) -> Block:
    match string(source, "type"):
        case "text":
            return text(string(source, "text"))
        case "thinking":
            return {"type": "thinking", "text": string(source, "thinking")}
        case "image":
            data = string(source, "data")
            return {"type": "image", "mimeType": string(source, "mimeType"), "data": data}
        case "toolCall":
            return {
                "type": "toolCall",
                "toolCallId": string(source, "id"),
                "tool": string(source, "name"),
                "args": source.get("arguments"),
            }
        case other:
            return text(f"[{other or 'unknown'} block]")


def _time(source: Frame) -> str | None:
    """Its time stamp is in milliseconds."""
    milliseconds = number(source, "timestamp")
    if milliseconds is None:
        return None
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat()
    except (OverflowError, ValueError, OSError):
        return None
