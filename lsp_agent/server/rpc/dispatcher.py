"""The JSON-RPC machine: one dispatcher over plain dicts, pygls and lsprotocol its typed half.

Ours are the bytes, the tasks, every request's run and cancel, errors, and requests to the client.
Standard requests get lsprotocol's types (``typed.py``), which are imported in a thread: the first
such request waits for them, with all that came behind it, and everything else does not.

A handler is called on receipt, before the next message is read; what it returns may be awaited.
So what must see the text as of its request is a plain ``def`` that takes its snapshot and
returns a coroutine: the body of an ``async def`` does not start until the rest of a chunk,
perhaps a ``didChange``, has been handled.
"""

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from lsp_agent.protocol.errors import BadParams
from lsp_agent.server.rpc.errors import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_INITIALIZED,
    PARSE_ERROR,
    REQUEST_CANCELLED,
    ClientRefused,
    rpc_error,
    wire_error,
)
from lsp_agent.server.rpc.frames import TooLarge, frame
from lsp_agent.server.rpc.json_codec import decode, encode, request_id
from lsp_agent.server.rpc.outbox import Outbox

if TYPE_CHECKING:
    from lsp_agent.server.rpc.typed import Types

Json = dict[str, Any]
MessageId = str | int
#: Takes the params; returns the result or an awaitable of it. A result is made of plain values,
#: models of ours and lsprotocol's objects.
RequestHandler = Callable[[Json], object]
NotificationHandler = Callable[[Json], None]

log = logging.getLogger(__name__)


class Dispatcher:
    """One connection's state. ``tasks`` and ``out`` are set before the first message.

    ``on_initialize(params)`` makes the result of ``initialize``; ``on_ready()`` is called when it
    has been sent, before the next message. With ``answered`` the client has that result already.
    """

    tasks: TaskGroup

    def __init__(self, on_initialize: Callable[[Json], Json]) -> None:
        self.answered = False
        self.out: Outbox | None = None
        self.requests: dict[str, RequestHandler] = {}
        self.notifications: dict[str, NotificationHandler] = {}
        self._on_initialize = on_initialize
        self.on_ready: Callable[[], None] | None = None
        self.on_shutdown: Callable[[], Awaitable[None]] | None = None
        #: Methods, and commands, whose answers go before what waits.
        self.urgent = {"shutdown"}
        self.initialized = False  # ``initialize`` has been answered
        self.stopping = False  # ``shutdown`` came
        self.done = False  # ``exit`` came
        #: The handlers of standard requests, which get typed params.
        self._features: dict[str, Callable[[Any], object]] = {}
        self._types: Types | None = None
        self._loading = anyio.Lock()
        self._kept: tuple[MessageId, str, Json] | None = None
        self._running: dict[MessageId, anyio.CancelScope] = {}
        self._asked: dict[MessageId, asyncio.Future[Json]] = {}
        self._ids = itertools.count(1)
        self.notifications["$/cancelRequest"] = self._cancel
        self.requests["shutdown"] = self._shut_down

    def feature(self, method: str, handler: Callable[[Any], object]) -> None:
        """Serves a standard request; ``handler`` gets its typed params."""
        self._features[method] = handler

    # Receiving

    @property
    def waits(self) -> bool:
        """Whether ``go_on`` has to be awaited before the next message."""
        return self._kept is not None

    async def go_on(self) -> None:
        """Handles the request that needs the types, once they are there. Never raises."""
        assert self._kept is not None
        (msg_id, method, message), self._kept = self._kept, None
        try:
            await self.load_types()
            self._requested(msg_id, method, message)
        except Exception as exc:  # noqa: BLE001 - the boundary, as below
            self._fail(msg_id, rpc_error(exc))

    async def load_types(self) -> None:
        """Imports lsprotocol's types, if that was not done yet."""
        async with self._loading:
            if self._types is None:
                self._types = await anyio.to_thread.run_sync(_types, abandon_on_cancel=True)

    def receive(self, body: bytes | TooLarge) -> None:
        """Handles one message, or says by ``waits`` that it has to wait. Never raises."""
        if isinstance(body, TooLarge):
            text = f"A message of {body.length} bytes; the limit is {body.limit}."
            return self._fail(None, wire_error(INVALID_REQUEST, text))
        try:
            message = decode(body)
        except ValueError as exc:
            return self._fail(request_id(body), wire_error(PARSE_ERROR, f"Not JSON: {exc}"))
        if not isinstance(message, dict) or cast(Json, message).get("jsonrpc") != "2.0":
            return self._fail(None, wire_error(INVALID_REQUEST, "Not a JSON-RPC 2.0 message."))
        message = cast(Json, message)
        msg_id, method = message.get("id"), message.get("method")
        if method is None:
            return self._answered(message)
        if not isinstance(method, str) or type(msg_id) not in (str, int, type(None)):
            return self._fail(None, wire_error(INVALID_REQUEST, "A bad id or method."))
        if msg_id is None:
            return self._notified(method, message)
        try:
            self._requested(msg_id, method, message)
        except Exception as exc:  # noqa: BLE001 - the boundary: whatever it is, it is answered
            self._fail(msg_id, rpc_error(exc))
        return None

    def _notified(self, method: str, message: Json) -> None:
        if method == "exit":
            self.done = True
        elif not self.initialized or self.stopping:
            log.debug("%s ignored: not the time for it", method)
        elif handle := self.notifications.get(method):
            try:
                handle(_params(message))
            except Exception:
                log.exception("%s failed", method)
        else:
            log.debug("%s ignored: unknown", method)

    def _requested(self, msg_id: MessageId, method: str, message: Json) -> None:
        if not self.initialized and method != "initialize":
            self._fail(msg_id, wire_error(NOT_INITIALIZED, "initialize must come first."))
        elif self.stopping:
            self._fail(msg_id, wire_error(INVALID_REQUEST, "The server is shutting down."))
        elif msg_id in self._running:
            self._fail(msg_id, wire_error(INVALID_REQUEST, f"A request {msg_id!r} is running."))
        elif method == "initialize":
            if self.initialized:
                self._fail(msg_id, wire_error(INVALID_REQUEST, "initialize came already."))
                return
            self._initialize(msg_id, self._on_initialize(_params(message)))
        elif answer := self.requests.get(method):
            params = _params(message)
            self._start(msg_id, answer(params), urgent=self._is_urgent(method, params))
        elif feature := self._features.get(method):
            if self._types is None:
                self._kept = msg_id, method, message
                return
            typed = self._types.params(method, _params(message))
            self._start(msg_id, feature(typed), urgent=False)
        else:
            self._fail(msg_id, wire_error(METHOD_NOT_FOUND, f"Method Not Found: {method}"))

    def _initialize(self, msg_id: MessageId, result: Json) -> None:
        if not self.answered:
            self._succeed(msg_id, result, urgent=False)
        self.initialized = True
        if self.on_ready is not None:
            self.on_ready()

    def _is_urgent(self, method: str, params: Json) -> bool:
        command = params.get("command") if method == "workspace/executeCommand" else None
        return method in self.urgent or (isinstance(command, str) and command in self.urgent)

    def _start(self, msg_id: MessageId, work: object, *, urgent: bool) -> None:
        if not isawaitable(work):
            return self._succeed(msg_id, work, urgent=urgent)
        # Made here and not in the task, so that a cancel in the same chunk finds it.
        self._running[msg_id] = scope = anyio.CancelScope()
        self.tasks.start_soon(self._answer, msg_id, scope, work, urgent)
        return None

    async def _answer(
        self, msg_id: MessageId, scope: anyio.CancelScope, work: Awaitable[object], urgent: bool
    ) -> None:
        try:
            with scope:
                self._succeed(msg_id, await work, urgent=urgent)
            if scope.cancelled_caught:
                error = wire_error(REQUEST_CANCELLED, "The request was cancelled.")
                self._fail(msg_id, error, urgent=True)
        except Exception as exc:  # noqa: BLE001 - the boundary, as above
            self._fail(msg_id, rpc_error(exc))
        finally:
            del self._running[msg_id]

    def _cancel(self, params: Json) -> None:
        if scope := self._running.get(params["id"]):
            scope.cancel()

    def _shut_down(self, _params: Json) -> Awaitable[None] | None:
        self.stopping = True
        if self.out is not None:
            self.out.ending()
        return self.on_shutdown() if self.on_shutdown else None

    def _answered(self, message: Json) -> None:
        msg_id = message.get("id")
        future = self._asked.get(msg_id) if isinstance(msg_id, (str, int)) else None
        if future is None or future.done():
            log.debug("an answer that nobody waits for: id %r", msg_id)
        else:
            future.set_result(message)

    # Sending

    def notify(self, method: str, params: object = None) -> None:
        """Sends a notification; ``params`` are made of plain values."""
        self.send(_message({"method": method}, params))

    def notify_newest(self, method: str, params: object, of: Hashable) -> None:
        """Sends a notification, in the place of one ``of`` the same that still waits."""
        if self.out is not None:
            self.out.write(self.notification(method, params), of)

    def send(self, message: object, *, urgent: bool = False) -> None:
        """Sends a message; raises ``TypeError`` or ``ValueError`` where it has no JSON form.
        One that is urgent does not wait behind much else."""
        data = self._framed(message)
        if self.out is None:
            return
        if urgent:
            self.out.urgent(data)
        else:
            self.out.write(data)

    def notification(self, method: str, params: object) -> bytes:
        return self._framed(_message({"method": method}, params))

    def _framed(self, message: object) -> bytes:
        return frame(encode(message, self._plain))

    def _plain(self, value: Any) -> Any:
        if hasattr(value, "model_dump"):  # pydantic's; not imported for this alone
            return value.model_dump(by_alias=True, exclude_none=True)
        if self._types is None:
            raise TypeError(f"{type(value).__name__} has no JSON form")
        return self._types.plain(value)

    def _succeed(self, msg_id: MessageId, result: object, *, urgent: bool) -> None:
        self.send({"jsonrpc": "2.0", "id": msg_id, "result": result}, urgent=urgent)

    def _fail(
        self, msg_id: MessageId | None, error: Mapping[str, Any], *, urgent: bool = False
    ) -> None:
        try:
            self.send({"jsonrpc": "2.0", "id": msg_id, "error": error}, urgent=urgent)
        except (TypeError, ValueError):
            log.exception("an error's data cannot be sent")
            error = wire_error(INTERNAL_ERROR, str(error["message"]))
            self.send({"jsonrpc": "2.0", "id": msg_id, "error": error})

    async def ask(self, method: str, params: object, timeout: float | None) -> Any:
        """Sends a request to the client, before what waits: the agent or a person waits for the
        answer. Its result. None as ``timeout`` waits for ever.

        Raises ``ClientRefused`` for an error answer and ``TimeoutError``. When the caller gives
        up, the client is told by ``$/cancelRequest``; a late answer is then harmless.
        """
        msg_id = f"agent-{next(self._ids)}"
        future = asyncio.get_running_loop().create_future()
        self._asked[msg_id] = future
        try:
            self.send(_message({"id": msg_id, "method": method}, params), urgent=True)
            with anyio.fail_after(timeout):
                answer = cast(Json, await future)
        except (TimeoutError, asyncio.CancelledError):
            self.notify("$/cancelRequest", {"id": msg_id})
            raise
        finally:
            del self._asked[msg_id]
        if error := answer.get("error"):
            error = cast(Json, error) if isinstance(error, dict) else {}
            raise ClientRefused(method, error.get("code", 0), str(error.get("message", "")))
        return answer.get("result")


def _types() -> "Types":
    from lsp_agent.server.rpc.typed import Types  # noqa: PLC0415  see there

    return Types()


def _message(message: Json, params: object) -> Json:
    """``params`` are an object or are left out; null is not allowed."""
    message["jsonrpc"] = "2.0"
    if params is not None:
        message["params"] = params
    return message


def _params(message: Json) -> Json:
    params = message.get("params")
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise BadParams("params", "must be an object")
    return cast(Json, params)
