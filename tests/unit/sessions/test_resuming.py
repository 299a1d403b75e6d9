"""What an agent is told of a session that it takes up, by what it remembers of it."""

from typing import Literal

import anyio
import pytest
from fake_agent import Stage, stage

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Notice, TurnStarted
from lsp_agent.wires.wire import Command, Reply

RECAP = "[They spoke of prices.]\n\n"


async def asked(on: Stage, prompt: str = "Go on.") -> list[str]:
    """The prompts of the last agent, once this one was answered."""
    on.session.prompt(prompt)
    await on.settle()
    assert on.agent is not None
    on.agent.end_turn("endTurn")
    await on.settle()
    return on.agent.prompts


def notices(on: Stage) -> int:
    return sum(
        isinstance(each.event, Notice) and "does not remember" in each.event.message
        for each in on.events
    )


@pytest.mark.asyncio
async def test_one_that_remembers_is_told_nothing() -> None:
    async with stage() as on:
        on.session.agent.resume, on.session.runner.recap = "theirs", RECAP
        assert await asked(on) == ["Go on."]
        assert notices(on) == 0


@pytest.mark.asyncio
@pytest.mark.parametrize("ref", [None, "another"])
async def test_one_that_does_not_is_told_once_and_clients_see_what_was_asked(
    ref: str | None,
) -> None:
    async with stage() as on:
        on.session.agent.resume, on.session.runner.recap = ref, RECAP
        await asked(on)
        assert await asked(on, "And?") == [f"{RECAP}Go on.", "And?"]
        assert notices(on) == 1
        shown = [each.event.prompt for each in on.events if isinstance(each.event, TurnStarted)]
        assert shown == ["Go on.", "And?"]


@pytest.mark.asyncio
async def test_what_was_cleared_does_not_come_back_after_its_death() -> None:
    async with stage() as on:
        await asked(on)
        await on.session.clear()
        assert on.agent is not None
        on.agent.die()
        await asked(on)
        assert on.starts == [None, "theirs, cleared"]


@pytest.mark.asyncio
async def test_a_clear_between_two_agents_has_nothing_taken_up() -> None:
    async with stage() as on:
        await asked(on)
        assert on.agent is not None
        on.agent.die()
        await on.session.clear()
        await asked(on)
        assert on.starts == [None, None]


@pytest.mark.asyncio
async def test_one_that_refuses_is_started_without_and_told() -> None:
    async with stage() as on:
        on.strict = True
        on.session.agent.resume, on.session.runner.recap = "another", RECAP
        assert await asked(on) == [f"{RECAP}Go on."]
        assert notices(on) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("how", ["agentExited", "agentTimeout"])
async def test_one_that_dies_or_hangs_over_it_twice_is_started_without_and_told(
    how: Literal["agentExited", "agentTimeout"],
) -> None:
    async with stage() as on:
        on.dies_of_it = how
        on.session.agent.resume, on.session.runner.recap = "theirs", RECAP
        on.session.prompt("Go on.")
        await on.settle()
        assert on.starts == ["theirs"]
        assert await asked(on) == [f"{RECAP}Go on."]
        assert notices(on) == 1
        assert on.starts == ["theirs", "theirs", None]
        told = [each.event.message for each in on.events if isinstance(each.event, Notice)]
        assert "The agent begins a new session: it is gone" in told


@pytest.mark.asyncio
async def test_one_that_dies_over_it_once_takes_it_up_with_the_next_prompt() -> None:
    async with stage() as on:
        on.dies_of_it = "agentTimeout"
        on.session.agent.resume, on.session.runner.recap = "theirs", RECAP
        on.session.prompt("Go on.")
        await on.settle()
        on.dies_of_it = None
        assert await asked(on) == ["Go on."]
        assert on.session.agent.resumed


@pytest.mark.asyncio
async def test_after_its_death_it_takes_up_what_it_had() -> None:
    async with stage() as on:
        on.session.runner.recap = RECAP
        await asked(on)
        assert on.agent is not None
        on.agent.die()
        assert await asked(on, "Still there?") == ["Still there?"]
        assert on.session.agent.resumed


@pytest.mark.asyncio
async def test_one_that_died_before_it_was_told_is_told_when_it_runs_again() -> None:
    async with stage() as on:
        on.session.runner.recap = RECAP
        await on.session.agent.running()
        assert on.agent is not None
        on.agent.die()
        assert await asked(on) == [f"{RECAP}Go on."]


@pytest.mark.asyncio
async def test_a_start_that_fails_twice_loses_nothing_of_what_it_is_to_take_up() -> None:
    async with stage() as on:
        on.unwilling = 2
        on.session.agent.resume = "theirs"
        failed = on.session.prompt("Go on.")
        await on.settle()
        assert failed.stop_reason == "error"
        assert await asked(on) == ["Go on."]
        assert on.starts == ["theirs", None, "theirs"]
        assert not any("begins a new session" in str(each.event) for each in on.events)


@pytest.mark.asyncio
async def test_a_clear_while_an_agent_takes_the_session_up_clears_it() -> None:
    async with stage() as on, anyio.create_task_group() as requests:
        on.session.agent.resume = "theirs"
        on.let_start = anyio.Event()
        requests.start_soon(on.session.agent.running)
        await on.settle()
        requests.start_soon(on.session.clear)
        await on.settle()
        on.let_start.set()
        await on.settle()
        assert on.agent is not None
        assert on.agent.session == "theirs, cleared"
        assert on.session.agent.resume == "theirs, cleared"


@pytest.mark.asyncio
async def test_an_agent_that_does_not_clear_in_time_is_ended_and_forgets_so() -> None:
    async with stage() as on:
        await asked(on)
        assert on.agent is not None

        async def never(_command: Command, _timeout: float | None = None) -> Reply:
            raise RequestFailed("agentTimeout", "The agent did not answer Clear.")

        on.agent.request = never  # type: ignore[method-assign]
        await on.session.clear()
        await asked(on)
        assert on.starts == [None, None]


def keep(on: Stage) -> None:
    """What was said is kept from now on, as the store has it."""

    async def account() -> str:
        return RECAP

    on.session.runner.account = account


@pytest.mark.asyncio
@pytest.mark.parametrize("ref", [None, "theirs"], ids=["without a name", "refused by its name"])
async def test_one_that_cannot_take_it_up_after_its_death_is_told_what_is_kept_of_it(
    ref: str | None,
) -> None:
    async with stage() as on:
        on.remembered, on.strict = ref or "", True
        await asked(on)
        keep(on)
        assert on.agent is not None
        on.agent.die()
        on.remembered = "another" if ref else ""
        await asked(on, "And?")
        assert await asked(on, "And then?") == [f"{RECAP}And?", "And then?"]
        told = [each.event for each in on.events if isinstance(each.event, Notice)]
        assert [each.level for each in told] == ["info"]
        assert "new process" in told[0].message
        assert notices(on) == 1


@pytest.mark.asyncio
async def test_one_that_was_ended_since_it_did_not_stop_is_told_what_is_kept_of_it() -> None:
    async with stage() as on:
        on.remembered, on.obedient = "", False
        on.session.prompt("Go.")
        await on.settle()
        keep(on)
        await on.session.abort()
        await anyio.sleep(0.05)
        assert on.agent is None
        on.obedient = True
        assert await asked(on) == [f"{RECAP}Go on."]


@pytest.mark.asyncio
@pytest.mark.parametrize("again", [False, True], ids=["the next prompt", "the same again"])
async def test_one_whose_turn_failed_is_told_again(again: bool) -> None:
    async with stage() as on:
        on.session.runner.recap = RECAP
        on.session.prompt("Go on.")
        await on.settle()
        assert on.agent is not None
        on.agent.end_turn("error", "overloaded")
        await on.settle()
        if again:
            on.session.retry()
        else:
            on.session.prompt("Go on.")
        await on.settle()
        assert on.agent.prompts == [f"{RECAP}Go on."] * 2


@pytest.mark.asyncio
async def test_one_that_died_of_what_it_was_told_is_told_again() -> None:
    async with stage() as on:
        on.session.runner.recap = RECAP
        on.session.prompt("Go on.")
        await on.settle()
        assert on.agent is not None
        on.agent.die()
        await on.settle()
        assert await asked(on, "And?") == [f"{RECAP}And?"]
