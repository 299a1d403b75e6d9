"""Canonical messages, in the JSON shape that clients get from ``agent/messages``."""

from typing import Literal, NotRequired, TypedDict


class TextBlock(TypedDict):
    type: Literal["text"]
    text: str


class ThinkingBlock(TypedDict):
    type: Literal["thinking"]
    text: str


class ImageBlock(TypedDict):
    """``data`` is base64; an agent that keeps only the size leaves it out (zot does)."""

    type: Literal["image"]
    mimeType: str
    data: NotRequired[str]
    size: NotRequired[int]


class ToolCallBlock(TypedDict):
    type: Literal["toolCall"]
    toolCallId: str
    tool: str
    args: object


class ToolResultBlock(TypedDict):
    type: Literal["toolResult"]
    toolCallId: str
    isError: bool
    content: "list[Block]"


class PlanEntry(TypedDict):
    """A step of a plan. ``content`` is one line, not empty; ``priority`` is absent where the agent
    told none."""

    content: str
    status: Literal["pending", "in_progress", "completed"]
    priority: NotRequired[Literal["high", "medium", "low"]]


class PlanBlock(TypedDict):
    """A turn's plan as it was last told, in the place where it was first."""

    type: Literal["plan"]
    entries: list[PlanEntry]


Block = TextBlock | ThinkingBlock | ImageBlock | ToolCallBlock | ToolResultBlock | PlanBlock

Role = Literal["user", "assistant", "tool"]


class Message(TypedDict):
    """``time`` is RFC 3339 as the agent gave it; absent where it gave none."""

    role: Role
    content: list[Block]
    time: NotRequired[str]


class Usage(TypedDict, total=False):
    """Tokens and cost in US dollars; what an agent does not tell is absent, never 0."""

    input: int
    output: int
    cacheRead: int
    cacheWrite: int
    cost: float


def text(value: str) -> TextBlock:
    return {"type": "text", "text": value}


def plain_text(content: list[Block]) -> str:
    """The joined text blocks of ``content``."""
    return "".join(block["text"] for block in content if block["type"] == "text")
