"""How full the window of a session's model is: told with each model call, and once before it is so
full that agents summarize the conversation by themselves."""

from collections.abc import Callable
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup

from lsp_agent.protocol.events import Event, Notice, WindowFilled
from lsp_agent.sessions.agent.keeper import AgentKeeper
from lsp_agent.sessions.shared.turn import Turn

#: The share from which on a person is told; agents make room by themselves from about 85 % on.
NEARLY_FULL = 0.75


class ModelWindow:
    """``size`` is asked where the agent does not tell it with what is filled. ``filled`` is None
    while nobody knows it: before the first model call, and after the conversation got shorter."""

    def __init__(
        self,
        emit: Callable[[Event, str | None], object],
        keeper: Callable[[], AgentKeeper],
    ) -> None:
        self.filled: WindowFilled | None = None
        self._emit = emit
        self._keeper = keeper
        self._in_order = anyio.Lock()
        self._warned = False
        self._times_forgotten = 0

    def hear(
        self, event: WindowFilled, turn: Turn | None, settled: anyio.Event, tasks: TaskGroup
    ) -> None:
        """``settled`` is set once the agent is done with ``turn``."""
        tasks.start_soon(self._tell, event, turn, settled, self._times_forgotten)

    def forget(self) -> None:
        self.filled, self._warned = None, False
        self._times_forgotten += 1

    async def _tell(
        self, event: WindowFilled, turn: Turn | None, settled: anyio.Event, forgotten: int
    ) -> None:
        async with self._in_order:
            if event.size is None:
                if turn is not None and not self._keeper().knows_window:
                    await settled.wait()  # an agent at work is asked nothing
                event = replace(event, size=await self._keeper().window_size())
            if forgotten != self._times_forgotten:  # while the size was waited for
                return
            self.filled = event
            turn_id = None if turn is None or turn.ended else turn.id
            self._emit(event, turn_id)
            self._warn(event, turn_id)

    def _warn(self, event: WindowFilled, turn_id: str | None) -> None:
        """Once, until there is room again."""
        full = event.size is not None and event.used >= NEARLY_FULL * event.size
        if full and not self._warned:
            assert event.size is not None
            share = round(100 * event.used / event.size)
            able = self._keeper().capabilities.get("compact", False)
            instead = "compact it now, or begin a new session" if able else "begin a new session"
            told = (
                f"The model's window is {share} % full. Its agent may soon go on with a summary of"
                f" the conversation; if that is not what you want, {instead}."
            )
            self._emit(Notice("info", told, "lsp-agent"), turn_id)
        self._warned = full
