"""Between a real editor and its server: hands on what both say, and lets a test ask the server too.

    tap.py SOCKET COMMAND...

The test at SOCKET hears the server's ``agent/event`` as the editor does, and ``tap/ready`` once the
editor has said ``initialized``; its ``tap/kill`` ends the server. Started with ``-I -S``: only the
standard library.
"""

import json
import os
import selectors
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

#: Begins the ids of the test's requests, so that they are none of the editor's.
MARK = "tap:"

Json = dict[str, Any]


class Frames:
    """Whole messages out of a descriptor, in the order of time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    def read(self) -> Iterator[bytes]:
        """:raises EOFError:"""
        chunk = os.read(self._descriptor, 1 << 18)
        if not chunk:
            raise EOFError
        self._rest += chunk
        while (end := self._rest.find(b"\r\n\r\n")) >= 0:
            head = self._rest[:end].lower().split(b"\r\n")
            length = next(int(h.split(b":")[1]) for h in head if h.startswith(b"content-length"))
            stop = end + 4 + length
            if len(self._rest) < stop:
                return
            body, self._rest = self._rest[end + 4 : stop], self._rest[stop:]
            yield body


def send(descriptor: int, body: bytes) -> None:
    data = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    while data:
        data = data[os.write(descriptor, data) :]


class Tap:
    def __init__(self, path: str, command: list[str]) -> None:
        self.test = socket.socket(socket.AF_UNIX)
        self.test.connect(path)
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.server.stdin
        assert self.server.stdout
        self.to_server = self.server.stdin.fileno()
        #: The editor first: what it said before the test asked is heard before that.
        self.sides: dict[int, Callable[[bytes], None]] = {
            0: self.from_editor,
            self.server.stdout.fileno(): self.from_server,
            self.test.fileno(): self.from_test,
        }

    def serve(self) -> int:
        """Until one of the three has ended; the server's exit code."""
        chooser = selectors.DefaultSelector()
        frames = {side: Frames(side) for side in self.sides}
        for side in self.sides:
            chooser.register(side, selectors.EVENT_READ)
        try:
            while True:
                ready = {key.fd for key, _ in chooser.select()}
                for side, take in self.sides.items():
                    for body in frames[side].read() if side in ready else ():
                        take(body)
        except (EOFError, ConnectionError):
            assert self.server.stdin
            self.server.stdin.close()
            return self.server.wait()

    def from_editor(self, body: bytes) -> None:
        message: Json = json.loads(body)
        if message.get("method") == "initialize":
            # Each edit would wait half a second for other language servers, and there are none.
            message["params"]["capabilities"]["experimental"]["agent"].pop("diagnostics")
            body = json.dumps(message).encode()
        send(self.to_server, body)
        if message.get("method") == "initialized":
            self.tell({"method": "tap/ready"})

    def from_server(self, body: bytes) -> None:
        message: Json = json.loads(body)
        number = message.get("id")
        if "method" not in message and isinstance(number, str) and number.startswith(MARK):
            self.tell(message | {"id": int(number.removeprefix(MARK))})
            return
        if message.get("method") == "agent/event":
            self.tell(message)
        send(1, body)

    def from_test(self, body: bytes) -> None:
        message: Json = json.loads(body)
        if message["method"] == "tap/kill":
            self.server.kill()
            raise EOFError
        if "id" in message:
            message["id"] = f"{MARK}{message['id']}"
        send(self.to_server, json.dumps(message).encode())

    def tell(self, message: Json) -> None:
        send(self.test.fileno(), json.dumps(message).encode())


if __name__ == "__main__":
    sys.exit(Tap(sys.argv[1], sys.argv[2:]).serve())
