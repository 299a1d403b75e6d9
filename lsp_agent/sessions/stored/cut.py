"""Where a stored conversation can be gone back to, and what is left of it then. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.messages import Message, plain_text
from lsp_agent.sessions.stored.transcript import parsed, sound

_NOTHING = "Nothing was said yet that one could go back to."
_CLEARED = "The conversation was cleared since; go back to a later prompt."
_UNKNOWN = "There is no turn {!r} in this conversation."
_NOT_KEPT = "The turn {!r} is not in what is kept of this conversation, whose beginning is gone."


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt that began a turn. ``place`` is that of its line; ``time`` in seconds since the
    epoch."""

    turn_id: str
    place: int
    words: str = ""
    time: float | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """``kept`` are the lines before ``asked``, whose turn is the first of ``turns``, which are
    left."""

    kept: Sequence[bytes]
    asked: Asked
    turns: Sequence[str]


def prompts(lines: Iterable[bytes]) -> list[Asked]:
    """Those that can be gone back to, oldest first."""
    return _read(lines).asked


def cut_before(lines: Sequence[bytes], turn_id: str | None) -> Cut:
    """Without ``turn_id`` before the last prompt.

    :raises RequestFailed: "unknownTurn"; "conflict" where the agent was made to forget it
    """
    conversation = _read(lines)
    if turn_id is None and not conversation.asked:
        raise RequestFailed("conflict", _NOTHING)
    wanted = turn_id or conversation.asked[-1].turn_id
    for index, asked in enumerate(conversation.asked):
        if asked.turn_id == wanted:
            turns = [each.turn_id for each in conversation.asked[index:]]
            return Cut(lines[: asked.place], asked, turns)
    if wanted in conversation.forgotten:
        raise RequestFailed("conflict", _CLEARED, {"turnId": wanted})
    why = _NOT_KEPT if conversation.cut else _UNKNOWN
    raise RequestFailed("unknownTurn", why.format(wanted), {"turnId": wanted})


@dataclass(slots=True)
class _Conversation:
    asked: list[Asked] = field(default_factory=list[Asked])
    forgotten: set[str] = field(default_factory=set[str])
    cut: bool = False


def _read(lines: Iterable[bytes]) -> _Conversation:
    """Where a turn's line says no words, they are those of the message that follows it."""
    found, wordless = _Conversation(), False
    for place, raw in enumerate(lines):
        match parsed(raw):
            case {"turn": str(turn_id), "words": str(words), "time": float(time)}:
                found.asked.append(Asked(turn_id, place, words, time))
                wordless = False
            case {"turn": str(turn_id)}:
                found.asked.append(Asked(turn_id, place))
                wordless = True
            case {"message": {"role": "user", "content": list()}} as line if wordless:
                message = sound(cast(dict[str, Message], line)["message"])
                found.asked[-1] = replace(found.asked[-1], words=plain_text(message["content"]))
                wordless = False
            case {"cleared": True}:
                found.forgotten.update(each.turn_id for each in found.asked)
                found.asked.clear()
                wordless = False
            case {"cut": True}:
                found.cut = True
            case _:
                pass
    return found
