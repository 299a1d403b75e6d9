"""What the person rejected goes to the agent with a prompt that reaches it, and once."""

import pytest
from fake_agent import Stage, stage

from lsp_agent.wires.wire import Command, Reply

TOLD = "\n\n[Note from the editor]\nThe user rejected your change of a.txt: keep it."


def reject(on: Stage) -> None:
    on.session.hosting.served.tell_rejected("a.txt", "keep it")


async def ended(on: Stage) -> list[str]:
    """The prompts of the last agent, once it has ended its turn."""
    await on.settle()
    assert on.agent is not None
    on.agent.end_turn("endTurn")
    await on.settle()
    return on.agent.prompts


@pytest.mark.asyncio
async def test_it_goes_with_the_next_prompt_alone() -> None:
    async with stage() as on:
        reject(on)
        on.session.prompt("Go.")
        await ended(on)
        on.session.prompt("Go on.")
        assert await ended(on) == [f"Go.{TOLD}", "Go on."]


@pytest.mark.asyncio
async def test_a_prompt_that_waits_is_told_what_was_rejected_meanwhile() -> None:
    async with stage() as on:
        on.session.prompt("Go.")
        await on.settle()
        on.session.prompt("Go on.")
        reject(on)
        await ended(on)
        assert await ended(on) == ["Go.", f"Go on.{TOLD}"]


@pytest.mark.asyncio
async def test_a_prompt_that_is_dropped_from_the_queue_takes_nothing_with_it() -> None:
    async with stage() as on:
        on.session.prompt("Go.")
        await on.settle()
        reject(on)
        await on.session.cancel(on.session.prompt("Never."))
        on.session.prompt("Go on.")
        await ended(on)
        assert await ended(on) == ["Go.", f"Go on.{TOLD}"]


@pytest.mark.asyncio
async def test_a_prompt_whose_agent_does_not_start_takes_nothing_with_it() -> None:
    async with stage() as on:
        on.unwilling = 1
        reject(on)
        on.session.prompt("Go.")
        await on.settle()
        on.session.prompt("Go on.")
        assert await ended(on) == [f"Go on.{TOLD}"]


@pytest.mark.asyncio
async def test_a_prompt_that_is_stopped_while_it_is_looked_through_takes_nothing_with_it() -> None:
    async with stage() as on:
        reject(on)
        covering = on.session.hosting.covering

        async def stopped(text: str, _what: str) -> str:
            assert on.session.turn is not None
            on.session.runner.mark_stopped(on.session.turn)
            on.session.turn.end("aborted", None)
            return text

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(covering, "covered", stopped)
            on.session.prompt("Never.")
            await on.settle()
        on.session.prompt("Go on.")
        assert await ended(on) == [f"Go on.{TOLD}"]


@pytest.mark.asyncio
@pytest.mark.parametrize("again", [False, True])
async def test_a_prompt_that_is_refused_has_it_told_with_the_next_or_the_same(again: bool) -> None:
    async with stage() as on:
        await on.session.agent.running()
        reject(on)
        (link,) = on.links

        async def refuse(command: Command, timeout: float | None = None) -> Reply:
            link.request = link.__class__.request.__get__(link)  # type: ignore[method-assign]
            return Reply("r", error="not now")

        link.request = refuse  # type: ignore[method-assign]
        on.session.prompt("Go.")
        await on.settle()
        if again:
            on.session.retry()
        else:
            on.session.prompt("Go.")
        assert await ended(on) == [f"Go.{TOLD}"]
