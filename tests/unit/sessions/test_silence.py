"""How a silent agent is told from one that hangs, in virtual time."""

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from fake_agent import FakeLink, stage
from support.scripted_editor import VirtualClock, run

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.sessions.agent.idle_limit import ASK_SECONDS, answers_ping, until_silent
from lsp_agent.sessions.agent.link import REPLY_SECONDS, AgentLink, Callbacks
from lsp_agent.sessions.session import Session
from lsp_agent.wires.acp.wire import AcpWire
from lsp_agent.wires.wire import Command, GetState, Ping, Prompt, Reply
from lsp_agent.wires.zot.wire import ZotWire

LIMIT = 600.0


class Watch:
    """A watch over an agent: ``sign`` is what it was last heard by, ``asked`` when it was asked,
    ``reports`` when its silence was reported."""

    def __init__(self, *, answers: bool = True) -> None:
        self.sign: float | None = 0.0
        self.asked: list[float] = []
        self.reports: list[float] = []
        self._answers = answers

    async def ask(self) -> bool:
        self.asked.append(round(anyio.current_time()))
        if not self._answers:
            await anyio.sleep(REPLY_SECONDS)
        return self._answers

    async def end(self, limit: float = LIMIT) -> tuple[str, float]:
        why = await until_silent(
            limit,
            lambda: self.sign,
            lambda: self.reports.append(round(anyio.current_time())),
            self.ask,
        )
        return why, round(anyio.current_time())


def test_one_that_answers_has_all_of_the_limit_and_is_asked_again_and_again() -> None:
    watch = Watch()

    async def main(_clock: VirtualClock) -> tuple[str, float]:
        return await watch.end()

    assert run(main) == ("silent", 600)
    assert watch.asked == list(range(30, 600, 30))
    assert watch.reports == [300]


def test_one_that_does_not_answer_hangs() -> None:
    watch = Watch(answers=False)

    async def main(_clock: VirtualClock) -> tuple[str, float]:
        return await watch.end()

    assert run(main) == ("hung", ASK_SECONDS + REPLY_SECONDS)
    assert watch.reports == []


@pytest.mark.parametrize("word", ["a frame", "a tool runs"])
def test_one_that_speaks_while_it_is_asked_does_not_hang(word: str) -> None:
    watch = Watch(answers=False)

    async def main(_clock: VirtualClock) -> tuple[str, float]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak)
            return await watch.end()

    async def speak() -> None:
        await anyio.sleep(ASK_SECONDS + 5)
        watch.sign = anyio.current_time() if word == "a frame" else None
        await anyio.sleep(20)
        watch.sign = watch.sign or anyio.current_time()

    why, when = run(main)
    assert why == "hung"
    assert when > 2 * ASK_SECONDS + REPLY_SECONDS


def test_one_that_has_not_the_word_is_not_asked() -> None:
    watch = Watch(answers=False)
    watch.sign = None

    async def main(_clock: VirtualClock) -> None:
        with anyio.move_on_after(3600):
            await watch.end()

    run(main)
    assert watch.asked == []


def test_one_that_speaks_now_and_then_is_not_asked() -> None:
    watch = Watch(answers=False)

    async def speak() -> None:
        while True:
            watch.sign = anyio.current_time()
            await anyio.sleep(ASK_SECONDS - 5)

    async def main(_clock: VirtualClock) -> None:
        with anyio.move_on_after(3600):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(speak)
                await watch.end()

    run(main)
    assert watch.asked == []


# The agent


class HungLink(FakeLink):
    """It has begun its turn and says nothing more, to nobody."""

    @property
    def heard_at(self) -> float:
        return 0.0

    async def request(self, command: Command, timeout: float | None = None) -> Reply:
        if isinstance(command, Ping):
            await anyio.sleep(timeout or 0)
            raise RequestFailed("agentTimeout", "no answer")
        return await super().request(command, timeout)


def test_the_turn_of_one_that_hangs_ends_within_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fake_agent.FakeLink", HungLink)

    async def main(clock: VirtualClock) -> None:
        async with stage() as made:
            began = clock.now
            with pytest.raises(RequestFailed, match="did not answer when asked") as failed:
                await prompted(made.session)
            assert failed.value.kind == "agentTimeout"
            assert clock.now - began < 60
            await made.settle()
            assert made.agent is None

    async def prompted(session: Session) -> None:
        turn = session.prompt("Go.")
        await turn.wait()
        assert turn.failure is not None
        raise turn.failure

    run(main)


@pytest.mark.parametrize(("kind", "is_there"), [("agentTimeout", False), ("agentExited", True)])
def test_one_that_has_ended_is_none_that_hangs(kind: Any, is_there: bool) -> None:
    async def request(_command: Command, _timeout: float) -> Reply:
        raise RequestFailed(kind, "")

    link = SimpleNamespace(wire=ZotWire(), request=request)
    assert asyncio.run(answers_ping(cast(Any, link))) is is_there


def test_one_whose_wire_has_no_ping_is_not_asked() -> None:
    assert asyncio.run(answers_ping(cast(Any, SimpleNamespace(wire=AcpWire()))))
    assert asyncio.run(answers_ping(None))


def test_an_answer_to_us_is_no_sign_of_what_the_agent_is_at() -> None:
    answer: Any = {"type": "response", "success": True, "data": {}}
    delta = {"type": "text_delta", "delta": "Hm"}

    async def heard(clock: VirtualClock, *frames: object) -> float:
        async def batches() -> AsyncIterator[list[object]]:
            clock.now = 100.0
            yield list(frames)

        async def drain() -> None: ...

        wire = ZotWire()
        for request_id, command in (("p", Prompt("Go.")), ("a", Ping()), ("b", GetState())):
            wire.encode(request_id, command)
        wire.decode([answer | {"id": "p"}])
        ignore = cast(Any, lambda *_: None)
        callbacks = Callbacks(ignore, ignore, ignore, drain)
        process = cast(Any, SimpleNamespace(batches=batches))
        link = AgentLink(process, wire, None, cast(Any, None), callbacks)
        await link._hear()
        return link.heard_at

    pong, state = answer | {"id": "a"}, answer | {"id": "b"}
    assert run(lambda clock: heard(clock, pong)) == 0
    assert run(lambda clock: heard(clock, pong, state)) == 0
    assert run(lambda clock: heard(clock, pong, delta)) == 100
    assert run(lambda clock: heard(clock, {"type": "unknown"})) == 100
