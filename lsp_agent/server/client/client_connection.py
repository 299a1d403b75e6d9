"""One client's connection from start to end: what the application puts its handlers on."""

import logging
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable
from contextlib import aclosing
from typing import Any, cast

import anyio
from anyio.abc import TaskGroup

from lsp_agent.protocol.errors import BadParams, RequestFailed
from lsp_agent.server.client.capabilities import initialize_result
from lsp_agent.server.client.info import ClientInfo, Introduction, with_change
from lsp_agent.server.client.parent import gone
from lsp_agent.server.rpc import startup
from lsp_agent.server.rpc.channel import Recv, Send
from lsp_agent.server.rpc.dispatcher import Dispatcher, Json, NotificationHandler, RequestHandler
from lsp_agent.server.rpc.frames import BODY_LIMIT, BadFrame, Frames
from lsp_agent.server.rpc.outbox import Outbox
from lsp_agent.server.rpc.transport import Writer, chunks
from lsp_agent.text.plain import without_links

#: No more is read from a client that leaves this many bytes of answers unread.
_UNREAD_LIMIT = 64 * 1024 * 1024
_END_SECONDS = 5.0
#: Until the types of standard requests are imported where none came: whoever asks for code actions
#: then need not wait, and who is gone by then has not paid for them.
_TYPES_AFTER_SECONDS = 2.0

#: What a person is shown in a message of their editor's.
_MESSAGES = {"window/showMessage", "window/showMessageRequest"}

log = logging.getLogger(__name__)


class ClientConnection:
    """The LSP face of one client.

    The application fills the tables and sets the hooks, then calls ``run``:

    - ``requests[method] = handler`` and ``notifications[method] = handler`` take plain dicts;
      ``commands[name]`` are those of ``workspace/executeCommand`` and get the first argument;
      ``feature`` serves a standard request with lsprotocol's types.
    - ``urgent`` has the methods and commands whose answers do not wait behind what the client
      has not read yet; a person waits for them.
    - ``on_initialize(client)``: awaited once ``initialize`` is answered; the next message is
      read when it returns. Whatever takes long to import or to open belongs here: the client has
      its answer already, and what it sends meanwhile waits in its order.
    - ``on_initialized()``: a task of its own, after the client's ``initialized``.
    - ``on_folders()``: the workspace folders changed.
    - ``on_shutdown()``: awaited before ``shutdown`` is answered.
    - ``on_end()``: awaited when the client goes, however that comes, for at most 5 s.

    ``tasks`` lives from ``run`` until the client has gone, as ``outbox`` does; all tasks in it are
    cancelled then.
    An exception that leaves one of them ends the server.
    """

    tasks: TaskGroup
    outbox: Outbox

    def __init__(self) -> None:
        self._protocol = Dispatcher(self._initialize)
        self._introduced: Introduction | None = None
        self._folders: dict[str, str] = {}
        self.client = ClientInfo()
        self.commands: dict[str, RequestHandler] = {}
        self.on_initialize: Callable[[ClientInfo], Awaitable[None]] | None = None
        self._opening: Awaitable[None] | None = None
        self.on_initialized: Callable[[], Coroutine[Any, Any, None]] | None = None
        self.on_folders: Callable[[], None] | None = None
        self.on_end: Callable[[], Awaitable[None]] | None = None
        self._protocol.on_ready = self._ready
        self.requests["workspace/executeCommand"] = self._execute
        self.notifications["initialized"] = self._initialized
        self.notifications["workspace/didChangeWorkspaceFolders"] = self._folders_changed

    @property
    def requests(self) -> dict[str, RequestHandler]:
        return self._protocol.requests

    @property
    def notifications(self) -> dict[str, NotificationHandler]:
        return self._protocol.notifications

    @property
    def urgent(self) -> set[str]:
        return self._protocol.urgent

    @property
    def on_shutdown(self) -> Callable[[], Awaitable[None]] | None:
        return self._protocol.on_shutdown

    @on_shutdown.setter
    def on_shutdown(self, hook: Callable[[], Awaitable[None]]) -> None:
        self._protocol.on_shutdown = hook

    @property
    def folders(self) -> tuple[str, ...]:
        """The URIs of the workspace folders, in the client's order."""
        return tuple(self._folders)

    def feature(self, method: str, handler: Callable[[Any], object]) -> None:
        """Serves the standard request ``method``; ``handler`` gets its typed params."""
        self._protocol.feature(method, handler)

    # Talking to the client

    def notify(self, method: str, params: object) -> None:
        """Sends a notification; never blocks. Who sends much awaits ``drain`` in between."""
        self._protocol.notify(method, _unlinked(method, params))

    def notify_newest(self, method: str, params: object, of: Hashable) -> None:
        """As ``notify``; it takes the place of the last one ``of`` the same that still waits."""
        self._protocol.notify_newest(method, params, of)

    async def ask(self, method: str, params: object, timeout: float | None) -> Any:
        """Sends a request; its result. Raises ``ClientRefused`` and ``TimeoutError``."""
        return await self._protocol.ask(method, _unlinked(method, params), timeout)

    def notification(self, method: str, params: object) -> bytes:
        """A notification as ``outbox`` takes it."""
        return self._protocol.notification(method, params)

    async def drain(self) -> None:
        """Waits while the client leaves much unread."""
        await self.outbox.drain()

    def close(self) -> None:
        """Ends the connection, as the client's going would."""
        self.tasks.cancel_scope.cancel()

    # Running

    def run(
        self,
        recv: Recv,
        send: Send,
        body_limit: int = BODY_LIMIT,
        introduced: Introduction | None = None,
    ) -> int:
        """Serves until the client goes; the exit code: 0 after ``shutdown``, else 1. With
        ``introduced`` its first message is an ``initialize`` that is answered (welcome.py)."""
        self._introduced = introduced
        self._protocol.answered = introduced is not None
        return anyio.run(self.serve, recv, send, body_limit)

    async def serve(self, recv: Recv, send: Send, body_limit: int = BODY_LIMIT) -> int:
        """``run`` on a loop that runs already."""
        protocol = self._protocol
        writer = Writer(send, self.close)
        self.outbox = outbox = protocol.out = Outbox(writer)
        async with anyio.create_task_group() as tasks:
            self.tasks = protocol.tasks = tasks
            tasks.start_soon(self._end_on_signal)
            tasks.start_soon(outbox.run)
            try:
                async with aclosing(chunks(recv)) as stream:
                    await self._read(stream, Frames(body_limit))
            except BadFrame as exc:
                log.error("the connection ends: %s", exc)  # noqa: TRY400 - the client's fault
            finally:
                await self._clean_up()
            tasks.cancel_scope.cancel()
        outbox.flush_all()
        writer.close()
        return 0 if protocol.stopping else 1

    async def _read(self, stream: AsyncIterator[bytes], frames: Frames) -> None:
        async for chunk in stream:
            for body in frames.feed(chunk):
                self._protocol.receive(body)
                if self._protocol.waits:
                    await self._protocol.go_on()
                if self._opening is not None:
                    await self._open(self._opening)
                if self._protocol.done:
                    return
            await self.outbox.drain(_UNREAD_LIMIT)

    async def _clean_up(self) -> None:
        if self.on_end:
            with anyio.move_on_after(_END_SECONDS, shield=True):
                try:
                    await self.on_end()
                except Exception:
                    log.exception("the end was not clean")

    async def _end_on_signal(self) -> None:
        if sys.platform == "win32":  # its loop takes no signals: they end the process
            return
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for received in signals:
                log.info("%s: the server ends", received.name)
                self.close()

    async def _end_with_parent(self, process_id: int) -> None:
        await gone(process_id)
        log.info("the client's process %d is gone: the server ends", process_id)
        self.close()

    # What the client tells of itself

    def _initialize(self, params: Json) -> Json:
        introduced = self._introduced or Introduction.of(params)
        self.client, self._folders = introduced.client, introduced.folders
        if introduced.watched and self.client.process_id is not None:
            self.tasks.start_soon(self._end_with_parent, self.client.process_id)
        return initialize_result(self.client)

    def _ready(self) -> None:
        if self.on_initialize:
            self._opening = self.on_initialize(self.client)

    async def _open(self, opening: Awaitable[None]) -> None:
        self._opening = None
        try:
            await opening
        except Exception:
            log.exception("the server cannot start")
            self._protocol.done = True
        startup.finished()
        self.tasks.start_soon(self._load_types)

    async def _load_types(self) -> None:
        await anyio.sleep(_TYPES_AFTER_SECONDS)
        await self._protocol.load_types()

    def _initialized(self, _params: Json) -> None:
        if self.on_initialized:
            self.tasks.start_soon(self.on_initialized)

    def _folders_changed(self, params: Json) -> None:
        self._folders = with_change(self._folders, params["event"])
        if self.on_folders:
            self.on_folders()

    def _execute(self, params: Json) -> object:
        if not self.client.quirks.hides_command_errors:
            return self._command(params)
        try:
            outcome = self._command(params)
        except RequestFailed as exc:
            self._show(exc)
            raise
        if isinstance(outcome, Awaitable):
            return self._shown(cast(Awaitable[object], outcome))
        return outcome

    async def _shown(self, outcome: Awaitable[object]) -> object:
        try:
            return await outcome
        except RequestFailed as exc:
            self._show(exc)
            raise

    def _show(self, exc: RequestFailed) -> None:
        self.notify("window/showMessage", {"type": 1, "message": str(exc)})

    def _command(self, params: Json) -> object:
        name = params.get("command")
        if not isinstance(name, str) or (handler := self.commands.get(name)) is None:
            raise BadParams("command", f"there is no command {name!r}")
        arguments = cast(object, params.get("arguments") or [{}])
        first = cast(list[object], arguments)[0] if isinstance(arguments, list) else None
        if not isinstance(arguments, list) or not isinstance(first or {}, dict):
            raise BadParams("arguments", "must be a list whose first item is an object")
        return handler(cast(Json, first or {}))


def _unlinked(method: str, params: object) -> object:
    if method not in _MESSAGES:
        return params
    told = cast(dict[str, Any], params)
    return {**told, "message": without_links(told["message"])}
