"""What waits to be written to the client.

The writer and the system's pipe hold little, so what comes faster than the client reads waits
here, in order, where it can still be joined, replaced or given up, and where what somebody waits
for is put in front of it.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import anyio

#: The longest that a delta waits for others, in seconds.
JOIN_SECONDS = 0.016

_QUIET_SECONDS = 0.001
#: How much waits before whoever produces it is held back. Who stops an agent waits for all of it
#: before they are told that the turn has ended.
_AHEAD = 32 * 1024
#: What may go before an urgent message: in so little the order stays.
_IN_ORDER = 8 * 1024


class Sink(Protocol):
    """As much of a ``Writer`` as is needed."""

    @property
    def behind(self) -> bool: ...

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...


class Waiting(Protocol):
    """Something that waits. ``size`` is about how much of it, in bytes; 0 once it has gone.
    ``bounded``: there is never much of it, so that nobody is held back for it."""

    size: int

    @property
    def bounded(self) -> bool: ...

    def next(self) -> bytes:
        """The next message of it, less of which waits then."""
        ...


@dataclass(slots=True)
class _Message:
    data: bytes
    size: int = field(init=False)
    bounded: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.size = len(self.data)

    def next(self) -> bytes:
        self.size = 0
        return self.data


class Outbox:
    """The one way out to a client. ``run`` is a task of its connection."""

    def __init__(self, sink: Sink, clock: Callable[[], float] = anyio.current_time) -> None:
        self._sink = sink
        self._clock = clock
        self._waiting = deque[Waiting]()
        self._replaceable: dict[Hashable, _Message] = {}
        self.backlog = 0
        #: Messages so far that nothing may be moved across.
        self.messages = 0
        self._due = anyio.Event()
        self._room = anyio.Event()
        self._ending = False
        self._held = False  # by the client, not for others to join
        self._came_at = 0.0  # the newest delta
        self._flushed_at = 0.0

    def __iter__(self) -> Iterator[Waiting]:
        return iter(self._waiting)

    def write(self, data: bytes, replaces: Hashable = None) -> None:
        """Goes out at once, behind what waits; or, where a message with the same ``replaces``
        still waits, in its place."""
        if replaces is not None:
            old = self._replaceable.get(replaces)
            if old is not None and old.size:
                self.grow(old, len(data) - len(old.data))
                old.data = data
                return
        message = _Message(data)
        if replaces is not None:
            self._replaceable[replaces] = message
        self.messages += 1
        self.put(message)

    def urgent(self, data: bytes) -> None:
        """Goes out before what waits, if that is much."""
        if self.backlog > _IN_ORDER:
            self._sink.write(data)
        else:
            self.write(data)

    def put(self, entry: Waiting) -> None:
        """Goes out at once, behind what waits."""
        self._waiting.append(entry)
        self.backlog += entry.size
        if self._sink.behind:
            self._hold()
        else:
            self.flush()

    def put_soon(self, entry: Waiting) -> None:
        """Goes out at once after a quiet moment, else stays for a while for others to join it."""
        quiet = self._is_quiet()
        if quiet and not self._waiting:
            self.put(entry)
        else:
            self._waiting.append(entry)
            self.backlog += entry.size
            self._due.set()

    def joined(self, entry: Waiting, size: int) -> None:
        """``entry`` has grown; it stays a while longer for others."""
        self._is_quiet()
        self.grow(entry, size)
        self._due.set()

    def grow(self, entry: Waiting, size: int) -> None:
        """So much more of it waits than was said."""
        entry.size += size
        self.backlog += size

    def drop(self, entry: Waiting) -> None:
        """What still waits of it is not needed any more."""
        self.grow(entry, -entry.size)

    def flush(self) -> None:
        """Sends what waits, as far as the client takes it."""
        while self._waiting and not self._sink.behind and not self._ending:
            self._send_next()
        self._flushed_at = self._clock()
        if self._waiting:
            self._hold()
        else:
            self._held = False
            self._replaceable.clear()
        self._room.set()

    def ending(self) -> None:
        """The client waits for the last answer only: where much else waits, it waits on."""
        self._ending = self.backlog > _IN_ORDER

    def flush_all(self) -> None:
        """Leaves all to the writer, for the end of the connection."""
        while self._waiting:
            self._send_next()

    async def run(self) -> None:
        """Sends what waits, when it is time and the client reads."""
        while True:
            await self._due.wait()
            self._due = anyio.Event()
            await self._lull()
            await self._sink.drain()
            self.flush()

    async def drain(self, most: int = _AHEAD) -> None:
        """Waits while more than that waits."""
        while self.backlog > most and self._unbounded > most:
            self._room = anyio.Event() if self._room.is_set() else self._room
            await self._room.wait()

    async def _lull(self) -> None:
        """Waits for a millisecond without a delta, never longer than they are joined for; not
        for what the client has kept waiting."""
        latest = self._flushed_at + JOIN_SECONDS
        until = min(self._quiet_at, latest)
        while not self._held and until > self._clock():
            await anyio.sleep_until(until)
            until = min(self._quiet_at, latest)

    @property
    def _unbounded(self) -> int:
        return sum(entry.size for entry in self._waiting if not entry.bounded)

    @property
    def _quiet_at(self) -> float:
        return self._came_at + _QUIET_SECONDS

    def _is_quiet(self) -> bool:
        """Since the delta before, not since it was sent: one late must not make the next late."""
        now = self._clock()
        quiet = now >= self._quiet_at
        self._came_at = now
        return quiet

    def _hold(self) -> None:
        self._held = True
        self._due.set()

    def _send_next(self) -> None:
        entry = self._waiting[0]
        if (before := entry.size) > 0:
            self._sink.write(entry.next())
            self.backlog -= before - entry.size
        if entry.size <= 0:
            self._waiting.popleft()
