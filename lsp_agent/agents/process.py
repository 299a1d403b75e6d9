"""An agent's subprocess: its frames, its commands' processes, its end.

The agent runs below a supervisor (``guard/supervise.py``), which holds on to every process that
the agent starts. The two streams of news are kept apart: stdout's end says only that no more
frames come; the supervisor says when, and how, the agent itself has ended.
"""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import anyio
import anyio.to_thread
import orjson

from lsp_agent.agents.control import Control
from lsp_agent.agents.framing import LineSplitter, TooLong, decoded, encoded
from lsp_agent.agents.guard import path_of, supervise
from lsp_agent.agents.orphans import kill_orphans
from lsp_agent.agents.stdio import AgentGone, Stdio
from lsp_agent.processes.system import this_system
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.text.plain import without_escapes

__all__ = ["AgentGone", "AgentProcess", "BadLine", "Exit", "absolute_entries"]

_STDERR_TAIL = 4096
_SAMPLE = 200
#: How long the supervisor may take to kill everything before it is killed itself.
_LAST_RESORT = 5.0
#: How often one that ends is woken, where something keeps stopping it.
_WAKE_SECONDS = 0.05
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
    """A line that is no frame, or one ``too_long`` to tell; ``text`` is how it begins."""

    reason: str
    text: str
    too_long: bool = False


class AgentProcess:
    """One running agent. Made by :meth:`start`; :meth:`stop` or :meth:`kill` must be called."""

    def __init__(
        self, stdio: Stdio, control: Control, line_bytes: int, secrets: Sequence[str]
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
        held: Sequence[str] = (),
    ) -> "AgentProcess":
        """Starts ``argv``, behind the words of what holds it, in ``cwd`` with ``env`` added to this
        process's environment, and without the relative entries of PATH: a repository could bring
        what they lead to.

        ``line_bytes`` limits a line of the agent's, in bytes; values in ``secrets`` are shown as
        ``***``. Raises RequestFailed (``agentNotFound``) if the program cannot be run there,
        (``agentExited``) if the supervisor cannot, (``notConfigured``) for a NUL in what it is
        started with.
        """
        environment = {**os.environ, **env}
        environment["PATH"] = absolute_entries(environment.get("PATH", os.defpath))
        program = _program(argv[0], cwd, environment)
        this_system().adopt_orphans()
        loop = asyncio.get_running_loop()
        stdio = Stdio()
        ours, theirs = socket.socketpair()
        with theirs:
            _, control = await loop.create_connection(Control, sock=ours)
            try:
                # Not given up half-way: asyncio would kill the supervisor, which kills the rest.
                with anyio.CancelScope(shield=True):
                    await loop.subprocess_exec(
                        lambda: stdio,
                        *(sys.executable, "-I", "-S", path_of(supervise)),
                        *(str(theirs.fileno()), "--", *held, program, *argv[1:]),
                        cwd=cwd,
                        env=environment,
                        pass_fds=(theirs.fileno(),),
                        start_new_session=True,
                    )
            except OSError as error:
                control.end()
                raise _not_found(argv[0], error.strerror or str(error)) from error
            except ValueError as error:  # a NUL, half a surrogate pair
                control.end()
                raise RequestFailed(
                    "notConfigured",
                    f"The agent {argv[0]} cannot be started: {error} in its arguments or in its"
                    " environment. Correct its `command` and `env` in your settings.",
                ) from error
            except BaseException:
                control.end()
                raise
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
        """Writes one line, at once and in the order of the calls, then waits while the agent does
        not read. Raises AgentGone."""
        await self._stdio.write(encoded(frame))

    def post(self, frame: Mapping[str, object]) -> None:
        """As ``send``, for who must not wait: an agent may read no more until it is read from."""
        self._stdio.post(encoded(frame))

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

    async def output(self) -> AsyncIterator[bytes]:
        """What it prints, in place of ``batches``, where it speaks no protocol."""
        while chunk := await self._stdio.read():
            yield chunk

    async def keep(self, *, workers: bool = False) -> None:
        """Remembers the agent's present descendants: they are no commands of it, nor is what they
        will start, unless they are its ``workers``."""
        self._wake()
        await self._control.request("work" if workers else "keep")

    async def kill_commands(self) -> int:
        """Kills every descendant but those that ``keep`` is about, however it hid,
        and returns how many; 0 if the agent has ended, since nothing outlives it. After 1 s it
        returns although one, asleep in the kernel, may take longer to die."""
        self._wake()
        return await self._control.request("kill")

    async def wait(self) -> Exit:
        """Waits until the agent and everything that it started has ended."""
        await self._stdio.exited.wait()
        await self._control.lost.wait()
        async with self._ending:
            if self._exit is None:
                # After a supervisor that was not killed there are none but the dead to reap.
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
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._keep_awake)
                    await self.wait()
                    tasks.cancel_scope.cancel()
            if patience.cancelled_caught:
                # Gone, and only its end was not yet told; or it ends by itself or not at all.
                with suppress(ProcessLookupError, PermissionError):
                    self._stdio.transport.kill()
            await self.wait()
            await self._stdio.finish(_DRAIN)
        return await self.wait()

    async def _keep_awake(self) -> None:
        while True:
            self._wake()
            await anyio.sleep(_WAKE_SECONDS)

    def _wake(self) -> None:
        """A command may have stopped the supervisor, or go on stopping it."""
        with suppress(ProcessLookupError, PermissionError):
            self._stdio.transport.send_signal(signal.SIGCONT)

    def _decode(self, lines: Sequence[bytes | TooLong]) -> list[object]:
        if TooLong not in map(type, lines):
            with contextlib.suppress(orjson.JSONDecodeError):  # rare: each is looked at by itself
                return list(map(decoded, cast(Sequence[bytes], lines)))
        return [self._frame(line) for line in lines if line and not _is_blank(line)]

    def _frame(self, line: bytes | TooLong) -> object:
        if isinstance(line, TooLong):
            reason = f"a line of more than {self._line_bytes} bytes (limits.line_bytes)"
            return BadLine(reason, self._masked(line.head)[:_SAMPLE], too_long=True)
        try:
            return decoded(line)
        except orjson.JSONDecodeError as error:
            return BadLine(f"not JSON: {error}", self._masked(line)[:_SAMPLE])

    def _stderr(self) -> str:
        tail = bytes(self._stdio.stderr)
        if self._stdio.stderr_cut:
            # What is left of the first line may be the rest of a secret.
            longest = max((len(secret.encode()) for secret in self._secrets), default=0)
            tail = tail[longest:].partition(b"\n")[2] or tail[longest:]
        plain = without_escapes(tail.decode(errors="replace"))  # a colour could part a secret
        encoded = self._masked(plain.encode()).strip().encode()
        return encoded[-_STDERR_TAIL:].decode(errors="ignore")

    def _masked(self, data: bytes) -> str:
        text = data.decode(errors="replace")
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


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
        kinds = [(path.is_file(), "is not executable"), (path.is_dir(), "is a folder")]
        problem = next((words for is_one, words in kinds if is_one), "does not exist")
        raise _not_found(name, f"{path} {problem}")
    found = shutil.which(name, path=environment["PATH"])
    if found is None:
        raise _not_found(name, "there is no such program on PATH")
    return found


def absolute_entries(path: str) -> str:
    """The entries of PATH that lead to the same folder from everywhere."""
    return os.pathsep.join(filter(os.path.isabs, path.split(os.pathsep)))


def _not_found(name: str, reason: str) -> RequestFailed:
    return RequestFailed(
        "agentNotFound",
        f"The agent {name} cannot be started: {reason}. Install it, or set its `command` in your"
        " settings to the right path.",
    )
