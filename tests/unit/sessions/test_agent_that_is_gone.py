"""An agent that ended before it was written to, and was not heard to end yet."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from lsp_agent.agents.process import AgentGone, AgentProcess, Exit
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.sessions.agent.link import AgentLink, Callbacks
from lsp_agent.wires.wire import Launch
from lsp_agent.wires.zot.wire import ZotWire


class Gone:
    """Its process: the end of its output comes after the first write has failed."""

    def __init__(self) -> None:
        self._killed = anyio.Event()

    async def send(self, _frame: object) -> None:
        raise AgentGone("the agent has ended")

    async def batches(self) -> AsyncIterator[list[object]]:
        await self._killed.wait()
        for batch in ():
            yield batch

    async def kill(self) -> Exit:
        self._killed.set()
        return Exit(3, "no model takes the key\n")

    async def stop(self, _grace: float) -> Exit:
        return await self.kill()


@pytest.mark.asyncio
async def test_what_it_said_is_why_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def start(*_argv: object, **_options: Any) -> Gone:
        return Gone()

    async def ignore(*_: object) -> Any:
        pytest.fail("nothing is asked")

    ends: list[tuple[bool, str]] = []

    def note(link: AgentLink, exit_: Exit) -> None:
        ends.append((link.was_ended, exit_.stderr))

    monkeypatch.setattr(AgentProcess, "start", start)
    callbacks = Callbacks(lambda _event: None, ignore, note, ignore)
    async with anyio.create_task_group() as tasks:
        with pytest.raises(RequestFailed) as failure:
            await AgentLink.start(
                Launch(("agent",)),
                ZotWire(),
                None,
                tasks,
                callbacks,
                cwd="/",
                line_bytes=1000,
                resume=None,
            )
    assert "no model takes the key" in str(failure.value)
    assert ends == [(False, "no model takes the key\n")]
