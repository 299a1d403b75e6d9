"""stdin and stdout as lines, without ever blocking the event loop.

Both are served by threads. Making them non-blocking instead would change the descriptors for
every process that shares them (a terminal, say), and regular files cannot be awaited.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress

import orjson

_CHUNK = 65536
#: Unwritten output from which on whoever makes more has to wait.
_HIGH_WATER = 1 << 20


class Oversized:
    """Stands in for a line that was too long; it was skipped."""


class LineReader:
    """The lines of a descriptor, their line ends taken off; blank ones are skipped."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._loop = asyncio.get_running_loop()
        self._batches: asyncio.Queue[list[bytes | Oversized] | None] = asyncio.Queue(4)
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    async def __aiter__(self) -> AsyncIterator[bytes | Oversized]:
        while (batch := await self._batches.get()) is not None:
            for line in batch:
                yield line

    def _read(self) -> None:
        splitter = _Splitter(self._limit)
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            while chunk := self._next_chunk():
                if batch := splitter.feed(chunk):
                    self._put(batch)
            # The last line counts without an end as well.
            if batch := splitter.feed(b"\n"):
                self._put(batch)
            self._put(None)

    def _next_chunk(self) -> bytes:
        try:
            return os.read(self._descriptor, _CHUNK)
        except OSError:
            return b""

    def _put(self, batch: list[bytes | Oversized] | None) -> None:
        asyncio.run_coroutine_threadsafe(self._batches.put(batch), self._loop).result()


class _Splitter:
    """Cuts chunks into lines; of a line over the limit nothing is kept."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes | Oversized]:
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes | Oversized] = []
        for part in ended:
            self._add(part)
            line: bytes | Oversized = Oversized()
            if self._size <= self._limit:
                line = b"".join(self._parts).strip()
            self._parts, self._size = [], 0
            if line:
                lines.append(line)
        self._add(rest)
        return lines

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._limit:
            self._parts.append(part)
        else:
            self._parts.clear()


class LineWriter:
    """Writes JSON objects, one a line, in order.

    ``put`` never waits; whoever streams awaits ``drain`` as well, so that a reader who does not
    read stops the work instead of filling the memory. ``on_broken`` is called once, in the loop,
    when the reader is gone; from then on everything is dropped.
    """

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[bytes] = deque()
        self._changed = threading.Condition()
        self._size = 0
        self._closed = False
        self._broken = False
        self._room = asyncio.Event()
        self._room.set()
        self._thread = threading.Thread(target=self._write, name="stdout", daemon=True)
        self._thread.start()

    @property
    def size(self) -> int:
        """Bytes not yet written."""
        return self._size

    def put(self, frame: Mapping[str, object]) -> None:
        line = orjson.dumps(frame, option=orjson.OPT_APPEND_NEWLINE)
        with self._changed:
            if self._broken:
                return
            self._chunks.append(line)
            self._size += len(line)
            if self._size > _HIGH_WATER:
                self._room.clear()
            self._changed.notify()

    async def drain(self) -> None:
        """Waits until there is room again."""
        await self._room.wait()

    async def close(self, timeout: float) -> None:
        """Writes the rest, for at most ``timeout`` seconds."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        await asyncio.to_thread(self._thread.join, timeout)

    def _write(self) -> None:
        while data := self._take():
            try:
                _write_all(self._descriptor, data)
            except OSError:
                self._give_up()
                return
            self._written(len(data))

    def _take(self) -> bytes:
        """The output so far, waited for; b"" once everything is written and closed."""
        with self._changed:
            while not self._chunks and not self._closed:
                self._changed.wait()
            data = b"".join(self._chunks)
            self._chunks.clear()
            return data

    def _written(self, size: int) -> None:
        with self._changed:
            self._size -= size
            has_room = self._size <= _HIGH_WATER
        if has_room and not self._room.is_set():
            self._call(self._make_room)

    def _make_room(self) -> None:
        with self._changed:
            if self._size <= _HIGH_WATER:
                self._room.set()

    def _give_up(self) -> None:
        with self._changed:
            self._broken = True
            self._chunks.clear()
            self._size = 0
        self._call(self._make_room)
        self._call(self._on_broken)

    def _call(self, function: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(function)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
