"""A command in the real sandbox reaches the hosts that a person named, and nothing else."""

import os
import shlex
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.to_thread
import pytest
from support.far_hosts import PUBLIC, FarHosts
from support.raw_client import wait_until
from support.upstream_proxy import CREDENTIALS, PASSWORD, USER, UpstreamProxy

from lsp_agent.sandbox import bubblewrap, landlock
from lsp_agent.sandbox.hold import Holder, Way
from lsp_agent.sandbox.network import upstream
from lsp_agent.sandbox.network.door import Door
from lsp_agent.sandbox.places import find
from lsp_agent.sandbox.starting import unset, without

BUBBLEWRAP = pytest.param(bubblewrap.working, marks=pytest.mark.bubblewrap, id="bubblewrap")
LANDLOCK = pytest.param(landlock.working, marks=pytest.mark.landlock, id="landlock")
pytestmark = [pytest.mark.asyncio, pytest.mark.parametrize("working", [BUBBLEWRAP, LANDLOCK])]

# The one that the virtual environment was made of, which lies in no folder for others.
PYTHON = os.path.realpath(sys.executable)
URLLIB = [PYTHON, "-ISc", "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read())"]
#: In a thread, with an event loop's sockets, which do not block.
ASYNCIO = """
import asyncio, os, re, sys, threading
found = re.search(r"//(.*)@127.0.0.1:(\\d+)$", os.environ["HTTPS_PROXY"])
async def main():
    import base64
    token = base64.b64encode(found[1].encode()).decode()
    reader, writer = await asyncio.open_connection("127.0.0.1", int(found[2]))
    head = f"CONNECT {sys.argv[1]}:443 HTTP/1.1\\r\\nProxy-Authorization: Basic {token}"
    writer.write(head.encode() + b"\\r\\n\\r\\nping")
    print(await reader.readuntil(b"\\r\\n\\r\\n"), await reader.read(4))
thread = threading.Thread(target=lambda: asyncio.run(main())); thread.start(); thread.join()
"""
#: Each says so where it gets out.
ESCAPES = """
import os, re, socket, sys
ours, port = int(re.search(r"(\\d+)$", os.environ["http_proxy"])[1]), int(sys.argv[1])
def tcp(host, port, family=socket.AF_INET, protocol=0):
    one = socket.socket(family, socket.SOCK_STREAM, protocol)
    one.settimeout(5)
    one.connect((host, port))
    return one
for name, attempt in {
    "another port": lambda: tcp("127.0.0.1", port),
    "another address": lambda: tcp("127.0.0.2", ours),
    "IPv6": lambda: tcp("::1", port, socket.AF_INET6),
    "mapped": lambda: tcp("::ffff:127.0.0.1", port, socket.AF_INET6),
    "the world": lambda: tcp("192.0.2.1", ours),
    "MPTCP": lambda: tcp("127.0.0.1", port, protocol=262),
    "UDP to the world": lambda: socket.socket(socket.AF_INET, 2).sendto(b"x", ("192.0.2.1", 53)),
    "fast open": lambda: socket.socket().sendto(b"x", 0x20000000, ("127.0.0.1", port)),
    "fast open of a message": lambda: socket.socket().sendmsg(
        [b"x"], [], 0x20000000, ("127.0.0.1", port)),
    "no socket": lambda: socket.socket(fileno=os.dup(0)).connect(("127.0.0.1", ours)),
}.items():
    try:
        attempt()
        print("escaped by", name)
    except OSError:
        pass
print("tried")
"""

Working = Callable[[], Holder]


class Desk:
    def __init__(self, base: Path, holder: Holder, far: FarHosts, door: Door) -> None:
        self.holder, self.far, self.door = holder, far, door
        self.work = base / "work"
        self.work.mkdir(exist_ok=True)
        self.refused: list[str] = []

    def words(self, ticket: str | None = None) -> list[str]:
        way = Way(self.door.path, ticket or self.door.ticket(self.refused.append))
        hold = find([str(self.work)], home="/nonexistent", runtime="", way=way)
        return [*without(unset(hold)), *self.holder.words(hold, str(self.work))]

    async def run(
        self, *command: str, ticket: str | None = None
    ) -> "subprocess.CompletedProcess[str]":
        words = [*self.words(ticket), "sh", "-c", shlex.join(command)]
        return await anyio.to_thread.run_sync(_ran, words)


def _ran(words: list[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=60
    )


@asynccontextmanager
async def desk(base: Path, holder: Holder) -> AsyncIterator[Desk]:
    far = FarHosts(["python.org"], {"python.org": PUBLIC, "evil.example": PUBLIC})
    async with far.door(str(base / "door")) as door:
        yield Desk(base, holder, far, door)


async def test_programs_find_the_way_to_a_named_host_and_to_no_other(
    working: Working, tmp_path: Path
) -> None:
    curl = [["curl", "-sSfL"]] if shutil.which("curl") else []
    async with desk(tmp_path, working()) as here:
        for program in (URLLIB, *curl):
            done = await here.run(*program, "http://python.org/simple")
            assert "hello" in done.stdout, done
            for address in ("http://evil.example/", "https://evil.example/"):
                done = await here.run(*program, address)
                assert done.returncode
                assert "hello" not in done.stdout
                assert here.refused.pop() == "evil.example"
            assert (await here.run(*program, "http://python.org/away")).returncode
            assert here.refused.pop() == "evil.example"
        assert set(here.far.connected) == {f"{PUBLIC} 80"}


async def test_a_tunnel_holds_in_a_thread_that_does_not_block(
    working: Working, tmp_path: Path
) -> None:
    async with desk(tmp_path, working()) as here:
        done = await here.run(PYTHON, "-ISc", ASYNCIO, "python.org")
        assert "200 Connection established" in done.stdout, done
        assert done.stdout.endswith("b'ping'\n")


async def test_nothing_is_reached_beside_the_way(working: Working, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service:
        async with desk(tmp_path, working()) as here:
            port = str(service.getsockname()[1])
            done = await here.run(PYTHON, "-ISc", ESCAPES, port)
            assert done.stdout == "tried\n", done
        service.setblocking(False)
        with pytest.raises(BlockingIOError):
            service.accept()


async def test_nobody_comes_in(working: Working, tmp_path: Path) -> None:
    code = """
import socket, sys
one = socket.socket()
try:
    one.listen()
except OSError:
    print(0, flush=True)
else:
    print(one.getsockname()[1], flush=True)
sys.stdin.read()
"""
    async with desk(tmp_path, working()) as here:
        words = [*here.words(), PYTHON, "-ISc", code]
        async with await anyio.open_process(words) as process:
            assert process.stdout is not None
            port = int(await process.stdout.receive())
            with socket.socket() as outside:
                assert outside.connect_ex(("127.0.0.1", port))
            process.kill()


async def test_a_ticket_is_taken_once_and_without_one_there_is_no_network(
    working: Working, tmp_path: Path
) -> None:
    async with desk(tmp_path, working()) as here:
        ticket = here.door.ticket(here.refused.append)
        assert (await here.run("printenv", "http_proxy", ticket=ticket)).stdout
        for bad in (ticket, "guessed"):
            assert not (await here.run("printenv", "http_proxy", ticket=bad)).stdout


async def test_a_command_that_fails_or_ends_takes_its_way_along(
    working: Working, tmp_path: Path
) -> None:
    async with desk(tmp_path, working()) as here:
        done = await here.run("sh", "-c", "echo $http_proxy; exit 7")
        assert done.returncode == 7
        assert await anyio.to_thread.run_sync(wait_until, lambda: not here.door.led)


async def test_it_leads_by_the_persons_own_proxy_whose_credentials_nothing_in_there_sees(
    working: Working, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    company = UpstreamProxy()
    beyond = FarHosts([], {})
    async with beyond.up(), company.up(beyond.port):
        for name in upstream.VARIABLES:
            monkeypatch.setenv(name, company.address)
        far = FarHosts(["python.org"], {}, upstream.of(os.environ))
        async with far.door(str(tmp_path / "door")) as door:
            here = Desk(tmp_path, working(), far, door)
            done = await here.run(*URLLIB, "http://python.org/simple")
            assert "hello" in done.stdout, done
            assert company.asked == ["GET http://python.org/simple HTTP/1.1"]
            done = await here.run("sh", "-c", "env; cat /proc/*/environ /proc/*/cmdline")
            assert "http_proxy=http://held:" in done.stdout
            seen = done.stdout + done.stderr
            hold = find([str(here.work)], home="/nonexistent", runtime="")
            held = [*without(unset(hold)), *here.holder.words(hold, str(here.work))]
            alone = await anyio.to_thread.run_sync(_ran, [*held, "sh", "-c", "env"])
            for secret in (CREDENTIALS, PASSWORD, USER, company.expected):
                assert secret not in seen + alone.stdout
