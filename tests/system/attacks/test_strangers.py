"""Strangers at the port of ``lsp-agent serve --tcp``: other users, pages in a browser, who is
first. None is served, none is told the token, and none keeps the editor away."""

import contextlib
import os
import re
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.project import LSP_AGENT, Project, new_project
from support.raw_client import frame

from lsp_agent.server.rpc.tcp import Door, peer_uid

Json = dict[str, Any]

TOKEN = "a-token-of-this-test-only"


class Served:
    """A server that waits for its client."""

    def __init__(self, project: Project, *arguments: str, token: str | None = TOKEN) -> None:
        self.log = project.home / "server.log"
        told = {} if token is None else {"LSP_AGENT_TOKEN": token}
        log = ["--log-file", str(self.log), "--log-level", "debug"]
        self.process = subprocess.Popen(
            [*LSP_AGENT, "serve", "--tcp", "127.0.0.1:0", *log, *arguments],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=project.environment() | told,
            umask=0,
        )
        assert self.process.stderr
        found = re.search(rb":(\d+)\n$", self.process.stderr.readline())
        assert found
        self.port = int(found[1])

    def line(self) -> str:
        assert self.process.stderr
        return self.process.stderr.readline().decode()

    def connection(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), 60)

    def said_to(self, words: bytes) -> bytes:
        """What a stranger who says this hears until the end of the connection."""
        with self.connection() as connection:
            connection.sendall(words)
            return heard(connection)

    def serves(self, token: str = TOKEN) -> bool:
        """Whether its own client is served now."""
        with self.connection() as connection:
            connection.sendall(initialize(token))
            answer = connection.recv(65536)
            return b'"capabilities"' in answer

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def heard(connection: socket.socket) -> bytes:
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := connection.recv(65536):
            found += chunk
    return found


def initialize(*token: object, method: str = "initialize") -> bytes:
    options = {"initializationOptions": {"token": token[0]}} if token else {}
    params = {"processId": None, "rootUri": None, "capabilities": {}} | options
    return frame({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


@pytest.fixture
def served(project: Project) -> Iterator[Served]:
    server = Served(project)
    yield server
    server.close()


WITHOUT_TOKEN = {
    "no token": initialize(),
    "an empty token": initialize(""),
    "another token": initialize("a-token-of-this-test-onlY"),
    "its beginning": initialize(TOKEN[:-1]),
    "no text as token": initialize([TOKEN]),
    "half a character as token": initialize("\ud800"),
    "another method first": initialize(TOKEN, method="agent/prompt"),
    "no object": frame([TOKEN]),
    "no JSON": b"Content-Length: 3\r\n\r\n{{{",
}


def test_nobody_is_served_without_the_token(served: Served) -> None:
    for name, words in WITHOUT_TOKEN.items():
        answer = served.said_to(words)
        assert b"initializationOptions.token" in answer, name
        assert b'"result"' not in answer, name
        assert TOKEN.encode() not in answer, name
    assert served.serves()
    assert TOKEN not in served.log.read_text()


BROWSERS = {
    "a link": b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a form": b"POST / HTTP/1.1\r\nHost: x\r\n\r\n" + initialize(TOKEN),
    "a verb alone": b"OPTIONS",
    "a header of a browser": b"Origin: https://example.org\r\n" + initialize(TOKEN),
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
}


def test_a_browser_is_refused_whatever_it_sends_along(served: Served) -> None:
    for name, words in BROWSERS.items():
        started = time.monotonic()
        assert served.said_to(words) == b"", name
        assert time.monotonic() - started < 2, name  # at once, not when its time is over
    assert served.serves()


@pytest.mark.slow
def test_who_only_waits_keeps_nobody_away_and_is_sent_away(served: Served) -> None:
    with contextlib.ExitStack() as strangers:
        waiting = [strangers.enter_context(served.connection()) for _ in range(100)]
        for each in waiting[::2]:
            each.sendall(b"Content-Le")
        started = time.monotonic()
        last = waiting[-1]
        assert heard(last) == b""  # after its time
        assert time.monotonic() - started < 9
        assert served.serves()


@pytest.mark.parametrize("words", [b"Content-Length: 99999999\r\n\r\n", b"Content-X: " * 10_000])
def test_what_is_too_large_for_a_greeting_is_refused(served: Served, words: bytes) -> None:
    assert served.said_to(words) == b""
    assert served.serves()


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc")
@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_another_users_connection_is_refused_before_it_speaks(family: socket.AddressFamily) -> None:
    """The door of another user stands for the other user before ours."""
    host = "127.0.0.1" if family == socket.AF_INET else "::1"
    with socket.create_server((host, 0), family=family) as listener:
        door = Door(listener, TOKEN, uid=os.getuid() + 1)
        with socket.create_connection(listener.getsockname()[:2], 5) as connection:
            waiting = threading.Thread(target=lambda: _nobody(door))
            waiting.start()
            assert heard(connection) == b""
            waiting.join()
        with socket.create_connection(listener.getsockname()[:2], 5), listener.accept()[0] as ours:
            assert peer_uid(ours) == os.getuid()


def _nobody(door: Door) -> None:
    with pytest.raises(TimeoutError):
        door.first_admitted(1.0)


_OF_ANOTHER = """
import os, socket, sys
os.setuid(65534)
with socket.socket() as connection:
    connection.connect(("127.0.0.1", int(sys.argv[1])))
    try:
        connection.sendall(sys.stdin.buffer.read())
        print(len(connection.recv(100)))
    except (ConnectionResetError, BrokenPipeError):
        print(0)
"""


@pytest.mark.other_user
@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc")
def test_another_user_with_the_token_is_refused(served: Served) -> None:
    code = [sys.executable, "-c", _OF_ANOTHER, str(served.port)]
    done = subprocess.run(
        code, input=initialize(TOKEN), capture_output=True, timeout=30, check=True
    )
    assert done.stdout == b"0\n"
    assert served.serves()


def test_a_token_is_made_where_none_is_given_for_the_user_alone(project: Project) -> None:
    server = Served(project, token=None)
    try:
        found = re.fullmatch(r"lsp-agent: the client's token is in (.+)\n", server.line())
        assert found
        path = Path(found[1])
        status = path.stat()
        assert stat.S_IMODE(status.st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        token = path.read_text().strip()
        assert len(token) >= 40
        assert b"initializationOptions.token" in server.said_to(initialize(TOKEN))
        assert server.serves(token)
        assert not path.exists()  # it has been used
    finally:
        server.close()


def test_a_token_file_is_believed_only_if_nobody_else_may_open_it(project: Project) -> None:
    path = project.home / "token"
    path.write_text(f"{TOKEN}\n")
    for mode in (0o640, 0o604, 0o620, 0o602):
        path.chmod(mode)
        done = subprocess.run(
            [*LSP_AGENT, "serve", "--tcp", "127.0.0.1:0", "--token-file", str(path)],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        assert done.returncode == 2, oct(mode)
        assert "other users may" in done.stderr
        assert "umask 077" in done.stderr
        assert TOKEN not in done.stderr
    path.chmod(0o600)
    server = Served(project, "--token-file", str(path), token=None)
    try:
        assert server.serves()
    finally:
        server.close()


def test_no_agent_inherits_the_token(project: Project, served: Served) -> None:
    """Read from the server's own environment as its children get it."""
    seen = project.home / "seen"
    agent = {"wire": "zot", "command": ["sh", "-c", f"env > {seen}"], "provider": "script"}
    options = {"token": TOKEN, "agent": "one", "agents": {"one": agent}}
    folder = project.folder.as_uri()
    params: Json = {"rootUri": folder, "capabilities": {}, "initializationOptions": options}
    with served.connection() as connection:
        for number, (method, given) in enumerate(
            {"initialize": params, "agent/prompt": {"text": "Go."}}.items()
        ):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
            connection.sendall(frame(message))
        while not (seen.exists() and "PATH=" in seen.read_text()):
            time.sleep(0.05)
    assert TOKEN not in seen.read_text()
    assert "LSP_AGENT_TOKEN" not in seen.read_text()
