"""A session: one agent, its queue of turns, one turn at a time.

    starting -> idle <-> running -> closing -> closed
                  \\________________________ failed   (the next prompt starts the agent again)

Every turn ends in exactly one ``turnEnded``, whatever the agent does: ``_end`` is the only
place that appends it.
"""

import uuid
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Literal

import anyio

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import (
    AgentStatus,
    Compacted,
    Event,
    Notice,
    OptionChanged,
    QueueChanged,
    StampedEvent,
    StopReason,
    ToolCall,
    ToolResult,
    TurnEnded,
    UsageReported,
)
from lsp_agent.protocol.messages import Usage, text
from lsp_agent.protocol.methods import ImageInput
from lsp_agent.protocol.settings import Settings
from lsp_agent.sessions.agent_keeper import AgentKeeper
from lsp_agent.sessions.agent_link import AgentLink, Received
from lsp_agent.sessions.compaction import Compaction
from lsp_agent.sessions.event_log import EventLog
from lsp_agent.sessions.excerpts import Excerpt, prompt_with_context
from lsp_agent.sessions.hosting import Hosting
from lsp_agent.sessions.launcher import AgentChoice
from lsp_agent.sessions.services import Services
from lsp_agent.sessions.silence import until_silent
from lsp_agent.sessions.turn import Turn
from lsp_agent.sessions.turn_queue import TurnQueue
from lsp_agent.text.surrogates import whole
from lsp_agent.wires.wire import CompactEnded, Prompt, Steer

#: How long an agent may take to settle after a stop, before it is ended and started again.
SETTLE_SECONDS = 5.0
#: How long ``agent/abort`` waits for the agent's own account before it is answered.
ABORT_SECONDS = 0.5
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
        self.log = log or EventLog(f"s-{uuid.uuid4().hex[:12]}")
        self.id = self.log.session_id
        self.cwd = cwd
        self.choice = choice
        self.status: Status = "idle"
        self.title: str | None = None
        self.usage = Usage()
        #: Whether it goes on with an earlier one.
        self.resumed = log is not None
        #: Stands before the next prompt of an agent that has no memory of this session.
        self.recap = ""
        self._services = services
        self._queue = TurnQueue()
        self._at_work = anyio.Lock()
        self._closed = anyio.Event()
        self._turn: Turn | None = None
        self._compaction: Compaction | None = None
        self._settled = anyio.Event()
        self.hosting = Hosting(services, self, choice.agent.hosting)
        self.agent = AgentKeeper(
            services,
            choice,
            cwd,
            self.hosting,
            emit=self.emit,
            on_event=self._on_event,
            on_gone=self._on_gone,
        )

    # -- what clients ask

    def prompt(
        self,
        prompt: str,
        excerpts: Sequence[Excerpt] = (),
        images: Sequence[ImageInput] = (),
        when_busy: WhenBusy = "queue",
    ) -> Turn:
        """Accepts a prompt at once; the turn's ``wait`` tells when it has ended.

        :raises RequestFailed: "busy", "unknownSession" when closed
        """
        self._require_open()
        if self.busy and when_busy == "reject":
            message = "The agent is at work; queue the prompt or stop the running turn."
            raise RequestFailed("busy", message)
        prompt = whole(prompt)
        text = prompt_with_context(prompt, excerpts, self.hosting.served.rejections())
        turn = Turn(f"t-{uuid.uuid4().hex[:12]}", text, tuple(images))
        self.title = self.title or prompt.strip().splitlines()[0][:80]
        self._enqueue(turn)
        return turn

    async def steer(
        self, prompt: str, excerpts: Sequence[Excerpt] = (), images: Sequence[ImageInput] = ()
    ) -> Turn:
        """Hands the words to the turn that runs, and returns it; the turn of a prompt of its own
        where none runs, as while the agent starts, or it ended before they arrived.

        :raises RequestFailed: "unsupported"; "conflict" with the agent's own words
        """
        self._require_open()
        turn, link = self._sent_turn, self.agent.link
        if link is not None:  # only then is it known
            self.agent.require("steer")
        if turn is None or link is None:
            return self.prompt(prompt, excerpts, images)
        await turn.started.wait()  # before, an agent may know of no turn
        if turn.aborted or self._is_over(turn):
            return self.prompt(prompt, excerpts, images)
        reply = await link.request(Steer(prompt_with_context(prompt, excerpts), tuple(images)))
        if reply.error is None:
            return turn
        if self._is_over(turn):
            return self.prompt(prompt, excerpts, images)
        raise RequestFailed("conflict", f"The agent did not take it up: {reply.error}")

    def _is_over(self, turn: Turn) -> bool:
        """For the agent; what it changed on disk may still be brought in."""
        return turn.ended or self._settled.is_set()

    def abort(self, turn_id: str | None = None) -> Coroutine[Any, Any, bool]:
        """Ends the running turn and drops the queue, or drops one queued turn; False where
        nothing ran.

        What ends is chosen now, so a prompt that comes after this call is kept; awaiting the
        result tells when it has ended.
        """
        if turn_id is not None and (self._turn is None or self._turn.id != turn_id):
            return self._stopped(None, None, self._drop(turn_id))
        ran = self.busy
        self._drop()
        if self._turn is not None:
            self._mark_stopped(self._turn)
        return self._stopped(self._turn, self._compaction, ran)

    def cancel(self, turn: Turn) -> Coroutine[Any, Any, bool]:
        """As ``abort`` of that turn alone: what waits behind it is others'."""
        if turn is not self._turn:
            return self._stopped(None, None, self._drop(turn.id))
        self._mark_stopped(turn)
        return self._stopped(turn, None, True)

    async def _stopped(self, turn: Turn | None, compaction: Compaction | None, ran: bool) -> bool:
        if turn is not None:
            await self._stop_turn(turn)
        elif compaction is not None:
            await compaction.stop(self.agent, ABORT_SECONDS)
        return ran

    async def compact(self) -> str:
        """The summary that stands for the transcript from now on.

        :raises RequestFailed: "unsupported", or as the agent failed
        """
        self._require_open()
        self.agent.require("compact")
        compaction = Compaction()
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
            self.recap = ""

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
        runs = self._turn is not None and not self._turn.ended
        return bool(self._queue) or runs or self._compaction is not None

    @property
    def turn(self) -> Turn | None:
        """The running turn."""
        return self._turn

    def has_turn(self, turn_id: str) -> bool:
        """Whether that turn runs or waits here."""
        return turn_id in self.queued or (self._turn is not None and self._turn.id == turn_id)

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
                        await self._run_turn(turn)
                    case Compaction() as compaction:
                        await self._run_compaction(compaction)
                    case None:
                        pass  # dropped meanwhile

    async def close(self) -> None:
        """Ends the turn, the queue and the agent with everything that it started; returns when
        that is done, whoever began it."""
        if self.status in ("closing", "closed"):
            await self._closed.wait()
            return
        self.status = "closing"
        self._queue.wake()
        try:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._end_all()
        finally:
            self.status = "closed"
            self._closed.set()

    async def _end_all(self) -> None:
        turn, compaction = self._turn, self._compaction
        async with AsyncExitStack() as then:  # last first; each though one before it failed
            then.callback(self.hosting.served.clear)
            then.callback(self.hosting.close_bridge)
            if compaction is not None:
                then.callback(compaction.end, None)
            if turn is not None:
                then.callback(self._end, turn, "aborted", None)
            then.push_async_callback(self.agent.close, abort=turn is not None and turn.sent)
            if turn is not None and not turn.ended:
                then.callback(self._mark_stopped, turn)
            self._drop()

    async def _run_turn(self, turn: Turn) -> None:
        self._turn, self._settled = turn, anyio.Event()
        self._tell_queue()
        self.status = "starting"
        self.hosting.turn_begins()
        try:
            link = await self._agent_for(turn)
            self.status = "running"
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch_silence, turn, partial(self._fail, turn))
                tasks.start_soon(self._send_prompt, link, turn)
                await turn.wait()
                await self._settle(turn)
                tasks.cancel_scope.cancel()
            await self.hosting.settle()
        except RequestFailed as failure:
            self._fail(turn, failure)
        finally:
            self._fail(turn, RequestFailed("agentExited", "The session ended."))  # if it did not
            self._turn = None
            self.hosting.turn_ended()
        self._at_rest()

    async def _agent_for(self, turn: Turn) -> AgentLink:
        """One that refuses to take up the session is started without."""
        with turn.starting:
            try:
                return await self.agent.running()
            except RequestFailed as failure:
                if self.agent.resume is None or failure.kind != "notConfigured":
                    raise
                link = await self.agent.running_anew()
                if not self.recap:
                    told = f"The agent begins a new session: {failure}"
                    self.emit(Notice("warning", told, "lsp-agent"), turn.id)
                return link
        raise RequestFailed("agentExited", "The turn was stopped while the agent started.")

    def _recapped(self, turn: Turn) -> str:
        """The prompt as the agent gets it."""
        if not self.recap or self.agent.resumed:
            self.recap = ""
            return turn.prompt
        note = "The agent does not remember this session, so it is told in short what was in it."
        self.emit(Notice("info", note, "lsp-agent"), turn.id)
        turn.recap, self.recap = self.recap, ""
        return turn.recap + turn.prompt

    async def _send_prompt(self, link: AgentLink, turn: Turn) -> None:
        await self._services.settings_ready()
        if turn.aborted:
            return
        turn.sent = True
        try:
            prompt = Prompt(self._recapped(turn), turn.images)
            reply = await link.request(prompt, timeout=None)
        except RequestFailed as failure:
            self._fail(turn, failure)
            return
        if reply.error is not None:
            message = f"The agent refused the prompt: {reply.error}"
            self._fail(turn, RequestFailed("conflict", message))

    async def _settle(self, turn: Turn) -> None:
        """After an abort: waits for the agent's own end of the turn, else ends the agent."""
        if not (turn.aborted and turn.sent) or self.agent.link is None:
            return
        with anyio.move_on_after(SETTLE_SECONDS):
            await self._settled.wait()
            return
        self.emit(
            Notice("warning", "The agent did not stop; it is started again.", "lsp-agent"), None
        )
        self.emit(AgentStatus("restarting"), None)
        await self.agent.kill()

    async def _watch_silence(
        self, turn: Turn | None, fail: Callable[[RequestFailed], None]
    ) -> None:
        """Reports an agent that is silent in ``turn`` or a compaction; at the limit ``fail`` is
        called and the agent ended."""
        limit = self.settings.limits.idle_seconds

        def report() -> None:
            note = f"The agent has said nothing for {limit / 2:g} s."
            self.emit(Notice("warning", note, "lsp-agent"), turn.id if turn else None)

        await until_silent(limit, lambda: self._last_sign(turn), report)
        message = f"The agent said nothing for {limit:g} s and was ended."
        with anyio.CancelScope(shield=True):  # the end of what is watched cancels this watch
            fail(RequestFailed("agentTimeout", message))
            await self.agent.kill()

    def _last_sign(self, turn: Turn | None) -> float | None:
        """When the agent was last heard of; None while others have the word."""
        if (turn and turn.running_calls) or self._services.questions.open(self.id):
            return None
        return self.agent.link.heard_at if self.agent.link else None

    def _mark_stopped(self, turn: Turn) -> None:
        """From here on everything of the turn is refused."""
        turn.aborted = True
        self.hosting.stop()
        self._services.questions.close_turn(self.id, turn.id)

    async def _stop_turn(self, turn: Turn) -> None:
        """The rest of DESIGN's order: tell the agent, end the processes, answer."""
        link = self.agent.link
        if link is None:
            self._end(turn, "aborted", None)
            turn.starting.cancel()
            return
        if turn.sent:
            with anyio.move_on_after(0.2):
                await turn.started.wait()
            if turn.ended:  # it was refused: the next turn may run by now
                return
            await link.abort()
            with anyio.move_on_after(ABORT_SECONDS):
                await self.hosting.commands_ended()
                await self._settled.wait()
        self._end(turn, "aborted", None)

    def _fail(self, turn: Turn, failure: RequestFailed) -> None:
        """Ends a turn whose request is then answered by an error."""
        if not turn.ended:
            turn.failure = None if turn.aborted else failure
            self._end(turn, "error", str(failure))

    def _end(self, turn: Turn, stop_reason: StopReason, error: str | None) -> None:
        if turn.ended:
            return
        if turn.aborted:
            stop_reason, error = "aborted", None
        for call_id in list(turn.open_calls):
            why = "aborted" if turn.aborted else "no result"
            self._record(ToolResult(call_id, is_error=True, content=[text(why)]), turn)
        self._services.questions.close_turn(self.id, turn.id)
        self.emit(TurnEnded(stop_reason, error), turn.id)
        turn.end(stop_reason, error)

    async def _run_compaction(self, compaction: Compaction) -> None:
        self._compaction = compaction
        self.status = "running"
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch_silence, None, partial(compaction.end, None))
                await compaction.run(self.agent)
                tasks.cancel_scope.cancel()
        finally:
            compaction.end(None)  # if it has not
            self._compaction = None
        self._at_rest()

    def _at_rest(self) -> None:
        if self.status in ("starting", "running"):
            self.status = "idle" if self.agent.link is not None else "failed"

    # -- what the agent says and does

    def end_agent(self) -> None:
        """At once: it runs commands that nobody gates."""
        self._tasks.start_soon(self.agent.kill)

    def _on_event(self, event: Received) -> None:
        if isinstance(event, CompactEnded):
            if self._compaction is not None:
                self._compaction.end(event)
            return
        if isinstance(event, UsageReported):
            self.usage = event.cumulative
        turn = self._sent_turn
        if isinstance(event, (Notice, Compacted, OptionChanged)):
            self.emit(event, turn.id if turn else None)
        elif turn is None:
            return  # the agent still speaks of a turn that was ended without it
        elif isinstance(event, TurnEnded):
            self._settled.set()
            link = self.agent.link
            if link is not None and not link.alive:
                self._fail(turn, link.death())
            elif self.hosting.unsettled:
                self._tasks.start_soon(self._end_settled, turn, event)
            else:
                self._end(turn, event.stop_reason, event.error)
        elif not turn.ended:
            self._record(event, turn)

    async def _end_settled(self, turn: Turn, event: TurnEnded) -> None:
        """What the agent changed on disk is brought in first, so that the turn's result has it."""
        await self.hosting.settle()
        self._end(turn, event.stop_reason, event.error)

    @property
    def _sent_turn(self) -> Turn | None:
        """The running turn if the agent knows of it; a turn may also wait for another's end."""
        return self._turn if self._turn is not None and self._turn.sent else None

    def _record(self, event: Event, turn: Turn) -> None:
        if isinstance(event, ToolResult):
            event = self.hosting.as_meant(event)
        event = turn.without_recap(event)
        turn.take(event)
        self.emit(event, turn.id)
        if isinstance(event, (ToolCall, ToolResult)):
            self.hosting.observe(event)

    def _on_gone(self, link: AgentLink) -> None:
        if self._compaction is not None and self._compaction.sent:
            self._compaction.end(None, link.death())
        # One that is settled has ended, and what it changed may still be brought in.
        if self._sent_turn is not None and not self._settled.is_set():
            self._settled.set()
            self._fail(self._sent_turn, link.death())

    # -- small helpers

    def _enqueue(self, item: Turn | Compaction) -> None:
        self._queue.put(item)
        if self._turn is not None or len(self._queue) > 1:
            self._tell_queue()

    def _drop(self, turn_id: str | None = None) -> bool:
        """Ends that waiting turn, or all that waits."""
        dropped = self._queue.drop(turn_id)
        for item in dropped:
            if isinstance(item, Turn):
                item.aborted = True
                self._end(item, "aborted", None)
            else:
                item.end(None)
        if dropped:
            self._tell_queue()
        return bool(dropped)

    def _tell_queue(self) -> None:
        self.emit(QueueChanged(self.queued), None)

    def _require_open(self) -> None:
        if self.status in ("closing", "closed"):
            raise RequestFailed("unknownSession", "The session is closed; open a new one.")
