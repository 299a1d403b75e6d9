"""The wire of ``lsp-agent serve --tcp``: a loopback port, and who may come in.

Whoever is served may name programs to run, so a port is no proof of anything: other users of the
machine can connect to it, and so can a page in a browser. A connection is served if it is this
user's, as far as the system tells, and its first message is an ``initialize`` with the token.
Strangers are turned away, one by one, and end nothing.
"""

import ipaddress
import logging
import os
import selectors
import socket
import time
from collections.abc import Callable

from lsp_agent.processes.system import this_system
from lsp_agent.protocol.errors import UsageError
from lsp_agent.server.rpc.admission import Admission, Refused, admission
from lsp_agent.server.rpc.channel import Channel, hold_little

#: The most connections that may be about to say who they are; the oldest gives way to a new one.
_MOST_WAITING = 16
#: How long one may take to do so.
_SECONDS = 5.0
_CHUNK = 64 * 1024
_ESTABLISHED = "01"

log = logging.getLogger(__name__)


def parse_address(text: str) -> tuple[str, int]:
    """``HOST:PORT`` (``[::1]:7000`` for IPv6). Raises ``UsageError``."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isascii() or not port.isdigit() or int(port) > 65535:
        raise UsageError(f"{text!r} is not HOST:PORT; for example 127.0.0.1:7000")
    return host, int(port)


def tcp(host: str, port: int, listening: Callable[[str, int], str]) -> Channel:
    """Waits for one client on a loopback address; ``listening`` is told the real one (port 0) and
    answers the token that the client must have. Raises ``UsageError`` for any other address."""
    with _listen(host, port) as listener:
        address = listener.getsockname()
        token = listening(address[0], address[1])
        connection, admitted = Door(listener, token).first_admitted()
    connection.setblocking(True)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    hold_little(connection.fileno())
    return Channel(connection.recv, connection.send).after(admitted.said)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as exc:
        raise UsageError(f"{host!r} is not an address: {exc}") from exc
    if not ipaddress.ip_address(address[0]).is_loopback:
        raise UsageError(f"{host!r} is not a loopback address; use 127.0.0.1 or ::1")
    try:
        listener = socket.socket(family)
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_MOST_WAITING)
    except OSError as exc:
        raise UsageError(f"cannot listen on {host}:{port}: {exc.strerror or exc}") from exc
    return listener


class _Visitor:
    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.until = time.monotonic() + _SECONDS
        self.said = bytearray()


class Door:
    """Lets one in. ``uid`` is whose connections may try, ours unless told otherwise."""

    def __init__(self, listener: socket.socket, token: str, uid: int | None = None) -> None:
        self._listener = listener
        self._token = token
        self._uid = os.getuid() if uid is None and hasattr(os, "getuid") else uid
        self._waiting: dict[socket.socket, _Visitor] = {}  # the oldest first
        self._selector = selectors.DefaultSelector()

    def first_admitted(self, seconds: float | None = None) -> tuple[socket.socket, Admission]:
        """Raises TimeoutError."""
        end = None if seconds is None else time.monotonic() + seconds
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        try:
            while end is None or time.monotonic() < end:
                for key, _ in self._selector.select(0.2 if self._waiting or end else None):
                    if key.fileobj is self._listener:
                        self._welcome()
                    elif (visitor := self._waiting.get(key.fileobj)) and (  # type: ignore[arg-type]
                        admitted := self._heard(visitor)
                    ):
                        self._leave(visitor)
                        return visitor.connection, admitted
                self._tire()
            raise TimeoutError
        finally:
            for visitor in list(self._waiting.values()):
                self._turn_away(visitor, "another one was let in")
            self._selector.close()

    def _welcome(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:  # it went again
            return
        connection.setblocking(False)
        visitor = _Visitor(connection)
        uid = peer_uid(connection)
        if uid not in (None, self._uid):
            self._turn_away(visitor, f"it is another user's ({uid})")
            return
        if len(self._waiting) >= _MOST_WAITING:
            self._turn_away(next(iter(self._waiting.values())), "too many wait")
        self._waiting[connection] = visitor
        self._selector.register(connection, selectors.EVENT_READ)

    def _heard(self, visitor: _Visitor) -> Admission | None:
        try:
            chunk = visitor.connection.recv(_CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            chunk = b""
        visitor.said += chunk
        verdict = admission(bytes(visitor.said), self._token)
        if isinstance(verdict, Admission):
            return verdict
        if verdict is not None:
            self._turn_away(visitor, verdict.why, verdict)
        elif not chunk:
            self._turn_away(visitor, "it went without a word")
        return None

    def _tire(self) -> None:
        now = time.monotonic()
        for visitor in [one for one in self._waiting.values() if one.until < now]:
            self._turn_away(visitor, f"it said nothing of use in {_SECONDS:g} s")

    def _turn_away(self, visitor: _Visitor, why: str, told: Refused | None = None) -> None:
        log.info("a connection was turned away: %s", why)
        self._leave(visitor)
        with visitor.connection:
            if told is not None and told.answer:
                try:
                    visitor.connection.send(told.answer)
                    visitor.connection.shutdown(socket.SHUT_WR)
                except OSError:
                    log.debug("it does not hear why")

    def _leave(self, visitor: _Visitor) -> None:
        if self._waiting.pop(visitor.connection, None) is not None:
            self._selector.unregister(visitor.connection)


def peer_uid(connection: socket.socket) -> int | None:
    """Whose the other end of a loopback connection is; None where the system does not tell."""
    return this_system().uid_at_port(connection)
