"""The commands of ours that wait for an agent's reply."""

import itertools
from collections.abc import Generator
from contextlib import contextmanager

import anyio

from lsp_agent.wires.wire import Reply


class Waiting:
    """One of them. ``arrived`` without a ``reply``: none will come."""

    def __init__(self, request_id: str) -> None:
        self.request_id = request_id
        self.arrived = anyio.Event()
        self.reply: Reply | None = None


class Replies:
    """Of one running agent."""

    def __init__(self) -> None:
        self._ids = itertools.count(1)
        self._waiting: dict[str, Waiting] = {}

    def new_id(self) -> str:
        return f"r{next(self._ids)}"

    @contextmanager
    def waiting(self) -> Generator[Waiting]:
        waiting = Waiting(self.new_id())
        self._waiting[waiting.request_id] = waiting
        try:
            yield waiting
        finally:
            del self._waiting[waiting.request_id]

    def came(self, reply: Reply) -> bool:
        """Whether anybody waits for it."""
        waiting = self._waiting.get(reply.request_id)
        if waiting is None:
            return False
        waiting.reply = reply
        waiting.arrived.set()
        return True

    def end(self) -> None:
        """No more will come."""
        for waiting in self._waiting.values():
            waiting.arrived.set()
