"""A session: one agent, its queue of turns, one turn at a time.

    starting -> idle <-> running -> closing -> closed
                  \\________________________ failed   (the next prompt starts the agent again)

What it takes from its queue is run by ``turn_runner``, what the agent says heard by
``agent_events``.
"""

import uuid
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

import anyio

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Event, QueueChanged, StampedEvent, WindowFilled
from lsp_agent.protocol.messages import Usage
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.sessions.agent.keeper import AgentKeeper
from lsp_agent.sessions.agent.launcher import AgentChoice
from lsp_agent.sessions.agent.link import AgentLink
from lsp_agent.sessions.agent_events import AgentEvents
from lsp_agent.sessions.compaction import Compaction
from lsp_agent.sessions.files.hosting import Hosting
from lsp_agent.sessions.shared.confinement import Confinement
from lsp_agent.sessions.shared.event_log import EventLog
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.sessions.stored.cut import Asked
from lsp_agent.sessions.stored.excerpts import Excerpt, prompt_with_context
from lsp_agent.sessions.stored.store import new_id
from lsp_agent.sessions.turn_queue import TurnQueue
from lsp_agent.sessions.turn_runner import TurnRunner
from lsp_agent.text.surrogates import whole
from lsp_agent.wires.wire import Steer

#: How long the end of a session may take when the server itself ends.
CLOSE_SECONDS = 3.0

Status = Literal["starting", "idle", "running", "closing", "closed", "failed"]
WhenBusy = Literal["queue", "reject"]


class Session:
    """Made by ``Sessions``; :meth:`run` is its one task."""

    def __init__(
        self, services: Services, choice: AgentChoice, cwd: str, log: EventLog | None = None
    ) -> None:
        """A new one, unless it goes on in the ``log`` of an earlier one."""
        self.log = log or EventLog(new_id())
        self.id = self.log.session_id
        self.cwd = cwd
        self.choice = choice
        self.title: str | None = None
        #: Whether it goes on with an earlier one.
        self.resumed = log is not None
        self._queue = TurnQueue()
        self._at_work = anyio.Lock()
        self._ending: Literal["closing", "closed"] | None = None
        self._closed = anyio.Event()
        self._services = services
        view = SessionView(
            self.id, cwd, self.emit, lambda: self.settings, lambda: self.turn, choice.name
        )
        self.hosting = Hosting(services, view, choice.agent.hosting, self._end_agent)
        self._events = AgentEvents(view, self.hosting, services.questions, lambda: self.agent)
        self.agent = AgentKeeper(
            services,
            choice,
            cwd,
            self.hosting,
            emit=self.emit,
            on_event=self._events.hear,
            on_gone=self._events.gone,
        )
        self.runner = TurnRunner(services, view, self.hosting, self.agent, self._events)

    # -- what clients ask

    def prompt(
        self,
        prompt: str,
        excerpts: Sequence[Excerpt] = (),
        images: Sequence[ImageInput] = (),
        when_busy: WhenBusy = "queue",
        confinement: Confinement | None = None,
        words: str | None = None,
    ) -> Turn:
        """Accepts a prompt at once; the turn's ``wait`` tells when it has ended. ``words`` are the
        person's where the prompt was made of them.

        :raises RequestFailed: "busy", "unsupported" where the agent's changes cannot be confined,
            "unknownSession" when closed
        """
        self._require_open()
        if self.busy and when_busy == "reject":
            message = "The agent is at work; queue the prompt or stop the running turn."
            raise RequestFailed("busy", message)
        if confinement is not None and not self.hosting.state.hosts_files:
            message = "The agent writes files itself, so it cannot be confined to lines."
            raise RequestFailed("unsupported", message, {"feature": "confined"})
        turn = _turn(prompt, excerpts, images, confinement, words)
        self._accept(turn)
        return turn

    def retry(self) -> Turn:
        """Accepts the prompt of the turn that failed once more, as it was sent then.

        :raises RequestFailed: "busy", "conflict" where the last turn did not fail,
            "unknownSession" when closed
        """
        self._require_open()
        if self.busy:
            raise RequestFailed("busy", "The agent is at work; stop the running turn first.")
        failed = self.runner.last
        if failed is None or failed.stop_reason != "error":
            raise RequestFailed("conflict", "The last turn did not fail; prompt the agent instead.")
        turn = Turn(_turn_id(), failed.prompt, failed.words, failed.images, failed.confinement)
        self._enqueue(turn)
        return turn

    def steer(
        self, prompt: str, excerpts: Sequence[Excerpt] = (), images: Sequence[ImageInput] = ()
    ) -> Coroutine[Any, Any, Turn]:
        """Hands the words to the turn that runs, and returns it; the turn of a prompt of its own
        where none runs, as while the agent starts, or it ended before they arrived.

        What they are for is chosen now, so a stop that comes after this call drops them where the
        turn has not taken them up: theirs is a turn that ends as one that waited.

        :raises RequestFailed: "unsupported"; "conflict" with the agent's own words
        """
        self._require_open()
        running, link = self._events.sent_turn, self.agent.link
        if link is not None:  # only then is it known
            self.agent.require("steer")
        own = _turn(prompt, excerpts, images)
        if link is None or running is None or running.aborted or self._events.is_over(running):
            self._accept(own)
            return _at_once(own)
        return self._steer(running, link, own)

    async def _steer(self, running: Turn, link: AgentLink, own: Turn) -> Turn:
        """``own`` is what the words become where they are too late."""
        await running.started.wait()  # before, an agent may know of no turn
        if not (running.aborted or self._events.is_over(running)):
            text = await self.hosting.covering.covered(own.prompt, "the prompt")
            reply = await link.request(Steer(text, own.images))
            if reply.error is None:
                return running
            if not (running.aborted or self._events.is_over(running)):
                raise RequestFailed("conflict", f"The agent did not take it up: {reply.error}")
        if running.aborted:
            self._end_dropped(own)
        else:
            self._require_open()
            self._accept(own)
        return own

    def abort(self, turn_id: str | None = None) -> Coroutine[Any, Any, bool]:
        """Ends the running turn and drops the queue, or drops one queued turn; False where
        nothing ran.

        What ends is chosen now, so a prompt that comes after this call is kept; awaiting the
        result tells when it has ended.
        """
        turn = self.turn
        if turn_id is not None and (turn is None or turn.id != turn_id):
            return self._stopped(None, None, self._drop(turn_id))
        ran = self.busy
        self._drop()
        if turn is not None:
            self.runner.mark_stopped(turn)
        return self._stopped(turn, self._events.compaction, ran)

    def cancel(self, turn: Turn) -> Coroutine[Any, Any, bool]:
        """As ``abort`` of that turn alone: what waits behind it is others'."""
        if turn is not self.turn:
            return self._stopped(None, None, self._drop(turn.id))
        self.runner.mark_stopped(turn)
        return self._stopped(turn, None, True)

    async def _stopped(self, turn: Turn | None, compaction: Compaction | None, ran: bool) -> bool:
        await self.runner.stop(turn, compaction)
        return ran

    async def compact(self, instructions: str = "") -> str:
        """The summary that stands for the transcript from now on; ``instructions`` say what it is
        to keep.

        :raises RequestFailed: "unsupported", or as the agent failed
        """
        self._require_open()
        self.agent.require("compact")
        if instructions:
            self.agent.require("compactInstructions")
        compaction = Compaction(instructions)
        self._enqueue(compaction)
        return await compaction.summary()

    async def clear(self) -> None:
        """Drops the transcript. :raises RequestFailed: "busy", "unsupported\""""
        self._require_open()
        self.agent.require("clear")
        if self.busy:
            raise RequestFailed("busy", "The agent is at work; stop it before clearing.")
        async with self._at_work:  # a prompt that comes meanwhile waits
            await self.agent.clear()
            self.hosting.served.clear()
            self.runner.recap, self.runner.last = "", None
            self._events.window.forget()

    async def go_on_from(self, recap: str, left: Asked) -> None:
        """Before the prompt ``left``, with an agent that is told no more than ``recap``; while
        it is at rest."""
        self.resumed = True  # not all that was said was said to this agent
        await self.agent.leave()
        self.hosting.served.clear()
        self.runner.recap, self.runner.last = recap, None
        self._events.window.forget()
        if not recap and self.title == _title(left.words):
            self.title = None  # the next prompt gives it one

    @asynccontextmanager
    async def at_rest(self) -> AsyncGenerator[None]:
        """While it is held no turn begins; a prompt waits. :raises RequestFailed: "busy\""""
        if self.busy:
            raise RequestFailed("busy", "The agent is at work; stop it first.")
        async with self._at_work:
            yield

    @property
    def busy(self) -> bool:
        """Whether there is something to stop. A turn that has ended may still hold the next one
        back for a moment."""
        runs = self.turn is not None and not self.turn.ended
        return bool(self._queue) or runs or self._events.compaction is not None

    @property
    def status(self) -> Status:
        return self._ending or self.runner.status

    @property
    def usage(self) -> Usage:
        return self._events.usage

    @property
    def window(self) -> WindowFilled | None:
        """How full the model's window is, where that is known."""
        return self._events.window.filled

    @property
    def turn(self) -> Turn | None:
        """The running turn."""
        return self._events.turn

    def has_turn(self, turn_id: str) -> bool:
        """Whether that turn runs or waits here."""
        return turn_id in self.queued or (self.turn is not None and self.turn.id == turn_id)

    @property
    def queued(self) -> tuple[str, ...]:
        return self._queue.turn_ids

    @property
    def settings(self) -> Settings:
        return self._services.settings(self.cwd)

    @property
    def capabilities(self) -> dict[str, bool]:
        return {**self.agent.capabilities, "reviewBefore": self.hosting.can_review_before}

    def emit(self, event: Event, turn_id: str | None) -> StampedEvent:
        return self.log.append(event, turn_id)

    # -- its one task

    async def run(self) -> None:
        """Works until :meth:`close`; nothing that happens to one turn ends it."""
        try:
            async with anyio.create_task_group() as self._tasks:
                self.agent.live_in(self._tasks)
                self._events.live_in(self._tasks)
                await self._work()
                await self.close()  # it needs the tasks that read from the agent
                self._tasks.cancel_scope.cancel()
        finally:
            await self.close()

    async def _work(self) -> None:
        while self.status not in ("closing", "closed"):
            if not self._queue:
                await self._queue.wait()
                continue
            async with self._at_work:
                match self._queue.take():
                    case Turn() as turn:
                        self._tell_queue()
                        await self.runner.run_turn(turn)
                    case Compaction() as compaction:
                        await self.runner.run_compaction(compaction)
                    case None:
                        pass  # dropped meanwhile

    async def close(self) -> None:
        """Ends the turn, the queue and the agent with everything that it started; returns when
        that is done, whoever began it."""
        if self.status in ("closing", "closed"):
            await self._closed.wait()
            return
        self._ending = "closing"
        self._queue.wake()
        try:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._end_all()
        finally:
            self._ending = "closed"
            self._closed.set()

    async def _end_all(self) -> None:
        turn, compaction = self.turn, self._events.compaction
        async with AsyncExitStack() as then:  # last first; each though one before it failed
            then.callback(self.hosting.served.clear)
            then.callback(self.hosting.bridged.close)
            if compaction is not None:
                then.callback(compaction.end, None)
            if turn is not None:
                then.callback(self._events.end, turn, "aborted", None)
            then.push_async_callback(self.agent.close, abort=turn is not None and turn.sent)
            if turn is not None and not turn.ended:
                then.callback(self.runner.mark_stopped, turn)
            self._drop()

    # -- small helpers

    def _end_agent(self) -> None:
        """At once: it runs commands that nobody gates."""
        self._tasks.start_soon(self.agent.kill)

    def _accept(self, turn: Turn) -> None:
        self.title = self.title or _title(turn.words)
        self._enqueue(turn)

    def _enqueue(self, item: Turn | Compaction) -> None:
        self._queue.put(item)
        if self.turn is not None or len(self._queue) > 1:
            self._tell_queue()

    def _drop(self, turn_id: str | None = None) -> bool:
        """Ends that waiting turn, or all that waits."""
        dropped = self._queue.drop(turn_id)
        for item in dropped:
            if isinstance(item, Turn):
                self._end_dropped(item)
            else:
                item.end(None)
        if dropped:
            self._tell_queue()
        return bool(dropped)

    def _end_dropped(self, turn: Turn) -> None:
        turn.aborted = True
        self._events.end(turn, "aborted", None)

    def _tell_queue(self) -> None:
        self.emit(QueueChanged(self.queued), None)

    def _require_open(self) -> None:
        if self.status in ("closing", "closed"):
            raise RequestFailed("unknownSession", "The session is closed; open a new one.")


async def _at_once(turn: Turn) -> Turn:
    return turn


def _turn(
    prompt: str,
    excerpts: Sequence[Excerpt],
    images: Sequence[ImageInput],
    confinement: Confinement | None = None,
    words: str | None = None,
) -> Turn:
    prompt, words = whole(prompt), whole(prompt if words is None else words)
    text = prompt_with_context(prompt, excerpts, confinement.note if confinement else "")
    return Turn(_turn_id(), text, words, tuple(images), confinement)


def _title(prompt: str) -> str:
    return "".join(prompt.strip().splitlines()[:1])[:80]


def _turn_id() -> str:
    return f"t-{uuid.uuid4().hex[:12]}"
