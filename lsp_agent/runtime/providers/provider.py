"""What a provider of answers offers to a turn."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from lsp_agent.runtime.transcript import Message, Native, Usage


@dataclass(frozen=True, slots=True)
class TextPiece:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingPiece:
    """What the model thinks, as far as its service shows it; no part of the answer."""

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
class Waiting:
    """Nothing comes for a while; ``reason`` tells the person why, and for how long."""

    reason: str


@dataclass(frozen=True, slots=True)
class Stopped:
    """The end of an answer; nothing follows it. ``too_long``: the conversation did not fit into
    the model's context."""

    reason: Literal["end", "tool_use", "length", "error"]
    error: str | None = None
    too_long: bool = False


#: ``Native`` is the whole answer as the provider wants it back, for the transcript.
Piece = (
    TextPiece
    | ThinkingPiece
    | CallStarted
    | CallArguments
    | CallEnded
    | Usage
    | Native
    | Waiting
    | Stopped
)


@dataclass(frozen=True, slots=True)
class Model:
    """Sizes in tokens; ``images``: it can be shown images."""

    id: str
    context_window: int
    max_output: int
    reasoning: bool
    images: bool = True


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it; ``schema`` is a JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Request:
    """One model call. ``step`` counts from 1 within the turn; the last user message is its
    prompt, or what it was steered with."""

    model: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    step: int
    system: str = ""


class ProviderFailure(Exception):
    """A summary could not be had; the message is the provider's."""


class Provider(Protocol):
    """May be cancelled at any await, and then forgets the answer that it was giving."""

    name: str
    #: Not empty; the first is the default.
    models: tuple[Model, ...]
    #: Whether the conversation is summarized by itself when it is about to fill the context.
    compacts: bool
    #: How much models that can are to think, "" as the provider has it; None where it is no choice.
    reasoning: str | None

    def find(self, model: str) -> Model | None:
        """What is known of a model; of one that is not listed what is assumed, None if it cannot
        be used."""
        ...

    def answer(self, request: Request) -> AsyncGenerator[Piece]:
        """Streams one answer. A failure is a ``Stopped`` with the reason ``error``, not an
        exception."""
        ...

    async def summarize(self, model: str, messages: Sequence[Message]) -> tuple[str, Usage]:
        """For ``compact``. Raises ProviderFailure."""
        ...
