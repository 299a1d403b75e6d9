"""Plays a recording of an ACP agent through the wire, as a session would."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from acp_oracle import entries

from lsp_agent.protocol.events import (
    Event,
    StepStarted,
    TextDelta,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
)
from lsp_agent.protocol.settings import AgentSettings
from lsp_agent.wires.acp import AcpWire
from lsp_agent.wires.frames import frame
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Answered,
    Approve,
    Command,
    Decoded,
    Dialog,
    Granted,
    Hello,
    Prompt,
    ReadText,
    Refused,
    Reply,
    RunTool,
    Send,
    SetModel,
    Withdrawn,
    WriteText,
)

T = TypeVar("T")
Json = dict[str, Any]

REQUESTS = (Approve, ReadText, WriteText, RunTool, Dialog)
#: Which the recorder sent, and a wire does not.
_NOT_OURS = ("authenticate", "session/set_mode", "session/list")


@dataclass
class Replay:
    wire: AcpWire
    #: All that was decoded, in order.
    decoded: list[Decoded] = field(default_factory=list)
    #: What the wire sent: requests and notifications; and answers to the agent.
    sent: list[Json] = field(default_factory=list)
    answered: list[Json] = field(default_factory=list)

    @property
    def events(self) -> list[Event]:
        kinds = (*REQUESTS, Reply, Send, Withdrawn)
        return [item for item in self.decoded if not isinstance(item, kinds)]

    def of(self, kind: type[T]) -> list[T]:
        return [item for item in self.decoded if isinstance(item, kind)]

    @property
    def turns(self) -> list[Json]:
        """In the oracle's shape."""
        turns: list[Json] = []
        for event in self.events:
            match event:
                case TurnStarted(prompt):
                    turn = {"prompt": prompt, "text": "", "calls": [], "results": {}, "stop": None}
                    turns.append(turn)
                case TextDelta(text):
                    turns[-1]["text"] += text
                case ToolCall(call_id):
                    turns[-1]["calls"].append(call_id)
                case ToolResult(call_id, is_error, content):
                    shown = "".join(block.get("text", "") for block in content)
                    turns[-1]["results"][call_id] = [is_error, shown]
                case TurnEnded(reason):
                    turns[-1]["stop"] = reason
                case _:
                    pass
        return turns

    @property
    def steps(self) -> int:
        return len(self.of(StepStarted))

    def take(self, decoded: list[Decoded]) -> None:
        self.decoded += decoded
        for item in decoded:
            if isinstance(item, Send):
                of_ours = "method" in item.frame
                (self.sent if of_ours else self.answered).append(dict(item.frame))


def new_wire(hosting: str = "auto", **settings: str) -> AcpWire:
    wire = AcpWire()
    agent = {"wire": "acp", "command": ["agent"], "hosting": hosting} | settings
    wire.launch(AgentSettings.model_validate(agent), "/workspace", None)
    return wire


def replay(name: str, cuts: Iterator[bool] | None = None, hosting: str = "auto") -> Replay:
    """``cuts`` tells after each frame whether the batch ends there; without it, frames that
    came with nothing sent between them are one batch. Ends before a session is loaded."""
    result = Replay(new_wire(hosting))
    ids: dict[int, int] = {}
    waiting: list[object] = []

    def flush() -> None:
        result.take(result.wire.decode(waiting))
        waiting.clear()

    def say(command: Command) -> None:
        encoded = result.wire.encode(f"r{len(result.sent)}", command)
        if isinstance(encoded, Reply):
            result.decoded.append(encoded)
        else:
            result.sent.append(dict(encoded))
        result.take(result.wire.decode(()))

    for entry in entries(name):
        line = entry["line"]
        if entry["dir"] == "out":
            if "method" in line:
                waiting.append(line)
            elif line["id"] in ids:
                waiting.append(line | {"id": ids[line["id"]]})
            if cuts is not None and next(cuts):
                flush()
            continue
        flush()
        method = line.get("method")
        if method == "session/load":
            break
        if method is None:
            _answer(result, line)
        elif method not in _NOT_OURS:
            if method != "session/new":  # which the handshake sends by itself
                say(_command(method, line["params"]))
            if "id" in line:
                ids[line["id"]] = result.sent[-1]["id"]
    flush()
    return result


def _command(method: str, params: Json) -> Command:
    match method:
        case "initialize":
            return Hello()
        case "session/prompt":
            return Prompt("".join(part.get("text", "") for part in params["prompt"]))
        case "session/cancel":
            return Abort()
        case "session/set_config_option":
            return SetModel(params["value"])
        case _:
            raise AssertionError(method)


def _answer(result: Replay, line: Json) -> None:
    """Answers what was asked last, as the recorder did; an announcement is answered already."""
    asked = [item for item in result.decoded if isinstance(item, REQUESTS)]
    if len(result.answered) > len(asked) - 1 and result.answered[-1]["id"] == line["id"]:
        return
    answer = result.wire.answer(asked[-1].key, _meant(line))
    assert answer is not None
    result.answered.append(dict(answer))


def _meant(line: Json) -> Answer:
    if "error" in line:
        return Refused(line["error"]["message"])
    outcome = frame(line["result"].get("outcome"))
    if not outcome:
        return Answered(line["result"].get("content", ""))
    refused = outcome.get("optionId") in ("reject", "cancel", None)
    return Refused("The person declined.") if refused else Granted()


def shapes(decoded: Sequence[Decoded]) -> list[Decoded]:
    """The same values however the batches were cut: texts that stand together are one."""
    result: list[Decoded] = []
    for item in decoded:
        if isinstance(item, TextDelta) and result and isinstance(result[-1], TextDelta):
            result[-1] = TextDelta(result[-1].text + item.text)
        else:
            result.append(item)
    return result
