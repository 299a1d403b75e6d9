"""A session whose agent is a puppet: what it says and when it dies is up to the test."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, Literal, cast

import anyio
import pytest

from lsp_agent.agents.process import Exit
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import StampedEvent, StopReason, TurnEnded, TurnStarted
from lsp_agent.protocol.questions import CANNOT_ASK, NotAsked
from lsp_agent.protocol.settings.settings import AgentSettings, PermissionSettings, Settings
from lsp_agent.sessions import turn_runner as module
from lsp_agent.sessions.agent import keeper as agent_keeper
from lsp_agent.sessions.agent.launcher import AgentChoice
from lsp_agent.sessions.agent.link import Callbacks
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.shared.covers import Covers
from lsp_agent.sessions.shared.questions import Questions
from lsp_agent.wires.wire import Clear, Command, CompactEnded, Prompt, Reply
from lsp_agent.wires.zot.wire import ZotWire


class FakeLink:
    """Stands for ``AgentLink``. ``obedient``: an abort ends the turn; else only death does."""

    def __init__(
        self,
        on_event: Callable[..., None],
        on_gone: Callable[..., None],
        begins: Callable[[], bool] = lambda: True,
    ) -> None:
        self.wire = ZotWire()
        self.alive = True
        self.was_ended = False
        self.session: str | None = None
        self.obedient = True
        self.prompts: list[str] = []
        self.running = False
        self.compacting = False
        #: Whether a prompt begins its turn at once.
        self.begins = begins
        self._on_event = on_event
        self._on_gone = on_gone

    @property
    def heard_at(self) -> float:
        return anyio.current_time()

    async def request(self, command: Command, timeout: float | None = None) -> Reply:
        await asyncio.sleep(0)
        if not self.alive:
            raise self.death()
        if isinstance(command, Prompt):
            assert not self.running, "a prompt in the middle of another turn"
            assert not self.compacting, "a prompt in the middle of a compaction"
            self.prompts.append(command.text)
            self.running = True
            if self.begins():
                self.begin_turn()
        if isinstance(command, Clear):
            self.session = f"{self.session}, cleared"
        return Reply("r", {"sessionRef": self.session} if self.session else {})

    async def send(self, command: Command) -> str:
        await asyncio.sleep(0)
        if not self.alive:
            raise self.death()
        if type(command).__name__ == "Compact":
            assert not self.running, "a compaction in the middle of a turn"
            self.compacting = True
        elif self.compacting:
            self.end_compaction(CompactEnded(None))
        return "r"

    def end_compaction(self, outcome: CompactEnded) -> None:
        if self.compacting:
            self.compacting = False
            self._on_event(outcome)

    def tell_to_stop(self) -> None:
        if self.obedient:
            asyncio.get_running_loop().call_soon(self.end_turn, "aborted")

    async def end_commands(self) -> None:
        await asyncio.sleep(0)

    async def abort(self) -> None:
        self.tell_to_stop()
        await self.end_commands()

    def begin_turn(self) -> None:
        self._on_event(TurnStarted(self.prompts[-1]))

    def end_turn(self, reason: StopReason, error: str | None = None) -> None:
        if self.running:
            self.running = False
            self._on_event(TurnEnded(reason, error))

    def die(self) -> None:
        if self.alive:
            self.alive = False
            self.end_turn("error", "died")
            self._on_gone(self, Exit(1, "died"))

    async def stop(self, grace: float = 1) -> None:
        self.was_ended = True
        await asyncio.sleep(0)
        self.die()

    async def kill(self) -> None:
        await self.stop(0)

    async def ended(self) -> None:
        await asyncio.sleep(0)

    def death(self) -> RequestFailed:
        return RequestFailed("agentExited", "died")


class Stage:
    """``events`` is the session's log; ``links`` are the agents that it started so far."""

    def __init__(self) -> None:
        self.session: Session
        self.events: list[StampedEvent] = []
        self.links: list[FakeLink] = []
        self.obedient = True
        self.begin = True
        #: The session that agents remember; ``strict`` ones refuse to start for another.
        self.remembered = "theirs"
        self.strict = False
        #: How a start fails that is to take up a session.
        self.dies_of_it: Literal["agentExited", "agentTimeout"] | None = None
        #: How many more starts are refused, whatever they are to take up.
        self.unwilling = 0
        #: What each start was asked to take up; none is over before ``let_start`` is set.
        self.starts: list[str | None] = []
        self.let_start = anyio.Event()
        self.let_start.set()

    @property
    def agent(self) -> FakeLink | None:
        """The living agent."""
        return next((link for link in self.links if link.alive), None)

    async def settle(self) -> None:
        """Lets everything go on that need not wait."""
        for _ in range(60):
            await asyncio.sleep(0)

    def ends(self) -> list[tuple[str | None, str]]:
        return [
            (stamped.turn_id, stamped.event.stop_reason)
            for stamped in self.events
            if isinstance(stamped.event, TurnEnded)
        ]


@asynccontextmanager
async def stage() -> AsyncIterator[Stage]:
    """A running session; the time that an agent gets for a stop is short."""
    made = Stage()

    async def start_agent(
        _choice: Any,
        _cwd: Any,
        _hosting: Any,
        _tasks: Any,
        callbacks: Callbacks,
        *,
        resume: str | None,
        **_rest: Any,
    ) -> tuple[FakeLink, Reply]:
        made.starts.append(resume)
        await asyncio.sleep(0)
        await made.let_start.wait()
        if made.unwilling:
            made.unwilling -= 1
            raise RequestFailed("notConfigured", "it is not logged in")
        if made.dies_of_it and resume is not None:
            raise RequestFailed(made.dies_of_it, "it is gone")
        if made.strict and resume not in (None, made.remembered):
            raise RequestFailed("notConfigured", "there is no such session")
        link = FakeLink(callbacks.on_event, cast(Any, callbacks.on_gone), lambda: made.begin)
        link.obedient, link.session = made.obedient, made.remembered
        made.links.append(link)
        return link, Reply("r", {"sessionRef": made.remembered} if made.remembered else {})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agent_keeper, "start_agent", start_agent)
        patch.setattr(module, "ABORT_SECONDS", 0.002)
        patch.setattr(module, "SETTLE_SECONDS", 0.004)
        async with anyio.create_task_group() as tasks:
            # To cover takes a thread, whose end virtual time does not wait for.
            settings = Settings(permissions=PermissionSettings(secrets="show"))
            services: Any = SimpleNamespace(
                questions=Questions(tasks, _nobody), settings=lambda _cwd: settings, host=None,
                drain=None, confinement=None, settings_ready=_at_once,
                diagnostics=None, documents=None, covers=Covers(list),
            )  # fmt: skip
            choice = AgentChoice("puppet", AgentSettings(wire="zot", command=["none"]))
            made.session = Session(services, choice, "/project")
            made.session.log.subscribe(made.events.append)
            tasks.start_soon(made.session.run)
            yield made
            await made.session.close()
            tasks.cancel_scope.cancel()


async def _at_once() -> None: ...


async def _nobody(_question: object) -> NotAsked:
    return CANNOT_ASK
