"""``bash``: a command in ``/bin/sh``, its output as it comes, and its end.

Whatever a command started ends with it: what it left running in the background too, so that
after a turn nothing of it runs. Its environment has neither the rpc token nor the keys of
providers; what it reads of this process through ``/proc`` cannot be kept from it.
"""

import asyncio
import codecs
import os
import signal
import tempfile
import time
from asyncio import FIRST_COMPLETED
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from lsp_agent.processes.system import this_system
from lsp_agent.protocol.environment import COVER_VARIABLE, SECRETS_VARIABLE
from lsp_agent.protocol.providers import MODEL_KEYS
from lsp_agent.runtime import processes
from lsp_agent.runtime.tools.covering import covering_of
from lsp_agent.runtime.tools.gate_watch import GateWatch
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.runtime.transcript import text_block
from lsp_agent.toolset.arguments import BashArgs, ToolFailure
from lsp_agent.toolset.command_output import OutputEnds
from lsp_agent.toolset.commands import CommandOutput, bash_result
from lsp_agent.toolset.reading import MAX_BYTES

Progress = Callable[[str], Awaitable[None]]

#: The most that one progress event shows.
PROGRESS_BYTES = 4096
#: From TERM to KILL.
GRACE_SECONDS = 0.3
#: How long what a command left in the background may still print; and how long the last output of
#: an aborted one may take to be told of.
LINGER_SECONDS = 0.2
#: The longest output that is kept in a file.
FULL_OUTPUT_BYTES = 64 << 20

#: Variables that no command sees.
SECRETS = frozenset({"ZOTCORE_RPC_TOKEN", *MODEL_KEYS})


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Without the secrets, and without those that whoever started the agent named. A line that
    unsets them in the shell would leave them where the kernel shows a process's environment."""
    named = environment.get(SECRETS_VARIABLE, "").split()
    hidden = SECRETS.union(named, [SECRETS_VARIABLE, COVER_VARIABLE])
    return {name: value for name, value in environment.items() if name not in hidden}


class Shell:
    """Runs commands in ``cwd``, one at a time; ``is_other`` knows the agent's other children.

    ``close`` removes the files with full outputs.
    """

    def __init__(self, cwd: str, is_other: Callable[[int], bool]) -> None:
        self._cwd = cwd
        self._is_other = is_other
        self._cover = covering_of(os.environ)
        self._files = ExitStack()
        self._folder: str | None = None

    async def run(self, given: BashArgs, progress: Progress, *, gated: bool = False) -> Outcome:
        """Raises ToolFailure. When cancelled it ends the command and answers all the same: the
        result says how far it got. ``gated``: the command begins with a gate."""
        stop = asyncio.Event()
        job = asyncio.create_task(self._run(given, progress, stop, gated))
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            stop.set()
            return await job

    def close(self) -> None:
        self._files.close()

    async def _run(
        self, given: BashArgs, progress: Progress, stop: asyncio.Event, gated: bool
    ) -> Outcome:
        this_system().adopt_orphans()
        output = _Output(self._output_file)
        gate = gate_watch(gated=gated)
        reader, transport, writing = await open_pipe()
        try:
            process = await start_shell(self._cwd, given.command, writing, gate.environment)
            pump = asyncio.create_task(_pump(reader, output, progress))
            stopped = await self._wait(process, pump, given.timeout, stop)
        finally:
            transport.close()
            gate.close()
        code = -1 if stopped else max(process.returncode or 0, -1)
        seconds = 0.0 if gate.since is None else time.monotonic() - gate.since
        timed_out = stopped and not stop.is_set()
        shown = output.shown(f"[ended: it took longer than {given.timeout} s]" if timed_out else "")
        result = bash_result(given.command, shown, None if gate.since is None else code, seconds)
        result = await asyncio.to_thread(self._cover, result)
        return Outcome([text_block(result)], is_error=code != 0)

    async def _wait(
        self, process: Process, pump: asyncio.Task[None], timeout: int, stop: asyncio.Event
    ) -> bool:
        """Until the command, all that it started and its output have ended; whether it was
        stopped, by ``stop`` or the time-out."""
        stopping = asyncio.create_task(stop.wait())
        waiting = asyncio.create_task(process.wait())
        limit = timeout if timeout > 0 else None
        await asyncio.wait({waiting, stopping}, timeout=limit, return_when=FIRST_COMPLETED)
        stopped = not waiting.done()
        if stopped:
            processes.signal_group(process.pid, signal.SIGTERM)
            await asyncio.wait({waiting}, timeout=GRACE_SECONDS)
        else:
            await asyncio.wait(
                {pump, stopping}, timeout=LINGER_SECONDS, return_when=FIRST_COMPLETED
            )
        await processes.end_tree(process.pid, self._is_other)
        # All who could write are gone: what is left is what the pipe still holds.
        await asyncio.wait({pump, stopping}, return_when=FIRST_COMPLETED)
        await asyncio.wait({pump, waiting}, timeout=LINGER_SECONDS)
        for task in (pump, stopping, waiting):
            task.cancel()
        return stopped

    def _output_file(self) -> BinaryIO:
        if self._folder is None:
            self._folder = self._files.enter_context(
                tempfile.TemporaryDirectory(prefix="lsp-agent-output-")
            )
        descriptor, path = tempfile.mkstemp(suffix=".txt", dir=self._folder)
        os.close(descriptor)
        return Path(path).open("wb")


async def start_shell(cwd: str, command: str, writing: int, more: Mapping[str, str]) -> Process:
    """Its output goes to ``writing``, which is closed here. Raises ToolFailure."""
    try:
        return await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            stdin=DEVNULL,
            stdout=writing,
            stderr=STDOUT,
            cwd=cwd,
            env={**clean_environment(os.environ), **more},
            process_group=0,
        )
    except (OSError, ValueError) as error:
        raise ToolFailure(f"start: {error}") from None
    finally:
        os.close(writing)


def gate_watch(*, gated: bool) -> GateWatch:
    try:
        return GateWatch(gated=gated)
    except OSError as error:
        raise ToolFailure(f"start: {error}") from None


async def open_pipe() -> tuple[asyncio.StreamReader, asyncio.ReadTransport, int]:
    """A pipe of our own: with one of asyncio's, waiting for a process may mean waiting for the end
    of its output as well."""
    reading, writing = os.pipe()
    reader = asyncio.StreamReader(limit=PROGRESS_BYTES)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb", 0)
    )
    return reader, transport, writing


async def _pump(pipe: asyncio.StreamReader, output: "_Output", progress: Progress) -> None:
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    # Up to three bytes of a character may be left over from the piece before.
    while data := await pipe.read(PROGRESS_BYTES - 3):
        await output.add(data)
        if text := decode(data):
            await progress(text)
    if text := decode(b"", final=True):
        await progress(text)


class _Output:
    """What is shown of a command's output; all of it in a file, once it is too long to show."""

    def __init__(self, make_file: Callable[[], BinaryIO]) -> None:
        self._make_file = make_file
        self._ends = OutputEnds()
        self._file: BinaryIO | None = None

    async def add(self, data: bytes) -> None:
        size = self._ends.size
        if size + len(data) > MAX_BYTES and size < FULL_OUTPUT_BYTES:
            await asyncio.to_thread(self._spill, data)
        self._ends.add(data)

    def shown(self, note: str) -> CommandOutput:
        """``note`` is a last line of ours, or ""."""
        if self._ends.has_too_many_lines and self._file is None:
            self._spill(b"")
        if self._file is None:
            return self._ends.shown(note)
        if self._ends.size > FULL_OUTPUT_BYTES:
            self._spill(b"\n[not kept: what follows]\n")
        self._file.close()
        return self._ends.shown(note, self._file.name)

    def _spill(self, data: bytes) -> None:
        """A full disk costs the file, not the command."""
        with suppress(OSError):
            if self._file is None:
                self._file = self._make_file()
                self._file.write(self._ends.head)
            self._file.write(data)
