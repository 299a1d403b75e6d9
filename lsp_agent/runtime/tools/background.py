"""Commands that go on while the agent works: a server in development, a watch.

Each runs in a process group of its own, and what it leaves behind is known by a variable of its
environment, so that the end of another command spares it and its own takes it along. None outlives
the agent.
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from lsp_agent.processes.system import this_system
from lsp_agent.protocol.environment import BACKGROUND_VARIABLE
from lsp_agent.runtime import processes
from lsp_agent.runtime.tools import outcome
from lsp_agent.runtime.tools.bash import PROGRESS_BYTES, gate_watch, open_pipe, start_shell
from lsp_agent.runtime.tools.covering import covering_of
from lsp_agent.runtime.tools.gate_watch import GateWatch
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.toolset import background as words
from lsp_agent.toolset.arguments import BashArgs, ToolFailure, parse_background_id
from lsp_agent.toolset.commands import CommandOutput, bash_result

MOST_AT_ONCE = 8
#: Of ended ones, whose output can still be asked for.
_MOST_ENDED = 16
#: One that ends so soon has failed as a rule, and is answered as any other.
_EARLY_SECONDS = 0.5
#: From TERM to KILL.
_GRACE_SECONDS = 0.3
_LAST_LINES = 10
_LINGER_SECONDS = 0.2

#: Tells of a command's begin, and of its end.
Tell = Callable[[dict[str, object]], None]


@dataclass(slots=True)
class _Command:
    """``shown`` is the command without what was put before it. ``exit`` is -1 after a signal."""

    name: str
    call_id: str
    shown: str
    leader: int
    began: float
    since: float
    exit: int | None = None
    seconds: float = 0.0
    output: words.RecentOutput = field(default_factory=words.RecentOutput)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    #: Whether the model was told of its begin, so that it has to be of its end.
    announced: bool = False

    @property
    def mark(self) -> str:
        return f"{os.getpid()}.{self.name}"

    def to_json(self) -> dict[str, object]:
        told: dict[str, object] = {
            "id": self.name,
            "call_id": self.call_id,
            "command": self.shown,
            "since": self.since,
            "state": "running" if self.exit is None else "ended",
        }
        if self.exit is not None:
            told |= {"exit": self.exit, "seconds": round(self.seconds, 3)}
        return told


class BackgroundCommands:
    """Runs them in ``cwd``."""

    def __init__(self, cwd: str, tell: Tell) -> None:
        self._cwd = cwd
        self._tell = tell
        self._cover = covering_of(os.environ)
        self._last = 0
        self._commands: dict[str, _Command] = {}
        self._jobs: set[asyncio.Task[None]] = set()
        self._news: list[str] = []
        self._before: frozenset[str] = frozenset()

    # -- the tools

    async def start(
        self, call_id: str, given: BashArgs, asked: str, *, gated: bool = False
    ) -> Outcome:
        """Answers once a person has decided, where a gate holds it, and it has had the time to
        fail at once. ``asked``: the command as the model wrote it. Raises ToolFailure."""
        if len(self._running()) >= MOST_AT_ONCE:
            raise ToolFailure(
                f"{MOST_AT_ONCE} background commands run already; end one with bash_kill:"
                f" {self._listed()}"
            )
        this_system().adopt_orphans()
        self._last += 1
        name = f"b{self._last}"
        gate = gate_watch(gated=gated)
        reader, transport, writing = await open_pipe()
        try:
            more = {**gate.environment, BACKGROUND_VARIABLE: f"{os.getpid()}.{name}"}
            process = await start_shell(self._cwd, given.command, writing, more)
        except BaseException:
            transport.close()
            gate.close()
            raise
        shown = asked if given.command.endswith(f"\n{asked}") else given.command
        command = _Command(name, call_id, shown, process.pid, time.monotonic(), time.time())
        self._commands[name] = command
        self._forget_oldest()
        job = asyncio.create_task(self._follow(command, process, reader, transport))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)
        try:
            return await self._begun(command, gate)
        except asyncio.CancelledError:
            await self._end(command)
            return outcome.failure(words.output_result(name, command.exit, ""))
        finally:
            gate.close()

    async def _begun(self, command: _Command, gate: GateWatch) -> Outcome:
        over = asyncio.create_task(command.over.wait())
        decided = asyncio.create_task(gate.decided.wait())
        try:
            await asyncio.wait({over, decided}, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.wait({over}, timeout=_EARLY_SECONDS)
        finally:
            over.cancel()
            decided.cancel()
        gate.close()
        if command.exit is None:
            command.announced = True
            self._tell(command.to_json())
            text = words.started(command.name, command.shown, command.output.new(ended=False))
            return outcome.text(await self._covered(text))
        del self._commands[command.name]
        code = command.exit if gate.since is not None else None
        shown = CommandOutput(command.output.new(ended=True))
        text = bash_result(command.shown, shown, code, command.seconds)
        return Outcome(outcome.text(await self._covered(text)).content, is_error=code != 0)

    async def output(self, args: object) -> Outcome:
        """Raises ToolFailure, as ``kill`` does."""
        command = self._named(parse_background_id(args))
        text = command.output.new(ended=command.exit is not None)
        return outcome.text(
            await self._covered(words.output_result(command.name, command.exit, text))
        )

    async def kill(self, args: object) -> Outcome:
        command = self._named(parse_background_id(args))
        await self._end(command)
        self._news = [each for each in self._news if not each.startswith(f"[{command.name} ")]
        return await self.output(args)

    # -- what others ask

    def owns(self, pid: int) -> bool:
        """Whether the process is one of them, or left behind by one; in any thread."""
        running = tuple(self._running())
        if any(pid == each.leader for each in running):
            return True
        return bool(running) and _mark(pid) in {each.mark for each in running}

    def news(self) -> str:
        """Which have ended since the model was told last, "" if none."""
        told, self._news = "\n".join(self._news), []
        return told

    async def listed(self) -> list[dict[str, object]]:
        """The running ones, and those that have ended of late, with their last lines."""
        return [
            {**each.to_json(), "lines": [await self._covered(line) for line in lines]}
            for each in tuple(self._commands.values())
            for lines in [each.output.last_lines(_LAST_LINES)]
        ]

    async def stop(self, name: str) -> bool:
        """False where it does not run."""
        command = self._commands.get(name)
        if command is None or command.exit is not None:
            return False
        await self._end(command)
        return True

    def turn_begins(self) -> None:
        self._before = frozenset(each.name for each in self._running())

    async def turn_stopped(self) -> None:
        """What a stopped turn has started ends with it."""
        await self._end_all([each for each in self._running() if each.name not in self._before])

    async def clear(self) -> None:
        """Ends all, and forgets them."""
        await self._end_all(self._running())
        self._commands.clear()
        self._news.clear()

    # -- their lives

    async def _follow(
        self,
        command: _Command,
        process: asyncio.subprocess.Process,
        reader: asyncio.StreamReader,
        transport: asyncio.ReadTransport,
    ) -> None:
        """To its end, and that of all that it has started."""
        pump = asyncio.create_task(_pump(reader, command.output))
        try:
            code = await process.wait()
            await asyncio.wait({pump}, timeout=_LINGER_SECONDS)
            await processes.end_tree(command.leader, lambda pid: _mark(pid) != command.mark)
            await asyncio.wait({pump}, timeout=_LINGER_SECONDS)
        finally:
            pump.cancel()
            transport.close()
        command.exit = max(code, -1)
        command.seconds = time.monotonic() - command.began
        command.over.set()
        if command.announced:
            self._news.append(f"[{command.name} {words.how_it_ended(command.exit)}]")
            self._tell(command.to_json())

    async def _end(self, command: _Command) -> None:
        if command.exit is None:
            processes.signal_group(command.leader, signal.SIGTERM)
            with suppress(TimeoutError):
                await asyncio.wait_for(command.over.wait(), _GRACE_SECONDS)
        if command.exit is None:
            await processes.end_tree(command.leader, lambda pid: _mark(pid) != command.mark)
            await command.over.wait()

    async def _end_all(self, commands: Sequence[_Command]) -> None:
        await asyncio.gather(*map(self._end, commands))

    def _running(self) -> list[_Command]:
        return [each for each in tuple(self._commands.values()) if each.exit is None]

    def _named(self, name: str) -> _Command:
        command = self._commands.get(name)
        if command is None:
            raise ToolFailure(f"there is no background command {name!r}; {self._listed()}")
        return command

    def _listed(self) -> str:
        known = ", ".join(f"{each.name} ({each.shown})" for each in self._running())
        return f"there run: {known}" if known else "none runs"

    def _forget_oldest(self) -> None:
        ended = [each.name for each in self._commands.values() if each.exit is not None]
        for name in ended[:-_MOST_ENDED]:
            del self._commands[name]

    async def _covered(self, text: str) -> str:
        return await asyncio.to_thread(self._cover, text)


async def _pump(reader: asyncio.StreamReader, output: words.RecentOutput) -> None:
    while data := await reader.read(PROGRESS_BYTES):
        output.add(data)


def _mark(pid: int) -> str:
    prefix = f"{BACKGROUND_VARIABLE}=".encode()
    for each in this_system().environment(pid).split(b"\0"):
        if each.startswith(prefix):
            return each.removeprefix(prefix).decode(errors="replace")
    return ""
