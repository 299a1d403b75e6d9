"""Questions to the person: permissions, saves, conflicts, an agent's own."""

from collections.abc import Awaitable, Callable
from typing import Literal

from lsp_agent.protocol.model import Model

QuestionKind = Literal["permission", "save", "conflict", "agent"]
OptionKind = Literal["allowOnce", "allowSession", "allowPattern", "deny", "other"]


class Option(Model):
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


#: A way to ask (server/ has one an editor feature). None: dismissed, or nobody was reached.
Asker = Callable[[Question], Awaitable[str | None]]
