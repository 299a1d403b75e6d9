"""How far the turns of this run are, by what their sessions tell."""

from collections.abc import Iterable
from dataclasses import dataclass

from lsp_agent.protocol.events import (
    StampedEvent,
    StepStarted,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from lsp_agent.protocol.messages import Usage

#: Turns that are remembered.
_MOST = 500


@dataclass(slots=True)
class TurnState:
    """Times are in seconds since the epoch; ``tokens`` is 0 where the agent tells of none."""

    session_id: str
    prompt: str
    begun: float
    step: int = 0
    tokens: int = 0
    ended: float | None = None


class TurnStates:
    """By turn, in the order in which they began."""

    def __init__(self) -> None:
        self._states: dict[str, TurnState] = {}

    def get(self, turn_id: str) -> TurnState | None:
        return self._states.get(turn_id)

    def ended(self, session_id: str) -> Iterable[TurnState]:
        """The session's, the last one first."""
        return (
            each
            for each in reversed(self._states.values())
            if each.session_id == session_id and each.ended is not None
        )

    def take(self, turn_id: str, stamped: StampedEvent, prompt: str) -> None:
        """``prompt`` is what the person said in that turn."""
        event = stamped.event
        if isinstance(event, TurnStarted):
            self._states[turn_id] = TurnState(stamped.session_id, prompt, stamped.time)
            if len(self._states) > _MOST:
                del self._states[next(iter(self._states))]
        elif (state := self._states.get(turn_id)) is not None:
            match event:
                case StepStarted(step):
                    state.step = step
                case UsageReported(usage):
                    state.tokens += _count(usage)
                case TurnEnded(_, _, usage):
                    state.ended = stamped.time
                    state.tokens = _count(usage) if usage else state.tokens
                case _:
                    pass


def _count(usage: Usage) -> int:
    told = (usage.get(name, 0) for name in ("input", "output", "cacheRead", "cacheWrite"))
    return sum(told)
