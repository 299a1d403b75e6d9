"""Several wait for an agent that starts; each may stop waiting without harm to the others."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from fake_agent import Stage, stage


@asynccontextmanager
async def starting() -> AsyncGenerator[Stage]:
    """A stage whose agent starts as long as the test likes."""
    async with stage() as on:
        on.let_start = anyio.Event()
        yield on
        on.let_start.set()


@pytest.mark.asyncio
async def test_a_request_that_is_cancelled_does_not_end_the_start_for_the_prompt() -> None:
    async with starting() as on, anyio.create_task_group() as requests:
        requests.start_soon(on.session.agent.running)
        await on.settle()
        turn = on.session.prompt("Go.")
        await on.settle()
        requests.cancel_scope.cancel()
        await on.settle()
        on.let_start.set()
        await on.settle()
        assert (len(on.starts), turn.started.is_set()) == (1, True)


@pytest.mark.asyncio
async def test_a_stopped_turn_does_not_end_the_start_for_a_request() -> None:
    async with starting() as on, anyio.create_task_group() as requests:
        turn = on.session.prompt("Go.")
        await on.settle()
        requests.start_soon(on.session.agent.running)
        await on.settle()
        await on.session.abort()
        assert turn.stop_reason == "aborted"
        on.let_start.set()
        await on.settle()
        assert (len(on.starts), on.agent is not None) == (1, True)


@pytest.mark.asyncio
async def test_a_start_that_nobody_waits_for_is_given_up() -> None:
    async with starting() as on:
        async with anyio.create_task_group() as requests:
            requests.start_soon(on.session.agent.running)
            await on.settle()
            requests.cancel_scope.cancel()
        await on.settle()
        on.let_start.set()
        await on.settle()
        assert (len(on.starts), on.links) == (1, [])


@pytest.mark.asyncio
async def test_who_comes_after_a_start_was_given_up_starts_anew() -> None:
    async with starting() as on:
        turn = on.session.prompt("Go.")
        await on.settle()
        await on.session.abort()
        turn = on.session.prompt("Go now.")
        on.let_start.set()
        await on.settle()
        assert turn.started.is_set()
        assert on.agent is not None
        assert on.agent.prompts == ["Go now."]
