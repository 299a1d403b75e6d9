"""A company's proxy: it wants a name and a password, and leads to one server of a test's."""

import asyncio
import base64
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio

USER, PASSWORD = "j.doe", "p@ss:word/1"
#: As in an address, percent-encoded.
CREDENTIALS = "j.doe:p%40ss%3Aword%2F1"


class UpstreamProxy:
    """``asked`` are the first lines of what it was sent."""

    def __init__(self, password: str = PASSWORD) -> None:
        self.expected = base64.b64encode(f"{USER}:{password}".encode()).decode()
        self.asked: list[str] = []
        self.port = 0
        self._leads_to = 0
        self._serving: set[asyncio.Task[None] | None] = set()

    @property
    def address(self) -> str:
        return f"http://{CREDENTIALS}@127.0.0.1:{self.port}"

    @asynccontextmanager
    async def up(self, leads_to: int) -> AsyncIterator[None]:
        self._leads_to = leads_to
        server = await asyncio.start_server(self._client, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield
            server.close()
            await asyncio.gather(*(task for task in self._serving if task))

    async def _client(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        self._serving.add(task)
        with suppress(IncompleteReadError, OSError):
            await self._serve(reader, writer)
        await _closed(writer)
        self._serving.discard(task)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *fields = head.removesuffix("\r\n\r\n").split("\r\n")
        self.asked.append(first)
        if f"Proxy-Authorization: Basic {self.expected}" not in fields:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            return
        far, out = await asyncio.open_connection("127.0.0.1", self._leads_to)
        if first.startswith("CONNECT "):
            writer.write(b"HTTP/1.1 200 OK\r\nVia: 1.1 company\r\n\r\n")
        else:
            out.write(head.encode())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_copy, reader, out)
            tasks.start_soon(_copy, far, writer)
        await _closed(out)


async def _copy(source: StreamReader, sink: StreamWriter) -> None:
    """To its end, which is passed on."""
    with suppress(OSError):
        while piece := await source.read(1 << 16):
            sink.write(piece)
            await sink.drain()
        sink.write_eof()


async def _closed(writer: StreamWriter) -> None:
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
