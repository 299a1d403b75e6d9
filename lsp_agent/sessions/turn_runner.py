"""Runs what a session's agent is to do: one turn or one compaction at a time, until it has ended or
was stopped."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Literal

import anyio

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import AgentStatus, Notice
from lsp_agent.sessions.agent.idle_limit import answers_ping, until_silent
from lsp_agent.sessions.agent.keeper import AgentKeeper
from lsp_agent.sessions.agent.link import AgentLink
from lsp_agent.sessions.agent_events import AgentEvents
from lsp_agent.sessions.compaction import Compaction
from lsp_agent.sessions.files.hosting import Hosting
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.sessions.stored.excerpts import prompt_with_context
from lsp_agent.wires.wire import Prompt

#: How long an agent may take to settle after a stop, before it is ended and started again.
SETTLE_SECONDS = 5.0
#: How long ``agent/abort`` waits for the agent's own account before it is answered.
ABORT_SECONDS = 0.5

#: What a start fails by if the second one does as well: the agent may die of what it is to take up,
#: or hang over it. Once may be the machine's.
_NOT_TAKEN_UP = ("agentExited", "agentTimeout")

_TOLD = "so it is told in short what was in it."
_FORGETS = f"The agent does not remember this session, {_TOLD}"
_FORGETS_ANEW = f"The agent runs in a new process, which does not remember this session, {_TOLD}"


class TurnRunner:
    """Of one session, whose one task calls ``run_turn`` and ``run_compaction``; the stops come
    from others."""

    def __init__(
        self,
        services: Services,
        session: SessionView,
        hosting: Hosting,
        agent: AgentKeeper,
        events: AgentEvents,
    ) -> None:
        self.status: Literal["idle", "starting", "running", "failed"] = "idle"
        #: Stands before the next prompt of an agent that has no memory of this session.
        self.recap = ""
        #: Makes that of what is kept of the session; "" where nothing was said.
        self.account: Callable[[], Awaitable[str]] = _nothing_kept
        #: The turn that was begun last.
        self.last: Turn | None = None
        self._services = services
        self._session = session
        self._hosting = hosting
        self._agent = agent
        self._events = events
        #: The process that was prompted last.
        self._prompted: AgentLink | None = None

    async def run_turn(self, turn: Turn) -> None:
        self.last = turn
        self._events.turn, self._events.settled = turn, anyio.Event()
        self.status = "starting"
        self._hosting.turn_begins()
        try:
            link = await self._agent_for(turn)
            self.status = "running"
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch_silence, turn, partial(self._events.fail, turn))
                tasks.start_soon(self._send_prompt, link, turn)
                await turn.wait()
                await self._settle(turn)
                tasks.cancel_scope.cancel()
            await self._hosting.settle()
        except RequestFailed as failure:
            self._events.fail(turn, failure)
        finally:
            self._events.fail(
                turn, RequestFailed("agentExited", "The session ended.")
            )  # if it did not
            self._take_back(turn)
            self._events.turn = None
            self._hosting.turn_ended()
        self._at_rest()

    def _take_back(self, turn: Turn) -> None:
        """What an agent may not have read goes with the next prompt."""
        if turn.sent and turn.stop_reason != "error":
            return
        self._hosting.served.reject_again(turn.rejected)
        if turn.recap:
            self.recap, self._agent.untold = turn.recap, True

    async def run_compaction(self, compaction: Compaction) -> None:
        self._events.compaction = compaction
        self.status = "running"
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch_silence, None, partial(compaction.end, None))
                await compaction.run(self._agent)
                tasks.cancel_scope.cancel()
        finally:
            compaction.end(None)  # if it has not
            self._events.compaction = None
        self._at_rest()

    def _at_rest(self) -> None:
        if self.status in ("starting", "running"):
            self.status = "idle" if self._agent.link is not None else "failed"

    def mark_stopped(self, turn: Turn) -> None:
        """From here on everything of the turn is refused. The agent hears of it first."""
        turn.aborted = True
        if turn.started.is_set():
            self._tell_to_stop(turn)
        self._hosting.stop()
        self._services.questions.close_turn(self._session.id, turn.id)

    async def stop(self, turn: Turn | None, compaction: Compaction | None) -> None:
        """Until that turn, which is marked already, or that compaction has ended."""
        if turn is not None:
            await self._stop_turn(turn)
        elif compaction is not None:
            await compaction.stop(self._agent, ABORT_SECONDS)

    async def _stop_turn(self, turn: Turn) -> None:
        """The rest of the order in docs/architecture.md: end the processes, wait for the agent."""
        link = self._agent.link
        if link is None:
            self._events.end(turn, "aborted", None)
            turn.starting.cancel()
            return
        if turn.sent:
            with anyio.move_on_after(0.2):
                await turn.started.wait()
            if turn.ended:  # it was refused: the next turn may run by now
                return
            if not turn.told_to_stop:
                self._tell_to_stop(turn)
            await link.end_commands()
            with anyio.move_on_after(ABORT_SECONDS):
                await self._hosting.commands_ended()
                await self._events.settled.wait()
        self._events.end(turn, "aborted", None)

    def _tell_to_stop(self, turn: Turn) -> None:
        if (link := self._agent.link) is not None:
            turn.told_to_stop = True
            link.tell_to_stop()

    async def _agent_for(self, turn: Turn) -> AgentLink:
        """One that refuses to take up the session, or dies or hangs over it for the second time, is
        started without: the next prompt would meet the same."""
        with turn.starting:
            refusal: RequestFailed | None = None
            try:
                link = await self._agent.running()
            except RequestFailed as failure:
                again = failure.kind in _NOT_TAKEN_UP and self._agent.failed_starts > 1
                refused = failure.kind == "notConfigured" or again
                if self._agent.resume is None or not refused:
                    raise
                link, refusal = await self._agent.running_anew(), failure
            if link is not self._prompted and not self._agent.resumed:
                self.recap = await self.account() or self.recap
            if refusal is not None and (refusal.kind in _NOT_TAKEN_UP or not self.recap):
                told = f"The agent begins a new session: {refusal}"
                self._session.emit(Notice("warning", told, "lsp-agent"), turn.id)
            return link
        raise RequestFailed("agentExited", "The turn was stopped while the agent started.")

    def _recapped(self, link: AgentLink, turn: Turn, text: str) -> str:
        """The prompt ``text`` as the agent gets it. What is kept of the session has no secrets."""
        former, self._prompted = self._prompted, link
        self._agent.untold = False
        if not self.recap or self._agent.resumed:
            self.recap = ""
            return text
        note = _FORGETS if former in (None, link) else _FORGETS_ANEW
        self._session.emit(Notice("info", note, "lsp-agent"), turn.id)
        turn.recap, self.recap = self.recap, ""
        return turn.recap + text

    async def _send_prompt(self, link: AgentLink, turn: Turn) -> None:
        await self._services.settings_ready()
        if turn.aborted:
            return
        turn.rejected = self._hosting.served.rejections()
        text = prompt_with_context(turn.prompt, (), turn.rejected)
        text = await self._hosting.covering.covered(text, "the prompt")
        if self._agent.background:
            await link.keep_background()
        if turn.aborted:
            return
        turn.sent = True
        try:
            prompt = Prompt(self._recapped(link, turn, text), turn.images)
            reply = await link.request(prompt, timeout=None)
        except RequestFailed as failure:
            self._events.fail(turn, failure)
            return
        if reply.error is not None:
            message = f"The agent refused the prompt: {reply.error}"
            self._events.fail(turn, RequestFailed("conflict", message))

    async def _settle(self, turn: Turn) -> None:
        """After an abort: waits for the agent's own end of the turn, else ends the agent."""
        if not (turn.aborted and turn.sent) or self._agent.link is None:
            return
        with anyio.move_on_after(SETTLE_SECONDS):
            await self._events.settled.wait()
            return
        self._session.emit(
            Notice("warning", "The agent did not stop; it is started again.", "lsp-agent"), None
        )
        self._session.emit(AgentStatus("restarting"), None)
        await self._agent.kill()

    async def _watch_silence(
        self, turn: Turn | None, fail: Callable[[RequestFailed], None]
    ) -> None:
        """Reports an agent that is silent in ``turn`` or a compaction; at the limit, or where it
        does not answer, ``fail`` is called and the agent ended."""
        limit = self._session.settings.limits.idle_seconds

        def report() -> None:
            note = f"The agent has said nothing for {limit / 2:g} s."
            self._session.emit(Notice("warning", note, "lsp-agent"), turn.id if turn else None)

        why = await until_silent(
            limit,
            lambda: self._last_sign(turn),
            report,
            lambda: answers_ping(self._agent.link),
        )
        message = f"The agent said nothing for {limit:g} s and was ended."
        if why == "hung":
            message = "The agent hung: it did not answer when asked, and was ended."
        with anyio.CancelScope(shield=True):  # the end of what is watched cancels this watch
            fail(RequestFailed("agentTimeout", message))
            await self._agent.kill()

    def _last_sign(self, turn: Turn | None) -> float | None:
        """When the agent was last heard of; None while others have the word."""
        if (turn and turn.running_calls) or self._services.questions.open(self._session.id):
            return None
        return self._agent.link.heard_at if self._agent.link else None


async def _nothing_kept() -> str:
    return ""
