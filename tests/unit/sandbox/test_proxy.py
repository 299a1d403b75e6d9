"""What the proxy lets through, and nothing beside it, whatever a client sends."""

import asyncio
import base64
import socket
from collections.abc import AsyncIterator

import anyio
import pytest
import pytest_asyncio
from support.far_hosts import PUBLIC, FarHosts

from lsp_agent.sandbox.network import proxy

TOKEN = "the-token"
AUTH = f"Proxy-Authorization: Basic {base64.b64encode(f'held:{TOKEN}'.encode()).decode()}\r\n"
NAMES = {
    "python.org": PUBLIC,
    "inner.org": "10.0.0.5",
    "evil.example": PUBLIC,
    "gone.org": "10.9.9.9",
}

pytestmark = pytest.mark.asyncio


class Desk:
    """A proxy that listens for a command."""

    def __init__(self, far: FarHosts, port: int, refused: list[str]) -> None:
        self.far, self.port, self.refused = far, port, refused

    async def says(self, *pieces: str) -> str:
        """The answer to what is sent, to its end."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        for piece in pieces:
            writer.write(piece.encode("latin-1"))
            await writer.drain()
        with anyio.fail_after(20):
            try:
                return (await reader.read()).decode("latin-1")
            except ConnectionResetError:
                return ""
            finally:
                writer.close()


@pytest_asyncio.fixture
async def desk() -> AsyncIterator[Desk]:
    far = FarHosts(["python.org", "*.gnu.org", "inner.org", "nowhere.gnu.org"], NAMES)
    refused: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        async with far.up():
            serving = asyncio.create_task(far.proxy.serve(listener, TOKEN, refused.append))
            yield Desk(far, listener.getsockname()[1], refused)
            serving.cancel()
            await asyncio.wait({serving})


def get(uri: str, more: str = "", auth: str = AUTH) -> str:
    return f"GET {uri} HTTP/1.1\r\n{auth}{more}\r\n"


async def test_a_named_host_is_reached(desk: Desk) -> None:
    assert (await desk.says(get("http://Python.org./simple?a=1"))).endswith("hello")
    assert desk.far.sent == [
        b"GET /simple?a=1 HTTP/1.1\r\nHost: python.org\r\nConnection: close\r\n\r\n"
    ]
    assert (desk.far.looked_up, desk.far.connected) == (["python.org"], [f"{PUBLIC} 80"])
    assert desk.refused == []


async def test_a_tunnel_leads_there_and_back(desk: Desk) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", desk.port)
    writer.write(f"CONNECT python.org:443 HTTP/1.1\r\nHost: x\r\n{AUTH}\r\nping".encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    assert await reader.readexactly(4) == b"ping"
    writer.write_eof()
    assert await reader.read() == b""
    assert desk.far.connected == [f"{PUBLIC} 443"]
    writer.close()


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("CONNECT evil-python.org:443", "evil-python.org"),
        ("CONNECT python.org.evil.com:443", "python.org.evil.com"),
        ("CONNECT gnu.org:443", "gnu.org"),
        ("CONNECT 93.184.216.34:443", "93.184.216.34"),
        ("CONNECT [2606:2800:220:1::1]:443", "2606:2800:220:1::1"),
        ("CONNECT 127.0.0.1:80", "127.0.0.1"),
        ("CONNECT 2130706433:80", "2130706433"),
        ("CONNECT python.org:22", "python.org:22"),
        ("GET http://evil.example/", "evil.example"),
        ("GET http://127.0.0.1/", "127.0.0.1"),
        ("GET http://python.org:8080/", "python.org:8080"),
    ],
)
async def test_no_other_host_is_looked_up_or_reached_and_it_is_told(
    desk: Desk, target: str, named: str
) -> None:
    answer = await desk.says(f"{target} HTTP/1.1\r\nHost: python.org\r\n{AUTH}\r\n")
    assert answer.startswith("HTTP/1.1 403")
    assert desk.refused == [named]
    assert (desk.far.looked_up, desk.far.connected) == ([], [])


async def test_who_takes_any_page_for_an_answer_sees_that_it_is_cut_off(desk: Desk) -> None:
    head, _, body = (await desk.says(get("http://evil.example/"))).partition("\r\n\r\n")
    assert body == "lsp-agent: evil.example is not in permissions.network\n"
    assert f"\r\nContent-Length: {len(body) + 1}\r\n" in head


async def test_a_named_host_that_leads_to_a_private_network_is_not_reached(desk: Desk) -> None:
    assert (await desk.says(get("http://inner.org/"))).startswith("HTTP/1.1 403")
    assert desk.refused == ["inner.org (10.0.0.5)"]
    assert desk.far.connected == []
    desk.far.named.append("10.0.0.5")
    assert (await desk.says(get("http://inner.org/"))).endswith("hello")
    assert desk.far.connected == ["10.0.0.5 80"]


async def test_one_that_leads_nowhere_is_told_as_such(desk: Desk) -> None:
    assert (await desk.says(get("http://nowhere.gnu.org/"))).startswith("HTTP/1.1 502")
    assert desk.refused == []


@pytest.mark.parametrize(
    "sent",
    [
        get("http://python.org@evil.example/"),
        get("http://evil.example@python.org/"),
        get("http://python.org\\@evil.example/"),
        get("http://python.org%2f@evil.example/"),
        get("http://python.org:80:80/"),
        get("https://python.org/"),
        get("ftp://python.org/"),
        get("/simple", "Host: python.org\r\n"),
        get("*"),
        get("http:///x"),
        get("http://python.org/ x"),
        get("http://python.org/", "no header\r\n"),
        get("http://python.org/", " Host: evil.example\r\n"),
        get("http://python.org/", "Host : evil.example\r\n"),
        get("http://python.org/", "X: a\nHost: evil.example\r\n"),
        get("http://python.org/", "X: a\rHost: evil.example\r\n"),
        get("http://python.org/", "Content-Length: 1\r\nContent-Length: 2\r\n"),
        get("http://python.org/", "Content-Length: +1\r\n"),
        get("http://python.org/", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n",
        f"CONNECT python.org HTTP/1.1\r\n{AUTH}\r\n",
        f"CONNECT python.org@evil.example:443 HTTP/1.1\r\n{AUTH}\r\n",
        f"CONNECT http://python.org:443 HTTP/1.1\r\n{AUTH}\r\n",
        f"get http://python.org/ HTTP/1.1\r\n{AUTH}\r\n",
        f"GET http://python.org/ HTTP/2.0\r\n{AUTH}\r\n",
        "\x16\x03\x01\r\n\r\n",
    ],
)
async def test_what_could_be_read_in_two_ways_is_refused(desk: Desk, sent: str) -> None:
    assert (await desk.says(sent)).startswith("HTTP/1.1 4")
    assert (desk.far.looked_up, desk.far.connected) == ([], [])


@pytest.mark.parametrize("auth", ["", AUTH.replace("Basic ", "Basic x"), AUTH + AUTH])
async def test_nobody_is_served_without_the_token(desk: Desk, auth: str) -> None:
    answer = await desk.says(get("http://python.org/", auth=auth))
    assert answer.startswith("HTTP/1.1 407")
    assert "Proxy-Authenticate: Basic" in answer
    assert desk.far.looked_up == []


async def test_the_host_of_the_address_counts_and_no_header_beside_it(desk: Desk) -> None:
    more = "Host: evil.example\r\nConnection: x-a\r\nX-A: b\r\nUpgrade: h2c\r\nX-B: c\r\n"
    await desk.says(get("http://python.org/", more))
    (sent,) = desk.far.sent
    assert sent == b"GET / HTTP/1.1\r\nHost: python.org\r\nConnection: close\r\nX-B: c\r\n\r\n"


async def test_a_second_request_on_a_connection_is_sent_to_nobody(desk: Desk) -> None:
    first = get("http://python.org/", "Content-Length: 2\r\n") + "ab"
    await desk.says(first + get("http://evil.example/secret", "Host: evil.example\r\n"))
    assert b"".join(desk.far.sent).endswith(b"\r\n\r\nab")
    assert desk.far.connected == [f"{PUBLIC} 80"]


async def test_where_an_answer_leads_is_asked_for_anew(desk: Desk) -> None:
    assert "Location: http://evil.example/" in await desk.says(get("http://python.org/away"))
    assert desk.far.connected == [f"{PUBLIC} 80"]


async def test_a_head_that_does_not_end_is_refused(desk: Desk) -> None:
    answer = await desk.says(get("http://python.org/", "X: " + "y" * 70000))
    assert answer == "" or answer.startswith("HTTP/1.1 431")
    assert desk.far.looked_up == []


async def test_who_is_slow_is_sent_away_and_keeps_nobody_out(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "_HEAD_SECONDS", 0.3)
    slow = [
        await asyncio.open_connection("127.0.0.1", desk.port)
        for _ in range(proxy._MOST_CONNECTIONS)
    ]
    for _, writer in slow:
        writer.write(b"GET http://python.org/ HT")
    assert (await desk.says(get("http://python.org/"))).endswith("hello")
    assert (await slow[0][0].read()).startswith(b"HTTP/1.1 408")
    for _, writer in slow:
        writer.close()


async def test_a_host_that_is_no_longer_named_is_refused_at_once(desk: Desk) -> None:
    desk.far.named.clear()
    assert (await desk.says(get("http://python.org/"))).startswith("HTTP/1.1 403")
