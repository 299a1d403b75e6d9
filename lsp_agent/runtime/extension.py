"""One extension: a process of its own that offers tools, hears of events and may veto.

It speaks lines of JSON: ``hello``, ``register_tool``…, ``subscribe``, ``ready``; later answers
to ``tool_call`` and ``event_intercept``, and ``notify`` at any time.
"""

import asyncio
import re
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.runtime import json_text, processes
from lsp_agent.runtime.json_text import NotJson
from lsp_agent.runtime.providers.provider import ToolSpec

#: The longest line that is read from an extension, as zot's.
LINE_BYTES = 4 << 20
#: How long each has to acknowledge ``shutdown``; then to end, also after TERM and after KILL.
SHUTDOWN_SECONDS = 2.0
TERM_SECONDS = 0.4
_LOG_BYTES = 1 << 20
_INTERCEPTS = frozenset({"tool_call", "turn_start", "assistant_message"})

Frame = Mapping[str, object]


class ExtensionProblem(LspAgentError):
    """An extension that cannot be run; the message says which and why."""


class ExtensionLost(Exception):
    """It ended, or sent what cannot be read, while it was waited for."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """``extension.json``; ``folder`` is where it lies, and the extension's cwd."""

    name: str
    version: str
    argv: tuple[str, ...]
    enabled: bool
    folder: str

    @classmethod
    def read(cls, folder: str) -> "Manifest":
        """Raises ExtensionProblem."""
        path = Path(folder) / "extension.json"
        try:
            data = orjson.loads(path.read_bytes())
        except OSError as error:
            raise ExtensionProblem(f"{path} cannot be read: {error.strerror}") from None
        except orjson.JSONDecodeError as error:
            raise ExtensionProblem(f"{path} is not JSON: {error}") from None
        fields = _object(data)
        name, command = fields.get("name"), fields.get("exec")
        args = cast(object, fields.get("args") or [])
        if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name):
            raise ExtensionProblem(f"{path}: name must be letters, digits, dots and dashes")
        if not isinstance(command, str) or not command:
            raise ExtensionProblem(f"{path}: exec must name the program to run")
        if not isinstance(args, list) or not all(
            isinstance(arg, str) for arg in cast(list[object], args)
        ):
            raise ExtensionProblem(f"{path}: args must be a list of strings")
        if "/" in command and not command.startswith("/"):
            command = str(Path(folder) / command)
        return cls(
            name=name,
            version=str(fields.get("version") or ""),
            argv=(command, *cast(list[str], args)),
            enabled=fields.get("enabled") is not False,
            folder=folder,
        )


class Extension:
    """A running extension. ``on_notify(level, message)`` is called for what it tells the person,
    ``on_end()`` once when it has ended."""

    def __init__(
        self,
        manifest: Manifest,
        greeting: Frame,
        on_notify: Callable[[str, str], None],
        on_end: Callable[[], None],
    ) -> None:
        self.name = manifest.name
        self.tools: dict[str, ToolSpec] = {}
        self.intercepts: frozenset[str] = frozenset()
        self.ready = asyncio.Event()
        self.ended = False
        self._manifest = manifest
        self._greeting = greeting
        self._on_notify = on_notify
        self._on_end = on_end
        self._events: frozenset[str] = frozenset()
        self._answers: dict[str, asyncio.Future[Frame]] = {}
        self._numbers = count(1)
        self._acknowledged = asyncio.Event()
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Raises ExtensionProblem."""
        log = await asyncio.to_thread(_open_log, self.name)
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._manifest.argv,
                stdin=PIPE,
                stdout=PIPE,
                stderr=log if log is not None else asyncio.subprocess.DEVNULL,
                cwd=self._manifest.folder,
                limit=LINE_BYTES,
                start_new_session=True,
            )
        except OSError as error:
            message = f"extension {self.name}: {self._manifest.argv[0]}: {error.strerror}"
            raise ExtensionProblem(message) from None
        finally:
            if log is not None:
                log.close()
        self._reading = asyncio.create_task(self._read(self._process))

    def tell(self, event: str, **payload: object) -> None:
        """An event, if it subscribed to it; nothing is answered."""
        if event in self._events:
            self._send({"type": "event", "event": event, **payload})

    async def ask(self, frame: Frame, timeout: float) -> Frame:
        """Sends ``frame`` with an id after its type and waits for the frame that answers it.

        Raises ExtensionLost and TimeoutError.
        """
        number = f"{next(self._numbers):06}"
        answer = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            if self.ended:
                raise ExtensionLost
            # The guard of the bridge tells an intercept by how its line begins: type, then id.
            self._send({"type": frame["type"], "id": number, **frame})
            async with asyncio.timeout(timeout):
                return await answer
        finally:
            del self._answers[number]

    async def stop(self) -> None:
        """``shutdown``, then TERM, then KILL; what it started goes with it.

        It has ended when its output has: a child of its own may hold that longer.
        """
        if self._process is None or self._reading is None:
            return
        self._send({"type": "shutdown"})
        if self._process.stdin is not None:
            self._process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(SHUTDOWN_SECONDS):
                await self._acknowledged.wait()
        for number in (signal.SIGTERM, signal.SIGKILL):
            await asyncio.wait({self._reading}, timeout=TERM_SECONDS)
            if not self._reading.done():
                processes.signal_group(self._process.pid, number)
        await asyncio.wait({self._reading}, timeout=TERM_SECONDS)
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading

    def _send(self, frame: Frame) -> None:
        if self._process is not None and self._process.stdin is not None and not self.ended:
            self._process.stdin.write(orjson.dumps(frame, option=orjson.OPT_APPEND_NEWLINE))

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None  # it is a pipe
        try:
            with suppress(ValueError):  # a line over the limit: nothing after it can be told apart
                while line := await process.stdout.readline():
                    self._take(line)
        finally:
            self._lost()
        with suppress(TimeoutError):
            async with asyncio.timeout(TERM_SECONDS):
                await process.wait()
        processes.signal_group(process.pid, signal.SIGKILL)
        await process.wait()

    def _lost(self) -> None:
        self.ended = True
        self.ready.set()
        self._acknowledged.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ExtensionLost())
        self._on_end()

    def _take(self, line: bytes) -> None:
        try:
            frame = _object(json_text.loads(line))
        except NotJson:
            return  # as zot: what is no frame is not for us
        match frame.get("type"):
            case "hello":
                self._send(
                    {
                        "type": "hello_ack",
                        **self._greeting,
                        "extension_dir": self._manifest.folder,
                        "data_dir": self._manifest.folder,
                    }
                )
            case "register_tool":
                name = str(frame.get("name") or "")
                schema = _object(frame.get("schema"))
                spec = ToolSpec(name, str(frame.get("description") or ""), schema)
                self.tools.setdefault(name, spec)
            case "subscribe":
                self._events = _names(frame.get("events"))
                self.intercepts = _names(frame.get("intercept")) & _INTERCEPTS
            case "ready":
                self.ready.set()
            case "shutdown_ack":
                self._acknowledged.set()
            case "notify":
                level, message = frame.get("level") or "info", frame.get("message") or ""
                self._on_notify(str(level), str(message))
            case "tool_result" | "event_intercept_response":
                answer = self._answers.get(str(frame.get("id")))
                if answer is not None and not answer.done():
                    answer.set_result(frame)
            case _:
                pass  # commands, panels and whatever comes later are not for rpc


def _object(value: object) -> Frame:
    return cast(Frame, value) if isinstance(value, dict) else {}


def _names(value: object) -> frozenset[str]:
    if not isinstance(value, list):
        return frozenset()
    return frozenset(str(name) for name in cast(list[object], value))


def _open_log(name: str) -> BinaryIO | None:
    """Where an extension's stderr goes; None where no log can be kept."""
    from platformdirs import user_log_path  # noqa: PLC0415  only with extensions

    with suppress(OSError):
        folder = user_log_path("lsp-agent", appauthor=False)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"ext-{name}.log"
        if path.exists() and path.stat().st_size > _LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
        return path.open("ab")
    return None
