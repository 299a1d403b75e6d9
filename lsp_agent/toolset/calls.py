"""What a bridge asks of the session that owns its agent (implemented in sessions/)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call that the agent is about to run. ``tool_call_id`` is the one its wire's events
    carry, None where it cannot be told. Not ``named`` is one whose ``tool`` may be any of several,
    so that leave for it is never leave for another."""

    tool: str
    args: Mapping[str, object]
    tool_call_id: str | None
    named: bool = True


@dataclass(frozen=True, slots=True)
class ImageAnswer:
    """``data`` is base64."""

    mime_type: str
    data: str


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A file tool's result, in the agent's own form. ``image`` is what ``read`` shows of one,
    beside the text."""

    text: str
    is_error: bool = False
    image: ImageAnswer | None = None


@dataclass(frozen=True, slots=True)
class Allow:
    """Let it run. ``note`` is put before a command's output, for the model to read; ``unread`` is
    a command that a pattern allows, so that nobody has looked at it."""

    note: str | None = None
    unread: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Do not run it; ``reason`` is what the model reads."""

    reason: str


@dataclass(frozen=True, slots=True)
class Gate:
    """Let the command start behind a gate: a person must decide first, which may take long."""


@dataclass(frozen=True, slots=True)
class Held:
    """Let the command run, without a question, behind the words of ``holder``, which keep it in a
    sandbox, without the variables ``unset``; ``mount_points`` are paths that these make. ``note``
    as in :class:`Allow`."""

    holder: tuple[str, ...]
    unset: tuple[str, ...]
    mount_points: tuple[str, ...]
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of a held command: the end of what it ``said``, and its exit ``code``, which of the parts of
    a pipe is the last one's."""

    said: str
    code: int


Verdict = Allow | Block | Gate | Held


class ToolHost(Protocol):
    """Every method is safe after an abort: it then refuses."""

    async def intercept(self, request: ToolRequest) -> Verdict:
        """Before every call of the agent's; must answer within 4 s, or the call is blocked."""
        ...

    async def decide(self, request: ToolRequest) -> Allow | Block:
        """A gated command waits for this; as long as a person needs. Cancelled when the
        command dies."""
        ...

    async def decide_again(self, request: ToolRequest, outcome: Outcome) -> Allow | Block:
        """A held command that has failed, or one with a pipe, waits for this, as long as a person
        needs: whether it may run once more, without its sandbox. A reason to block is put behind
        what it said, and may be ""."""
        ...

    async def run(self, request: ToolRequest) -> ToolAnswer:
        """Answers ``read``, ``write`` or ``edit`` in the agent's place, within 55 s."""
        ...
