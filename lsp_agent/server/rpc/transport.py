"""Bytes in and out: the reader's and the writer's thread.

The two blocking calls of a channel are each run on a daemon thread of its own. So pipes, files and
sockets are alike on every system, the event loop never waits for the client, and an open stdin does
not hold the process at its exit.
"""

import asyncio
import logging
import queue
import threading
from collections.abc import AsyncGenerator, Callable

from lsp_agent.server.rpc.channel import Recv, Send

#: Beyond this many unsent bytes ``Writer.drain`` waits until half of them have gone. Little:
#: what was written cannot be overtaken any more by what somebody waits for.
HIGH_WATER = 4 * 1024

_CHUNK = 64 * 1024
_CHUNKS_AHEAD = 16

log = logging.getLogger(__name__)


async def chunks(recv: Recv) -> AsyncGenerator[bytes, None]:
    """What the client sends, until its end. The thread runs at most 16 chunks ahead."""
    loop = asyncio.get_running_loop()
    arrived = asyncio.Queue[bytes]()
    ahead = threading.Semaphore(_CHUNKS_AHEAD)

    def read() -> None:
        chunk = b"-"
        while chunk:
            ahead.acquire()
            try:
                chunk = recv(_CHUNK)
            except OSError as exc:
                log.info("reading from the client ended: %s", exc)
                chunk = b""
            try:
                loop.call_soon_threadsafe(arrived.put_nowait, chunk)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return

    threading.Thread(target=read, name="client-reader", daemon=True).start()
    while chunk := await arrived.get():
        ahead.release()
        yield chunk


class Writer:
    """Sends bytes from a thread of its own, many writes in one. To be made and used on the loop.

    ``write`` never blocks and never fails; who produces much awaits ``drain`` in between. When
    the client is gone ``on_broken`` is called once, on the loop, and what follows is dropped.

    There is no lock: each side counts for itself. ``drain`` says that it waits *before* it looks
    at the counters, the thread counts *before* it looks whether someone waits, and only the
    wake-up on the loop takes that back; so no wake-up is missed.
    """

    def __init__(self, send: Send, on_broken: Callable[[], None]) -> None:
        self._send = send
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._items = queue.SimpleQueue[bytes | None]()
        self._written = 0  # counted by the loop
        self._sent = 0  # counted by the thread
        self._waiting = False
        self._room = asyncio.Event()
        self._broken = False
        self._thread = threading.Thread(target=self._run, name="client-writer", daemon=True)
        self._thread.start()

    @property
    def pending(self) -> int:
        """Bytes not yet taken by the client's end of the pipe."""
        return 0 if self._broken else self._written - self._sent

    @property
    def behind(self) -> bool:
        """Whether ``drain`` would wait."""
        return self.pending > HIGH_WATER

    def write(self, data: bytes) -> None:
        if not self._broken:
            self._written += len(data)
            self._items.put(data)

    async def drain(self) -> None:
        """Waits while it is behind; with room it does not even yield."""
        while self.behind:
            self._room.clear()
            self._waiting = True
            if self.behind:
                await self._room.wait()

    def close(self, seconds: float = 2.0) -> None:
        """Sends what is left, for at most ``seconds``; blocks, for use after the loop's work."""
        self._items.put(None)
        self._thread.join(seconds)

    def _run(self) -> None:
        closing = False
        while not closing:
            batch: list[bytes] = []
            size = 0
            item = self._items.get()
            while item is not None:
                batch.append(item)
                size += len(item)
                if size >= _CHUNK or self._items.empty():
                    break
                item = self._items.get()
            closing = item is None
            try:
                self._send_all(b"".join(batch))
            except OSError as exc:
                log.info("writing to the client ended: %s", exc)
                self._broken = True
                self._call(self._on_broken)
                self._call(self._wake)
                return

    def _send_all(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            sent = self._send(view[:_CHUNK])
            view = view[sent:]
            self._sent += sent
            if self._waiting and self._written - self._sent <= HIGH_WATER // 2:
                self._call(self._wake)

    def _wake(self) -> None:
        self._waiting = False
        self._room.set()

    def _call(self, callback: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            log.debug("the loop ended before the writer")
