"""What works for a session's agent is told of the turn that runs."""

from typing import Any, cast

import pytest

from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.sessions.shared.turn import Turn


class Running:
    """A session; ``turn`` is what runs in it."""

    def __init__(self) -> None:
        self.turn: Turn | None = Turn("t1", "", "")
        self.view = SessionView("s1", "/", cast(Any, None), Settings, lambda: self.turn, "a")


@pytest.mark.asyncio
async def test_without_a_turn_all_is_stopped() -> None:
    running = Running()
    assert (running.view.turn_id, running.view.stopped) == ("t1", False)
    running.turn = None
    assert (running.view.turn_id, running.view.stopped) == (None, True)


@pytest.mark.asyncio
async def test_what_a_turn_asked_for_is_unwanted_once_it_was_stopped() -> None:
    running = Running()
    wanted = running.view.still_wanted()
    assert wanted()
    cast(Turn, running.turn).aborted = True
    assert not wanted()
    assert running.view.stopped


@pytest.mark.asyncio
async def test_what_a_turn_asked_for_is_not_the_next_turns() -> None:
    running = Running()
    wanted = running.view.still_wanted()
    running.turn = Turn("t1", "", "")
    assert not wanted()
    assert running.view.still_wanted()()
