"""Plays a recording of zot through the wire, as a session would."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from lsp_agent.protocol.events import (
    AssistantMessage,
    ErrorReported,
    Event,
    StampedEvent,
    StepEnded,
    StepStarted,
    TextDelta,
    ToolArgsDelta,
    ToolCall,
    ToolCallStarted,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from lsp_agent.protocol.messages import Block
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.sessions.shared.event_log import EventLog
from lsp_agent.wires.wire import (
    Abort,
    Clear,
    Command,
    Compact,
    CompactEnded,
    Decoded,
    GetMessages,
    GetModels,
    GetState,
    Hello,
    Prompt,
    Reply,
    SetModel,
)
from lsp_agent.wires.zot.wire import ZotWire

T = TypeVar("T")

RECORDINGS = Path(__file__).parents[1] / "recordings" / "zot"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))

_PLAIN: dict[str, Command] = {
    "abort": Abort(),
    "clear": Clear(),
    "compact": Compact(),
    "get_messages": GetMessages(),
    "get_models": GetModels(),
    "get_state": GetState(),
    "hello": Hello(),
}


@dataclass
class TurnSeen:
    prompt: str
    text: str = ""
    calls: list[list[object]] = field(default_factory=list)
    results: list[list[object]] = field(default_factory=list)
    usage: list[list[object]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    ends: list[TurnEnded] = field(default_factory=list)


@dataclass
class Replay:
    wire: ZotWire
    stamped: list[StampedEvent]
    replies: dict[str, Reply]
    compactions: list[CompactEnded]

    @property
    def events(self) -> list[Event]:
        return [stamped.event for stamped in self.stamped]

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def turns(self) -> list[TurnSeen]:
        """Each event counts for the turn that was started last."""
        turns: list[TurnSeen] = []
        for event in self.events:
            match event:
                case TurnStarted(prompt):
                    turns.append(TurnSeen(prompt))
                case StepStarted():
                    turns[-1].text = ""
                case TextDelta(text):
                    turns[-1].text += text
                case AssistantMessage(message):
                    turns[-1].text = flat(message["content"])
                case ToolCall(call_id, tool, _, args):
                    turns[-1].calls.append([call_id, tool, args])
                case ToolResult(call_id, is_error, content):
                    turns[-1].results.append([call_id, is_error, flat(content)])
                case UsageReported(usage, cumulative):
                    turns[-1].usage.append([usage, cumulative])
                case ErrorReported(message):
                    turns[-1].errors.append(message)
                case TurnEnded():
                    turns[-1].ends.append(event)
                case _:
                    pass
        return turns


def flat(content: list[Block]) -> str:
    parts: list[str] = []
    for block in content:
        if block["type"] == "text":
            parts.append(block["text"])
        elif block["type"] == "image":
            parts.append(f"<{block['mimeType']} {block.get('size')}>")
    return "".join(parts)


def lines(name: str) -> list[dict]:
    text = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def command(frame: object) -> Command | None:
    """What the recorder sent; None for what no session would send."""
    match frame:
        case {"id": str(), "type": "prompt"}:
            images = frame.get("images")
            return Prompt(
                str(frame.get("message", "")),
                tuple(
                    ImageInput(mime_type=image["mime_type"], data=image["data"])
                    for image in (images if isinstance(images, list) else [])
                ),
            )
        case {"id": str(), "type": "set_model"}:
            return SetModel(frame.get("model", ""))
        case {"id": str(), "type": str(kind)}:
            return _PLAIN.get(kind)
        case _:
            return None


def sent(entry: dict) -> object:
    """The frame of an ``in`` line, as far as it is one."""
    if "elided" in entry:
        return {"id": "1", "type": "prompt", "message": entry["elided"]}
    if "line" in entry:
        return entry["line"]
    try:
        return json.loads(entry["raw"])
    except ValueError:
        return None


def replay(entries: Iterable[dict], cuts: Iterator[bool] | None = None) -> Replay:
    """``cuts`` tells after each frame whether the batch ends there; without it, frames that
    came with nothing sent between them are one batch."""
    wire = ZotWire()
    log = EventLog("s")
    result = Replay(wire, [], {}, [])
    log.subscribe(result.stamped.append)
    waiting: list[object] = []

    def take(decoded: list[Decoded]) -> None:
        for item in decoded:
            if isinstance(item, Reply):
                assert item.request_id not in result.replies
                result.replies[item.request_id] = item
            elif isinstance(item, CompactEnded):
                result.compactions.append(item)
            else:
                log.append(item, None)

    def flush() -> None:
        take(wire.decode(waiting))
        waiting.clear()

    for entry in entries:
        if entry["dir"] == "out":
            waiting.append(entry["line"])
            if cuts is not None and next(cuts):
                flush()
            continue
        flush()
        if entry["dir"] == "in":
            frame = sent(entry)
            if (wanted := command(frame)) is not None:
                wire.encode(frame["id"], wanted)
        elif entry.get("event") in ("stdout_eof", "exit"):
            take(wire.lost("error", "the agent exited"))
    flush()
    return result


def joined(events: Iterable[Event]) -> list[Event]:
    """The same events however the batches were cut: pieces that stand together are one."""
    result: list[Event] = []
    for event in events:
        last = result[-1] if result else None
        match last, event:
            case TextDelta(a), TextDelta(b):
                result[-1] = TextDelta(a + b)
            case ToolArgsDelta(i, a), ToolArgsDelta(j, b) if i == j:
                result[-1] = ToolArgsDelta(i, a + b)
            case ToolProgress(i, a), ToolProgress(j, b) if i == j:
                result[-1] = ToolProgress(i, a + b)
            case _:
                result.append(event)
    return result


def check_sequence(events: list[Event]) -> None:
    """Turns, steps and calls open and close in order, each exactly once."""
    running = False
    steps = 0
    step: int | None = None
    calls: dict[str, str] = {}
    for event in events:
        match event:
            case TurnStarted():
                assert not running
                running, steps, calls = True, 0, {}
            case TurnEnded():
                assert running
                assert step is None
                assert set(calls.values()) <= {"ended"}
                running = False
            case StepStarted(number):
                assert running
                steps += 1
                assert number == steps
                step = number
                calls = {call: state for call, state in calls.items() if state != "ended"}
            case StepEnded():
                step = None
            case ToolCallStarted(call_id):
                assert running
                assert call_id not in calls
                calls[call_id] = "started"
            case ToolCall(call_id):
                assert calls[call_id] == "started"
                calls[call_id] = "called"
            case ToolResult(call_id):
                assert calls[call_id] == "called"
                calls[call_id] = "ended"
            case _:
                pass
    assert not running
