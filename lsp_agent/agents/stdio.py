"""An agent's standard streams, with bounds in every direction."""

import asyncio
from typing import cast

import anyio

#: Bytes held of what the agent says (reading pauses above), and of what it does not read.
HELD = 1 << 20
#: Bytes of stderr that are at least remembered.
STDERR_HELD = 16 << 10


class AgentGone(Exception):
    """The agent has ended, or reads no more."""


class Stdio(asyncio.SubprocessProtocol):
    """The three streams: stdout with back-pressure, stdin with a bounded buffer, the last of
    stderr."""

    def __init__(self) -> None:
        self.transport: asyncio.SubprocessTransport
        self.exited = asyncio.Event()
        self.stderr = bytearray()
        self.stderr_cut = False
        self.stderr_ended = asyncio.Event()
        self._chunks: list[bytes] = []
        self._held = 0
        self._paused = False
        self.stdout_ended = asyncio.Event()
        self._readable = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._stdin_open = True

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin.set_write_buffer_limits(high=HELD)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._keep_tail(data)
            return
        self._chunks.append(data)
        self._held += len(data)
        self._readable.set()
        if self._held >= HELD and not self._paused:
            self._paused = True
            self._stdout.pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        if fd == 0:
            self._stdin_open = False
            self._writable.set()
        elif fd == 1:
            self.stdout_ended.set()
            self._readable.set()
        else:
            self.stderr_ended.set()

    def process_exited(self) -> None:
        self.exited.set()
        self._stdin_open = False
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # What AgentProcess calls.

    async def read(self) -> bytes:
        """All that has come since the last call, b"" at the end."""
        await self._readable.wait()
        data = b"".join(self._chunks)
        self._chunks, self._held = [], 0
        if not self.stdout_ended.is_set():
            self._readable.clear()
            if self._paused:
                self._paused = False
                self._stdout.resume_reading()
        return data

    def post(self, line: bytes) -> None:
        """Behind all that was written before, without waiting. Raises AgentGone."""
        if not self._stdin_open:
            raise AgentGone("the agent has ended")
        self._stdin.write(line)

    async def write(self, line: bytes) -> None:
        """As ``post``, then waits while the agent does not read what is held for it."""
        self.post(line)
        while self._stdin_open and not self._writable.is_set():
            await self._writable.wait()
        if not self._stdin_open:
            raise AgentGone("the agent has ended")

    def close_stdin(self) -> None:
        """After what is still to be written."""
        if self._stdin_open:
            self._stdin_open = False
            self._writable.set()
            self._stdin.close()

    async def finish(self, seconds: float) -> None:
        """After the exit: takes what the pipe still holds, then closes it."""
        if not self._paused:
            with anyio.move_on_after(seconds):
                await self.stdout_ended.wait()
        self.transport.close()

    @property
    def _stdin(self) -> asyncio.WriteTransport:
        return cast(asyncio.WriteTransport, self.transport.get_pipe_transport(0))

    @property
    def _stdout(self) -> asyncio.ReadTransport:
        return cast(asyncio.ReadTransport, self.transport.get_pipe_transport(1))

    def _keep_tail(self, data: bytes) -> None:
        self.stderr += data
        if len(self.stderr) > 2 * STDERR_HELD:
            del self.stderr[:-STDERR_HELD]
            self.stderr_cut = True
