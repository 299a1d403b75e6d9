"""However a client reads, it ends with the same state, and is told all else in the same order.

The state is a client's that knows ``docs/protocol.md`` and nothing of how events are written: it
adds deltas, and takes a call and a result for the whole of what they end.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from outbox_kit import Client, Clock, Json, message, stream_to

from lsp_agent.protocol.events import (
    AssistantMessage,
    Event,
    Notice,
    StampedEvent,
    StepStarted,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolCall,
    ToolProgress,
    ToolResult,
    TurnEnded,
)
from lsp_agent.protocol.messages import Block, text
from lsp_agent.server.rpc.outbox import Outbox

ENDINGS: list[StopReason] = ["endTurn", "aborted", "aborted"]


class State:
    """What a client has in the end: by session and turn."""

    def __init__(self) -> None:
        self.messages: dict[Any, list[dict[str, str]]] = {}
        self.args: dict[Any, Any] = {}
        self.output: dict[Any, Any] = {}
        #: Everything that is no delta.
        self.order: list[Any] = []

    def take(self, event: Json) -> None:
        kind, turn = event["type"], (event["sessionId"], event["turnId"])
        steps = self.messages.setdefault(turn, [{"text": "", "thinking": ""}])
        call = (*turn, event.get("toolCallId"))
        match kind:
            case "textDelta":
                steps[-1]["text"] += event["text"]
            case "thinkingDelta":
                steps[-1]["thinking"] += event["text"]
            case "toolArgsDelta":
                self.args[call] = self.args.get(call, "") + event["text"]
            case "toolProgress":
                self.output[call] = self.output.get(call, "") + event["text"]
            case _:
                self.order.append({**event, "seq": None})
        match kind:
            case "assistantMessage":
                steps.append({"text": "", "thinking": ""})
            case "stepStarted":
                steps.append({"text": "", "thinking": ""})
            case "toolCall" if event["args"] is not None:
                self.args[call] = event["args"]
            case "toolResult":
                self.output[call] = event["content"]
            case _:
                pass


@dataclass
class Agent:
    """One session, whose messages, calls and results are the whole of what was streamed."""

    name: str
    turn: int = 1
    argued: int = 1
    calls: int = 1
    seq: int = 0
    texts: dict[str, str] = field(default_factory=lambda: {"text": "", "thinking": ""})
    printed: str = ""

    def does(self, what: str, words: str) -> Iterator[StampedEvent]:
        for event in self._events(what, words):
            self.seq += 1
            yield StampedEvent(self.name, f"t{self.turn}", self.seq, 0.0, event)
        if what == "end":
            self.turn += 1

    def _events(self, what: str, words: str) -> Iterator[Event]:
        call = f"c{self.calls}"
        match what:
            case "say":
                self.texts["text"] += words
                yield TextDelta(words)
            case "think":
                self.texts["thinking"] += words
                yield ThinkingDelta(words)
            case "argue":
                yield ToolArgsDelta(f"a{self.argued}", words)
            case "call" | "cut call":
                args = {"whole": words} if what == "call" else None
                yield ToolCall(f"a{self.argued}", "t", "other", args)
                self.argued += 1
            case "print":
                self.printed += words
                yield ToolProgress(call, words)
            case "result":
                yield ToolResult(call, is_error=False, content=[text(self.printed)])
                self.calls += 1
                self.printed = ""
            case "message":
                yield AssistantMessage({"role": "assistant", "content": self._content()})
            case "step":
                self._content()
                yield StepStarted(1)
            case "end":
                self._content()
                yield TurnEnded(ENDINGS[len(words) % len(ENDINGS)], None)
            case _:
                yield Notice("info", words, "agent")

    def _content(self) -> list[Block]:
        content: list[Block] = []
        if self.texts["thinking"]:
            content.append({"type": "thinking", "text": self.texts["thinking"]})
        if self.texts["text"]:
            content.append(text(self.texts["text"]))
        self.texts = {"text": "", "thinking": ""}
        return content


DOES = ["say", "say", "think", "argue", "call", "cut call", "print", "result", "message", "step"]
STEPS = st.tuples(
    st.sampled_from([*DOES, "end", "notice", "other message"]),
    st.sampled_from(["a", "bc", "def", "x" * 5000]),
    st.sampled_from(["s", "r"]),
    st.sampled_from(["reads", "reads a little", *["stops reading"] * 3, *[""] * 5]),
)


@given(st.lists(STEPS, max_size=60))
def test_a_slow_client_ends_with_the_state_of_a_quick_one(
    steps: list[tuple[str, str, str, str]],
) -> None:
    client, clock = Client(), Clock()
    outbox = Outbox(client, clock)
    stream = stream_to(outbox)
    agents = {name: Agent(name) for name in "sr"}
    expected = State()
    for number, (what, words, session, reading) in enumerate(steps):
        clock.now += 0.0004
        if reading:
            client.behind = reading == "stops reading"
        if reading == "reads a little":
            read_one(client, outbox)
        elif reading == "reads":
            outbox.flush()
        if what == "other message":
            outbox.write(message("other", number=number))
            expected.order.append(number)
            continue
        for stamped in agents[session].does(what, words):
            expected.take(_alone(stamped))
            stream.publish(stamped)
    client.behind = False
    outbox.flush()

    got = State()
    for each in client.sent:
        if each["method"] == "agent/event":
            got.take(each["params"])
        else:
            got.order.append(each["params"]["number"])
    assert vars(got) == vars(expected)
    for name in "sr":
        seqs = [event["seq"] for event in client.events if event["sessionId"] == name]
        assert seqs == list(range(1, len(seqs) + 1))
    assert outbox.backlog == 0


def read_one(client: Client, outbox: Outbox) -> None:
    """As a writer that has room for one more message."""
    count = len(client.sent)
    client.behind = False
    client.room = count + 1
    outbox.flush()
    client.behind, client.room = True, None


def _alone(stamped: StampedEvent) -> Json:
    """The event as it is, of a client that is told each."""
    client = Client()
    outbox = Outbox(client, Clock())
    stream_to(outbox).publish(stamped)
    outbox.flush()
    first, *rest = client.events
    for piece in rest:
        first["text"] += piece["text"]
    return first
