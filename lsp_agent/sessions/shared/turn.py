"""One turn: what was asked, what has come of it, and its one end."""

from dataclasses import dataclass, field
from typing import assert_never

import anyio

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import (
    AgentStatus,
    AssistantMessage,
    BackgroundCommand,
    Compacted,
    EditChanged,
    ErrorReported,
    Event,
    Notice,
    OptionChanged,
    Plan,
    QuestionAnswered,
    QuestionAsked,
    QueueChanged,
    Rewound,
    StepEnded,
    StepStarted,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolCall,
    ToolCallStarted,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessage,
    WindowFilled,
)
from lsp_agent.protocol.messages import Usage, plain_text, text
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.sessions.shared.confinement import Confinement

#: A turn's text is kept for its result up to here; the events carry all of it.
MAX_TEXT = 8 * 1024 * 1024


@dataclass(slots=True)
class Turn:
    """``words`` are the person's, and ``prompt`` is all that the agent is sent of them. ``text`` is
    the last step's. ``confinement`` says which lines it may change, where not any. ``failure`` is
    set where the request that asked for the turn is answered by an error (the agent died, was
    silent, could not start). ``recap`` is what the agent was told before the prompt, ``rejected``
    behind it of its changes; ``starting`` is its wait for the agent's start; ``started`` is set
    once the agent works at it, and at its end; ``told_to_stop``: the agent has been told of the
    stop, ``aborted``."""

    id: str
    prompt: str
    words: str
    images: tuple[ImageInput, ...] = ()
    confinement: Confinement | None = None
    usage: Usage = field(default_factory=Usage)
    stop_reason: StopReason | None = None
    error: str | None = None
    failure: RequestFailed | None = None
    aborted: bool = False
    told_to_stop: bool = False
    sent: bool = False
    recap: str = ""
    rejected: str = ""
    starting: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    started: anyio.Event = field(default_factory=anyio.Event)
    #: Calls without a result yet; of them, those whose arguments are whole, so that a tool runs.
    open_calls: set[str] = field(default_factory=set[str])
    running_calls: set[str] = field(default_factory=set[str])
    _text: list[str] = field(default_factory=list[str])
    _text_length: int = 0
    _ended: anyio.Event = field(default_factory=anyio.Event)

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    async def wait(self) -> None:
        """Until the turn has ended."""
        await self._ended.wait()

    def end(self, stop_reason: StopReason, error: str | None) -> None:
        self.stop_reason, self.error = stop_reason, error
        self.started.set()
        self._ended.set()

    def without_recap(self, event: Event) -> Event:
        """As a client is to see it: of what the agent was told, what the person said."""
        match event:
            case TurnStarted(prompt) if self.recap:
                return TurnStarted(prompt.removeprefix(self.recap))
            case UserMessage(message) if self.recap:
                said = [
                    text(block["text"].removeprefix(self.recap))
                    if block["type"] == "text"
                    else block
                    for block in message["content"]
                ]
                return UserMessage({**message, "content": said})
            case _:
                return event

    def take(self, event: Event) -> None:
        """Keeps what the turn's result needs of one event."""
        match event:
            case TurnStarted():
                self.started.set()
            case StepStarted():
                self._set_text("")
            case TextDelta(delta):
                piece = delta[: MAX_TEXT - self._text_length]
                self._text.append(piece)
                self._text_length += len(piece)
            case AssistantMessage(message):
                self._set_text(plain_text(message["content"])[:MAX_TEXT])
            case ToolCallStarted(tool_call_id):
                self.open_calls.add(tool_call_id)
            case ToolCall(tool_call_id):
                self.open_calls.add(tool_call_id)
                self.running_calls.add(tool_call_id)
            case ToolResult(tool_call_id):
                self.open_calls.discard(tool_call_id)
                self.running_calls.discard(tool_call_id)
            case UsageReported(usage):
                self.usage = _add(self.usage, usage)
            case (
                UserMessage()
                | ThinkingDelta()
                | ToolArgsDelta()
                | ToolProgress()
                | Plan()
                | StepEnded()
                | TurnEnded()
                | WindowFilled()
                | ErrorReported()
                | Notice()
                | Compacted()
                | Rewound()
                | QueueChanged()
                | QuestionAsked()
                | QuestionAnswered()
                | EditChanged()
                | OptionChanged()
                | BackgroundCommand()
                | AgentStatus()
            ):
                pass
            case _:
                assert_never(event)

    def _set_text(self, text: str) -> None:
        self._text, self._text_length = [text], len(text)


def _add(total: Usage, step: Usage) -> Usage:
    keys = total.keys() | step.keys()
    return Usage(**{key: total.get(key, 0) + step.get(key, 0) for key in keys})  # pyright: ignore
