"""The server's side of the gate: commands that wait for a person, and their time limits.

A gated command's first line connects to the gate's socket and sends its number; it goes on when
the answer is ``allow``. Nothing else lets it: an unknown or used number, an abort, a lost
connection all mean that it does not run.
"""

import os
import signal
from asyncio import StreamReader, StreamWriter
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from lsp_agent.agents.peers import Group, group_of, peer_of
from lsp_agent.agents.tool_host import Allow, Block, ToolRequest
from lsp_agent.protocol.errors import LspAgentError

_UNKNOWN = Block("Not run: this gate is not known, or was used before.")
_STOPPED = Block("Not run: the turn was stopped.")
_LONGEST_NUMBER = 32
_HELLO_SECONDS = 5.0


class Decider(Protocol):
    async def decide(self, request: ToolRequest) -> Allow | Block: ...


@dataclass(frozen=True, slots=True)
class _Gated:
    """A command that may ask once. ``timeout`` in seconds begins when it is allowed;
    ``verdict`` is there if nobody needs to be asked."""

    request: ToolRequest
    timeout: float | None
    verdict: Allow | None


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
        self._stopped = False

    def expect(
        self, request: ToolRequest, timeout: float | None, verdict: Allow | None = None
    ) -> str:
        """The number for one gated command. With ``verdict`` it only tells its note."""
        self._last += 1
        self._expected[str(self._last)] = _Gated(request, timeout, verdict)
        return str(self._last)

    def stop(self) -> None:
        """Denies what waits, and all that comes until :meth:`resume`."""
        self._stopped = True
        self._expected.clear()
        for scope in self._waiting:
            scope.cancel()

    def resume(self) -> None:
        self._stopped = False

    def forget(self, tool_call_id: str | None = None) -> None:
        """The commands of that call, or all, have ended."""
        for number, gated in list(self._expected.items()):
            if tool_call_id in (None, gated.request.tool_call_id):
                del self._expected[number]
        for scope, its_call in self._timed.items():
            if tool_call_id in (None, its_call):
                scope.cancel()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One connection of a gate."""
        with closing(writer), suppress(ConnectionError):
            peer = peer_of(writer)
            if peer.uid != os.getuid():
                return
            group = group_of(peer.pid)
            gated = self._expected.pop(await _number(reader), None)
            verdict = await self._verdict(gated, reader)
            if isinstance(verdict, Allow) and gated and gated.timeout and group:
                self._tasks.start_soon(self._end_in_time, gated, gated.timeout, group)
            writer.write(_answer(verdict))
            await writer.drain()

    async def _verdict(self, gated: _Gated | None, reader: StreamReader) -> Allow | Block:
        if self._stopped:
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
                verdict = await self._host.decide(gated.request)
            except LspAgentError as error:
                verdict = Block(f"Not run: {error}")
            finally:
                self._waiting.discard(tasks.cancel_scope)
            tasks.cancel_scope.cancel()
        return _STOPPED if self._stopped else verdict

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
