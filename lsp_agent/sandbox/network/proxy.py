"""Serves one command's way to the hosts that the person named."""

import asyncio
import socket
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader, StreamWriter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

import anyio

from lsp_agent.sandbox.network import requests
from lsp_agent.sandbox.network.hosts import (
    Address,
    address_of,
    is_named,
    is_open,
    may_be_reached,
)
from lsp_agent.sandbox.network.requests import Refused, Wanted
from lsp_agent.sandbox.network.upstream import Upstreams

#: Of one command, at a time; who comes later waits.
_MOST_CONNECTIONS = 32
_LONGEST_HEAD = 1 << 15
_HEAD_SECONDS = 15.0
_CONNECT_SECONDS = 20.0
_MOST_ADDRESSES = 4
_CHUNK = 1 << 16
_RETRY_SECONDS = 0.1

Resolve = Callable[[str], Awaitable[Sequence[Address]]]
Connect = Callable[[str, int], Awaitable[tuple[StreamReader, StreamWriter]]]


async def resolve(host: str) -> Sequence[Address]:
    """In a thread. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    addresses = dict.fromkeys(address_of(str(each[4][0])) for each in found)
    return [address for address in addresses if address is not None]


@dataclass(frozen=True, slots=True)
class Proxy:
    """``named`` are the hosts as they are named now; ``refused`` is told of each other that was
    wanted, and of one that leads where none may."""

    named: Callable[[], Sequence[str]]
    resolve: Resolve = resolve
    connect: Connect = asyncio.open_connection
    #: Where the person names them.
    setting: str = "permissions.network"
    #: By which they are reached, where the person's environment says so.
    upstreams: Upstreams = field(default_factory=Upstreams)

    async def serve(
        self, listener: socket.socket, token: str, refused: Callable[[str], None]
    ) -> None:
        """Until it is cancelled."""
        room = anyio.Semaphore(_MOST_CONNECTIONS)
        async with anyio.create_task_group() as tasks:
            while True:
                await room.acquire()
                tasks.start_soon(self._client, await accepted(listener), token, refused, room)

    async def _client(
        self,
        connection: socket.socket,
        token: str,
        refused: Callable[[str], None],
        room: anyio.Semaphore,
    ) -> None:
        try:
            with anyio.CancelScope(shield=True) as opening:  # a few rounds of the loop
                reader, writer = await asyncio.open_connection(sock=connection, limit=_LONGEST_HEAD)
                opening.shield = False
                with closing(writer), suppress(OSError, IncompleteReadError):
                    await self._serve(reader, writer, token, refused)
        finally:
            room.release()

    async def _serve(
        self,
        reader: StreamReader,
        writer: StreamWriter,
        token: str,
        refused: Callable[[str], None],
    ) -> None:
        try:
            await self._answer(reader, writer, token)
        except Refused as refusal:
            if refusal.host:
                refused(refusal.host)
            writer.write(_said(refusal))
            await writer.drain()

    async def _answer(self, reader: StreamReader, writer: StreamWriter, token: str) -> None:
        """Raises Refused, OSError."""
        wanted = requests.read(await _head(reader), token)
        far, out, head = await self._reach(wanted)
        with closing(out):
            if wanted.head:
                out.write(head)
                await out.drain()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_copy, reader, out, wanted.body)
                    await _copy(far, writer)
                    tasks.cancel_scope.cancel()
                return
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_copy_to_end, reader, out)
                await _copy_to_end(far, writer)
                tasks.cancel_scope.cancel()

    async def _reach(self, wanted: Wanted) -> tuple[StreamReader, StreamWriter, bytes]:
        """With what is to be sent first. Only a name that is allowed is looked up, and only an
        address that was looked at is connected to, unless the person's own proxy does both. Raises
        Refused."""
        host = wanted.host
        if not is_named(host, self.named()):
            raise Refused("403 Forbidden", f"{host} is not in {self.setting}", host)
        if not is_open(host, wanted.port, self.named()):
            where = f"{host}:{wanted.port}"
            raise Refused("403 Forbidden", f"{where}: that port is not in {self.setting}", where)
        upstream = self.upstreams.to(wanted)
        with anyio.move_on_after(_CONNECT_SECONDS), suppress(OSError):
            if upstream is not None:
                return await upstream.reach(wanted)
            return *await self._connected(host, wanted.port), wanted.head
        told = f"your own proxy, by which {host} is reached," if upstream else host
        raise Refused("502 Bad Gateway", f"{told} does not answer")

    async def _connected(self, host: str, port: int) -> tuple[StreamReader, StreamWriter]:
        """Raises Refused, and OSError where nobody answers."""
        for address in (await self._addresses(host))[:_MOST_ADDRESSES]:
            if not may_be_reached(address, port, self.named()):
                where = f"{host} ({address})"
                raise Refused("403 Forbidden", f"{where} is not a public address", where)
            with suppress(OSError):
                return await self.connect(str(address), port)
        raise OSError

    async def _addresses(self, host: str) -> Sequence[Address]:
        if address := address_of(host):
            return [address]
        try:
            return await self.resolve(host)
        except OSError as error:
            raise Refused("502 Bad Gateway", f"{host} is not found") from error


async def accepted(listener: socket.socket) -> socket.socket:
    """The next connection, which blocks nobody; where none can be accepted, it is tried again."""
    while True:
        # Only this waits, and nothing is accepted in it: a cancel loses no connection.
        await anyio.wait_readable(listener)
        try:
            connection, _ = listener.accept()
        except OSError:
            await anyio.sleep(_RETRY_SECONDS)
        else:
            connection.setblocking(False)
            return connection


async def _head(reader: StreamReader) -> bytes:
    try:
        with anyio.fail_after(_HEAD_SECONDS):
            return await reader.readuntil(b"\r\n\r\n")
    except LimitOverrunError as error:
        raise Refused("431 Request Header Fields Too Large", "too much before the body") from error
    except TimeoutError as error:
        raise Refused("408 Request Timeout", "the request took too long to come") from error


async def _copy(source: StreamReader, sink: StreamWriter, most: int | None = None) -> None:
    """To its end, or so many bytes."""
    with suppress(OSError):
        while most is None or most > 0:
            piece = await source.read(_CHUNK if most is None else min(_CHUNK, most))
            if not piece:
                return
            most = most if most is None else most - len(piece)
            sink.write(piece)
            await sink.drain()


async def _copy_to_end(source: StreamReader, sink: StreamWriter) -> None:
    await _copy(source, sink)
    with suppress(OSError):
        sink.write_eof()


def _said(refusal: Refused) -> bytes:
    more = 'Proxy-Authenticate: Basic realm="lsp-agent"\r\n' if "407" in refusal.status else ""
    body = f"lsp-agent: {refusal.words}\n".encode("latin-1", "replace")
    # One more than comes: a program that takes any page for what it wanted (curl) fails as well.
    length = len(body) + 1
    head = (
        f"HTTP/1.1 {refusal.status}\r\n{more}Content-Type: text/plain\r\n"
        f"Content-Length: {length}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("latin-1") + body
