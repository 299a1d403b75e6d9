"""Plays a recording of Codex through the wire, as a session would."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from codex_oracle import entries

from lsp_agent.protocol.events import (
    ErrorReported,
    Event,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessage,
)
from lsp_agent.protocol.messages import plain_text
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.wires.codex.wire import CodexWire
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Answered,
    Approve,
    Command,
    Compact,
    CompactEnded,
    Decoded,
    Dialog,
    GetMessages,
    GetModels,
    Granted,
    Hello,
    ListSessions,
    Prompt,
    Refused,
    Reply,
    RunTool,
    Send,
    SetModel,
    SetOption,
    Steer,
    Withdrawn,
)

T = TypeVar("T")
Json = dict[str, Any]

REQUESTS = (Approve, RunTool, Dialog)


def new_wire(**settings: Any) -> CodexWire:
    wire = CodexWire()
    agent = {"wire": "codex", "command": ["codex"]} | settings
    wire.launch(AgentSettings.model_validate(agent), "/workspace", None)
    return wire


@dataclass
class Replay:
    wire: CodexWire = field(default_factory=new_wire)
    #: All that was decoded, in order.
    decoded: list[Decoded] = field(default_factory=list)
    #: What the wire sent by itself and as commands: requests and notifications; and answers.
    sent: list[Json] = field(default_factory=list)
    answered: list[Json] = field(default_factory=list)

    @property
    def events(self) -> list[Event]:
        kinds = (*REQUESTS, Reply, Send, Withdrawn, CompactEnded)
        return [item for item in self.decoded if not isinstance(item, kinds)]

    def of(self, kind: type[T]) -> list[T]:
        return [item for item in self.decoded if isinstance(item, kind)]

    def turns(self) -> list[Json]:
        """In the oracle's shape."""
        turns: list[Json] = []
        for event in self.events:
            turn = turns[-1] if turns else {}
            match event:
                case TurnStarted(prompt):
                    begun = {"prompt": prompt, "text": "", "thinking": "", "said": []}
                    begun |= {"calls": {}, "results": {}, "usage": [], "stop": None, "errors": []}
                    turns.append(begun)
                case TextDelta(text):
                    turn["text"] += text
                case ThinkingDelta(text):
                    turn["thinking"] += text
                case UserMessage(message):
                    turn["said"].append(plain_text(message["content"]))
                case ToolCall(call_id, tool):
                    turn["calls"][call_id] = tool
                case ToolResult(call_id, is_error):
                    turn["results"][call_id] = is_error
                case UsageReported(_, total):
                    cached = total.get("cacheRead", 0)
                    counts = [total.get("input", 0) + cached, cached, total.get("output", 0)]
                    turn["usage"].append(counts)
                case ErrorReported(message):
                    turn["errors"].append(message)
                case TurnEnded(reason):
                    turn["stop"] = reason
                case _:
                    pass
        return turns


def replay(name: str, cuts: Iterator[bool] | None = None) -> Replay:
    """``cuts`` tells after each frame whether the batch ends there; without it, frames that came
    with nothing sent between them are one batch."""
    recorded = entries(name)
    taken_up = [e["line"] for e in recorded if e["line"].get("method") == "thread/resume"]
    player = _Player(Replay(), taken_up[0]["params"]["threadId"] if taken_up else None)
    for entry in recorded:
        line = entry["line"]
        if entry["dir"] == "in":
            player.flush()
            player.send(line)
        else:
            player.hear(line)
            if cuts is not None and next(cuts):
                player.flush()
    player.flush()
    return player.result


@dataclass
class _Player:
    result: Replay
    #: The session that is taken up.
    resume: str | None
    #: The ids of the wire's requests by the recorder's.
    ids: dict[int, int] = field(default_factory=dict)
    waiting: list[Json] = field(default_factory=list)
    #: The answer to ``model/list``, which a wire asks for more often than the recorder.
    models: Json = field(default_factory=dict)
    #: What the wire has sent and the recorder has not yet.
    ahead: list[Json] = field(default_factory=list)

    def hear(self, line: Json) -> None:
        if "method" in line:
            self.waiting.append(line)
        elif line["id"] in self.ids:
            if "supportedReasoningEfforts" in str(line):
                self.models = line["result"]
            self.waiting.append(line | {"id": self.ids[line["id"]]})

    def flush(self) -> None:
        self._take(self.result.wire.decode(self.waiting))
        self.waiting.clear()

    def send(self, line: Json) -> None:
        method = line.get("method")
        if method is None:
            self._answer(line)
            return
        match = next((one for one in self.ahead if one["method"] == method), None)
        if match is None:
            command = Hello(self.resume) if method == "initialize" else _command(line)
            encoded = self.result.wire.encode(f"r{len(self.result.sent)}", command)
            if isinstance(encoded, Reply):
                self.result.decoded.append(encoded)
                return
            match = self._sent(dict(encoded))
            if isinstance(command, SetModel):
                self.ahead.remove(match)
                self._take(self.result.wire.decode([{"id": match["id"], "result": self.models}]))
                (match,) = self.ahead
        self.ahead.remove(match)
        if "id" in line:
            self.ids[line["id"]] = match["id"]

    def _take(self, decoded: list[Decoded]) -> None:
        self.result.decoded += decoded
        for item in decoded:
            if isinstance(item, Send):
                if "method" in item.frame:
                    self._sent(dict(item.frame))
                else:
                    self.result.answered.append(dict(item.frame))

    def _sent(self, sent: Json) -> Json:
        self.result.sent.append(sent)
        self.ahead.append(sent)
        return sent

    def _answer(self, line: Json) -> None:
        """As the recorder did; what needs nobody is answered already."""
        if any(each["id"] == line["id"] for each in self.result.answered):
            return
        encoded = self.result.wire.answer(str(line["id"]), _meant(line["result"]))
        assert encoded is not None
        self.result.answered.append(dict(encoded))


def _command(line: Json) -> Command:
    params = line["params"]
    match line["method"]:
        case "turn/start":
            return Prompt(params["input"][0]["text"])
        case "turn/steer":
            return Steer(params["input"][0]["text"])
        case "turn/interrupt":
            return Abort()
        case "thread/compact/start":
            return Compact()
        case "thread/list":
            return ListSessions()
        case "thread/turns/list":
            return GetMessages()
        case "model/list":
            return GetModels()
        case "thread/settings/update" if "effort" in params:
            return SetOption("reasoningEffort", params["effort"])
        case "thread/settings/update":
            return SetModel(params["model"])
        case method:
            raise AssertionError(method)


def _meant(result: Json) -> Answer:
    if "contentItems" in result:
        text = result["contentItems"][0]["text"]
        return Answered(text) if result["success"] else Refused(text)
    if "answers" in result:
        ((chosen,),) = [each["answers"] for each in result["answers"].values()]
        return Answered(chosen)
    return Granted() if result["decision"] == "accept" else Refused("No.")


def shapes(decoded: list[Decoded]) -> list[Decoded]:
    """The same values however the batches were cut: deltas that stand together are one."""
    result: list[Decoded] = []
    for item in decoded:
        last = result[-1] if result else None
        if isinstance(item, TextDelta) and isinstance(last, TextDelta):
            result[-1] = TextDelta(last.text + item.text)
        elif isinstance(item, ThinkingDelta) and isinstance(last, ThinkingDelta):
            result[-1] = ThinkingDelta(last.text + item.text)
        else:
            result.append(item)
    return result
