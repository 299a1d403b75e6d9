"""The conversation so far, in the shapes of the wire and a little more.

A message may carry what the wire does not show: an image block its ``data`` (base64), an answer
its ``native`` form. ``shown`` and ``shown_blocks`` leave these out.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NotRequired, TypedDict, cast

Role = Literal["user", "assistant", "tool"]

#: ``{type: text|image|tool_call|tool_result, …}``, as the wire has them.
Block = dict[str, object]


@dataclass(frozen=True, slots=True)
class Native:
    """A whole answer as ``model`` gave it through ``provider``, which wants it back unchanged:
    thinking with its signature, say. To others it means nothing."""

    provider: str
    model: str
    content: Sequence[object]


class Message(TypedDict):
    role: Role
    content: list[Block]
    #: RFC 3339, UTC.
    time: str
    native: NotRequired[Native]


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

    @property
    def tokens(self) -> int:
        """All of them: what the conversation takes of the context after the answer."""
        return self.input + self.output + self.cache_read + self.cache_write

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


def image_block(mime_type: str, data: str) -> Block:
    """``data`` is base64 without line ends."""
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return {"type": "image", "mime_type": mime_type, "bytes": size, "data": data}


def message(role: Role, content: list[Block]) -> Message:
    return {"role": role, "content": content, "time": now()}


def text_of(source: Message) -> str:
    """The text blocks of a message, joined."""
    return text_in(source["content"])


def text_in(blocks: Iterable[Block]) -> str:
    return "".join(str(block["text"]) for block in blocks if block["type"] == "text")


def images_in(blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if block["type"] == "image"]


def native_of(source: Message, provider: str, model: str) -> Native | None:
    """The answer as that model gave it there, if it did."""
    native = source.get("native")
    theirs = native is not None and (native.provider, native.model) == (provider, model)
    return native if theirs else None


def results_of(source: Message) -> list[tuple[Block, list[Block]]]:
    """The results in a message of the role ``tool``, each with its content."""
    return [(block, cast(list[Block], block["content"])) for block in source["content"]]


def shown_blocks(blocks: Iterable[Block]) -> list[Block]:
    return [{name: value for name, value in block.items() if name != "data"} for block in blocks]


def shown(source: Message) -> Message:
    content = source["content"]
    if source["role"] == "tool":
        content = [{**block, "content": shown_blocks(inner)} for block, inner in results_of(source)]
    return {"role": source["role"], "content": shown_blocks(content), "time": source["time"]}


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")
