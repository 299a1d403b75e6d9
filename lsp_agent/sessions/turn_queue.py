"""What waits for a session's agent: prompts and compactions, first in, first out."""

from collections import deque

import anyio

from lsp_agent.sessions.compaction import Compaction
from lsp_agent.sessions.shared.turn import Turn


class TurnQueue:
    """Of one session, whose one task takes from it."""

    def __init__(self) -> None:
        self._items: deque[Turn | Compaction] = deque()
        self._wake = anyio.Event()

    def __len__(self) -> int:
        return len(self._items)

    @property
    def turn_ids(self) -> tuple[str, ...]:
        return tuple(item.id for item in self._items if isinstance(item, Turn))

    def put(self, item: Turn | Compaction) -> None:
        self._items.append(item)
        self.wake()

    def take(self) -> Turn | Compaction | None:
        return self._items.popleft() if self._items else None

    def drop(self, turn_id: str | None = None) -> list[Turn | Compaction]:
        """Takes out that turn, or all; returns what it took out."""
        dropped = [
            item
            for item in self._items
            if turn_id is None or (isinstance(item, Turn) and item.id == turn_id)
        ]
        for item in dropped:
            self._items.remove(item)
        return dropped

    async def wait(self) -> None:
        """Until something is put in, or ``wake`` is called."""
        self._wake = anyio.Event()
        await self._wake.wait()

    def wake(self) -> None:
        self._wake.set()
