"""Questions to the person: permissions, saves, conflicts, an agent's own."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

from lsp_agent.protocol.wire_model import Model

QuestionKind = Literal["permission", "save", "conflict", "agent"]
OptionKind = Literal[
    "allowOnce",
    "allowPattern",
    "allowCommand",
    "allowSession",
    "allowProject",
    "allowAlways",
    "deny",
    "other",
]


class Option(Model):
    """``option_id`` is the answer. One of an agent's own question is the agent's: it is handed
    back as it came, and only ``kind`` says what it means."""

    option_id: str
    name: str
    kind: OptionKind = "other"


class Question(Model):
    """``title`` stands alone in one line; ``detail`` may be long (a command, a diff)."""

    question_id: str
    session_id: str
    turn_id: str | None = None
    tool_call_id: str | None = None
    kind: QuestionKind
    title: str
    detail: str | None = None
    options: list[Option]


@dataclass(frozen=True, slots=True)
class Answer:
    """``reason`` is what the person says to the agent beside it, as why it may not."""

    option_id: str
    reason: str | None = None


class NotAsked(Enum):
    CANNOT_ASK = "cannot ask"


#: What an :data:`Asker` answers when it has no way to reach the person: the question then
#: stays open for ``lspAgent.answer``. No option's id, whatever an agent calls its own.
CANNOT_ASK: Final = NotAsked.CANNOT_ASK

#: A way to ask (server/ has one an editor feature). None: dismissed.
Asker = Callable[[Question], Awaitable[Answer | NotAsked | None]]
