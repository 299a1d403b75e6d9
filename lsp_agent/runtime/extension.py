"""One extension: a process of its own that offers tools and slash commands, hears of events and
may veto.

It speaks lines of JSON: ``hello``, ``register_tool``…, ``register_command``…, ``subscribe``,
``ready``; later answers to ``tool_call``, ``command_invoked`` and ``event_intercept``, and
``notify`` at any time.
"""

import asyncio
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import cast

import orjson

from lsp_agent.runtime import json_text, processes
from lsp_agent.runtime.extension_log import ExtensionLog
from lsp_agent.runtime.json_text import NotJson
from lsp_agent.runtime.providers.provider import ToolSpec
from lsp_agent.user_data.extension_folders import OWN_PROGRAM, ExtensionProblem, Manifest

#: The longest line that is read from an extension, as zot's.
LINE_BYTES = 4 << 20
#: Events are not told to one that has left so much unread.
_MOST_UNREAD_BYTES = 8 << 20
#: How long each has to acknowledge ``shutdown``; then to end, also after TERM and after KILL.
SHUTDOWN_SECONDS = 2.0
TERM_SECONDS = 0.4
#: One that has said nothing for so long since its hello has said what it has, as zot takes it.
QUIET_SECONDS = 0.25
#: How long its last words are waited for before the log says that it has ended.
_LAST_WORDS_SECONDS = 0.2
_STDERR_CHUNK = 1 << 16
#: How much of a line that cannot be read its log repeats.
_EXCERPT = 200
#: What all models take as a tool's name; one of another name would spoil every request.
_TOOL_NAME = re.compile("[A-Za-z0-9_-]{1,64}")
#: What OpenAI or Anthropic refuse at the top of a tool's schema, with the whole request.
_NOT_AT_THE_TOP = ("oneOf", "anyOf", "allOf", "enum", "not")
_COMMAND_NAME = re.compile(r"\S+")
_INTERCEPTS = frozenset({"tool_call", "turn_start", "assistant_message"})
_ANSWERS = frozenset({"tool_result", "event_intercept_response", "command_response"})
#: What zot shows on a screen of its own, many times a second.
_PANELS = frozenset({"panel_render", "panel_close"})

Frame = Mapping[str, object]


class ExtensionLost(Exception):
    """It ended, or sent what cannot be read, while it was waited for."""


@dataclass(frozen=True, slots=True)
class SlashCommand:
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Callbacks:
    """``notify(level, message)`` is called for what it tells the person, ``registered`` after each
    thing that it says of itself, ``ended(how)`` once when it has ended."""

    notify: Callable[[str, str], None]
    registered: Callable[[], Awaitable[None]]
    ended: Callable[[str], None]


class Extension:
    """A running extension."""

    def __init__(self, manifest: Manifest, greeting: Frame, callbacks: Callbacks) -> None:
        self.name = manifest.name
        self.required = manifest.required
        self.reloads = manifest.reloads
        self.folder = manifest.folder
        self.tools: dict[str, ToolSpec] = {}
        #: By name in small letters.
        self.commands: dict[str, SlashCommand] = {}
        #: Of a required one all calls, until it has said what it wants to be asked.
        self.intercepts: frozenset[str] = frozenset({"tool_call"} if self.required else ())
        #: Set as soon as it has told what it has, or is taken to have.
        self.ready = asyncio.Event()
        #: Whether it will register nothing more: it has said so, or has ended.
        self.told_all = False
        self.ended = False
        #: Whether its end was asked for.
        self.stopping = False
        self._manifest = manifest
        self._greeting = greeting
        self._callbacks = callbacks
        self._greeted = False
        self._says_ready = False
        self._quiet: asyncio.TimerHandle | None = None
        self._events: frozenset[str] = frozenset()
        self._subscribed = False
        self._answers: dict[str, asyncio.Future[Frame]] = {}
        self._numbers = count(1)
        self._acknowledged = asyncio.Event()
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._logging: asyncio.Task[None] | None = None
        self._log = ExtensionLog(manifest.name)

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    async def start(self) -> None:
        """Raises ExtensionProblem."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *_command_line(self._manifest.argv),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=self._manifest.folder,
                limit=LINE_BYTES,
                start_new_session=True,
            )
        except OSError as error:
            self.ended = self.told_all = True
            self.ready.set()
            message = f"extension {self.name}: {self._manifest.argv[0]}: {error.strerror}"
            raise ExtensionProblem(message) from None
        self._logging = asyncio.create_task(self._keep_log(self._process))
        self._reading = asyncio.create_task(self._read(self._process))

    def tell(self, event: str, **payload: object) -> None:
        """An event, if it subscribed to it; nothing is answered."""
        if event in self._events and self._unread() < _MOST_UNREAD_BYTES:
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
        self.stopping = True
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
        for task in (self._reading, self._logging):
            if task is not None:
                await asyncio.wait({task}, timeout=TERM_SECONDS)
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    async def log(self, text: str) -> None:
        """Puts a line of ours into its log."""
        await asyncio.to_thread(self._log.write, f"[lsp-agent] {text}\n".encode())

    def _send(self, frame: Frame) -> None:
        if self._process is not None and self._process.stdin is not None and not self.ended:
            self._process.stdin.write(orjson.dumps(frame, option=orjson.OPT_APPEND_NEWLINE))

    def _unread(self) -> int:
        """Bytes that it has not taken from its stdin, beside what the pipe holds."""
        if self._process is None or self._process.stdin is None:
            return 0
        return self._process.stdin.transport.get_write_buffer_size()

    async def _read(self, process: Process) -> None:
        assert process.stdout is not None  # it is a pipe
        how = f"it sent a line of more than {LINE_BYTES >> 20} MiB"
        try:
            with suppress(ValueError):  # a line over the limit: nothing after it can be told apart
                while line := await process.stdout.readline():
                    await self._take(line)
                    self._expect_more()
                how = await _how_it_ended(process)
        finally:
            self._lost(how)
        processes.signal_group(process.pid, signal.SIGKILL)
        await process.wait()
        if self._logging is not None:
            await asyncio.wait({self._logging}, timeout=_LAST_WORDS_SECONDS)
        await self.log(f"it has ended ({how})")
        self._log.close()

    async def _keep_log(self, process: Process) -> None:
        """All that it writes to stderr, until the last process that holds it has ended."""
        assert process.stderr is not None  # it is a pipe
        try:
            while text := await process.stderr.read(_STDERR_CHUNK):
                await asyncio.to_thread(self._log.write, text)
        finally:
            self._log.close()

    def _expect_more(self) -> None:
        """It is ready without a word once nothing more has come for a while since its hello,
        unless that has promised the word."""
        if self._quiet is not None:
            self._quiet.cancel()
        if self._greeted and not self._says_ready and not self.ready.is_set():
            loop = asyncio.get_running_loop()
            self._quiet = loop.call_later(QUIET_SECONDS, self.ready.set)

    def _lost(self, how: str) -> None:
        self.ended = self.told_all = True
        self.ready.set()
        if self._quiet is not None:
            self._quiet.cancel()
        self._acknowledged.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ExtensionLost())
        self._callbacks.ended(how)

    async def _take(self, line: bytes) -> None:
        frame = _frame(line)
        if frame is None:
            if line.strip():
                await self.log(f"no frame: {_excerpt(line)}")
            return
        kind = frame.get("type")
        if not self._greeted and kind != "hello":
            await self.log(f"not heard, since it came before hello: {_excerpt(line)}")
        elif kind in _ANSWERS:
            await self._take_answer(kind, frame)
        elif kind == "notify":
            level, message = frame.get("level") or "info", frame.get("message") or ""
            self._callbacks.notify(str(level), str(message))
        elif kind == "shutdown_ack":
            self._acknowledged.set()
        elif kind not in _PANELS:
            await self._register(kind, frame)
            await self._callbacks.registered()

    async def _take_answer(self, kind: object, frame: Frame) -> None:
        number = str(frame.get("id"))
        answer = self._answers.get(number)
        if answer is None or answer.done():
            await self.log(f"nobody waits for this {kind}: {number!r}")
        else:
            answer.set_result(frame)

    async def _register(self, kind: object, frame: Frame) -> None:
        """What it says of itself."""
        name = str(frame.get("name") or "")
        description = str(frame.get("description") or "")
        match kind:
            case "hello" if not self._greeted:
                self._says_ready = "ready" in _names(frame.get("capabilities"))
                self._greet()
            case "register_tool" if not _TOOL_NAME.fullmatch(name):
                await self.log(f"no model takes {name!r} as the name of a tool")
            case "register_tool" if fault := _schema_fault(_object(frame.get("schema")) or {}):
                await self.log(f"no model takes the tool {name!r}: {fault}")
            case "register_tool":
                spec = ToolSpec(name, description, _object(frame.get("schema")) or {})
                self.tools.setdefault(name, spec)
            case "register_command" if not _COMMAND_NAME.fullmatch(name.removeprefix("/")):
                await self.log(f"{name!r} is no name of a command")
            case "register_command":
                command = SlashCommand(name.removeprefix("/"), description)
                self.commands.setdefault(command.name.lower(), command)
            case "subscribe":
                self._subscribed = True
                self._events = _names(frame.get("events"))
                self.intercepts = _names(frame.get("intercept")) & _INTERCEPTS
            case "ready":
                if not self._subscribed:
                    self.intercepts = frozenset()
                self.told_all = True
                self.ready.set()
            case _:
                await self.log(f"unknown type of frame: {kind!r}")

    def _greet(self) -> None:
        self._greeted = True
        folder = self._manifest.folder
        ack = {"type": "hello_ack", **self._greeting}
        self._send({**ack, "extension_dir": folder, "data_dir": folder})


async def _how_it_ended(process: Process) -> str:
    """Waits a moment for its exit; its stdout has ended."""
    with suppress(TimeoutError):
        async with asyncio.timeout(TERM_SECONDS):
            await process.wait()
    code = process.returncode
    if code is None:
        return "it closed its stdout"
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def _frame(line: bytes) -> Frame | None:
    try:
        return _object(json_text.loads(line))
    except NotJson:
        return None


def _object(value: object) -> Frame | None:
    return cast(Frame, value) if isinstance(value, dict) else None


def _schema_fault(schema: Frame) -> str:
    """What a model would refuse in it, "" if nothing."""
    if schema.get("type", "object") != "object":
        return "the type of its schema is not object"
    if not isinstance(schema.get("properties", {}), dict):
        return "its schema's properties are no object"
    found = [name for name in _NOT_AT_THE_TOP if name in schema]
    return f"its schema has {found[0]} at the top" if found else ""


def _excerpt(line: bytes) -> str:
    text = line.decode(errors="replace").rstrip()
    return text if len(text) <= _EXCERPT else f"{text[:_EXCERPT]}…"


def _names(value: object) -> frozenset[str]:
    if not isinstance(value, list):
        return frozenset()
    return frozenset(str(name) for name in cast(list[object], value))


def _command_line(argv: tuple[str, ...]) -> tuple[str, ...]:
    """``lsp-agent`` itself, by whatever name and place it was started, if that is meant."""
    if argv[0] != OWN_PROGRAM:
        return argv
    return (sys.executable, "-E", "-P", "-m", "lsp_agent", *argv[1:])
