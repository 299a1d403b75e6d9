"""Hosts of a test's own: names that lead to public addresses, all of them one server of ours."""

import asyncio
import ipaddress
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import anyio

from lsp_agent.sandbox.network.door import Door
from lsp_agent.sandbox.network.hosts import Address
from lsp_agent.sandbox.network.proxy import Proxy
from lsp_agent.sandbox.network.upstream import Upstreams

PUBLIC = "93.184.216.34"


class FarHosts:
    """``named`` is what the person named. What the server was sent, what was looked up and what
    was connected to is kept. It echoes what comes through a tunnel."""

    def __init__(
        self,
        named: Sequence[str],
        addresses: Mapping[str, str],
        upstreams: Upstreams | None = None,
    ) -> None:
        self.named, self.addresses = list(named), dict(addresses)
        self.sent: list[bytes] = []
        self.looked_up: list[str] = []
        self.connected: list[str] = []
        self.proxy = Proxy(
            lambda: self.named, self._resolve, self._connect, upstreams=upstreams or Upstreams()
        )
        self.port = 0

    @asynccontextmanager
    async def up(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield

    @asynccontextmanager
    async def door(self, path: str) -> AsyncIterator[Door]:
        door = Door(path, self.proxy)
        async with self.up(), anyio.create_task_group() as tasks:
            await tasks.start(door.serve)
            yield door
            tasks.cancel_scope.cancel()

    async def _resolve(self, host: str) -> Sequence[Address]:
        self.looked_up.append(host)
        if host not in self.addresses:
            raise OSError("not known")
        return [ipaddress.ip_address(self.addresses[host])]

    async def _connect(self, address: str, port: int) -> tuple[StreamReader, StreamWriter]:
        self.connected.append(f"{address} {port}")
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        while piece := await reader.read(1 << 16):
            self.sent.append(piece)
            if b"/away" in piece:
                head = b"HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\n"
                writer.write(head + b"Content-Length: 0\r\n\r\n")
            elif b"HTTP/1.1" in piece:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            else:
                writer.write(piece)
            if b"Connection: close" in piece:
                break
        writer.close()
