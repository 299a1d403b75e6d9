"""The server opens its ledger without holding up anything else."""

import time
from pathlib import Path

import anyio
import pytest
from outbox_kit import Client

from lsp_agent.server import app
from lsp_agent.server.app import App
from lsp_agent.server.client.client_connection import ClientConnection
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.rpc.outbox import Outbox
from lsp_agent.workspace.ledger.ledger import Ledger


class SlowLedger(Ledger):
    """As one with much to read."""

    def __init__(self, folder: str) -> None:
        time.sleep(0.5)
        super().__init__(folder)


@pytest.mark.asyncio
async def test_the_loop_runs_while_a_large_ledger_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(app, "Ledger", SlowLedger)
    face, longest = ClientConnection(), 0.0

    async def watch() -> None:
        nonlocal longest
        while True:
            before = time.monotonic()
            await anyio.sleep(0.01)
            longest = max(longest, time.monotonic() - before)

    async with anyio.create_task_group() as tasks:
        face.tasks, face.outbox = tasks, Outbox(Client())
        tasks.start_soon(watch)
        await App.open(face, ClientInfo())
        tasks.cancel_scope.cancel()
    assert face.on_end is not None
    await face.on_end()
    assert longest < 0.4
