"""One thread that hears the server and the agents, and waits for what it is told to wait for.

Everything of a storm happens in this one thread: the editor answers the server while the test
waits for something else, as an editor's main loop does.
"""

import contextlib
import json
import os
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from support import warm

Json = dict[str, Any]

#: In seconds. Machines have stood still for longer than half a minute.
PATIENCE = 60.0


class Late(Exception):
    """What was waited for did not come."""


class Refused(Exception):
    """The server answered a request with an error; ``kind`` is its data's."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.kind: str = (error.get("data") or {}).get("kind", str(error.get("code")))


class Hub:
    def __init__(self) -> None:
        self._chooser = selectors.DefaultSelector()

    def listen(self, descriptor: int, take: Callable[[], None]) -> None:
        self._chooser.register(descriptor, selectors.EVENT_READ, take)

    def forget(self, descriptor: int) -> None:
        with contextlib.suppress(KeyError):
            self._chooser.unregister(descriptor)

    def close(self) -> None:
        self._chooser.close()

    def until(self, true: Callable[[], object], what: str, timeout: float = PATIENCE) -> None:
        """:raises Late:"""
        deadline = time.monotonic() + timeout
        while not true():
            left = deadline - time.monotonic()
            if left <= 0:
                raise Late(what)
            self.turn(left)

    def rest(self, seconds: float) -> None:
        """Hears whatever comes in that time."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.turn(left)

    def turn(self, seconds: float) -> None:
        for key, _ in self._chooser.select(seconds):
            key.data()


class Peer:
    """JSON-RPC over two descriptors. ``handlers`` answer the other side's requests and take its
    notifications, by method."""

    def __init__(self, hub: Hub, heard: int, said: int) -> None:
        self._hub = hub
        self._out = heard
        self._in = said
        self._rest = b""
        self._answers: dict[int, Json] = {}
        self._last_id = 0
        self.ended = False
        self.handlers: dict[str, Callable[[Any], Any]] = {}
        hub.listen(heard, self._hear)

    def call(self, method: str, params: Any = None) -> Any:
        """:raises Refused:"""
        msg_id = self.request(method, params)
        self._hub.until(lambda: msg_id in self._answers or self.ended, f"an answer to {method}")
        answer = self._answers.pop(msg_id, None)
        if answer is None:
            raise Late(f"the server ended: {self.errors()}")
        if error := answer.get("error"):
            raise Refused(error)
        return answer["result"]

    def request(self, method: str, params: Any = None) -> int:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params or {}})
        return self._last_id

    def notify(self, method: str, params: Any = None) -> None:
        self._send({"method": method, "params": params or {}})

    def errors(self) -> str:
        """What it wrote down, for who looks why it ended."""
        return ""

    def close(self) -> None:
        self._hub.forget(self._out)
        self.ended = True

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0"} | message).encode()
        data = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._in, data) :]

    def _hear(self) -> None:
        chunk = os.read(self._out, 1 << 18)
        if not chunk:
            self._hub.forget(self._out)
            self.ended = True
            return
        self._rest += chunk
        while (end := self._rest.find(b"\r\n\r\n")) >= 0:
            start = end + 4
            stop = start + int(self._rest[:end].split(b":")[1])
            if len(self._rest) < stop:
                return
            body, self._rest = self._rest[start:stop], self._rest[stop:]
            self._take(json.loads(body))

    def _take(self, message: Json) -> None:
        method = message.get("method")
        if method is None:
            self._answers[message["id"]] = message
            return
        handler = self.handlers.get(method)
        result = handler(message.get("params")) if handler else None
        if "id" in message:
            error = {"code": -32601, "message": "no such method"}
            answer: Json = {"result": result} if handler else {"error": error}
            self._send({"id": message["id"]} | answer)


class Server(Peer):
    """A server process."""

    def __init__(self, hub: Hub, command: Sequence[str], cwd: Path, env: dict[str, str]) -> None:
        self.process = warm.start(command, cwd=cwd, env=env)
        assert self.process.stdout
        assert self.process.stdin
        assert self.process.stderr
        super().__init__(hub, self.process.stdout.fileno(), self.process.stdin.fileno())
        self._err = self.process.stderr.fileno()
        self._written_down = b""
        self._said_all = False
        hub.listen(self._err, self._hear_errors)

    def errors(self) -> str:
        with contextlib.suppress(Late):
            self._hub.until(lambda: self._said_all, "its last words", 1)
        return self._written_down[-2000:].decode(errors="replace")

    def shut_down(self) -> None:
        self.call("shutdown")
        self.notify("exit")
        self.process.wait(PATIENCE)
        self.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        super().close()
        self._hub.forget(self._err)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            with contextlib.suppress(BrokenPipeError):
                assert stream
                stream.close()

    def _hear_errors(self) -> None:
        chunk = os.read(self._err, 1 << 16)
        self._written_down += chunk
        if not chunk:
            self._hub.forget(self._err)
            self._said_all = True


class Seat:
    """Where one agent process is told what to call."""

    def __init__(self, hub: Hub, connection: socket.socket) -> None:
        self._hub = hub
        self._connection = connection
        self._rest = b""
        self.heard: list[Json] = []
        self.gone = False
        hub.listen(connection.fileno(), self._hear)

    def order(self, **message: object) -> None:
        with contextlib.suppress(BrokenPipeError):
            self._connection.sendall(json.dumps(message).encode() + b"\n")

    def next(self, key: str) -> Json:
        """The next message that has this key, which is taken."""

        def found() -> Json | None:
            return next((message for message in self.heard if key in message), None)

        self._hub.until(lambda: found() or self.gone, f"an agent's {key}")
        message = found()
        if message is None:
            raise Late(f"the agent ended before its {key}")
        self.heard.remove(message)
        return message

    def close(self) -> None:
        if not self.gone:
            self._hub.forget(self._connection.fileno())
            self._connection.close()
            self.gone = True

    def _hear(self) -> None:
        try:
            chunk = self._connection.recv(1 << 16)
        except OSError:
            chunk = b""
        if not chunk:
            self.close()
            return
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        self.heard += [json.loads(line) for line in lines]


class Seats:
    """Takes the agents that connect; the last one of a name is the one that is spoken to."""

    def __init__(self, hub: Hub, path: Path) -> None:
        self._hub = hub
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen(16)
        self._seats: list[Seat] = []
        self.by_name: dict[str, Seat] = {}
        hub.listen(self._listener.fileno(), self._accept)

    def wait_for(self, name: str) -> Seat:
        def come() -> bool:
            self._name()
            seat = self.by_name.get(name)
            return seat is not None and not seat.gone

        self._hub.until(come, f"the agent {name}")
        return self.by_name[name]

    def all_gone(self) -> None:
        """Returns when they are: they go with their server, be it killed, and a moment later."""
        self._hub.until(lambda: all(seat.gone for seat in self._seats), "the agents' end")
        self._seats.clear()

    def close(self) -> None:
        self._hub.forget(self._listener.fileno())
        self._listener.close()
        for seat in self._seats:
            seat.close()

    def _accept(self) -> None:
        self._seats.append(Seat(self._hub, self._listener.accept()[0]))

    def _name(self) -> None:
        for seat in self._seats:
            if seat.heard and "name" in seat.heard[0]:
                self.by_name[seat.heard.pop(0)["name"]] = seat
