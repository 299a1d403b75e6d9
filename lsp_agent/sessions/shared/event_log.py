"""A session's events: stamped once, in one order, handed to everyone who listens.

None is kept here, so that a session of a thousand turns costs what one of a few does: the
transcript is the agent's, which ``agent/messages`` asks for it, and edits are the ledger's.
"""

import time
from collections.abc import Callable

from lsp_agent.protocol.events import Event, StampedEvent

Subscriber = Callable[[StampedEvent], None]


class EventLog:
    """Gives each event its ``seq`` (from 1, without gaps) and time.

    Subscribers are called at once and in order; they must neither block nor raise.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self._seq = 0
        self._subscribers: list[Subscriber] = []

    def append(self, event: Event, turn_id: str | None) -> StampedEvent:
        self._seq += 1
        stamped = StampedEvent(self.session_id, turn_id, self._seq, time.time(), event)
        for subscriber in tuple(self._subscribers):
            subscriber(stamped)
        return stamped

    def subscribe(self, subscriber: Subscriber) -> Callable[[], None]:
        """Calls ``subscriber`` for every event from now on; the result ends that."""
        self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)
