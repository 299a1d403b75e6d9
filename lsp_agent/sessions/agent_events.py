"""What a session's agent says, and what becomes of the turn or the compaction that it is about.

Every turn ends in exactly one ``turnEnded``, whatever the agent does: ``end`` is the only place
that emits it.
"""

from collections.abc import Callable

import anyio
from anyio.abc import TaskGroup

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import (
    BackgroundCommand,
    Compacted,
    Event,
    StopReason,
    ToolCall,
    ToolResult,
    TurnEnded,
    UsageReported,
    WindowFilled,
)
from lsp_agent.protocol.messages import Usage, text
from lsp_agent.sessions.agent.keeper import AgentKeeper
from lsp_agent.sessions.agent.link import AgentLink, Received
from lsp_agent.sessions.compaction import Compaction
from lsp_agent.sessions.files.hosting import Hosting
from lsp_agent.sessions.shared.questions import Questions
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.sessions.window import ModelWindow
from lsp_agent.wires.wire import CompactEnded


class AgentEvents:
    """Of one session. ``turn`` and ``compaction`` are what runs; whoever runs it sets them."""

    def __init__(
        self,
        session: SessionView,
        hosting: Hosting,
        questions: Questions,
        keeper: Callable[[], AgentKeeper],
    ) -> None:
        self.window = ModelWindow(session.emit, keeper)
        self.turn: Turn | None = None
        self.compaction: Compaction | None = None
        #: Set once the agent is done with the turn.
        self.settled = anyio.Event()
        self.usage = Usage()
        self._session = session
        self._hosting = hosting
        self._questions = questions
        self._keeper = keeper
        self._tasks: TaskGroup | None = None

    def live_in(self, tasks: TaskGroup) -> None:
        self._tasks = tasks

    @property
    def sent_turn(self) -> Turn | None:
        """The running turn if the agent knows of it; a turn may also wait for another's end."""
        return self.turn if self.turn is not None and self.turn.sent else None

    def is_over(self, turn: Turn) -> bool:
        """For the agent; what it changed on disk may still be brought in."""
        return turn.ended or self.settled.is_set()

    def hear(self, event: Received) -> None:
        if isinstance(event, CompactEnded):
            if self.compaction is not None:
                self.compaction.end(event)
            return
        if isinstance(event, UsageReported):
            self.usage = event.cumulative
        if isinstance(event, Compacted):
            self.window.forget()
        turn = self.sent_turn
        if isinstance(event, WindowFilled):
            assert self._tasks is not None
            self.window.hear(event, turn, self.settled, self._tasks)
        elif event.beside_turns:
            self._session.emit(event, turn.id if turn else None)
            if isinstance(event, BackgroundCommand):
                self._hosting.observe(event)
        elif turn is None:
            return  # the agent still speaks of a turn that was ended without it
        elif isinstance(event, TurnEnded):
            self._ended(turn, event)
        elif not turn.ended:
            self._record(event, turn)

    def gone(self, link: AgentLink) -> None:
        """The agent has ended, and nobody wanted it to."""
        if self.compaction is not None and self.compaction.sent:
            self.compaction.end(None, link.death())
        # One that is settled has ended, and what it changed may still be brought in.
        if self.sent_turn is not None and not self.settled.is_set():
            self.settled.set()
            self.fail(self.sent_turn, link.death())

    def fail(self, turn: Turn, failure: RequestFailed) -> None:
        """Ends a turn whose request is then answered by an error."""
        if not turn.ended:
            turn.failure = None if turn.aborted else failure
            self.end(turn, "error", str(failure))

    def end(self, turn: Turn, stop_reason: StopReason, error: str | None) -> None:
        if turn.ended:
            return
        if turn.aborted:
            stop_reason, error = "aborted", None
        for call_id in list(turn.open_calls):
            why = "aborted" if turn.aborted else "no result"
            self._record(ToolResult(call_id, is_error=True, content=[text(why)]), turn)
        self._questions.close_turn(self._session.id, turn.id)
        self._session.emit(TurnEnded(stop_reason, error, turn.usage or None), turn.id)
        turn.end(stop_reason, error)

    def _ended(self, turn: Turn, event: TurnEnded) -> None:
        self.settled.set()
        link = self._keeper().link
        if link is not None and not link.alive:
            self.fail(turn, link.death())
        elif self._hosting.unsettled:
            assert self._tasks is not None
            self._tasks.start_soon(self._end_settled, turn, event)
        else:
            self.end(turn, event.stop_reason, event.error)

    async def _end_settled(self, turn: Turn, event: TurnEnded) -> None:
        """What the agent changed on disk is brought in first, so that the turn's result has it."""
        await self._hosting.settle()
        self.end(turn, event.stop_reason, event.error)

    def _record(self, event: Event, turn: Turn) -> None:
        if isinstance(event, ToolResult):
            event = self._hosting.bridged.as_meant(event)
        event = turn.without_recap(event)
        turn.take(event)
        self._session.emit(event, turn.id)
        if isinstance(event, (ToolCall, ToolResult)):
            self._hosting.observe(event)
