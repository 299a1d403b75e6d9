"""A plain JSON-RPC client over a real server process, for tests.

It knows nothing of the server's code: it starts a command, sends what it is told (whole
messages or raw bytes), keeps everything that comes, and answers the server's requests by
handlers that run in its reader thread, in the order of the wire.
"""

import contextlib
import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from support import warm
from support.warm import MARK

Json = dict[str, Any]

#: What a handler returns to leave a request of the server unanswered.
NO_ANSWER = object()


class RpcError(Exception):
    """An error answer. A handler raises it to answer with one."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data


def frame(message: Any) -> bytes:
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class RawClient:
    """Starts ``command`` and speaks to it. Use as a context manager: it kills at the end.

    ``handlers[method]`` answers the server's requests: it gets the params and returns the
    result, raises ``RpcError``, or returns ``NO_ANSWER``. Without one: MethodNotFound.
    ``messages`` has everything received, in order. With ``reading=False`` nothing is read
    until ``start_reading``. ``warm_start``: see ``support/warm.py``.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path | str | None = None,
        env: dict[str, str] | None = None,
        reading: bool = True,
        timeout: float = 60.0,
        warm_start: bool = False,
    ) -> None:
        self.mark = uuid.uuid4().hex
        self.timeout = timeout
        self.messages: list[Json] = []
        self.handlers: dict[str, Callable[[Any], Any]] = {}
        self.ended = False  # the server closed its output
        self._news = threading.Condition()
        self._writing = threading.Lock()
        self._next_id = 0
        self._starts: dict[Any, int] = {}  # where in ``messages`` a request's answer can be
        self._errors: list[str] = []
        begin = warm.start if warm_start else warm.cold_start
        env = dict(os.environ if env is None else env) | {MARK: self.mark}
        self.process = begin(command, cwd=cwd, env=env)
        self._threads = [threading.Thread(target=self._collect_errors, daemon=True)]
        self._threads[0].start()
        if reading:
            self.start_reading()

    def __enter__(self) -> "RawClient":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.kill()

    # Sending

    def send_bytes(self, data: bytes) -> None:
        assert self.process.stdin
        with self._writing:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def send(self, *messages: Json) -> None:
        """Sends the messages in one write."""
        self.send_bytes(b"".join(frame({"jsonrpc": "2.0", **message}) for message in messages))

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params or {}})

    def request(self, method: str, params: Any = None) -> int:
        """Sends a request; its id, for ``answer``."""
        msg_id = self.new_id()
        self._starts[msg_id] = len(self.messages)
        self.send({"id": msg_id, "method": method, "params": params or {}})
        return msg_id

    def new_id(self) -> int:
        self._next_id += 1
        return self._next_id

    def cancel(self, msg_id: int) -> None:
        self.notify("$/cancelRequest", {"id": msg_id})

    def close_input(self) -> None:
        assert self.process.stdin
        self.process.stdin.close()

    # Receiving

    def wait_for(
        self, wanted: Callable[[Json], object], timeout: float | None = None, start: int = 0
    ) -> Json:
        """The first message from index ``start`` on that is ``wanted``; waits for it."""
        deadline = time.monotonic() + (timeout or self.timeout)
        seen = start
        with self._news:
            while True:
                for message in self.messages[seen:]:
                    if wanted(message):
                        return message
                seen = max(seen, len(self.messages))
                left = deadline - time.monotonic()
                if left <= 0 or self.ended:
                    why = "the server ended" if self.ended else "nothing came in time"
                    raise TimeoutError(f"{why}; stderr: {self.stderr[-3000:]}")
                self._news.wait(left)

    def answer(self, msg_id: Any, timeout: float | None = None) -> Json:
        """The whole answer to request ``msg_id``."""
        return self.wait_for(
            lambda message: "method" not in message and message.get("id") == msg_id,
            timeout,
            self._starts.get(msg_id, 0),
        )

    def result(self, msg_id: Any, timeout: float | None = None) -> Any:
        """The result of request ``msg_id``. Raises ``RpcError``."""
        answer = self.answer(msg_id, timeout)
        if error := answer.get("error"):
            raise RpcError(error["code"], error["message"], error.get("data"))
        return answer["result"]

    def call(self, method: str, params: Any = None, timeout: float | None = None) -> Any:
        """Sends a request and waits for its result. Raises ``RpcError``."""
        return self.result(self.request(method, params), timeout)

    def notification(self, method: str, timeout: float | None = None, **wanted: Any) -> Any:
        """The params of the first notification or request ``method`` with these params."""

        def fits(message: Json) -> bool:
            params = message.get("params")
            return message.get("method") == method and all(
                isinstance(params, dict) and params.get(key) == value
                for key, value in wanted.items()
            )

        return self.wait_for(fits, timeout).get("params")

    def received(self, method: str) -> list[Any]:
        """The params of every notification or request ``method`` so far."""
        with self._news:
            return [m.get("params") for m in self.messages if m.get("method") == method]

    def forget(self) -> None:
        """Drops the messages and handlers so far, where tests share a server."""
        with self._news:
            self.messages.clear()
            self._starts.clear()
        self.handlers.clear()

    @property
    def stderr(self) -> str:
        return "".join(self._errors)

    def read_answer(self, msg_id: Any) -> Json:
        """Reads just up to the answer to ``msg_id``, for a client that does not read otherwise."""
        return next(m for m in self._incoming() if "method" not in m and m.get("id") == msg_id)

    # The session's usual course

    def initialize(
        self,
        capabilities: Json | None = None,
        *,
        folders: Sequence[Path] = (),
        agent: Json | None = None,
        **params: Any,
    ) -> Json:
        """``initialize`` and ``initialized``; the result. ``agent`` is experimental.agent."""
        capabilities = dict(capabilities or {})
        if agent is not None:
            capabilities["experimental"] = {"agent": agent}
        result = self.call(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": None,
                "capabilities": capabilities,
                "workspaceFolders": [
                    {"uri": folder.as_uri(), "name": folder.name} for folder in folders
                ],
            }
            | params,
        )
        self.notify("initialized")
        return result

    def shut_down(self, timeout: float | None = None) -> int:
        """``shutdown`` and ``exit``; the exit code."""
        self.call("shutdown", timeout=timeout)
        self.notify("exit")
        return self.wait_for_exit(timeout)

    def wait_for_exit(self, timeout: float | None = None) -> int:
        code = self.process.wait(timeout or self.timeout)
        self._threads[0].join(1)  # what it printed last
        return code

    def kill(self) -> None:
        """Ends the server and everything marked that it started."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pid in left_behind(self.mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        with contextlib.suppress(BrokenPipeError):
            self.close_input()
        for thread in self._threads:
            thread.join(2)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream
            stream.close()

    # The threads

    def start_reading(self) -> None:
        self._threads.append(threading.Thread(target=self._read, daemon=True))
        self._threads[-1].start()

    def _read(self) -> None:
        for message in self._incoming():
            with self._news:
                self.messages.append(message)
                self._news.notify_all()
            if "method" in message and "id" in message:
                self._answer(message)
        with self._news:
            self.ended = True
            self._news.notify_all()

    def _incoming(self) -> Iterator[Json]:
        stream = self.process.stdout
        assert stream
        while header := stream.readline():
            name, _, value = header.partition(b":")
            assert name == b"Content-Length", header
            assert stream.readline() == b"\r\n"
            body = stream.read(int(value))
            if len(body) < int(value):
                return
            yield json.loads(body)

    def _answer(self, message: Json) -> None:
        answer: Json = {"id": message["id"]}
        try:
            handler = self.handlers.get(message["method"], _method_not_found)
            answer["result"] = handler(message.get("params"))
        except RpcError as exc:
            answer["error"] = {"code": exc.code, "message": exc.message}
        if answer.get("result") is not NO_ANSWER:
            with contextlib.suppress(BrokenPipeError, ValueError):
                self.send(answer)

    def _collect_errors(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._errors.append(line.decode(errors="replace"))


def _method_not_found(_params: object) -> None:
    raise RpcError(-32601, "Method not found")


def python(path: Path | str, *arguments: str) -> list[str]:
    """The command that runs a Python file or, with ``-m`` first, a module."""
    return [sys.executable, str(path), *arguments]


def left_behind(mark: str) -> list[int]:
    """The processes, zombies left out, whose environment has the mark (Linux)."""
    wanted = f"{MARK}={mark}".encode()
    found: list[int] = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            with contextlib.suppress(OSError):
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
    return found


def descendants(pid: int) -> list[int]:
    """The living children of ``pid`` and theirs, zombies left out (Linux)."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                if state != "Z":
                    children.setdefault(int(parent), []).append(int(folder.name))
    found: list[int] = []
    todo = [pid]
    while todo:
        todo += (below := children.get(todo.pop(), []))
        found += below
    return found


def wait_until(true: Callable[[], object], timeout: float = 30.0) -> bool:
    """Whether ``true()`` came true in time. It takes at most a fifth of a processor: what it looks
    at may be every process of the machine."""
    deadline = time.monotonic() + timeout
    while True:
        begun = time.thread_time()
        if true():
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(max(0.02, 4 * (time.thread_time() - begun)))


def memory(pid: int) -> int:
    """The resident memory of a process in bytes (Linux)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
