"""The canonical events: one model, whatever the agent (docs/protocol.md, "Events").

Wires make them, sessions stamp them with ``sessionId``, ``turnId``, ``seq`` and ``time``,
clients get them as JSON (``to_json``): names in camelCase, absent fields left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Literal, cast

from lsp_agent.protocol.edits import Edit
from lsp_agent.protocol.messages import Block, Message, PlanEntry, Usage
from lsp_agent.protocol.questions import Question

StopReason = Literal["endTurn", "maxTokens", "maxSteps", "refusal", "aborted", "error"]
ToolKind = Literal["read", "edit", "command", "other"]
Level = Literal["debug", "info", "warning", "error"]


class _OfATurn:
    """Passed on only while its turn runs."""

    __slots__ = ()
    beside_turns: ClassVar = False


class _OfASession:
    """Passed on whether or not a turn runs."""

    __slots__ = ()
    beside_turns: ClassVar = True


@dataclass(frozen=True, slots=True)
class TurnStarted(_OfATurn):
    prompt: str


@dataclass(frozen=True, slots=True)
class StepStarted(_OfATurn):
    """One model call; ``step`` counts from 1 in each turn."""

    step: int


@dataclass(frozen=True, slots=True)
class UserMessage(_OfATurn):
    message: Message


@dataclass(frozen=True, slots=True)
class TextDelta(_OfATurn):
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta(_OfATurn):
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallStarted(_OfATurn):
    tool_call_id: str
    tool: str


@dataclass(frozen=True, slots=True)
class ToolArgsDelta(_OfATurn):
    tool_call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall(_OfATurn):
    """Exactly one a call. ``args`` is None when the model's JSON was cut; ``paths`` as given."""

    tool_call_id: str
    tool: str
    kind: ToolKind
    args: object
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolProgress(_OfATurn):
    """New output of a running tool; may be cut anywhere. Of a long one only the beginning is sent
    while it runs, and its end before the result."""

    tool_call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class ToolResult(_OfATurn):
    tool_call_id: str
    is_error: bool
    content: list[Block]


@dataclass(frozen=True, slots=True)
class Plan(_OfATurn):
    """What the agent means to do in this turn, all of it each time that anything of it changes; an
    empty one is given up."""

    entries: tuple[PlanEntry, ...]


@dataclass(frozen=True, slots=True)
class AssistantMessage(_OfATurn):
    message: Message


@dataclass(frozen=True, slots=True)
class UsageReported(_OfATurn):
    """One step's usage, and the session's so far."""

    usage: Usage
    cumulative: Usage


@dataclass(frozen=True, slots=True)
class WindowFilled(_OfASession):
    """How much of its window the model's last call has filled, in tokens; ``size`` is absent where
    nobody tells it."""

    used: int
    size: int | None = None


@dataclass(frozen=True, slots=True)
class StepEnded(_OfATurn):
    """``stop_reason`` is None where the step ended in tool calls."""

    stop_reason: StopReason | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TurnEnded(_OfATurn):
    """``usage`` is the whole turn's, absent where the agent told of none."""

    stop_reason: StopReason
    error: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ErrorReported(_OfATurn):
    message: str


@dataclass(frozen=True, slots=True)
class Notice(_OfASession):
    level: Level
    message: str
    source: str


@dataclass(frozen=True, slots=True)
class Compacted(_OfASession):
    """``tokens_before``: what the conversation took until then. ``auto``: the agent did it
    unasked. Both are absent where the agent does not tell."""

    summary: str
    tokens_before: int | None = None
    auto: bool | None = None


@dataclass(frozen=True, slots=True)
class Rewound(_OfASession):
    """The conversation goes on from before the turn ``from_turn_id``; that one and the later ones
    are left, and kept in the session ``left_session_id``."""

    from_turn_id: str
    left_session_id: str


@dataclass(frozen=True, slots=True)
class QueueChanged(_OfASession):
    """The ids of the turns that wait, in order."""

    queued: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionAsked(_OfASession):
    question: Question


@dataclass(frozen=True, slots=True)
class QuestionAnswered(_OfASession):
    """``option_id`` is None when it was dismissed or its turn ended."""

    question_id: str
    option_id: str | None


EditEventName = Literal[
    "editProposed",
    "editApplied",
    "editKept",
    "editRejected",
    "editConflict",
    "editSuperseded",
    "editLost",
    "editUnknown",
]


@dataclass(frozen=True, slots=True)
class EditChanged(_OfASession):
    """An edit of the ledger took a new status; ``name`` is the event's type on the wire."""

    name: EditEventName
    edit: Edit


@dataclass(frozen=True, slots=True)
class OptionChanged(_OfASession):
    """One of the agent's options has another value, whoever chose it."""

    option_id: str
    value: str


@dataclass(frozen=True, slots=True)
class BackgroundCommand(_OfASession):
    """One has begun, or has ended; ``tool_call_id`` is the call that began it. ``exit_code`` is -1
    after a signal, None where nobody tells."""

    id: str
    tool_call_id: str
    command: str
    since: float
    state: Literal["running", "ended"]
    exit_code: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class AgentStatus(_OfASession):
    status: Literal["starting", "ready", "exited", "restarting"]
    message: str | None = None


Event = (
    TurnStarted
    | StepStarted
    | UserMessage
    | TextDelta
    | ThinkingDelta
    | ToolCallStarted
    | ToolArgsDelta
    | ToolCall
    | ToolProgress
    | ToolResult
    | Plan
    | AssistantMessage
    | UsageReported
    | WindowFilled
    | StepEnded
    | TurnEnded
    | ErrorReported
    | Notice
    | Compacted
    | Rewound
    | QueueChanged
    | QuestionAsked
    | QuestionAnswered
    | EditChanged
    | OptionChanged
    | BackgroundCommand
    | AgentStatus
)

#: The ``type`` on the wire where it is not the class name in lower camel case.
_SPECIAL_TYPES: Mapping[type[Any], str] = {
    UsageReported: "usage",
    WindowFilled: "window",
    ErrorReported: "error",
}


@dataclass(frozen=True, slots=True)
class StampedEvent:
    """An event as it stands in a session's log. ``time`` is seconds since the epoch."""

    session_id: str
    turn_id: str | None
    seq: int
    time: float
    event: Event


def camel(name: str) -> str:
    """``tool_call_id`` -> ``toolCallId``."""
    return re.sub(r"_([a-z])", lambda match: match.group(1).upper(), name)


def event_type(event: Event) -> str:
    """The ``type`` of an event on the wire."""
    return event.name if isinstance(event, EditChanged) else _shape(type(event))[0]


def to_json(stamped: StampedEvent) -> dict[str, object]:
    """The JSON object of ``agent/event``."""
    event = stamped.event
    result: dict[str, object] = {
        "sessionId": stamped.session_id,
        "seq": stamped.seq,
        "time": stamped.time,
        "type": event_type(event),
    }
    if stamped.turn_id is not None:
        result["turnId"] = stamped.turn_id
    for attribute, key in _shape(type(event))[1]:
        value = getattr(event, attribute)
        if value is not None or key in _NULLABLE:
            result[key] = _plain(value)
    if isinstance(event, UsageReported):
        result |= cast(dict[str, object], result.pop("usage"))
    return result


#: Fields whose null says something; other absent values are left out.
_NULLABLE = frozenset({"args", "optionId"})


@cache
def _shape(kind: type[Any]) -> tuple[str, tuple[tuple[str, str], ...]]:
    name = _SPECIAL_TYPES.get(kind, kind.__name__[0].lower() + kind.__name__[1:])
    names = [field.name for field in fields(kind)]
    if kind is EditChanged:
        names.remove("name")  # it is the type
    return name, tuple((attribute, camel(attribute)) for attribute in names)


def _plain(value: Any) -> object:
    if isinstance(value, (Edit, Question)):
        return value.model_dump(by_alias=True, exclude_none=True)
    if isinstance(value, tuple):
        return list(cast(tuple[object, ...], value))
    return cast(object, value)
