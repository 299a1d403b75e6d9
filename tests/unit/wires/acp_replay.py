"""Plays a recording of an ACP agent through the wire, as a session would."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from acp_oracle import entries

from lsp_agent.protocol.events import (
    Event,
    Plan,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.toolset.loose_json import frame
from lsp_agent.wires.acp.wire import AcpWire
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Answered,
    Approve,
    Command,
    Decoded,
    Dialog,
    GetMessages,
    Granted,
    Hello,
    Prompt,
    ReadText,
    Refused,
    Reply,
    RunTool,
    Send,
    SetModel,
    SetOption,
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
                    turn = {"prompt": prompt, "text": "", "calls": {}, "results": {}, "usage": []}
                    turns.append(turn | {"plans": [], "stop": None})
                case TextDelta(text):
                    turns[-1]["text"] += text
                case ToolCall(call_id, _, _, args):
                    turns[-1]["calls"][call_id] = args
                case Plan(entries):
                    turns[-1]["plans"].append(list(entries))
                case UsageReported(usage):
                    turns[-1]["usage"].append(usage)
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
    came with nothing sent between them are one batch. A prompt waits until the one before has
    ended, as a session lets it. Ends before a session is loaded."""
    player = Player(Replay(new_wire(hosting)))
    for entry in entries(name):
        line = entry["line"]
        if line.get("method") == "session/load":
            break
        if entry["dir"] == "out":
            player.hear(line)
            if cuts is not None and next(cuts):
                player.flush()
        else:
            player.flush()
            player.send(line)
    player.flush()
    if player.prompts:
        player.result.take(player.result.wire.lost("error", "the recording ends"))
    return player.result


@dataclass
class Player:
    """Says what the recorder said, and gives the wire what the agent said."""

    result: Replay
    #: The ids of the wire's requests by the recorder's.
    ids: dict[int, int] = field(default_factory=dict)
    waiting: list[object] = field(default_factory=list)
    #: The prompt that runs, and those that wait for it.
    prompts: list[Json] = field(default_factory=list)

    def hear(self, line: Json) -> None:
        if "method" in line:
            self.waiting.append(line)
        elif line["id"] in list(self.ids):  # a mutated one need not be hashable
            self.waiting.append(line | {"id": self.ids[line["id"]]})
        if self.prompts and "method" not in line and line["id"] == self.prompts[0]["id"]:
            self.flush()
            del self.prompts[0]
            if self.prompts:
                self.say(self.prompts[0])

    def flush(self) -> None:
        self.result.take(self.result.wire.decode(self.waiting))
        self.waiting.clear()

    def send(self, line: Json) -> None:
        match line.get("method"):
            case None:
                _answer(self.result, line)
            case "session/prompt":
                self.prompts.append(line)
                if len(self.prompts) == 1:
                    self.say(line)
            case "session/new":  # which the handshake sends by itself
                self.ids[line["id"]] = self.result.sent[-1]["id"]
            case "session/set_mode" if self.result.sent[-1]["method"] == "session/set_mode":
                self.mode(line)
            case method if method not in _NOT_OURS:
                self.say(line)

    def mode(self, line: Json) -> None:
        """The handshake has sent the mode that asks; another is the person's choice after that."""
        ours = self.result.sent[-1]
        if ours["params"]["modeId"] == line["params"]["modeId"]:
            self.ids[line["id"]] = ours["id"]
            return
        self.waiting.append({"jsonrpc": "2.0", "id": ours["id"], "result": {}})
        self.flush()
        self.say(line)

    def say(self, line: Json) -> None:
        command = _command(line["method"], line["params"])
        encoded = self.result.wire.encode(f"r{len(self.result.sent)}", command)
        if isinstance(encoded, Reply):
            self.result.decoded.append(encoded)
        else:
            self.result.sent.append(dict(encoded))
        self.result.take(self.result.wire.decode(()))
        if "id" in line:
            self.ids[line["id"]] = self.result.sent[-1]["id"]


def load(name: str) -> list[Json]:
    """The messages of the session that the recorder has loaded, in another process."""
    wire = new_wire()
    lines = [entry["line"] for entry in entries(name)]
    loading = next(n for n, line in enumerate(lines) if line.get("method") == "session/load")
    sent = wire.encode("r", Hello(lines[loading]["params"]["sessionId"]))
    decoded: list[Decoded] = []
    for line in [lines[1], *lines[loading + 1 :]]:
        if "method" not in line:
            line = line | {"id": sent["id"]}  # noqa: PLW2901
        decoded += wire.decode([line])
        sent = next((item.frame for item in decoded if isinstance(item, Send)), sent)
    (reply,) = [item for item in decoded if isinstance(item, Reply)]
    assert reply.error is None
    assert not [item for item in decoded if isinstance(item, (TurnStarted, ToolCall, ToolResult))]
    told = wire.encode("m", GetMessages())
    assert isinstance(told, Reply)
    return [_said(message) for message in told.data["messages"]]


def _said(message: Json) -> Json:
    """In the oracle's shape."""
    text = "".join(block["text"] for block in message["content"] if block["type"] == "text")
    calls = [block["toolCallId"] for block in message["content"] if "toolCallId" in block]
    return {"role": message["role"], "text": text, "calls": calls}


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
        case "session/set_mode":
            return SetOption("mode", params["modeId"])
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
    refused = outcome.get("optionId") in ("reject", "reject_once", "cancel", None)
    return Refused("The person declined.") if refused else Granted()


def shapes(decoded: Sequence[Decoded]) -> list[Decoded]:
    """The same values however the batches were cut: texts that stand together are one."""
    result: list[Decoded] = []
    for item in decoded:
        before = result[-1] if result else None
        if isinstance(item, TextDelta) and isinstance(before, TextDelta):
            result[-1] = TextDelta(before.text + item.text)
        elif isinstance(item, ThinkingDelta) and isinstance(before, ThinkingDelta):
            result[-1] = ThinkingDelta(before.text + item.text)
        else:
            result.append(item)
    return result
