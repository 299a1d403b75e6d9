"""The state machine of turns and their queue, under any order of what can happen."""

import asyncio
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import anyio
import pytest
from fake_agent import Stage, stage
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import TurnStarted
from lsp_agent.sessions.files.hosting import Hosting
from lsp_agent.sessions.sessions import Sessions
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.sessions.stored.store import SessionStore
from lsp_agent.wires.wire import CompactEnded

Happening = Literal[
    "prompt", "prompt", "stop", "stop one", "compact", "agent ends", "agent fails",
    "agent dies", "compacted", "tick", "settle", "stubborn", "obedient",
]  # fmt: skip
HAPPENINGS = st.lists(
    st.tuples(st.sampled_from(sorted(set(Happening.__args__))), st.integers(0, 3)), max_size=25
)


class Course:
    """Carries out happenings on a stage, and keeps what was asked for."""

    def __init__(self, on: Stage) -> None:
        self._on = on
        self.turns: list[Turn] = []
        self.asked: set[asyncio.Task[object]] = set()

    async def happen(self, what: str, number: int) -> None:  # noqa: PLR0912 - a table
        session, agent = self._on.session, self._on.agent
        match what:
            case "prompt":
                self.turns.append(session.prompt(f"prompt {len(self.turns)}"))
            case "stop":
                self._ask(session.abort())
            case "stop one" if self.turns:
                self._ask(session.abort(self.turns[-1 - number % len(self.turns)].id))
            case "compact":
                self._ask(session.compact())
            case "agent ends" if agent:
                agent.end_turn("endTurn")
            case "agent fails" if agent:
                agent.end_turn("error", "overloaded")
            case "agent dies" if agent:
                agent.die()
            case "compacted" if agent:
                agent.end_compaction(CompactEnded("summary"))
            case "stubborn" | "obedient":
                self._on.obedient = what == "obedient"
                for link in self._on.links:
                    link.obedient = self._on.obedient
            case "settle":
                await self._on.settle()
            case _:
                pass
        for _ in range(number):
            await asyncio.sleep(0)

    async def come_to_rest(self) -> None:
        """The agent ends all that it is given, until nothing is left to do."""
        with anyio.fail_after(5):
            while self._on.session.busy or not all(task.done() for task in self.asked):
                if agent := self._on.agent:
                    agent.end_turn("endTurn")
                    agent.end_compaction(CompactEnded("summary"))
                await asyncio.sleep(0.0005)

    def _ask(self, what: object) -> None:
        self.asked.add(asyncio.ensure_future(what))  # type: ignore[arg-type]


@settings(max_examples=100)
@given(HAPPENINGS)
def test_every_turn_ends_exactly_once_and_in_order(happenings: list[tuple[str, int]]) -> None:
    async def play() -> None:
        async with stage() as on:
            course = Course(on)
            for what, number in happenings:
                await course.happen(what, number)
            await course.come_to_rest()
            ends = on.ends()
            assert sorted(turn for turn, _ in ends) == sorted(turn.id for turn in course.turns)
            assert dict(ends) == {turn.id: turn.stop_reason for turn in course.turns}
            numbers = [stamped.seq for stamped in on.events]
            assert numbers == list(range(1, len(numbers) + 1))
            assert_turns_do_not_overlap(on)
            prompts = [prompt for link in on.links for prompt in link.prompts]
            assert prompts == sorted(prompts, key=lambda text: int(text.split()[1]))
            for task in course.asked:
                assert task.exception() is None or isinstance(task.exception(), RequestFailed)
            assert on.session.queued == ()
            async with on.session.at_rest():
                assert on.session.status in ("idle", "failed")
            last = on.session.prompt("prompt 99")
            await on.settle()
            assert on.agent
            on.agent.end_turn("endTurn")
            await last.wait()
            assert last.stop_reason == "endTurn"

    anyio.run(play)


def assert_turns_do_not_overlap(on: Stage) -> None:
    running: str | None = None
    for stamped in on.events:
        if isinstance(stamped.event, TurnStarted):
            assert running is None
            running = stamped.turn_id
        elif stamped.turn_id == running and type(stamped.event).__name__ == "TurnEnded":
            running = None


@settings(max_examples=50)
@given(HAPPENINGS)
def test_closing_ends_every_turn_whatever_went_before(happenings: list[tuple[str, int]]) -> None:
    async def play() -> None:
        async with stage() as on:
            course = Course(on)
            for what, number in happenings:
                await course.happen(what, number)
            with anyio.fail_after(5):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(on.session.close)
                    tasks.start_soon(on.session.close)
                await asyncio.gather(*course.asked, return_exceptions=True)
            assert on.session.status == "closed"
            assert on.agent is None
            assert all(turn.ended for turn in course.turns)
            assert len(on.ends()) == len(course.turns)
            for task in course.asked:
                assert task.exception() is None or isinstance(task.exception(), RequestFailed)

    anyio.run(play)


def test_a_defect_ends_the_running_turn_all_the_same() -> None:
    async def play() -> None:
        async with stage() as on:
            turn = on.session.prompt("prompt 0")
            await on.settle()
            queued = on.session.prompt("prompt 1")
            on.session._tasks.cancel_scope.cancel()  # as an exception in one of its tasks does
            with anyio.fail_after(5):
                await turn.wait()
                await queued.wait()
            await on.session.close()
            assert on.session.status == "closed"
            assert on.agent is None
            assert len(on.ends()) == 2

    anyio.run(play)


@pytest.mark.asyncio
@pytest.mark.parametrize("defect", ["drop", "stop", "abort", "end"])
async def test_a_defect_at_the_close_keeps_nothing_from_being_ended(
    monkeypatch: pytest.MonkeyPatch, defect: str
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    async with stage() as made:
        session = made.session
        turn = session.prompt("go")
        await made.settle()
        (link,) = made.links
        broken = {
            "drop": (session, "_drop"),
            "stop": (session.hosting, "stop"),
            "abort": (link, "abort"),
            "end": (session._events, "end"),
        }
        with monkeypatch.context() as patch:
            patch.setattr(*broken[defect], fail)
            with pytest.raises(ZeroDivisionError):
                await session.close()
        assert not link.alive
        assert session.status == "closed"
        assert turn.ended or defect == "end"
        turn.end("aborted", None)


@pytest.mark.asyncio
async def test_a_session_that_cannot_be_closed_keeps_no_other_from_it(tmp_path: Path) -> None:
    closed: list[str] = []

    class Other:
        id = "s-other"

        async def close(self) -> None:
            await asyncio.sleep(0)
            closed.append(self.id)

    class Broken(Other):
        id = "s-broken"

        async def close(self) -> None:
            raise ZeroDivisionError

    services: Any = SimpleNamespace(
        ledger=SimpleNamespace(subscribe=closed.append),
        edits=SimpleNamespace(on_rejected=closed.append),
    )
    sessions = Sessions(services, lambda _: None, SessionStore(str(tmp_path), str))
    closed.clear()
    for each in (Broken(), Other()):
        sessions._sessions[each.id] = cast(Any, each)
        recorder = SimpleNamespace(close=partial(closed.append, f"recorder of {each.id}"))
        sessions._recorders[each.id] = cast(Any, recorder)
    await sessions.close_all()
    assert closed == ["recorder of s-broken", "s-other", "recorder of s-other"]


@pytest.mark.asyncio
async def test_an_agent_that_ends_after_its_turn_does_not_fail_what_is_still_brought_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with stage() as made:
        turn = made.session.prompt("go")
        await made.settle()
        brought_in = anyio.Event()
        monkeypatch.setattr(Hosting, "unsettled", True)
        monkeypatch.setattr(made.session.hosting, "settle", brought_in.wait)
        made.links[0].end_turn("endTurn")
        made.links[0].die()
        brought_in.set()
        await made.settle()
        assert (turn.stop_reason, turn.failure) == ("endTurn", None)
