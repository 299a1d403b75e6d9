"""Where the person's environment names a proxy, named hosts are reached by it, and only they."""

import asyncio
import base64
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import anyio
import pytest
from support.far_hosts import PUBLIC, FarHosts
from support.upstream_proxy import CREDENTIALS, PASSWORD, USER, UpstreamProxy

from lsp_agent.sandbox.network import upstream
from lsp_agent.sandbox.network.requests import Wanted
from lsp_agent.sandbox.network.upstream import Upstream

TOKEN = "the-token"
AUTH = f"Proxy-Authorization: Basic {base64.b64encode(f'held:{TOKEN}'.encode()).decode()}\r\n"


class Desk:
    def __init__(self, far: FarHosts, port: int, refused: list[str]) -> None:
        self.far, self.port, self.refused = far, port, refused

    async def says(self, text: str, until: bytes = b"") -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        writer.write(text.encode())
        with anyio.fail_after(20):
            said = await (reader.readuntil(until) if until else reader.read())
        writer.close()
        return said.decode()


@asynccontextmanager
async def desk(company: UpstreamProxy, **more: str) -> AsyncIterator[Desk]:
    """In whose environment the company's proxy is named; no name is found without it."""
    refused: list[str] = []
    far = FarHosts(["python.org", "*.gnu.org", "10.0.0.5"], {})
    async with far.up(), company.up(far.port):
        environment = {"HTTPS_PROXY": company.address, "HTTP_PROXY": company.address} | more
        far = FarHosts(far.named, {"direct.gnu.org": PUBLIC}, upstream.of(environment))
        async with far.up():
            with socket.create_server(("127.0.0.1", 0)) as listener:
                listener.setblocking(False)
                serving = asyncio.create_task(far.proxy.serve(listener, TOKEN, refused.append))
                yield Desk(far, listener.getsockname()[1], refused)
                serving.cancel()
                await asyncio.wait({serving})


def connect(place: str) -> str:
    return f"CONNECT {place} HTTP/1.1\r\n{AUTH}\r\nping"


@pytest.mark.asyncio
async def test_a_tunnel_leads_through_it() -> None:
    company = UpstreamProxy()
    async with desk(company) as here:
        said = await here.says(connect("python.org:443"), until=b"ping")
        assert said.startswith("HTTP/1.1 200 Connection established\r\n\r\n")
        assert "company" not in said
        assert company.asked == ["CONNECT python.org:443 HTTP/1.1"]
        assert (here.far.looked_up, here.far.connected) == ([], [])


@pytest.mark.asyncio
async def test_a_plain_request_is_sent_to_it_with_its_whole_address() -> None:
    company = UpstreamProxy()
    async with desk(company) as here:
        said = await here.says(f"GET http://python.org/simple?a=1 HTTP/1.1\r\n{AUTH}\r\n")
        assert said.endswith("hello")
        assert company.asked == ["GET http://python.org/simple?a=1 HTTP/1.1"]
        assert here.far.connected == []


@pytest.mark.asyncio
@pytest.mark.parametrize("place", ["evil.example:443", "python.org:22", "10.0.0.6:443"])
async def test_it_is_asked_for_nothing_that_is_not_named(place: str) -> None:
    company = UpstreamProxy()
    async with desk(company) as here:
        assert (await here.says(connect(place))).startswith("HTTP/1.1 403")
        assert company.asked == []
        assert len(here.refused) == 1


@pytest.mark.asyncio
async def test_what_is_reached_without_it_is() -> None:
    company = UpstreamProxy()
    async with desk(company, NO_PROXY="localhost, .direct.gnu.org") as here:
        said = await here.says(connect("direct.gnu.org:443"), until=b"ping")
        assert "200" in said
        assert company.asked == []
        assert here.far.connected == [f"{PUBLIC} 443"]


@pytest.mark.asyncio
@pytest.mark.parametrize("password", ["another", PASSWORD])
async def test_its_refusal_is_told_and_no_word_of_its_credentials(password: str) -> None:
    company = UpstreamProxy(password)
    async with desk(company) as here:
        if password == PASSWORD:
            company.expected = "none"
        said = await here.says(connect("python.org:443"))
        assert said.startswith("HTTP/1.1 502")
        assert "your own proxy answers with 407 to python.org:443" in said
        for secret in (USER, PASSWORD, CREDENTIALS):
            assert secret not in said


@pytest.mark.asyncio
async def test_one_that_is_not_there_is_said() -> None:
    company = UpstreamProxy()
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    async with desk(company, https_proxy=f"http://{CREDENTIALS}@127.0.0.1:{port}") as here:
        said = await here.says(connect("python.org:443"))
        assert said.startswith("HTTP/1.1 502")
        assert "your own proxy" in said
        assert USER not in said


def test_no_credentials_are_shown_by_it() -> None:
    told = repr(upstream.of({"HTTPS_PROXY": f"http://{CREDENTIALS}@proxy:3128"}))
    assert "proxy" in told
    assert "Basic" not in told
    assert USER not in told


@pytest.mark.parametrize(
    ("environment", "plain", "tunnel"),
    [
        ({}, None, None),
        ({"HTTPS_PROXY": "http://p:3128"}, None, Upstream("p", 3128)),
        ({"http_proxy": "p:3128"}, Upstream("p", 3128), None),
        ({"ALL_PROXY": "http://p"}, Upstream("p", 80), Upstream("p", 80)),
        ({"ALL_PROXY": "https://p"}, None, None),
        ({"HTTPS_PROXY": "http://a", "https_proxy": "http://b"}, None, Upstream("b", 80)),
        ({"HTTPS_PROXY": "http://a", "https_proxy": ""}, None, Upstream("a", 80)),
        ({"ALL_PROXY": "socks5://p:1080"}, None, None),
        ({"HTTPS_PROXY": "http://[::1]:3128"}, None, Upstream("::1", 3128)),
        ({"HTTPS_PROXY": "http://p:port"}, None, None),
        ({"HTTPS_PROXY": "://"}, None, None),
    ],
)
def test_which_it_is(
    environment: Mapping[str, str], plain: Upstream | None, tunnel: Upstream | None
) -> None:
    found = upstream.of(environment)
    assert (found.plain, found.tunnel) == (plain, tunnel)


@pytest.mark.parametrize(
    ("no_proxy", "host", "is_beside"),
    [
        ("*", "python.org", True),
        ("python.org", "python.org", True),
        ("python.org", "docs.python.org", True),
        (".python.org", "python.org", True),
        ("*.python.org", "docs.python.org", True),
        ("PYTHON.org", "python.org", True),
        ("python.org:443", "python.org", True),
        ("python.org:80", "python.org", False),
        ("ython.org", "python.org", False),
        ("org.python", "python.org", False),
        ("10.0.0.0/8", "10.0.0.5", True),
        ("10.0.0.0/8", "11.0.0.5", False),
        ("10.0.0.5", "10.0.0.5", True),
        ("fd00::/8", "fd00::1", True),
        ("gnu.org python.org", "python.org", True),
        ("", "python.org", False),
        (",", "python.org", False),
        (".", "python.org", False),
        ("", "127.0.0.1", True),
        ("", "localhost", True),
        ("", "::1", True),
    ],
)
def test_what_is_reached_without_one(no_proxy: str, host: str, is_beside: bool) -> None:
    found = upstream.of({"ALL_PROXY": "p:3128", "NO_PROXY": no_proxy})
    assert (found.to(Wanted(host, 443)) is None) == is_beside
