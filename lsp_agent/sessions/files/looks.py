"""The looks of a session that run beside its turn, and may fail without ending it."""

import logging
from collections.abc import Awaitable, Callable

import anyio
from anyio.abc import TaskGroup

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.protocol.events import Notice
from lsp_agent.sessions.shared.questions import Emitter

_log = logging.getLogger(__name__)


class Looks:
    """Of one session; until it has tasks to live in, none is started."""

    def __init__(self, emit: Emitter) -> None:
        self._emit = emit
        self._tasks: TaskGroup | None = None
        self._at_work = 0
        self._rest = anyio.Event()

    def live_in(self, tasks: TaskGroup) -> None:
        self._tasks = tasks

    @property
    def busy(self) -> bool:
        return self._at_work > 0

    async def rest(self) -> None:
        """Until none runs."""
        while self._at_work:
            self._rest = anyio.Event()
            await self._rest.wait()

    def start(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        if self._tasks is None:
            return
        self._at_work += 1
        self._tasks.start_soon(self._work, function, *args)

    async def guarded(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        """The disk is as it is: what cannot be brought in is said, and the session goes on."""
        try:
            await function(*args)
        except (LspAgentError, OSError) as error:
            _log.exception("a change on disk could not be brought in")
            message = f"A change on disk could not be brought in: {error}"
            self._emit(Notice("error", message, "lsp-agent"), None)

    async def _work(self, function: Callable[..., Awaitable[None]], *args: object) -> None:
        try:
            await self.guarded(function, *args)
        finally:
            self._at_work -= 1
            if not self._at_work:
                self._rest.set()
