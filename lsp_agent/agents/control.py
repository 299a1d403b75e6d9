"""The server's end of the supervisor's socket (``guard/supervise.py`` has its lines)."""

import asyncio
from collections import deque
from typing import cast


class Control(asyncio.Protocol):
    """The server's end of the supervisor's socket."""

    def __init__(self) -> None:
        self.code: int | None = None
        self.lost = asyncio.Event()
        #: None when the agent runs, else why it could not be executed, "" if nobody says.
        self.started: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.WriteTransport
        self._rest = b""
        self._replies: deque[asyncio.Future[int]] = deque()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode().partition(" ")
            match word:
                case "started":
                    self._begin(None)
                case "failed":
                    self._begin(rest)
                case "exited":
                    self.code = int(rest)
                case _:
                    _resolve(self._replies.popleft(), int(rest))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._begin("")
        while self._replies:
            _resolve(self._replies.popleft(), 0)
        self.lost.set()

    async def request(self, word: str) -> int:
        """The number in the answer; 0 when the supervisor has ended."""
        if self.lost.is_set() or self._transport.is_closing():
            return 0
        reply: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._replies.append(reply)
        self._transport.write(word.encode() + b"\n")
        return await reply

    def end(self) -> None:
        if not self.lost.is_set() and self._transport.can_write_eof():
            self._transport.write_eof()

    def _begin(self, failure: str | None) -> None:
        if not self.started.done():
            self.started.set_result(failure)


def _resolve(future: asyncio.Future[int], value: int) -> None:
    if not future.done():  # its caller may have been cancelled
        future.set_result(value)
