"""The extension's side of zot's wire, as lines of bytes (zot's page in docs/ lists them)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import orjson

from lsp_agent.agents.framing import TooLong, decoded, encoded
from lsp_agent.toolset.calls import ImageAnswer
from lsp_agent.toolset.schemas import FILE_TOOLS

#: The agent's reader ends silently at a line of 4 MiB.
MAX_LINE = (4 << 20) - 1024

#: As zot itself describes the tools that ours stand in for.
_ZOT_SAYS: Mapping[str, str] = {
    "read": "Read a file. Images (png/jpg/gif/webp) return inline.",
    "write": "Write a file. Creates parent dirs. Overwrites.",
    "edit": "Edit a file via exact-match replacements. Each oldText must be unique in the file.",
}
TOOLS = frozenset(tool.name for tool in FILE_TOOLS)


class LineTooLarge(Exception):
    """An answer that the agent could not read; ``size`` in bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(f"{size} bytes, and the agent takes at most {MAX_LINE}")
        self.size = size


class BadFrame(Exception):
    """The agent said something that is no frame."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What the agent said. ``id`` answers it; ``call_id`` is the one of the rpc events, told
    only with a question before a call."""

    type: str
    id: str
    tool: str
    args: Mapping[str, object]
    call_id: str | None

    @classmethod
    def parse(cls, line: bytes | TooLong) -> "Frame":
        """Raises BadFrame."""
        try:
            value = None if isinstance(line, TooLong) else decoded(line)
        except orjson.JSONDecodeError as error:
            raise BadFrame from error
        if not isinstance(value, dict):
            raise BadFrame
        fields = cast(dict[str, object], value)
        asks = fields.get("type") == "event_intercept"
        args = fields.get("tool_args" if asks else "args")
        return cls(
            type=_text(fields, "type"),
            id=_text(fields, "id"),
            tool=_text(fields, "tool_name" if asks else "name"),
            # null where the model's JSON was cut: the tool says so
            args=cast(dict[str, object], args) if isinstance(args, dict) else {},
            call_id=_text(fields, "tool_id") or None,
        )


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name, "")
    return value if isinstance(value, str) else ""


def greeting(*, file_tools: bool = True) -> bytes:
    """All that the agent must know before it begins: that calls are asked about, and the
    ``file_tools`` that it has from us."""
    frames: list[dict[str, object]] = [
        {"type": "hello", "name": "bridge", "version": "1", "capabilities": ["ready"]},
        *(
            {
                "type": "register_tool",
                "name": tool.name,
                "description": _ZOT_SAYS[tool.name],
                "schema": tool.parameters,
            }
            for tool in (FILE_TOOLS if file_tools else ())
        ),
        {"type": "subscribe", "intercept": ["tool_call"]},
        {"type": "ready"},
    ]
    return b"".join(_line(frame) for frame in frames)


def allowed(
    identifier: str, modified_args: Mapping[str, object] | None = None, *, gated: bool = False
) -> bytes:
    """Lets an intercepted call run, with other arguments if given; ``gated``: they begin with a
    gate. Raises LineTooLarge."""
    answer: dict[str, object] = {"type": "event_intercept_response", "id": identifier}
    if modified_args is not None:
        answer["modified_args"] = modified_args
    if gated:
        answer["gated"] = True
    return _line(answer)


def blocked(identifier: str, reason: str) -> bytes:
    """The model reads ``reason`` as the call's error."""
    return _line(
        {"type": "event_intercept_response", "id": identifier, "block": True, "reason": reason}
    )


def tool_result(
    identifier: str, text: str, *, is_error: bool, image: ImageAnswer | None = None
) -> bytes:
    """Raises LineTooLarge."""
    content: list[dict[str, str]] = []
    if image is not None:
        content.append({"type": "image", "mime_type": image.mime_type, "data": image.data})
    if text or image is None:
        content.append({"type": "text", "text": text})
    answer: dict[str, object] = {"type": "tool_result", "id": identifier, "content": content}
    if is_error:
        answer["is_error"] = True
    return _line(answer)


def shutdown_ack() -> bytes:
    return _line({"type": "shutdown_ack"})


def _line(frame: Mapping[str, object]) -> bytes:
    # Fields in this order and without blanks: the pipe reads type and id by position.
    line = encoded(frame)
    if len(line) > MAX_LINE:
        raise LineTooLarge(len(line))
    return line
