"""A client's end of an outbox, in memory: it reads when a test says so."""

from typing import Any

import anyio

from lsp_agent.protocol.events import Event, StampedEvent
from lsp_agent.server.rpc.frames import Frames, frame
from lsp_agent.server.rpc.json_codec import decode, encode
from lsp_agent.server.rpc.outbox import Outbox
from lsp_agent.server.turns.events import EventStream

Json = dict[str, Any]


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Client:
    """``behind`` is what a ``Writer`` says while the client does not read; with ``room`` it reads
    until that many messages were sent."""

    def __init__(self) -> None:
        self.sent: list[Json] = []
        self.behind = False
        self.room: int | None = None
        self.caught_up = anyio.Event()
        self._frames = Frames()

    def write(self, data: bytes) -> None:
        self.sent += [decode(body) for body in self._frames.feed(data) if isinstance(body, bytes)]
        self.behind = self.behind or len(self.sent) == self.room

    async def drain(self) -> None:
        if self.behind:
            await self.caught_up.wait()

    def reads(self) -> None:
        self.behind = False
        self.room: int | None = None
        self.caught_up.set()

    @property
    def events(self) -> list[Json]:
        return [message["params"] for message in self.sent if message["method"] == "agent/event"]


def message(method: str, **params: Any) -> bytes:
    return frame(encode({"jsonrpc": "2.0", "method": method, "params": params}))


def stream_to(outbox: Outbox) -> EventStream:
    return EventStream(outbox, lambda event: message("agent/event", **event))


def stamped(*events: Event, session: str = "s") -> list[StampedEvent]:
    return [StampedEvent(session, "t", seq, 0.0, event) for seq, event in enumerate(events, 1)]
