"""What an agent prints between its frames, as a library's progress or its own debugging."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from lsp_agent.agents.process import AgentProcess, BadLine, Exit
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Notice
from lsp_agent.sessions.agent.link import AgentLink, Callbacks
from lsp_agent.wires.wire import Launch
from lsp_agent.wires.zot.wire import ZotWire

TOO_LONG = "a line of more than 1000 bytes (limits.line_bytes)"
LINES = [
    BadLine("not JSON: at column 1", "loading"),
    BadLine("not JSON: at column 7", "still loading"),
    BadLine(TOO_LONG, "{", too_long=True),
    BadLine(TOO_LONG, "{", too_long=True),
    BadLine("not JSON: at column 1", "loaded"),
]


class Chatty:
    """Its process, which ends after these lines."""

    async def send(self, _frame: object) -> None:
        pass

    async def batches(self) -> AsyncIterator[list[object]]:
        yield [*LINES[:1]]
        yield [*LINES[1:]]

    async def kill(self) -> Exit:
        return Exit(0, "")

    async def stop(self, _grace: float) -> Exit:
        return await self.kill()


@pytest.mark.asyncio
async def test_of_what_is_no_json_the_first_is_a_warning_and_each_frame_that_is_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def start(*_argv: object, **_options: Any) -> Chatty:
        return Chatty()

    async def ignore(*_: object) -> Any:
        pass

    monkeypatch.setattr(AgentProcess, "start", start)
    heard: list[object] = []
    callbacks = Callbacks(heard.append, ignore, lambda *_: None, ignore)
    async with anyio.create_task_group() as tasks:
        with pytest.raises(RequestFailed):
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
    told = [(each.level, each.message) for each in heard if isinstance(each, Notice)]
    levels = ["warning", "debug", "warning", "warning", "debug"]
    assert told == [
        (level, f"{line.reason}: {line.text}") for level, line in zip(levels, LINES, strict=True)
    ]
