"""What is told of the model's window, and when an agent may be asked for its size."""

from dataclasses import dataclass, field
from typing import cast

import anyio
import pytest

from lsp_agent.protocol.events import Event, WindowFilled
from lsp_agent.sessions.agent.keeper import AgentKeeper
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.sessions.window import ModelWindow

pytestmark = pytest.mark.asyncio

SIZE = 1000


@dataclass
class Keeper:
    """Of an agent that says its window's size once it is let."""

    knows_window: bool = False
    asked: int = 0
    may_say: anyio.Event = field(default_factory=anyio.Event)

    async def window_size(self) -> int | None:
        self.asked += 1
        if self.knows_window:  # an agent that tells no models
            return None
        await self.may_say.wait()
        return SIZE


class Told:
    def __init__(self, keeper: Keeper) -> None:
        self.events: list[Event] = []
        self.window = ModelWindow(
            lambda event, _: self.events.append(event), lambda: cast(AgentKeeper, keeper)
        )


async def test_an_agent_at_work_is_not_asked_for_its_size() -> None:
    keeper, settled = Keeper(), anyio.Event()
    told = Told(keeper)
    keeper.may_say.set()
    async with anyio.create_task_group() as tasks:
        told.window.hear(WindowFilled(10), Turn("t", "", ""), settled, tasks)
        await anyio.wait_all_tasks_blocked()
        assert keeper.asked == 0
        settled.set()
    assert told.events == [WindowFilled(10, SIZE)]


async def test_where_nobody_knows_the_size_what_is_filled_is_told_at_once() -> None:
    told = Told(Keeper(knows_window=True))
    async with anyio.create_task_group() as tasks:
        told.window.hear(WindowFilled(10), Turn("t", "", ""), anyio.Event(), tasks)
        await anyio.wait_all_tasks_blocked()
        assert told.events == [WindowFilled(10)]


async def test_what_a_compaction_has_made_untrue_is_not_told_after_it() -> None:
    keeper = Keeper()
    told = Told(keeper)
    async with anyio.create_task_group() as tasks:
        told.window.hear(WindowFilled(10), None, anyio.Event(), tasks)
        await anyio.wait_all_tasks_blocked()
        told.window.forget()
        keeper.may_say.set()
    assert told.events == []
    assert told.window.filled is None
