"""A pi recording through the wire, as the server would have driven it."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_agent.protocol.events import (
    AssistantMessage,
    ErrorReported,
    Event,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolCall,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from lsp_agent.protocol.messages import plain_text
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.wires.pi.wire import PiWire
from lsp_agent.wires.wire import (
    Abort,
    AgentRequest,
    Clear,
    Command,
    Compact,
    CompactEnded,
    Decoded,
    GetCommands,
    GetMessages,
    GetModels,
    GetState,
    Prompt,
    Reply,
    Send,
    Steer,
    Withdrawn,
)

Json = dict[str, Any]

RECORDINGS = Path(__file__).parents[2] / "recordings" / "pi"
NAMES = sorted(path.stem for path in RECORDINGS.glob("*.jsonl"))

PLAIN: dict[str, Command] = {
    "abort": Abort(),
    "compact": Compact(),
    "new_session": Clear(),
    "get_state": GetState(),
    "get_messages": GetMessages(),
    "get_available_models": GetModels(),
    "get_commands": GetCommands(),
}


def lines(name: str) -> list[Json]:
    text = (RECORDINGS / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def command(sent: object) -> Command | None:
    """What the recorder sent; None for what no session would send."""
    match sent:
        case {"id": str(), "type": "prompt" | "steer" as kind, "message": str(message)}:
            if "streamingBehavior" in sent:
                return None
            images = tuple(
                ImageInput(mime_type=image["mimeType"], data=image["data"])
                for image in sent.get("images", [])
            )
            return Prompt(message, images) if kind == "prompt" else Steer(message, images)
        case {"id": str(), "type": str(kind)}:
            return PLAIN.get(kind)
        case _:
            return None


@dataclass
class Replay:
    wire: PiWire = field(default_factory=PiWire)
    events: list[Event] = field(default_factory=list)
    replies: dict[str, Reply] = field(default_factory=dict)
    compactions: list[CompactEnded] = field(default_factory=list)
    sends: list[Send] = field(default_factory=list)
    requests: list[AgentRequest] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)

    def take(self, decoded: Iterable[Decoded]) -> None:
        for item in decoded:
            match item:
                case Reply(request_id):
                    assert request_id not in self.replies
                    self.replies[request_id] = item
                case CompactEnded():
                    self.compactions.append(item)
                case Send():
                    self.sends.append(item)
                case Withdrawn(key):
                    self.withdrawn.append(key)
                case _ if isinstance(item, AgentRequest):
                    self.requests.append(item)
                case _:
                    self.events.append(item)

    @property
    def turns(self) -> list[Json]:
        """Each event counts for the turn that was started last."""
        turns: list[Json] = []
        for event in self.events:
            turn = turns[-1] if turns else {}
            match event:
                case TurnStarted():
                    turns.append(new_turn())
                case StepStarted():
                    turn["text"] = ""
                case TextDelta(text):
                    turn["text"] += text
                case ThinkingDelta(text):
                    turn["thinking"] += text
                case AssistantMessage(message):
                    turn["text"] = plain_text(message["content"])
                case ToolCall(call_id, tool, _, args):
                    turn["calls"].append([call_id, tool, args])
                case ToolResult(call_id, is_error, content):
                    turn["results"].append([call_id, is_error, plain_text(content)])
                case UsageReported(usage, cumulative):
                    turn["usage"].append([usage, cumulative])
                case ErrorReported(message):
                    turn["errors"].append(message)
                case TurnEnded(reason):
                    turn["stop"].append(reason)
                case _:
                    pass
        return turns


def new_turn() -> Json:
    lists: Json = {key: [] for key in ("calls", "results", "usage", "stop", "errors")}
    return {"text": "", "thinking": ""} | lists


def replay(entries: Iterable[Json], cuts: Iterator[bool] | None = None) -> Replay:
    """``cuts`` tells after each frame whether the batch ends there; without it, frames that
    came with nothing sent between them are one batch."""
    result = Replay()
    waiting: list[object] = []

    def flush() -> None:
        result.take(result.wire.decode(waiting))
        waiting.clear()

    for entry in entries:
        if entry["dir"] == "out":
            waiting.append(entry["line"])
            if cuts is not None and next(cuts):
                flush()
            continue
        flush()
        if entry["dir"] == "in":
            sent = entry["line"]
            if (wanted := command(sent)) is not None:
                result.wire.encode(sent["id"], wanted)
    flush()
    result.take(result.wire.lost("error", "gone"))
    return result


def joined(events: Iterable[Event]) -> list[Event]:
    """The same events however the batches were cut: pieces that stand together are one."""
    result: list[Event] = []
    for event in events:
        match result[-1] if result else None, event:
            case (TextDelta(a), TextDelta(b)) | (ThinkingDelta(a), ThinkingDelta(b)):
                result[-1] = type(event)(a + b)
            case ToolArgsDelta(i, a), ToolArgsDelta(j, b) if i == j:
                result[-1] = ToolArgsDelta(i, a + b)
            case ToolProgress(i, a), ToolProgress(j, b) if i == j:
                result[-1] = ToolProgress(i, a + b)
            case _:
                result.append(event)
    return result
