"""A client that costs next to nothing: blocking reads, frames taken apart only when asked."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Json = dict[str, Any]

SERVER = (sys.executable, "-P", "-m", "lsp_agent", "serve")

_CHUNK = 1 << 20
_LENGTH = re.compile(rb"Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n")
_SECONDS = 60.0


def frame(message: Json) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Child:
    """A process with pipes, killed at the end."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd=cwd,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.stdout.close()

    def send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self.stdin.fileno(), view) :]

    def receive(self) -> bytes:
        """What is there, or comes next. Raises EOFError."""
        chunk = os.read(self.stdout.fileno(), _CHUNK)
        if not chunk:
            raise EOFError("the process has closed its output")
        return chunk

    def receive_until(self, mark: bytes) -> tuple[bytes, float]:
        """Everything up to the chunk that completes ``mark``, and when that came."""
        chunks = [self.receive()]
        tail = chunks[0]
        while mark not in tail:
            chunks.append(self.receive())
            tail = tail[-len(mark) :] + chunks[-1]
        return b"".join(chunks), time.perf_counter()


class Client(Child):
    """Speaks LSP to the process, one request at a time."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        super().__init__(command, env, cwd)
        self._next_id = 0
        self._rest = b""

    def request(self, method: str, params: Json | None) -> int:
        """Sends a request; its id."""
        self._next_id += 1
        self.send(frame({"id": self._next_id, "method": method, "params": params or {}}))
        return self._next_id

    def notify(self, method: str, params: Json) -> None:
        self.send(frame({"method": method, "params": params}))

    def answer(self, msg_id: int) -> Json:
        """Reads on to the answer to ``msg_id``; whatever else comes is refused or dropped."""
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end:
            for message in self.messages():
                if "method" not in message and message.get("id") == msg_id:
                    return message
        raise TimeoutError(f"no answer to request {msg_id} within {_SECONDS:g} s")

    def messages(self) -> list[Json]:
        """The messages that the next chunk completes."""
        messages, self._rest = take_apart(self._rest + self.receive())
        for message in messages:
            self.on_message(message)
        return messages

    def on_message(self, message: Json) -> None:
        """Refuses the server's requests."""
        if "method" in message and "id" in message:
            refusal = {"code": -32601, "message": "a benchmark has no such method"}
            self.send(frame({"id": message["id"], "error": refusal}))

    def start(self, params: Json) -> None:
        """``initialize`` and ``initialized``."""
        self.answer(self.request("initialize", params))
        self.notify("initialized", {})

    def stop(self) -> None:
        self.answer(self.request("shutdown", None))
        self.notify("exit", {})


def take_apart(data: bytes) -> tuple[list[Json], bytes]:
    """The whole messages in ``data``, and what is left behind them. A frame whose start was read
    elsewhere is passed over."""
    messages: list[Json] = []
    at = 0
    while (header := _LENGTH.search(data, at)) is not None:
        end = header.end() + int(header[1])
        if end > len(data):
            break
        messages.append(json.loads(data[header.end() : end]))
        at = end
    return messages, data[at:]
