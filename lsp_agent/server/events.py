"""``agent/event``: the canonical events on their way to a client that takes them.

Deltas that follow each other closely are joined: of the same turn, kind and tool call, and
adjacent in their session. A delta goes out at once when the stream was quiet for a millisecond;
those that come faster are joined until the next quiet millisecond, for up to 16 ms, and further
while the client leaves much unread. Any other event goes out at once, behind what waits. Nothing
is reordered, and nothing dropped but the middle of a long output (``output_limit.py``).

**seq.** Sessions number every event before it comes here. Of joined events the client sees one,
so the events behind it are renumbered: ``seq`` is the session's own, less the events that were
joined away or left out so far. For the client it stays without gaps.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import anyio

from lsp_agent.protocol.events import (
    StampedEvent,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
    ToolProgress,
    to_json,
)
from lsp_agent.protocol.methods import EVENT_NOTIFICATION
from lsp_agent.server.connection import Connection
from lsp_agent.server.output_limit import OutputLimit

#: The longest that a delta waits for others, in seconds.
JOIN_SECONDS = 0.016

_QUIET_SECONDS = 0.001
#: Characters of deltas that may wait for the client before ``drain`` holds the agent back.
_BACKLOG_LIMIT = 1024 * 1024
_EVENT_COST = 256

_Delta = TextDelta | ThinkingDelta | ToolArgsDelta | ToolProgress
_Key = tuple[type[_Delta], str | None, str | None]


@dataclass(slots=True)
class _Waiting:
    """An event that waits, its seq already the client's; ``texts`` are those of a delta."""

    stamped: StampedEvent
    key: _Key | None
    texts: list[str] = field(default_factory=list[str])

    def joined(self) -> StampedEvent:
        event = self.stamped.event
        if len(self.texts) < 2 or not isinstance(event, _Delta):
            return self.stamped
        return replace(self.stamped, event=replace(event, text="".join(self.texts)))


class EventStream:
    """The events of all sessions for one client. ``publish`` is a session's subscriber.

    ``run`` is a task of the connection. Who reads from an agent awaits ``drain`` in between:
    it holds the agent back while the client does not keep up.
    """

    def __init__(
        self, connection: Connection, clock: Callable[[], float] = anyio.current_time
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._waiting: list[_Waiting] = []
        self._last: dict[str, _Waiting] = {}  # each session's newest in _waiting
        self._joined_away: dict[str, int] = {}
        self._limit = OutputLimit()
        self._backlog = 0
        self._flushed_at = 0.0
        self._came_at = 0.0  # the newest delta
        self._due = anyio.Event()
        self._room = anyio.Event()

    def publish(self, stamped: StampedEvent) -> None:
        """Takes the next event of a session. Does not block."""
        shown = self._limit.shown(stamped)
        away = self._joined_away
        away.setdefault(stamped.session_id, 0)
        if not shown:
            away[stamped.session_id] += 1
            return
        for each in shown[:-1]:
            self._publish(each)
            away[stamped.session_id] -= 1  # it has the place of one that was left out
        self._publish(shown[-1])

    def _publish(self, stamped: StampedEvent) -> None:
        key = _key(stamped)
        if key is None:
            at_once = True
            self._add(stamped, None)
        else:
            now = self._clock()
            # Since the delta before, not since it was sent: one late must not make the next late.
            quiet = now - self._came_at >= _QUIET_SECONDS
            self._came_at = now
            at_once = quiet and not self._waiting
            self._add_delta(stamped, key)
        if at_once and not self._connection.behind:
            self.flush()
        else:
            self._due.set()

    async def run(self) -> None:
        """Sends what waits, when it is time and the client reads."""
        while True:
            await self._due.wait()
            self._due = anyio.Event()
            await self._lull()
            await self._connection.drain()
            self.flush()

    async def _lull(self) -> None:
        """Waits for a millisecond without a delta; never longer than they are joined for."""
        latest = self._flushed_at + JOIN_SECONDS
        until = min(self._came_at + _QUIET_SECONDS, latest)
        while until > self._clock():
            await anyio.sleep_until(until)
            until = min(self._came_at + _QUIET_SECONDS, latest)

    def flush(self) -> None:
        """Sends all that waits, now."""
        waiting, self._waiting = self._waiting, []
        self._last.clear()
        self._backlog = 0
        self._flushed_at = self._clock()
        for entry in waiting:
            self._connection.notify(EVENT_NOTIFICATION, to_json(entry.joined()))
        self._room.set()

    async def drain(self) -> None:
        """Waits while the client is far behind."""
        while self._backlog > _BACKLOG_LIMIT:
            self._room = anyio.Event() if self._room.is_set() else self._room
            await self._room.wait()
        await self._connection.drain()

    def _add_delta(self, stamped: StampedEvent, key: _Key) -> None:
        text = _text(stamped)
        last = self._last.get(stamped.session_id)
        if last is not None and last.key == key:
            last.texts.append(text)
            self._backlog += len(text)
            self._joined_away[stamped.session_id] += 1
        else:
            self._add(stamped, key).texts.append(text)

    def _add(self, stamped: StampedEvent, key: _Key | None) -> _Waiting:
        session = stamped.session_id
        away = self._joined_away.setdefault(session, 0)
        entry = _Waiting(replace(stamped, seq=stamped.seq - away) if away else stamped, key)
        self._waiting.append(entry)
        self._last[session] = entry
        self._backlog += _EVENT_COST + len(_text(stamped))
        return entry


def _key(stamped: StampedEvent) -> _Key | None:
    """What two deltas must share to be joined; None for any other event."""
    match stamped.event:
        case TextDelta() | ThinkingDelta() as event:
            return type(event), stamped.turn_id, None
        case ToolArgsDelta() | ToolProgress() as event:
            return type(event), stamped.turn_id, event.tool_call_id
        case _:
            return None


def _text(stamped: StampedEvent) -> str:
    return stamped.event.text if isinstance(stamped.event, _Delta) else ""
