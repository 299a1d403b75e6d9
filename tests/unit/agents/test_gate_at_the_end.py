"""A gate that connects while its bridge ends: refused at any moment of that, nothing is left."""

import asyncio
import gc
import os
import resource
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from agents.hosting import Host
from lsp_agent.agents.bridge import Bridge


def gate_socket(bridge: Bridge) -> str:
    return str(Path(bridge.folder).parent / "gate.sock")


def collected_errors() -> list[dict[str, Any]]:
    errors: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
    return errors


def said_by(connection: socket.socket) -> bytes:
    """All until the end, which must be there already."""
    connection.setblocking(False)
    try:
        return connection.recv(1000)
    except ConnectionError:
        return b""


@contextmanager
def no_descriptor_free() -> Generator[None]:
    lowest = os.dup(0)
    os.close(lowest)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


# The loop needs some rounds from a connection to the first line that serves it.
@pytest.mark.parametrize("rounds", range(8))
@pytest.mark.asyncio
async def test_a_gate_that_connects_while_the_bridge_ends_is_let_go(rounds: int):
    errors = collected_errors()
    with socket.socket(socket.AF_UNIX) as connection:
        async with Bridge(Host()) as bridge:
            connection.connect(gate_socket(bridge))
            for _ in range(rounds):
                await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        assert said_by(connection) == b""
    assert errors == []


@pytest.mark.parametrize("rounds", range(8))
def test_the_loop_may_end_right_behind_the_bridge(rounds: int, recwarn: pytest.WarningsRecorder):
    """As a server's does; an accepted socket that nobody owns yet would be left open."""

    async def bridge_for(connection: socket.socket) -> None:
        async with Bridge(Host()) as bridge:
            connection.connect(gate_socket(bridge))
            for _ in range(rounds):
                await asyncio.sleep(0)

    with socket.socket(socket.AF_UNIX) as connection:
        asyncio.run(bridge_for(connection))
        gc.collect()
        assert said_by(connection) == b""
    assert [str(warning.message) for warning in recwarn] == []


@pytest.mark.asyncio
async def test_a_gate_waits_while_no_descriptor_is_free():
    errors = collected_errors()
    async with Bridge(Host()) as bridge:
        with socket.socket(socket.AF_UNIX) as connection:
            with no_descriptor_free():
                connection.connect(gate_socket(bridge))
                connection.send(b"99\n")
                await asyncio.sleep(0.05)
            connection.setblocking(False)
            with anyio.fail_after(5):
                answer = await asyncio.get_running_loop().sock_recv(connection, 1000)
    assert answer.startswith(b"deny\n")
    assert errors == []
