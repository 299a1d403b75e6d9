"""``initialize`` is answered before the server is imported; what comes meanwhile is not lost."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.raw_client import RawClient, RpcError, frame, python, wait_until

from lsp_agent.server.client.welcome import welcome
from lsp_agent.server.rpc.channel import Channel

Json = dict[str, Any]

HELD = Path(__file__).with_name("held_server.py")
INITIALIZE: Json = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
GOOD = frame(INITIALIZE | {"params": {"processId": None, "capabilities": {}}})


@pytest.fixture
def free(tmp_path: Path) -> Path:
    """The rest is imported once this file is there."""
    return tmp_path / "go on"


@pytest.fixture
def held(free: Path, tmp_path: Path) -> Iterator[RawClient]:
    env = os.environ | {"XDG_DATA_HOME": str(tmp_path / "data")}
    with RawClient(python(HELD, str(free)), cwd=tmp_path, env=env) as client:
        yield client


def test_initialize_is_answered_before_the_rest_is_imported_and_once(
    held: RawClient, free: Path
) -> None:
    result = held.initialize()
    assert result["serverInfo"]["name"] == "lsp-agent"
    assert wait_until(lambda: "held" in held.stderr)
    free.touch()
    assert held.call("agent/edits")
    assert len([message for message in held.messages if message.get("id") == 1]) == 1


def test_what_comes_meanwhile_is_answered_in_its_order(held: RawClient, free: Path) -> None:
    held.initialize()
    document = {"uri": "untitled:a", "languageId": "text", "version": 1, "text": "agent: hello\n"}
    place = {"line": 0, "character": 0}
    held.notify("textDocument/didOpen", {"textDocument": document})
    actions = held.request(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": "untitled:a"},
            "range": {"start": place, "end": place},
            "context": {"diagnostics": []},
        },
    )
    edits, second = held.request("agent/edits"), held.request("initialize", {"capabilities": {}})
    held.send_bytes(frame(["malformed"]))
    free.touch()
    assert [each["title"] for each in held.result(actions)] == ["Ask the agent: hello"]
    assert held.result(edits)["edits"] == []
    assert held.answer(second)["error"]["code"] == -32600
    assert held.wait_for(lambda message: message.get("id", 0) is None)["error"]["code"] == -32600


def test_a_shutdown_and_exit_at_once_are_a_clean_end(held: RawClient, free: Path) -> None:
    held.initialize()
    held.request("shutdown")
    held.notify("exit")
    free.touch()
    assert held.wait_for_exit() == 0


def test_a_shutdown_at_once_is_answered(held: RawClient, free: Path) -> None:
    held.initialize()
    shutdown = held.request("shutdown")
    free.touch()
    assert held.result(shutdown) is None


@pytest.mark.parametrize(
    "leave", [lambda client: client.notify("exit"), RawClient.close_input], ids=["exit", "its end"]
)
def test_a_client_that_goes_at_once_ends_the_server(
    held: RawClient, free: Path, leave: Callable[[RawClient], None]
) -> None:
    held.initialize()
    leave(held)
    free.touch()
    assert held.wait_for_exit() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals end the process there")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_server_that_is_imported_still(
    held: RawClient, number: signal.Signals
) -> None:
    held.initialize()
    assert wait_until(lambda: "held" in held.stderr)
    held.process.send_signal(number)
    assert held.wait_for_exit() == 1
    assert "Traceback" not in held.stderr


def test_the_end_of_the_editors_process_meanwhile_ends_the_server(
    held: RawClient, free: Path
) -> None:
    editor = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    held.initialize(processId=editor.pid)
    editor.kill()
    editor.communicate()
    free.touch()
    assert held.wait_for_exit() == 1


def test_a_wrong_first_message_is_answered_by_the_server(held: RawClient, free: Path) -> None:
    free.touch()
    with pytest.raises(RpcError) as early:
        held.call("agent/edits")
    assert early.value.code == -32002
    with pytest.raises(RpcError) as wrong:
        held.call("initialize", {"capabilities": 7})
    assert wrong.value.code == -32602
    held.initialize()
    assert held.call("agent/edits")


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_what_was_said_is_all_read_once_more(size: int) -> None:
    said = GOOD + b"Content-Le"
    sent = bytearray()
    left = [said[at : at + size] for at in range(0, len(said), size)]

    def recv(_n: int) -> bytes:
        return left.pop(0) if left else b""

    def send(view: memoryview) -> int:
        sent.extend(view[:100])
        return len(view[:100])

    welcomed = welcome(Channel(recv, send))
    assert welcomed.introduced is not None
    assert sent.startswith(b"Content-Length: ")
    again = b""
    while part := welcomed.channel.recv(5):
        again += part
    assert again == said
    assert welcomed.channel.recv(5) == b""


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        GOOD[:-1],
        frame([INITIALIZE]),
        frame(INITIALIZE | {"params": []}),
        frame(INITIALIZE),
        frame(INITIALIZE | {"params": {}}),
        frame(INITIALIZE | {"id": None, "params": {"capabilities": {}}}),
        frame(INITIALIZE | {"id": True, "params": {"capabilities": {}}}),
        frame(INITIALIZE | {"jsonrpc": "1.0", "params": {"capabilities": {}}}),
        frame(INITIALIZE | {"method": "initialized", "params": {"capabilities": {}}}),
        b"Content-Length: 3\r\n\r\n{a}",
        b"Content-Length: 999999999999\r\n\r\n",
    ],
)
def test_nothing_else_is_answered(said: bytes) -> None:
    left = [said]
    welcomed = welcome(Channel(lambda _n: left.pop() if left else b"", lambda _view: 1 // 0))
    assert welcomed.introduced is None
    assert welcomed.channel.recv(1 << 20) == said
