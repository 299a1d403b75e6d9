"""The server's side of the gate: commands that wait for a person, and their time limits.

A gated command's first line connects to the gate's socket and sends its number; it goes on when
the answer is ``allow``. Nothing else lets it: an unknown or used number, an abort, a lost
connection all mean that it does not run.
"""

import os
import signal
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from lsp_agent.agents.peers import Group, group_of, peer_of
from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.toolset.arguments import wants_background
from lsp_agent.toolset.calls import Allow, Block, Outcome, ToolRequest
from lsp_agent.toolset.commands import without_the_wait

_UNKNOWN = Block("Not run: this gate is not known, or was used before.")
_STOPPED = Block("Not run: the turn was stopped.")
_LONGEST_NUMBER = 32
#: More than can run.
_MOST_BACKGROUND = 64
_HELLO_SECONDS = 5.0


class Decider(Protocol):
    async def decide(self, request: ToolRequest) -> Allow | Block: ...

    async def decide_again(self, request: ToolRequest, outcome: Outcome) -> Allow | Block: ...


@dataclass(frozen=True, slots=True)
class _Gated:
    """A command that may ask once. ``timeout`` in seconds begins when it is allowed;
    ``verdict`` is there if nobody needs to be asked. One that runs in a sandbox ``since`` then, by
    ``time.monotonic``, asks when it has failed; ``outcome`` is how it ended. It does
    that also after its call and its turn if it runs in the ``background``."""

    request: ToolRequest
    timeout: float | None
    verdict: Allow | None = None
    since: float | None = None
    outcome: Callable[[], Outcome] | None = None
    background: bool = False


class Gatekeeper:
    def __init__(self, host: Decider, tasks: TaskGroup, term_seconds: float) -> None:
        """``term_seconds`` is how long a command over its time has between TERM and KILL."""
        self._host = host
        self._tasks = tasks
        self._term_seconds = term_seconds
        self._last = 0
        self._expected: dict[str, _Gated] = {}
        self._waiting: set[anyio.CancelScope] = set()
        self._timed: dict[anyio.CancelScope, str | None] = {}
        #: By the call: when its command was let run, by ``time.monotonic``; None: not so far.
        self._let_run: dict[str, float | None] = {}
        self._stopped = False

    def expect(
        self, request: ToolRequest, timeout: float | None, verdict: Allow | None = None
    ) -> str:
        """The number for one gated command. With ``verdict`` it only tells its note."""
        if verdict is None and request.tool_call_id is not None:
            self._let_run[request.tool_call_id] = None
        number = self._next_number()
        self._expected[number] = _Gated(request, timeout, verdict)
        return number

    def expect_failure(
        self, request: ToolRequest, timeout: float | None, outcome: Callable[[str], Outcome]
    ) -> str:
        """The number for a command in a sandbox, which asks if it fails; ``outcome`` tells by that
        number how it ended then."""
        number, since = self._next_number(), time.monotonic()
        self._expected[number] = _Gated(
            request,
            timeout,
            since=since,
            outcome=partial(outcome, number),
            background=wants_background(request.args),
        )
        return number

    def _next_number(self) -> str:
        self._last += 1
        return str(self._last)

    def stop(self) -> None:
        """Denies what waits, and all that comes until :meth:`resume`."""
        self._stopped = True
        self._expect_only_background()
        for scope in self._waiting:
            scope.cancel()

    def resume(self) -> None:
        self._stopped = False

    def forget(self, tool_call_id: str | None = None) -> None:
        """The commands of that call, or all, have ended."""
        self._expect_only_background(tool_call_id)
        self._stop_time(tool_call_id)
        for call in [call for call in self._let_run if tool_call_id in (None, call)]:
            del self._let_run[call]

    def _expect_only_background(self, tool_call_id: str | None = None) -> None:
        """Of that call, or of all. The newest of them: nobody says here when one has ended."""
        kept = {number for number, gated in self._expected.items() if gated.background}
        newest = sorted(kept, key=int)[-_MOST_BACKGROUND:]
        for number, gated in list(self._expected.items()):
            if tool_call_id in (None, gated.request.tool_call_id) and number not in newest:
                del self._expected[number]

    def _stop_time(self, tool_call_id: str | None) -> None:
        for scope, its_call in self._timed.items():
            if tool_call_id in (None, its_call):
                scope.cancel()

    def without_the_wait(self, tool_call_id: str, result: str) -> str:
        """The result of a command, by its own time, if a person had to decide on it."""
        if tool_call_id not in self._let_run:
            return result
        since = self._let_run[tool_call_id]
        return without_the_wait(result, None if since is None else time.monotonic() - since)

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One connection of a gate."""
        with closing(writer), suppress(ConnectionError):
            peer = peer_of(writer)
            if peer.uid != os.getuid():
                return
            group = group_of(peer.pid)
            gated = self._expected.pop(await _number(reader), None)
            asked = time.monotonic()
            verdict = await self._verdict(gated, reader)
            call = gated.request.tool_call_id if gated else None
            if gated and gated.since is not None and call is not None:
                self._let_run[call] = time.monotonic() - (asked - gated.since)
            elif call in self._let_run and isinstance(verdict, Allow):
                self._let_run[call] = time.monotonic()
            if isinstance(verdict, Allow) and gated and gated.timeout and group:
                self._tasks.start_soon(self._end_in_time, gated, gated.timeout, group)
            writer.write(_answer(verdict))
            await writer.drain()

    async def _verdict(self, gated: _Gated | None, reader: StreamReader) -> Allow | Block:
        if self._stopped and not (gated and gated.background):
            return _STOPPED
        if gated is None:
            return _UNKNOWN
        if gated.verdict is not None:
            return gated.verdict
        verdict: Allow | Block = _STOPPED
        async with anyio.create_task_group() as tasks:
            self._waiting.add(tasks.cancel_scope)
            tasks.start_soon(_cancel_at_end, reader, tasks.cancel_scope)
            try:
                verdict = await self._decided(gated)
            except LspAgentError as error:
                verdict = Block(f"Not run: {error}")
            finally:
                self._waiting.discard(tasks.cancel_scope)
            tasks.cancel_scope.cancel()
        return _STOPPED if self._stopped and not gated.background else verdict

    async def _decided(self, gated: _Gated) -> Allow | Block:
        if gated.outcome is None:
            return await self._host.decide(gated.request)
        self._stop_time(gated.request.tool_call_id)
        outcome = await anyio.to_thread.run_sync(gated.outcome)
        return await self._host.decide_again(gated.request, outcome)

    async def _end_in_time(self, gated: _Gated, timeout: float, group: Group) -> None:
        with anyio.CancelScope() as scope:
            self._timed[scope] = gated.request.tool_call_id
            try:
                await anyio.sleep(timeout)
                if group.signal(signal.SIGTERM):
                    await anyio.sleep(self._term_seconds)
                    group.signal(signal.SIGKILL)
            finally:
                del self._timed[scope]


async def _number(reader: StreamReader) -> str:
    line = b""
    with anyio.move_on_after(_HELLO_SECONDS):
        while not line.endswith(b"\n") and len(line) < _LONGEST_NUMBER:
            piece = await reader.read(_LONGEST_NUMBER)
            if not piece:
                break
            line += piece
    return line.rstrip(b"\n").decode(errors="replace")


async def _cancel_at_end(reader: StreamReader, scope: anyio.CancelScope) -> None:
    """A gate says nothing after its number, so whatever comes is the end."""
    with suppress(ConnectionError):
        await reader.read(1)
    scope.cancel()


def _answer(verdict: Allow | Block) -> bytes:
    allowed = isinstance(verdict, Allow)
    text = verdict.note if isinstance(verdict, Allow) else verdict.reason
    lines = ["allow" if allowed else "deny", *(text.splitlines() if text else ())]
    return "".join(f"{line}\n" for line in lines).encode(errors="replace")
