"""An agent's subprocess: its frames, its commands' processes, its end.

The agent runs below a supervisor (``guard/supervise.py``), which holds on to every process that
the agent starts. The two streams of news are kept apart: stdout's end says only that no more
frames come; the supervisor says when, and how, the agent itself has ended.
"""

import asyncio
import os
import shutil
import socket
import sys
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio
import anyio.to_thread
import orjson

from lsp_agent.agents.framing import LineSplitter, TooLong
from lsp_agent.agents.guard import supervise
from lsp_agent.agents.orphans import kill_orphans
from lsp_agent.protocol.errors import RequestFailed

#: Bytes held of what the agent says (reading pauses above), and of what it does not read.
_HELD = 1 << 20
_STDERR_TAIL = 4096
_SAMPLE = 200
#: How long the supervisor may take to kill everything before it is killed itself.
_LAST_RESORT = 5.0
#: How long streams may take to drain after the end.
_DRAIN = 0.5


@dataclass(frozen=True, slots=True)
class Exit:
    """How an agent ended. ``code`` is -S after signal S, None if the supervisor was killed and
    cannot tell; ``stderr`` are its last lines, at most 4 KiB, without secrets."""

    code: int | None
    stderr: str


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no frame; ``text`` is how it begins."""

    reason: str
    text: str


class AgentGone(Exception):
    """The agent has ended, or reads no more."""


class AgentProcess:
    """One running agent. Made by :meth:`start`; :meth:`stop` or :meth:`kill` must be called."""

    def __init__(
        self, stdio: "_Stdio", control: "_Control", line_bytes: int, secrets: Sequence[str]
    ) -> None:
        self._stdio = stdio
        self._control = control
        self._line_bytes = line_bytes
        self._secrets = sorted(filter(None, secrets), key=len, reverse=True)
        self._exit: Exit | None = None
        self._ending = asyncio.Lock()
        self.pid: int = stdio.transport.get_pid()

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        line_bytes: int,
        secrets: Sequence[str] = (),
    ) -> "AgentProcess":
        """Starts ``argv`` in ``cwd`` with ``env`` added to this process's environment.

        ``line_bytes`` limits a line of the agent's, in bytes; values in ``secrets`` are shown as
        ``***``. Raises RequestFailed (``agentNotFound``) if the program cannot be run there,
        (``agentExited``) if the supervisor cannot.
        """
        environment = {**os.environ, **env}
        program = _program(argv[0], cwd, environment)
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        with theirs:
            _, control = await loop.create_connection(_Control, sock=ours)
            try:
                _, stdio = await loop.subprocess_exec(
                    _Stdio,
                    *(sys.executable, "-I", "-S", supervise.__file__, str(theirs.fileno()), "--"),
                    *(program, *argv[1:]),
                    cwd=cwd,
                    env=environment,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            except OSError as error:
                control.end()
                raise _not_found(argv[0], error.strerror or str(error)) from error
        process = cls(stdio, control, line_bytes, secrets)
        try:
            failure = await control.started
        except BaseException:
            await process.kill()
            raise
        if failure is not None:
            ended = await process.kill()
            if failure:
                raise _not_found(argv[0], f"{program} cannot be executed: {failure}")
            raise RequestFailed(
                "agentExited",
                f"The agent's supervisor ended at once: {ended.stderr or 'it said nothing'}",
            )
        return process

    async def send(self, frame: Mapping[str, object]) -> None:
        """Writes one line; waits while the agent does not read. Raises AgentGone."""
        await self._stdio.write(orjson.dumps(frame, option=orjson.OPT_APPEND_NEWLINE))

    async def batches(self) -> AsyncIterator[list[object]]:
        """The decoded frames of what was read at once, in order, a BadLine in place of what is
        none; ends at the end of stdout. While nobody asks for more, at most 1 MiB is read
        ahead."""
        splitter = LineSplitter(self._line_bytes)
        while chunk := await self._stdio.read():
            if frames := self._decode(splitter.feed(chunk)):
                yield frames
        if frames := self._decode(splitter.end()):
            yield frames

    async def keep(self) -> None:
        """Remembers the agent's present descendants: they are no commands of it."""
        await self._control.request("keep")

    async def kill_commands(self) -> int:
        """Kills every descendant that is neither kept nor started by a kept one, however it hid,
        and returns how many; 0 if the agent has ended, since nothing outlives it. After 1 s it
        returns although one, asleep in the kernel, may take longer to die."""
        return await self._control.request("kill")

    async def wait(self) -> Exit:
        """Waits until the agent and everything that it started has ended."""
        await self._stdio.exited.wait()
        await self._control.lost.wait()
        async with self._ending:
            if self._exit is None:
                if self._control.code is None:
                    await anyio.to_thread.run_sync(kill_orphans, self.pid)
                with anyio.move_on_after(_DRAIN):
                    await self._stdio.stderr_ended.wait()
                self._exit = Exit(self._control.code, self._stderr())
        return self._exit

    async def stop(self, grace: float) -> Exit:
        """Closes stdin, gives the agent ``grace`` seconds to end, then kills what is left of it.
        A cancelled scope does not interrupt it; a cancelled task has the agent killed at once."""
        self._stdio.close_stdin()
        try:
            with anyio.CancelScope(shield=True), anyio.move_on_after(grace):
                await self.wait()
        finally:
            self._control.end()
        return await self.kill()

    async def kill(self) -> Exit:
        """Kills the agent and everything that it started. A cancelled scope does not interrupt
        it, and the end comes though nobody waits for it."""
        with anyio.CancelScope(shield=True):
            self._control.end()
            with anyio.move_on_after(_LAST_RESORT) as patience:
                await self.wait()
            if patience.cancelled_caught:
                self._stdio.transport.kill()
            await self.wait()
            await self._stdio.finish(_DRAIN)
        return await self.wait()

    def _decode(self, lines: Sequence[bytes | TooLong]) -> list[object]:
        return [self._frame(line) for line in lines if line and not _is_blank(line)]

    def _frame(self, line: bytes | TooLong) -> object:
        if isinstance(line, TooLong):
            reason = f"a line of more than {self._line_bytes} bytes (limits.line_bytes)"
            return BadLine(reason, self._masked(line.head)[:_SAMPLE])
        try:
            return orjson.loads(line)
        except orjson.JSONDecodeError as error:
            return BadLine(f"not JSON: {error}", self._masked(line)[:_SAMPLE])

    def _stderr(self) -> str:
        tail = bytes(self._stdio.stderr)
        if self._stdio.stderr_cut:
            # What is left of the first line may be the rest of a secret.
            longest = max((len(secret.encode()) for secret in self._secrets), default=0)
            tail = tail[longest:].partition(b"\n")[2] or tail[longest:]
        encoded = self._masked(tail).strip().encode()
        return encoded[-_STDERR_TAIL:].decode(errors="ignore")

    def _masked(self, data: bytes) -> str:
        text = data.decode(errors="replace")
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


class _Stdio(asyncio.SubprocessProtocol):
    """The three streams: stdout with back-pressure, stdin with a bounded buffer, the last of
    stderr."""

    def __init__(self) -> None:
        self.transport: asyncio.SubprocessTransport
        self.exited = asyncio.Event()
        self.stderr = bytearray()
        self.stderr_cut = False
        self.stderr_ended = asyncio.Event()
        self._chunks: list[bytes] = []
        self._held = 0
        self._paused = False
        self.stdout_ended = asyncio.Event()
        self._readable = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._stdin_open = True

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.SubprocessTransport, transport)
        self._stdin.set_write_buffer_limits(high=_HELD)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self._keep_tail(data)
            return
        self._chunks.append(data)
        self._held += len(data)
        self._readable.set()
        if self._held >= _HELD and not self._paused:
            self._paused = True
            self._stdout.pause_reading()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002
        if fd == 0:
            self._stdin_open = False
            self._writable.set()
        elif fd == 1:
            self.stdout_ended.set()
            self._readable.set()
        else:
            self.stderr_ended.set()

    def process_exited(self) -> None:
        self.exited.set()
        self._stdin_open = False
        self._writable.set()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    # What AgentProcess calls.

    async def read(self) -> bytes:
        """All that has come since the last call, b"" at the end."""
        await self._readable.wait()
        data = b"".join(self._chunks)
        self._chunks, self._held = [], 0
        if not self.stdout_ended.is_set():
            self._readable.clear()
            if self._paused:
                self._paused = False
                self._stdout.resume_reading()
        return data

    async def write(self, line: bytes) -> None:
        while self._stdin_open and not self._writable.is_set():
            await self._writable.wait()
        if not self._stdin_open:
            raise AgentGone("the agent has ended")
        self._stdin.write(line)

    def close_stdin(self) -> None:
        """After what is still to be written."""
        if self._stdin_open:
            self._stdin_open = False
            self._writable.set()
            self._stdin.close()

    async def finish(self, seconds: float) -> None:
        """After the exit: takes what the pipe still holds, then closes it."""
        if not self._paused:
            with anyio.move_on_after(seconds):
                await self.stdout_ended.wait()
        self.transport.close()

    @property
    def _stdin(self) -> asyncio.WriteTransport:
        return cast(asyncio.WriteTransport, self.transport.get_pipe_transport(0))

    @property
    def _stdout(self) -> asyncio.ReadTransport:
        return cast(asyncio.ReadTransport, self.transport.get_pipe_transport(1))

    def _keep_tail(self, data: bytes) -> None:
        self.stderr += data
        if len(self.stderr) > 8 * _STDERR_TAIL:
            del self.stderr[: -4 * _STDERR_TAIL]
            self.stderr_cut = True


class _Control(asyncio.Protocol):
    """The server's end of the supervisor's socket."""

    def __init__(self) -> None:
        self.code: int | None = None
        self.lost = asyncio.Event()
        #: None when the agent runs, else why it could not be executed, "" if nobody says.
        self.started: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.WriteTransport
        self._rest = b""
        self._replies: deque[asyncio.Future[int]] = deque()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.WriteTransport, transport)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode().partition(" ")
            match word:
                case "started":
                    self._begin(None)
                case "failed":
                    self._begin(rest)
                case "exited":
                    self.code = int(rest)
                case _:
                    _resolve(self._replies.popleft(), int(rest))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        self._begin("")
        while self._replies:
            _resolve(self._replies.popleft(), 0)
        self.lost.set()

    async def request(self, word: str) -> int:
        """The number in the answer; 0 when the supervisor has ended."""
        if self.lost.is_set() or self._transport.is_closing():
            return 0
        reply: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._replies.append(reply)
        self._transport.write(word.encode() + b"\n")
        return await reply

    def end(self) -> None:
        if not self.lost.is_set() and self._transport.can_write_eof():
            self._transport.write_eof()

    def _begin(self, failure: str | None) -> None:
        if not self.started.done():
            self.started.set_result(failure)


def _resolve(future: asyncio.Future[int], value: int) -> None:
    if not future.done():  # its caller may have been cancelled
        future.set_result(value)


def _is_blank(line: bytes | TooLong) -> bool:
    return isinstance(line, bytes) and line.isspace()


def _program(name: str, cwd: str, environment: Mapping[str, str]) -> str:
    """The absolute path of what ``name`` means in ``cwd``; raises RequestFailed."""
    if not Path(cwd).is_dir():
        raise RequestFailed(
            "agentNotFound",
            f"The agent {name} cannot be started: its folder {cwd} does not exist."
            " Open an existing folder.",
        )
    if os.sep in name:
        path = Path(cwd) / name
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
        problem = "is not executable" if path.is_file() else "does not exist"
        raise _not_found(name, f"{path} {problem}")
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    if found is None:
        raise _not_found(name, "there is no such program on PATH")
    return str(Path(cwd) / found)


def _not_found(name: str, reason: str) -> RequestFailed:
    return RequestFailed(
        "agentNotFound",
        f"The agent {name} cannot be started: {reason}. Install it, or set its `command` in your"
        " settings to the right path.",
    )
