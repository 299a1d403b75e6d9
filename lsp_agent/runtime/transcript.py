"""The conversation so far, in the shapes of the wire."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypedDict

Role = Literal["user", "assistant", "tool"]

#: ``{type: text|image|tool_call|tool_result, …}``, as the wire has them.
Block = dict[str, object]


class Message(TypedDict):
    role: Role
    content: list[Block]
    #: RFC 3339, UTC.
    time: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens, and US dollars."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost_usd: float = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.cost_usd + other.cost_usd,
        )

    def to_json(self) -> dict[str, object]:
        return {
            "input": self.input,
            "output": self.output,
            "cache_read": self.cache_read,
            "cache_write": self.cache_write,
            "cost_usd": self.cost_usd,
        }


def text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def message(role: Role, content: list[Block]) -> Message:
    return {"role": role, "content": content, "time": now()}


def text_of(source: Message) -> str:
    """The text blocks of a message, joined."""
    return "".join(str(block["text"]) for block in source["content"] if block["type"] == "text")


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


#: Messages that a compaction leaves as they are.
KEPT_BY_COMPACTION = 4


def compacted(messages: list[Message], summary: str) -> list[Message]:
    """The summary, then the last messages; a tool's result stays with the call that it answers."""
    start = len(messages) - KEPT_BY_COMPACTION
    while start > 0 and messages[start]["role"] == "tool":
        start -= 1
    heading = text_block(f"## Context Summary (compacted)\n\n{summary}")
    return [message("user", [heading]), *messages[start:]]
