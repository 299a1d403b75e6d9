"""What is kept of a session's conversation: the lines of its file, and what they add up to.

{"message": Message}   with long texts shortened, and images without their data; a plan is in the
                       place of the turn's earlier one
{"delta": "text"}      said in a message that is not whole yet; the message replaces it
{"compacted": "text"}  the summary that the agent goes on with
{"turn": "id", "words": "text", "time": seconds}
                       that turn has begun then, by the person's words; older files have no more
                       than the id
{"cleared": true}      all before it is forgotten
{"cut": true}          the beginning is not kept
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import cast

from lsp_agent.protocol.messages import Block, Message, PlanEntry, plain_text, text
from lsp_agent.protocol.plan import put_plan

#: In characters: of what was said, and of arguments, results and thoughts.
SAID_LIMIT = 64 * 1024
OTHER_LIMIT = 4 * 1024
#: How deep arguments are kept: what an agent nests without end would exhaust the stack.
ARGS_LEVELS = 50

_COMPACTED = "(Summary of what was said before)\n\n"


@dataclass(slots=True)
class Transcript:
    """``cut``: the beginning of the conversation is not there. ``turns`` are those that have
    begun, also before all was forgotten."""

    messages: list[Message]
    cut: bool = False
    turns: list[str] = field(default_factory=list[str])


def replayed(lines: Iterable[bytes]) -> Transcript:
    """Lines that are torn or unknown are skipped, and so are unknown blocks of messages."""
    transcript, streamed = Transcript([]), ""

    def add(message: Message) -> None:
        nonlocal streamed
        if streamed and not (message["role"] == "assistant" and plain_text(message["content"])):
            transcript.messages.append({"role": "assistant", "content": [text(streamed)]})
        streamed = ""
        match message["content"]:
            case [{"type": "plan", "entries": entries}]:
                put_plan(transcript.messages, entries)
            case _:
                transcript.messages.append(message)

    for raw in lines:
        line = parsed(raw)
        match line:
            case {"message": {"role": "user" | "assistant" | "tool", "content": list()}}:
                add(sound(cast(dict[str, Message], line)["message"]))
            case {"delta": str(piece)}:
                streamed += piece
            case {"compacted": str(summary)}:
                add({"role": "assistant", "content": [text(_COMPACTED + summary)]})
            case {"turn": str(turn_id)}:
                transcript.turns.append(turn_id)
            case {"cleared": True}:
                transcript, streamed = Transcript([], turns=transcript.turns), ""
            case {"cut": True}:
                transcript.cut = True
            case _:
                pass
    if streamed:
        transcript.messages.append({"role": "assistant", "content": [text(streamed)]})
    return transcript


def message_line(message: Message, seconds: float) -> dict[str, object]:
    """``seconds`` since the epoch, for a message that does not say when it was."""
    kept: Message = {
        "role": message["role"],
        "content": [shortened_block(block) for block in message["content"]],
        "time": message.get("time") or datetime.fromtimestamp(seconds, UTC).isoformat(),
    }
    return {"message": kept}


def shortened_block(block: Block) -> Block:
    match block["type"]:
        case "text":
            return text(shortened(block["text"], SAID_LIMIT))
        case "thinking":
            return {"type": "thinking", "text": shortened(block["text"])}
        case "image":
            size = block.get("size", len(block.get("data", "")) * 3 // 4)
            return {"type": "image", "mimeType": block["mimeType"], "size": size}
        case "toolCall":
            return {**block, "args": _shortened_args(block["args"])}
        case "toolResult":
            content = [_shortened_result(part) for part in block["content"]]
            return {**block, "content": content}
        case "plan":
            return {"type": "plan", "entries": list(map(_shortened_step, block["entries"][:100]))}


def shortened(words: str, limit: int = OTHER_LIMIT) -> str:
    """The beginning and the end of what is longer."""
    if len(words) <= limit:
        return words
    half = limit // 2
    return f"{words[:half]}\n… {len(words) - 2 * half} characters …\n{words[-half:]}"


def _shortened_result(part: Block) -> Block:
    return text(shortened(part["text"])) if part["type"] == "text" else shortened_block(part)


def _shortened_step(step: PlanEntry) -> PlanEntry:
    return {**step, "content": step["content"][:OTHER_LIMIT]}  # it stays one line


def _shortened_args(args: object, levels: int = ARGS_LEVELS) -> object:
    match args:
        case str():
            return shortened(args)
        case dict() | list() if not levels:
            return "…"
        case dict():
            pairs = cast(dict[str, object], args).items()
            return {name: _shortened_args(value, levels - 1) for name, value in pairs}
        case list():
            listed = cast(list[object], args)[:100]
            return [_shortened_args(value, levels - 1) for value in listed]
        case _:
            return args


def turn_line(turn_id: str, words: str, seconds: float) -> dict[str, object]:
    """``seconds`` since the epoch."""
    return {"turn": turn_id, "words": shortened(words, SAID_LIMIT), "time": seconds}


def parsed(raw: bytes) -> object:
    """None for what is torn."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def sound(message: Message) -> Message:
    """With those blocks alone that have a shape we know."""
    content = [block for block in message["content"] if _is_block(block)]
    sound: Message = {"role": message["role"], "content": content}
    match message:
        case {"time": str(time)}:
            return {**sound, "time": time}
        case _:
            return sound


def _is_block(block: object) -> bool:
    match block:
        case {"type": "text" | "thinking", "text": str()} | {"type": "image", "mimeType": str()}:
            return True
        case {"type": "toolCall", "toolCallId": str(), "tool": str(), "args": object()}:
            return True
        case {"type": "toolResult", "toolCallId": str(), "isError": bool(), "content": list()}:
            return all(map(_is_block, cast(dict[str, list[object]], block)["content"]))
        case {"type": "plan", "entries": list()}:
            return all(map(_is_step, cast(dict[str, list[object]], block)["entries"]))
        case _:
            return False


def _is_step(step: object) -> bool:
    match step:
        case {"content": str(), "status": "pending" | "in_progress" | "completed"}:
            return True
        case _:
            return False
