"""Work done progress: one for a turn, one for each tool call that takes a while.

Each progress is begun at most once and, once begun, ended exactly once, whatever happens: its
end is sent by ``end`` itself, or when the task group goes.
"""

import itertools
import logging
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.rpc.errors import ClientRefused
from lsp_agent.text.plain import printable_line

Token = str | int

#: A tool call that ends sooner shows no progress.
TOOL_DELAY = 0.15
#: Between two reports of one progress.
REPORT_INTERVAL = 0.1

_PROGRESS = "$/progress"
_CREATE_SECONDS = 5.0
_MESSAGE_LIMIT = 200
_NEWEST_LINES = 4

log = logging.getLogger(__name__)


class Creations:
    """The tool calls' progresses that a client is asked to create and has not answered for."""

    def __init__(self) -> None:
        self._open: set[anyio.Event] = set()

    @contextmanager
    def one(self) -> Generator[None]:
        """Around a creation and what is told right after it."""
        settled = anyio.Event()
        self._open.add(settled)
        try:
            yield
        finally:
            self._open.remove(settled)
            settled.set()

    @property
    def are_settled(self) -> bool:
        return not self._open

    async def settled(self) -> None:
        """Waits for those that are open now."""
        for each in tuple(self._open):
            await each.wait()


class Progress:
    """One progress. ``report`` and ``end`` may be called at any time and send at most what the
    client can take; after ``end`` both do nothing. Its end is told after that of the tool calls
    in ``creations``: Helix goes on showing what it was told of last."""

    def __init__(
        self,
        connection: Connection,
        token: Token,
        begin: dict[str, Any],
        creations: Creations | None = None,
    ) -> None:
        self.token = token
        self._connection = connection
        self._begin = begin
        self._creations = creations or Creations()
        self._begun = False
        self._ended = False
        self._told_end = False
        self._ending: dict[str, Any] = {"kind": "end"}
        self._message: str | None = None  # not reported yet
        self._changed = anyio.Event()

    def report(self, message: str) -> None:
        """Shows ``message``, now or with the next report; the newest counts."""
        self._message = message
        self._changed.set()

    def end(self, message: str | None = None) -> None:
        """Ends it; ``message`` says how it ended."""
        if not self._ended:
            self._ending = {"kind": "end"} | ({"message": message} if message else {})
        self._ended = True
        self._changed.set()
        if self._creations.are_settled:
            self._tell_end()

    async def run(self, *, create: bool, delay: float = 0.0) -> None:
        """Begins after ``delay``, then reports until the end; the task of this progress."""
        try:
            with anyio.move_on_after(delay):
                await self._until_end()
            if self._ended or (create and not await self._created()):
                return
            self.begin()
            while not self._ended:
                await anyio.sleep(REPORT_INTERVAL)
                await self._changed.wait()
                self._changed = anyio.Event()
                self._flush()
            await self._creations.settled()
        finally:
            self.end()
            self._tell_end()

    def begin(self) -> None:
        """Sends the begin, once."""
        if not self._begun:
            self._begun = True
            message = {"message": self._message} if self._message else {}
            self._message = None
            self._send(self._begin | message)

    def _flush(self) -> None:
        if self._message is not None and not self._ended:
            value = {"kind": "report", "message": self._message}
            params = {"token": self.token, "value": value}
            self._connection.notify_newest(_PROGRESS, params, self.token)
            self._message = None

    async def _until_end(self) -> None:
        while not self._ended:
            await self._changed.wait()
            self._changed = anyio.Event()

    async def _created(self) -> bool:
        params = {"token": self.token}
        try:
            await self._connection.ask("window/workDoneProgress/create", params, _CREATE_SECONDS)
        except (ClientRefused, TimeoutError) as exc:
            log.info("no progress: %s", exc or "the client did not answer")
            return False
        return True

    def _tell_end(self) -> None:
        if self._begun and not self._told_end:
            self._told_end = True
            self._send(self._ending)

    def _send(self, value: dict[str, Any]) -> None:
        self._connection.notify(_PROGRESS, {"token": self.token, "value": value})


class ToolProgress(Progress):
    """The progress of one tool call, one of ``creations`` while the client is asked to create it;
    its message is the newest line of output."""

    _rest = ""  # the last line, perhaps not whole yet

    def __init__(
        self, connection: Connection, token: Token, begin: dict[str, Any], creations: Creations
    ) -> None:
        super().__init__(connection, token, begin)
        self._one_of = creations

    async def _created(self) -> bool:
        with self._one_of.one():
            if created := await super()._created():
                self.begin()
                if self._ended:
                    self._tell_end()
        return created

    def output(self, text: str) -> None:
        """New output, cut anywhere."""
        text = self._rest + text
        self._rest = text[_last_start(text) :][-4 * _MESSAGE_LIMIT :]
        for _ in range(_NEWEST_LINES):  # some show nothing: escape sequences alone
            text = text.rstrip()
            start = _last_start(text)
            if shown := _readable(text[start:]):
                self.report(shown)
                return
            text = text[:start]


class ProgressBoard:
    """Makes the progresses of one client; without progress on its side they send nothing."""

    def __init__(self, connection: Connection, client: ClientInfo, tasks: TaskGroup) -> None:
        self._connection = connection
        self._can_create = client.work_done_progress
        self._tasks = tasks
        self._ids = itertools.count(1)
        self._cancels: dict[Token, Callable[[], None]] = {}
        self._creations = Creations()

    def turn(
        self, title: str, on_cancel: Callable[[], None], token: Token | None = None
    ) -> Progress:
        """A turn's progress, cancellable. ``token`` is the client's own ``workDoneToken``: it
        may come from a client that has no progress of the server's making."""
        begin = {"kind": "begin", "title": title, "cancellable": True}
        creations = self._creations if token is None else None  # its own ends before the answer
        progress = Progress(self._connection, self._token("turn", token), begin, creations)
        if token is not None:
            progress.begin()
        if token is not None or self._can_create:
            self._cancels[progress.token] = on_cancel
            self._tasks.start_soon(self._run_turn, progress, token is None)
        return progress

    def tool(self, title: str) -> ToolProgress:
        """A tool call's progress, shown if it is not ended within 150 ms."""
        begin = {"kind": "begin", "title": title, "cancellable": False}
        token = self._token("tool", None)
        progress = ToolProgress(self._connection, token, begin, self._creations)
        if self._can_create:
            self._tasks.start_soon(self._run_tool, progress)
        return progress

    def cancelled(self, params: dict[str, Any]) -> None:
        """The handler of ``window/workDoneProgress/cancel``."""
        if on_cancel := self._cancels.get(params["token"]):
            on_cancel()

    async def _run_turn(self, progress: Progress, create: bool) -> None:
        try:
            await progress.run(create=create)
        finally:
            self._cancels.pop(progress.token, None)

    async def _run_tool(self, progress: ToolProgress) -> None:
        await progress.run(create=True, delay=TOOL_DELAY)

    def _token(self, kind: str, token: Token | None) -> Token:
        return f"lsp-agent-{kind}-{next(self._ids)}" if token is None else token


def _last_start(text: str) -> int:
    """Where the last line of ``text`` begins."""
    return max(text.rfind("\n"), text.rfind("\r")) + 1


def _readable(line: str) -> str:
    """``line`` without escape sequences and control characters, shortened."""
    plain = printable_line(line[: 16 * _MESSAGE_LIMIT])
    return plain if len(plain) <= _MESSAGE_LIMIT else plain[: _MESSAGE_LIMIT - 1] + "…"
