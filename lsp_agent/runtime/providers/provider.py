"""What a provider of answers offers to a turn."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lsp_agent.runtime.transcript import Message, Usage


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class CallStarted:
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallArguments:
    """A piece of a call's arguments, as JSON text."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    call_id: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The end of an answer; nothing follows it."""

    reason: Literal["end", "tool_use", "length", "error"]
    error: str | None = None


Piece = TextPiece | CallStarted | CallArguments | CallEnded | Usage | Stopped


@dataclass(frozen=True, slots=True)
class Model:
    id: str
    context_window: int
    max_output: int
    reasoning: bool


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; ``schema`` is a JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Request:
    """One model call. ``step`` counts from 1 within the turn; the last user message is its
    prompt."""

    model: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    step: int


class ProviderFailure(Exception):
    """A summary could not be had; the message is the provider's."""


class Provider(Protocol):
    """May be cancelled at any await, and then forgets the answer that it was giving."""

    name: str
    #: Not empty; the first is the default.
    models: tuple[Model, ...]

    def answer(self, request: Request) -> AsyncGenerator[Piece]:
        """Streams one answer. A failure is a ``Stopped`` with the reason ``error``, not an
        exception."""
        ...

    async def summarize(self, messages: Sequence[Message]) -> tuple[str, Usage]:
        """For ``compact``. Raises ProviderFailure."""
        ...
