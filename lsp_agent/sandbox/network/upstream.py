"""The proxy that the person's own environment leads by: a company's, and often the only way out.

``HTTPS_PROXY``, ``HTTP_PROXY`` and ``ALL_PROXY`` name it, ``NO_PROXY`` what is reached without it,
in small letters as well. Its name and password are sent to it, and stand nowhere else.
"""

import asyncio
import base64
import ipaddress
import re
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from lsp_agent.sandbox.network.hosts import address_of
from lsp_agent.sandbox.network.requests import Refused, Wanted

#: What programs look at, in capitals and in small letters.
VARIABLES = tuple(
    each for name in ("http", "https", "all") for each in (f"{name}_proxy", f"{name}_proxy".upper())
)
_BAD = "502 Bad Gateway"
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")
_PORT = 80


@dataclass(frozen=True, slots=True)
class Upstream:
    """``credentials`` is its header's value, or ""."""

    host: str
    port: int
    credentials: str = field(default="", repr=False)

    async def reach(self, wanted: Wanted) -> tuple[StreamReader, StreamWriter, bytes]:
        """The way to what is wanted, and what is sent there first. Raises Refused, OSError."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        if wanted.head:
            return reader, writer, _whole(wanted.head, self._own())
        try:
            await self._tunnel(wanted, reader, writer)
        except BaseException:
            writer.close()
            raise
        return reader, writer, b""

    async def _tunnel(self, wanted: Wanted, reader: StreamReader, writer: StreamWriter) -> None:
        host = f"[{wanted.host}]" if ":" in wanted.host else wanted.host
        place = f"{host}:{wanted.port}"
        writer.write(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n".encode("latin-1"))
        writer.write(self._own() + b"\r\n")
        await writer.drain()
        try:
            answer = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            raise Refused(_BAD, "your own proxy does not answer as one") from error
        status = _STATUS.match(answer)
        if status is None or status[1] != b"200":
            told = f"with {status[1].decode()}" if status else "as none does"
            raise Refused(_BAD, f"your own proxy answers {told} to {place}")

    def _own(self) -> bytes:
        if not self.credentials:
            return b""
        return f"Proxy-Authorization: {self.credentials}\r\n".encode("latin-1")


@dataclass(frozen=True, slots=True)
class Upstreams:
    """What leads to ``http:`` addresses and what to all else; ``beside`` is what neither does."""

    plain: Upstream | None = None
    tunnel: Upstream | None = None
    beside: tuple[str, ...] = ()

    def to(self, wanted: Wanted) -> Upstream | None:
        """None where it is reached without one."""
        found = self.plain if wanted.head else self.tunnel
        if found is None or any(_means(each, wanted) for each in self.beside):
            return None
        address = address_of(wanted.host)
        is_here = wanted.host == "localhost" or (address is not None and address.is_loopback)
        return None if is_here else found


def of(environment: Mapping[str, str]) -> Upstreams:
    def named(name: str) -> Upstream | None:
        said = (environment.get(each) for each in (name, name.upper()))
        return next((_upstream(each) for each in said if each), None)

    every = named("all_proxy")
    beside = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    return Upstreams(
        named("http_proxy") or every,
        named("https_proxy") or every,
        tuple(each.lower() for each in re.split(r"[\s,]+", beside) if each),
    )


def _upstream(address: str) -> Upstream | None:
    """None for one that speaks something else (SOCKS), or TLS itself."""
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        port = parts.port or _PORT
    except ValueError:
        return None
    if parts.scheme != "http" or not parts.hostname:
        return None
    credentials = ""
    if parts.username is not None:
        said = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        credentials = f"Basic {base64.b64encode(said.encode()).decode()}"
    return Upstream(parts.hostname, port, credentials)


def _means(named: str, wanted: Wanted) -> bool:
    """As most programs read it: a name is also all below it, an address may be a network."""
    if named == "*":
        return True
    host, _, port = named.rpartition(":") if re.search(r"[^:]:\d+$", named) else (named, "", "")
    if port and int(port) != wanted.port:
        return False
    address = address_of(wanted.host)
    if address is not None:
        return any(address in network for network in _networks(host))
    name = host.removeprefix("*").lstrip(".")
    return bool(name) and (wanted.host == name or wanted.host.endswith(f".{name}"))


def _networks(named: str) -> Iterator[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    try:
        yield ipaddress.ip_network(named.strip("[]"), strict=False)
    except ValueError:
        return


def _whole(head: bytes, own: bytes) -> bytes:
    """A request as a proxy is sent it: with its whole address. ``head`` is as ``requests`` makes
    it."""
    first, host, rest = head.split(b"\r\n", 2)
    method, path, version = first.split(b" ")
    address = b"http://" + host.removeprefix(b"Host: ") + path
    return b"\r\n".join([b" ".join([method, address, version]), host, own + rest])
