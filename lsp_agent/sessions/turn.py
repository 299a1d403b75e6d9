"""One turn: what was asked, what has come of it, and its one end."""

from dataclasses import dataclass, field

import anyio

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import (
    AssistantMessage,
    Event,
    StepStarted,
    StopReason,
    TextDelta,
    ToolCall,
    ToolCallStarted,
    ToolResult,
    TurnStarted,
    UsageReported,
)
from lsp_agent.protocol.messages import Usage, plain_text
from lsp_agent.protocol.methods import ImageInput

#: A turn's text is kept for its result up to here; the events carry all of it.
MAX_TEXT = 8 * 1024 * 1024


@dataclass(slots=True)
class Turn:
    """``text`` is the last step's. ``failure`` is set where the request that asked for the
    turn is answered by an error (the agent died, was silent, could not start)."""

    id: str
    prompt: str
    images: tuple[ImageInput, ...] = ()
    text: str = ""
    usage: Usage = field(default_factory=Usage)
    stop_reason: StopReason | None = None
    error: str | None = None
    failure: RequestFailed | None = None
    aborted: bool = False
    sent: bool = False
    started: anyio.Event = field(default_factory=anyio.Event)
    open_calls: dict[str, str] = field(default_factory=dict[str, str])
    _ended: anyio.Event = field(default_factory=anyio.Event)

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    async def wait(self) -> None:
        """Until the turn has ended."""
        await self._ended.wait()

    def end(self, stop_reason: StopReason, error: str | None) -> None:
        self.stop_reason, self.error = stop_reason, error
        self._ended.set()

    def take(self, event: Event) -> None:
        """Keeps what the turn's result needs of one event."""
        match event:
            case TurnStarted():
                self.started.set()
            case StepStarted():
                self.text = ""
            case TextDelta(text):
                self.text += text[: MAX_TEXT - len(self.text)]
            case AssistantMessage(message):
                self.text = plain_text(message["content"])[:MAX_TEXT]
            case ToolCallStarted(tool_call_id, tool) | ToolCall(tool_call_id, tool):
                self.open_calls[tool_call_id] = tool
            case ToolResult(tool_call_id):
                self.open_calls.pop(tool_call_id, None)
            case UsageReported(usage):
                self.usage = _add(self.usage, usage)
            case _:
                pass


def _add(total: Usage, step: Usage) -> Usage:
    keys = total.keys() | step.keys()
    return Usage(**{key: total.get(key, 0) + step.get(key, 0) for key in keys})  # pyright: ignore
