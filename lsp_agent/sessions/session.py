"""A session: one agent, its queue of turns, one turn at a time.

    starting -> idle <-> running -> closing -> closed
                  \\________________________ failed   (the next prompt starts the agent again)

Every turn ends in exactly one ``turnEnded``, whatever the agent does: ``_end`` is the only
place that appends it.
"""

import uuid
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, Literal

import anyio

from lsp_agent.agents.process import Exit
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import (
    AgentStatus,
    Compacted,
    Event,
    Notice,
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
from lsp_agent.sessions.agent_link import AgentLink, Received
from lsp_agent.sessions.event_log import EventLog
from lsp_agent.sessions.excerpts import Excerpt, prompt_with_context
from lsp_agent.sessions.hosting import Hosting
from lsp_agent.sessions.launcher import AgentChoice, start_agent
from lsp_agent.sessions.services import Services
from lsp_agent.sessions.turn import Turn
from lsp_agent.wires.wire import (
    Abort,
    Clear,
    Command,
    Compact,
    CompactEnded,
    GetMessages,
    GetModels,
    GetState,
    Prompt,
    SetModel,
)

#: How long an agent may take to settle after a stop, before it is ended and started again.
SETTLE_SECONDS = 5.0
#: How long ``agent/abort`` waits for the agent's own account before it is answered.
ABORT_SECONDS = 0.5
#: How long an agent may take to say its state, before the last known one is told.
STATE_SECONDS = 1.0
#: How long the end of a session may take when the server itself ends.
CLOSE_SECONDS = 3.0

Status = Literal["starting", "idle", "running", "closing", "closed", "failed"]
WhenBusy = Literal["queue", "steer", "reject"]


class Compaction:
    """A request to compact, which waits its turn as a prompt does."""

    def __init__(self) -> None:
        self.sent = False
        self.ended = anyio.Event()
        self.outcome: CompactEnded | None = None
        self.failure: RequestFailed | None = None

    def end(self, outcome: CompactEnded | None, failure: RequestFailed | None = None) -> None:
        self.outcome, self.failure = outcome, failure
        self.ended.set()


class Session:
    """Made by ``Sessions``; :meth:`run` is its one task."""

    def __init__(self, services: Services, choice: AgentChoice, cwd: str) -> None:
        self.id = f"s-{uuid.uuid4().hex[:12]}"
        self.cwd = cwd
        self.choice = choice
        self.log = EventLog(self.id)
        self.status: Status = "idle"
        self.title: str | None = None
        self.usage = Usage()
        self._services = services
        self._link: AgentLink | None = None
        self._queue: deque[Turn | Compaction] = deque()
        self._wake = anyio.Event()
        self._running = anyio.Event()
        self._closed = anyio.Event()
        self._starting = anyio.Lock()
        self._turn: Turn | None = None
        self._compaction: Compaction | None = None
        self._settled = anyio.Event()
        self._start_scope = anyio.CancelScope()
        self._agent_state: dict[str, object] = {}
        self.hosting = Hosting(services, self, choice.agent.hosting)

    # -- what clients ask

    def prompt(
        self,
        prompt: str,
        excerpts: Sequence[Excerpt] = (),
        images: Sequence[ImageInput] = (),
        when_busy: WhenBusy = "queue",
    ) -> Turn:
        """Accepts a prompt at once; the turn's ``wait`` tells when it has ended.

        :raises RequestFailed: "busy", "unsupported" (steering), "unknownSession" when closed
        """
        self._require_open()
        if self.busy and when_busy != "queue":
            self._refuse_when_busy(when_busy)
        turn = Turn(
            f"t-{uuid.uuid4().hex[:12]}", prompt_with_context(prompt, excerpts), tuple(images)
        )
        self.title = self.title or prompt.strip().splitlines()[0][:80]
        self._enqueue(turn)
        return turn

    def abort(self, turn_id: str | None = None) -> Coroutine[Any, Any, bool]:
        """Ends the running turn and drops the queue, or drops one queued turn; False where
        nothing ran.

        What ends is chosen now, so a prompt that comes after this call is kept; awaiting the
        result tells when it has ended.
        """
        if turn_id is not None and (self._turn is None or self._turn.id != turn_id):
            named = [item for item in self._queue if isinstance(item, Turn) and item.id == turn_id]
            self._drop(*named)
            return self._stopped(None, None, bool(named))
        ran = self.busy
        self._drop(*self._queue)
        if self._turn is not None:
            self._mark_stopped(self._turn)
        return self._stopped(self._turn, self._compaction, ran)

    async def _stopped(self, turn: Turn | None, compaction: Compaction | None, ran: bool) -> bool:
        if turn is not None:
            await self._stop_turn(turn)
        elif compaction is not None:
            await self._stop_compaction(compaction)
        return ran

    async def compact(self) -> str:
        """The summary that stands for the transcript from now on.

        :raises RequestFailed: "unsupported", or as the agent failed
        """
        self._require_open()
        self._require("compact")
        compaction = Compaction()
        self._enqueue(compaction)
        await compaction.ended.wait()
        if compaction.failure is not None:
            raise compaction.failure
        outcome = compaction.outcome
        if outcome is None or outcome.summary is None:
            reason = outcome.error if outcome and outcome.error else "it was stopped"
            raise RequestFailed("conflict", f"The transcript was not compacted: {reason}.")
        return outcome.summary

    async def clear(self) -> None:
        """Drops the transcript. :raises RequestFailed: "busy", "unsupported\""""
        self._require_open()
        self._require("clear")
        if self.busy:
            raise RequestFailed("busy", "The agent is at work; stop it before clearing.")
        if self._link is not None:
            await self._ask(Clear())
            self.hosting.served.clear()

    async def messages(self) -> object:
        return (await self._ask(GetMessages())).get("messages", []) if self._link else []

    async def models(self) -> dict[str, object]:
        self._require("models")
        await self._agent()
        models = (await self._ask(GetModels())).get("models", [])
        await self.refresh()
        return {"models": models, "current": self._agent_state.get("model")}

    async def set_model(self, model: str) -> None:
        """:raises RequestFailed: "unknownModel", "unsupported\""""
        self._require("setModel")
        link = await self._agent()
        reply = await link.request(SetModel(model))
        if reply.error is not None:
            raise RequestFailed("unknownModel", reply.error, {"model": model})
        await self.refresh()

    async def refresh(self) -> dict[str, object]:
        """The agent's own state as it says it now, or as it said it last."""
        if self._link is not None and self._link.alive:
            with suppress(RequestFailed):
                reply = await self._link.request(GetState(), STATE_SECONDS)
                self._agent_state |= reply.data
        return self._agent_state

    @property
    def busy(self) -> bool:
        return bool(self._queue) or self._turn is not None or self._compaction is not None

    @property
    def turn(self) -> Turn | None:
        """The running turn."""
        return self._turn

    def has_turn(self, turn_id: str) -> bool:
        """Whether that turn runs or waits here."""
        return turn_id in self.queued or (self._turn is not None and self._turn.id == turn_id)

    @property
    def queued(self) -> tuple[str, ...]:
        return tuple(item.id for item in self._queue if isinstance(item, Turn))

    @property
    def settings(self) -> Settings:
        return self._services.settings(self.cwd)

    @property
    def capabilities(self) -> dict[str, bool]:
        wire = self._link.wire if self._link else self.choice.wire()
        return dict(wire.capabilities)

    def emit(self, event: Event, turn_id: str | None) -> StampedEvent:
        return self.log.append(event, turn_id)

    # -- its one task

    async def run(self) -> None:
        """Works until :meth:`close`; nothing that happens to one turn ends it."""
        try:
            async with anyio.create_task_group() as self._tasks:
                self._running.set()
                await self._work()
                await self.close()  # it needs the tasks that read from the agent
                self._tasks.cancel_scope.cancel()
        finally:
            await self.close()

    async def _work(self) -> None:
        while self.status not in ("closing", "closed"):
            if not self._queue:
                self._wake = anyio.Event()
                await self._wake.wait()
                continue
            item = self._queue.popleft()
            if isinstance(item, Turn):
                await self._run_turn(item)
            else:
                await self._run_compaction(item)

    async def close(self) -> None:
        """Ends the turn, the queue and the agent with everything that it started; returns when
        that is done, whoever began it."""
        if self.status in ("closing", "closed"):
            await self._closed.wait()
            return
        self.status = "closing"
        self._wake.set()
        try:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._end_all()
        finally:
            self.status = "closed"
            self._closed.set()

    async def _end_all(self) -> None:
        self._drop(*self._queue)
        if self._turn is not None and not self._turn.ended:
            self._mark_stopped(self._turn)
        self._start_scope.cancel()
        async with self._starting:
            link, self._link = self._link, None
        if link is not None:
            if self._turn is not None and self._turn.sent:
                await link.abort()
            await link.stop()
        if self._turn is not None:
            self._end(self._turn, "aborted", None)
        if self._compaction is not None and not self._compaction.ended.is_set():
            self._compaction.end(None)
        self.hosting.close_bridge()

    async def _run_turn(self, turn: Turn) -> None:
        self._turn, self._settled = turn, anyio.Event()
        self._tell_queue()
        self.status = "running"
        self.hosting.turn_begins()
        try:
            link = await self._agent()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch_silence, turn)
                tasks.start_soon(self._send_prompt, link, turn)
                await turn.wait()
                await self._settle(turn)
                tasks.cancel_scope.cancel()
        except RequestFailed as failure:
            self._fail(turn, failure)
        finally:
            self._fail(turn, RequestFailed("agentExited", "The session ended."))  # if it did not
            self._turn = None
            self.hosting.turn_ended()
        if self.status == "running":
            self.status = "idle" if self._link is not None else "failed"

    async def _send_prompt(self, link: AgentLink, turn: Turn) -> None:
        if turn.aborted:
            return
        turn.sent = True
        try:
            reply = await link.request(Prompt(turn.prompt, turn.images), timeout=None)
        except RequestFailed as failure:
            self._fail(turn, failure)
            return
        if reply.error is not None:
            message = f"The agent refused the prompt: {reply.error}"
            self._fail(turn, RequestFailed("conflict", message))

    async def _settle(self, turn: Turn) -> None:
        """After an abort: waits for the agent's own end of the turn, else ends the agent."""
        if not (turn.aborted and turn.sent) or self._link is None:
            return
        with anyio.move_on_after(SETTLE_SECONDS):
            await self._settled.wait()
            return
        self.emit(
            Notice("warning", "The agent did not stop; it is started again.", "lsp-agent"), None
        )
        self.emit(AgentStatus("restarting"), None)
        await self._kill_agent()

    async def _watch_silence(self, turn: Turn) -> None:
        """Reports a silent agent at half of the limit, and ends it at the limit."""
        limit = self.settings.limits.idle_seconds
        reported = False
        last = anyio.current_time()
        while not turn.ended:
            await anyio.sleep(min(1.0, limit / 10))
            now = anyio.current_time()
            if turn.open_calls or self._services.questions.open(self.id):
                last = now
            heard = max(last, self._link.heard_at if self._link else last)
            if now - heard >= limit:
                message = f"The agent said nothing for {limit:g} s and was ended."
                self._fail(turn, RequestFailed("agentTimeout", message))
                with anyio.CancelScope(shield=True):  # the turn's end cancels this watch
                    await self._kill_agent()
            elif now - heard >= limit / 2 and not reported:
                reported = True
                note = f"The agent has said nothing for {limit / 2:g} s."
                self.emit(Notice("warning", note, "lsp-agent"), turn.id)
            elif now - heard < limit / 2:
                reported = False

    def _mark_stopped(self, turn: Turn) -> None:
        """From here on everything of the turn is refused."""
        turn.aborted = True
        self.hosting.stop()
        self._services.questions.close_turn(self.id, turn.id)

    async def _stop_turn(self, turn: Turn) -> None:
        """The rest of DESIGN's order: tell the agent, end the processes, answer."""
        link = self._link
        if link is None:
            self._end(turn, "aborted", None)
            self._start_scope.cancel()
            return
        if turn.sent:
            with anyio.move_on_after(0.2):
                await turn.started.wait()
            await link.abort()
            with anyio.move_on_after(ABORT_SECONDS):
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

    # -- compaction

    async def _run_compaction(self, compaction: Compaction) -> None:
        self._compaction = compaction
        self.status = "running"
        try:
            link = await self._agent()
            if not compaction.ended.is_set():
                compaction.sent = True
                await link.send(Compact())
                await compaction.ended.wait()
        except RequestFailed as failure:
            compaction.end(None, failure)
        finally:
            self._compaction = None
        if self.status == "running":
            self.status = "idle" if self._link is not None else "failed"

    async def _stop_compaction(self, compaction: Compaction) -> None:
        if self._link is not None:
            with anyio.move_on_after(ABORT_SECONDS), suppress(RequestFailed):
                await self._link.send(Abort())
                while not compaction.ended.is_set():
                    await self.refresh()
                    await anyio.sleep(0.02)
        else:
            self._start_scope.cancel()
        if not compaction.ended.is_set():
            compaction.end(None)

    # -- the agent

    async def _agent(self) -> AgentLink:
        """The running agent, started if need be.

        :raises RequestFailed: "agentNotFound", "agentExited", "agentTimeout", "notConfigured",
            "unknownSession" when closed
        """
        await self._running.wait()
        async with self._starting:
            self._require_open()
            if self._link is not None and not self._link.alive:
                await self._link.ended()
                self._link = None
            if self._link is None:
                await self._start_agent()
            if self._link is None:
                raise RequestFailed("agentExited", "The start of the agent was stopped.")
            return self._link

    async def _start_agent(self) -> None:
        self.emit(AgentStatus("starting"), None)
        with anyio.CancelScope() as self._start_scope:
            link, hello = await start_agent(
                self.choice,
                self.cwd,
                self.hosting,
                self._tasks,
                drain=self._services.drain,
                line_bytes=self.settings.limits.line_bytes,
                on_event=self._on_event,
                on_gone=self._on_gone,
            )
            self._link, self._agent_state = link, dict(hello.data)
            self.emit(AgentStatus("ready"), None)

    def lost_bridge(self) -> None:
        """Without its bridge the agent would run commands ungated: it is ended at once."""
        message = "The agent lost its connection to the editor and was ended."
        self.emit(Notice("error", message, "lsp-agent"), self._turn.id if self._turn else None)
        self._tasks.start_soon(self._kill_agent)

    async def _kill_agent(self) -> None:
        if self._link is not None:
            await self._link.kill()

    async def _ask(self, command: Command) -> dict[str, object]:
        link = await self._agent()
        reply = await link.request(command)
        if reply.error is not None:
            raise RequestFailed("conflict", reply.error)
        return dict(reply.data)

    def _on_event(self, event: Received) -> None:
        if isinstance(event, CompactEnded):
            if self._compaction is not None and not self._compaction.ended.is_set():
                self._compaction.end(event)
            return
        if isinstance(event, UsageReported):
            self.usage = event.cumulative
        turn = self._sent_turn
        if isinstance(event, (Notice, Compacted)):
            self.emit(event, turn.id if turn else None)
        elif turn is None:
            return  # the agent still speaks of a turn that was ended without it
        elif isinstance(event, TurnEnded):
            self._settled.set()
            if self._link is not None and not self._link.alive:
                self._fail(turn, self._link.death())
            else:
                self._end(turn, event.stop_reason, event.error)
        elif not turn.ended:
            self._record(event, turn)

    @property
    def _sent_turn(self) -> Turn | None:
        """The running turn if the agent knows of it; a turn may also wait for another's end."""
        return self._turn if self._turn is not None and self._turn.sent else None

    def _record(self, event: Event, turn: Turn) -> None:
        turn.take(event)
        self.emit(event, turn.id)
        if isinstance(event, (ToolCall, ToolResult)):
            self.hosting.observe(event)

    def _on_gone(self, link: AgentLink, exit_: Exit) -> None:
        self.emit(AgentStatus("exited", exit_.stderr.strip() or None), None)
        if self._link is not link:
            return  # its start, or the session's close, tells of it
        self._link = None
        self._settled.set()
        self.hosting.close_bridge()
        compaction, turn = self._compaction, self._sent_turn
        if compaction is not None and compaction.sent and not compaction.ended.is_set():
            compaction.end(None, link.death())
        if turn is not None:
            self._fail(turn, link.death())

    # -- small helpers

    def _enqueue(self, item: Turn | Compaction) -> None:
        self._queue.append(item)
        if self._turn is not None or len(self._queue) > 1:
            self._tell_queue()
        self._wake.set()

    def _drop(self, *items: Turn | Compaction) -> None:
        for item in items:
            self._queue.remove(item)
            if isinstance(item, Turn):
                item.aborted = True
                self._end(item, "aborted", None)
            else:
                item.end(None)
        if items:
            self._tell_queue()

    def _tell_queue(self) -> None:
        self.emit(QueueChanged(self.queued), None)

    def _require_open(self) -> None:
        if self.status in ("closing", "closed"):
            raise RequestFailed("unknownSession", "The session is closed; open a new one.")

    def _require(self, feature: str) -> None:
        if not self.capabilities.get(feature, False):
            raise RequestFailed(
                "unsupported",
                f"The agent {self.choice.name} cannot do this ({feature}).",
                {"feature": feature, "agent": self.choice.name},
            )

    def _refuse_when_busy(self, when_busy: WhenBusy) -> None:
        if when_busy == "steer":
            self._require("steer")
        raise RequestFailed(
            "busy", "The agent is at work; queue the prompt or stop the running turn."
        )
