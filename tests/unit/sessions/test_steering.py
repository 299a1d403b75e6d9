"""Words for the turn that runs."""

import asyncio

import anyio
import pytest
from fake_agent import Stage, stage

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.sessions.files.hosting import Hosting
from lsp_agent.wires.wire import Command, Reply, Steer


async def running(made: Stage) -> list[str]:
    """A turn that runs, of an agent that takes such words; what it was told is listed."""
    made.session.prompt("go")
    await made.settle()
    (link,) = made.links
    link.wire.capabilities = {**link.wire.capabilities, "steer": True}
    told: list[str] = []
    request = link.request

    async def note(command: Command, timeout: float | None = None) -> Reply:
        if isinstance(command, Steer):
            told.append(command.text)
        return await request(command, timeout)

    link.request = note  # type: ignore[method-assign]
    return told


@pytest.mark.asyncio
async def test_the_running_turn_takes_them() -> None:
    async with stage() as made:
        told = await running(made)
        turn = await made.session.steer("and quickly")
        assert turn is made.session.turn
        assert told == ["and quickly"]
        assert made.links[0].prompts == ["go"]


@pytest.mark.asyncio
async def test_where_none_runs_they_are_a_prompt() -> None:
    async with stage() as made:
        await running(made)
        made.links[0].end_turn("endTurn")
        await made.settle()
        turn = await made.session.steer("and now this")
        await made.settle()
        assert turn is made.session.turn
        assert made.links[0].prompts == ["go", "and now this"]


@pytest.mark.asyncio
async def test_words_that_come_too_late_are_a_prompt() -> None:
    async with stage() as made:
        await running(made)
        (link,) = made.links

        async def late(command: Command, timeout: float | None = None) -> Reply:
            link.request = link.__class__.request.__get__(link)  # type: ignore[method-assign]
            link.end_turn("endTurn")
            return Reply("r", error="nothing runs")

        link.request = late  # type: ignore[method-assign]
        turn = await made.session.steer("too late")
        await made.settle()
        assert turn is made.session.turn
        assert link.prompts == ["go", "too late"]


@pytest.mark.asyncio
async def test_they_wait_for_a_turn_that_was_sent_and_has_not_begun() -> None:
    async with stage() as made:
        made.begin = False
        told = await running(made)
        async with anyio.create_task_group() as requests:
            requests.start_soon(made.session.steer, "and quickly")
            await made.settle()
            assert told == []
            made.links[0].begin_turn()
            await made.settle()
            assert told == ["and quickly"]


@pytest.mark.asyncio
async def test_those_for_a_turn_that_never_begins_are_a_prompt() -> None:
    async with stage() as made:
        made.begin = False
        told = await running(made)
        async with anyio.create_task_group() as requests:
            requests.start_soon(made.session.steer, "and now this")
            await made.settle()
            made.begin = True
            made.links[0].die()
        await made.settle()
        assert told == []
        assert made.links[1].prompts == ["and now this"]


@pytest.mark.asyncio
async def test_words_while_the_turns_changes_are_brought_in_are_a_prompt() -> None:
    async with stage() as made:
        told = await running(made)
        brought_in = anyio.Event()
        hosting = made.session.hosting
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Hosting, "unsettled", True)
            patch.setattr(hosting, "settle", brought_in.wait)
            made.links[0].end_turn("endTurn")
            await made.settle()
            turn = await made.session.steer("and now this")
            brought_in.set()
            await made.settle()
        assert told == []
        assert turn is made.session.turn
        assert made.links[0].prompts == ["go", "and now this"]


@pytest.mark.asyncio
async def test_the_end_of_the_agent_before_is_not_that_of_the_turn_that_waited_for_it() -> None:
    async with stage() as made:
        made.session.prompt("go")
        await made.settle()
        former = made.links[0]
        former.end_turn("endTurn")
        await made.settle()
        former.alive = False  # it is being ended

        async def ended() -> None:
            former.alive = True
            former.die()

        former.ended = ended  # type: ignore[method-assign]
        turn = made.session.prompt("go on")
        await made.settle()
        assert made.links[1].prompts == ["go on"]
        agent = made.links[1]
        agent.wire.capabilities = {**agent.wire.capabilities, "steer": True}
        assert await made.session.steer("and quickly") is turn


@pytest.mark.asyncio
async def test_an_agent_that_refuses_them_is_quoted() -> None:
    async with stage() as made:
        await running(made)

        async def refuse(command: Command, timeout: float | None = None) -> Reply:
            return Reply("r", error="not now")

        made.links[0].request = refuse  # type: ignore[method-assign]
        with pytest.raises(RequestFailed, match="not now") as refused:
            await made.session.steer("and quickly")
        assert refused.value.kind == "conflict"


@pytest.mark.asyncio
async def test_an_agent_that_has_no_such_thing_is_named() -> None:
    async with stage() as made:
        made.session.prompt("go")
        await made.settle()
        with pytest.raises(RequestFailed, match="puppet") as refused:
            await made.session.steer("and quickly")
        assert refused.value.kind == "unsupported"


@pytest.mark.asyncio
@pytest.mark.parametrize("after", [0, 1, 2, 60], ids=["at once", "soon", "later", "at rest"])
async def test_words_that_a_stop_overtakes_begin_no_turn_and_are_told_as_dropped(
    after: int,
) -> None:
    async with stage() as made:
        made.begin = False  # so that they wait
        told = await running(made)
        steering = asyncio.ensure_future(made.session.steer("and quickly"))
        for _ in range(after):
            await asyncio.sleep(0)
        assert await made.session.abort()
        turn = await steering
        made.begin = True
        made.links[0].end_turn("aborted")
        await made.settle()
        assert turn.stop_reason == "aborted"
        assert (turn.id, "aborted") in made.ends()
        assert told == []
        assert made.links[0].prompts == ["go"]
        assert not made.session.busy


@pytest.mark.asyncio
async def test_words_for_a_start_that_is_stopped_begin_no_turn() -> None:
    async with stage() as made:
        made.let_start = anyio.Event()
        made.session.prompt("go")
        await made.settle()
        steering = asyncio.ensure_future(made.session.steer("and quickly"))  # not begun yet
        assert await made.session.abort()
        made.let_start.set()
        turn = await steering
        await made.settle()
        assert turn.stop_reason == "aborted"
        assert not any(link.prompts for link in made.links)


@pytest.mark.asyncio
async def test_words_that_the_agent_refuses_since_it_was_stopped_are_dropped() -> None:
    async with stage() as made:
        await running(made)
        (link,) = made.links

        async def late(command: Command, timeout: float | None = None) -> Reply:
            link.request = link.__class__.request.__get__(link)  # type: ignore[method-assign]
            await made.session.abort()
            return Reply("r", error="nothing runs")

        link.request = late  # type: ignore[method-assign]
        turn = await made.session.steer("too late")
        await made.settle()
        assert turn.stop_reason == "aborted"
        assert link.prompts == ["go"]


@pytest.mark.asyncio
async def test_words_that_come_after_a_stop_are_a_prompt() -> None:
    async with stage() as made:
        made.obedient = False
        told = await running(made)
        stopping = asyncio.ensure_future(made.session.abort())
        await asyncio.sleep(0)
        turn = await made.session.steer("and now this")
        made.links[0].end_turn("aborted")
        assert await stopping
        await made.settle()
        assert turn is made.session.turn
        assert told == []
        assert made.links[0].prompts == ["go", "and now this"]
