"""The bridge: an agent's own extension, answered by the session.

The agent starts the guarded pipe (``guard/pipe.py``) as an extension; over it the agent asks
before every call and has its file tools answered here. Commands that a person must decide on get
a gate before them (``gatekeeper``). Everything fails closed: late, too large, unknown or after
an abort means that a call does not run.
"""

import os
import re
from asyncio import StreamReader, StreamWriter
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import AsyncExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType

import anyio
from anyio.abc import TaskGroup

from lsp_agent.agents import commands
from lsp_agent.agents import extension_frames as frames
from lsp_agent.agents.extension_frames import BadFrame, Frame
from lsp_agent.agents.first_lines import FirstLines
from lsp_agent.agents.framing import LineSplitter
from lsp_agent.agents.gatekeeper import Gatekeeper
from lsp_agent.agents.local_socket import accept, listening
from lsp_agent.agents.peers import peer_of
from lsp_agent.agents.private_folder import PrivateFolder
from lsp_agent.protocol.errors import LspAgentError, RequestFailed
from lsp_agent.toolset.calls import (
    Allow,
    Block,
    Gate,
    Held,
    ToolAnswer,
    ToolHost,
    ToolRequest,
    Verdict,
)

_ABORTED = "Not run: the turn was stopped."
_STOPPED = "The turn was stopped before the call had ended."
_LATE = "Not run: the editor's server did not decide in time."
_UNDECIDED = "Not run: nobody decided in time whether it may."
_RUN_LATE = "The editor did not answer in time; the call may or may not have been carried out."
_AMBIGUOUS = "Not run: bash was given more than one command; name it once, as `command`."
_NO_COMMAND = "Not run: bash was called without a command."
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: What the agent may say in one line.
_LINE_BYTES = 64 << 20
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """In seconds. The agent lets a call run 5 s after it asked and gives up on a file call after
    60 s; the pipe answers in our place after ``pipe``."""

    intercept: float = 3.5
    pipe: float = 4.0
    run: float = 55.0
    term: float = 3.0


class Bridge:
    """Use as an async context manager around the agent's life; ``folder`` is for ``--ext``.

    ``unset`` names environment variables that commands must not see; a name that no shell can
    unset is left out. ``for_unread`` is a variable, with its value, for commands that nobody has
    read. Without ``file_tools`` the agent keeps its own, and its calls are only asked about.
    """

    def __init__(
        self,
        host: ToolHost,
        *,
        unset: Sequence[str] = (),
        for_unread: tuple[str, str] | None = None,
        file_tools: bool = True,
        limits: Limits | None = None,
    ) -> None:
        self._host = host
        # A shell has no variable of another name: `unset my-key` is an error, and most shells
        # do not hand such a one on to what they start.
        self._lines = FirstLines([name for name in unset if _VARIABLE.fullmatch(name)], for_unread)
        self._file_tools = file_tools
        self._limits = limits or Limits()
        self._stack: AsyncExitStack
        self._place: PrivateFolder
        self._gatekeeper: Gatekeeper
        self._aborted = False
        self._pending: set[anyio.CancelScope] = set()
        self._connected = self._shut_down = False
        #: The agent's extension ended although the agent did not say that it would end: it must
        #: be killed, since its commands would run ungated.
        self.lost = anyio.Event()
        self._up_or_over = anyio.Event()
        #: How often we were asked about each of the wire's ids whose result it has not told: a
        #: provider may count its ids anew, and the wire be behind us.
        self._asked = Counter[str]()
        #: Calls let through and not yet come to us: (tool, the wire's id), oldest first.
        self._let_through: list[tuple[str, str]] = []

    async def __aenter__(self) -> "Bridge":
        try:
            async with AsyncExitStack() as stack:
                await self._open(stack)
                self._stack = stack.pop_all()
        except OSError as error:
            raise RequestFailed(
                "notConfigured",
                f"The sockets between server and agent cannot be made: {error}. Make room there,"
                " or set XDG_RUNTIME_DIR or TMPDIR to another folder.",
            ) from error
        return self

    async def _open(self, stack: AsyncExitStack) -> None:
        place = self._place = PrivateFolder(self._limits.pipe)
        stack.callback(place.remove)
        gates = stack.enter_context(listening(place.gate_socket))
        extensions = stack.enter_context(listening(place.extension_socket))
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        gatekeeper = self._gatekeeper = Gatekeeper(self._host, tasks, self._limits.term)

        async def extension_connected(reader: StreamReader, writer: StreamWriter) -> None:
            if self._connected or peer_of(writer).uid != os.getuid():
                writer.close()
                return
            self._connected = True
            place.extension_socket.unlink()
            await self._serve_extension(reader, writer, tasks)

        tasks.start_soon(accept, gates, tasks, gatekeeper.serve)
        tasks.start_soon(accept, extensions, tasks, extension_connected)

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        if isinstance(exc, Exception):
            # The owner's own error is not wrapped in a group of ours.
            await self._stack.aclose()
            return False
        return await self._stack.__aexit__(exc_type, exc, traceback)

    @property
    def folder(self) -> str:
        """The extension's folder."""
        return str(self._place.extension)

    @property
    def sockets(self) -> str:
        """The folder of its sockets, for this user alone and gone with it."""
        return str(self._place.path)

    async def up(self) -> None:
        """Waits until the agent has spoken through its extension, or has ended that."""
        await self._up_or_over.wait()

    def was_asked(self, tool_call_id: str) -> bool:
        """Whether the agent asked before that call, which has not ended."""
        return self._asked[tool_call_id] > 0

    def abort(self) -> None:
        """From now on every question is answered "block" at once, every file call is refused,
        those pending are cancelled and waiting gates denied."""
        self._aborted = True
        self._gatekeeper.stop()
        for scope in self._pending:
            scope.cancel()

    def resume(self) -> None:
        """The next turn may begin."""
        self._aborted = False
        self._gatekeeper.resume()

    def as_meant(self, tool_call_id: str, output: str) -> str:
        """A command's result, which begins with ``$`` and the command, without the lines that we
        put before the command, and without the time that a person took to decide on it."""
        head, command = output[:2], output[2:]
        if head != "$ ":
            return output
        return head + self._gatekeeper.without_the_wait(tool_call_id, self._lines.left_out(command))

    def call_ended(self, tool_call_id: str) -> None:
        """The wire told a result of that call."""
        self._asked -= Counter([tool_call_id])
        self._let_through = [call for call in self._let_through if call[1] != tool_call_id]
        self._gatekeeper.forget(tool_call_id)

    def turn_ended(self) -> None:
        """No call is open any more."""
        self._let_through.clear()
        self._asked.clear()
        self._gatekeeper.forget()

    async def _serve_extension(
        self, reader: StreamReader, writer: StreamWriter, tasks: TaskGroup
    ) -> None:
        """The one connection of the pipe, to its end."""
        splitter = LineSplitter(_LINE_BYTES)
        with closing(writer), suppress(ConnectionError, BadFrame):
            await self._send(writer, frames.greeting(file_tools=self._file_tools))
            while chunk := await reader.read(_CHUNK):
                for line in splitter.feed(chunk):
                    self._take(Frame.parse(line), writer, tasks)
        self.abort()  # whatever is pending can reach nobody any more
        if not self._shut_down:
            self.lost.set()
        self._up_or_over.set()

    def _take(self, frame: Frame, writer: StreamWriter, tasks: TaskGroup) -> None:
        """Starts what one frame asks for; never waits, so that no question holds up another."""
        self._up_or_over.set()
        match frame.type:
            case "event_intercept":
                if frame.call_id is not None:
                    self._asked[frame.call_id] += 1
                tasks.start_soon(self._intercept, frame, writer)
            case "tool_call":
                request = ToolRequest(frame.tool, frame.args, self._call_id(frame.tool))
                tasks.start_soon(self._run, frame.id, request, writer)
            case "shutdown":
                self._shut_down = True
                tasks.start_soon(self._send, writer, frames.shutdown_ack())
            case _:
                pass  # hello_ack, events: the set may grow

    async def _intercept(self, frame: Frame, writer: StreamWriter) -> None:
        try:
            answer = await self._answer(frame)
        except frames.LineTooLarge as error:
            answer = frames.blocked(frame.id, f"Not run: the call is too large ({error}).")
        except OSError as error:  # a full disk
            answer = frames.blocked(frame.id, f"Not run: its sandbox cannot be made ({error}).")
        await self._send(writer, answer)

    async def _answer(self, frame: Frame) -> bytes:
        """The line that lets a call run, changed or as it is, or blocks it."""
        command, args = None, frame.args
        if frame.tool == commands.TOOL:
            try:
                command = commands.command_of(args, self._lines)
            except commands.AmbiguousCommand:
                return frames.blocked(frame.id, _AMBIGUOUS)
            args = command.args if command else args
        request = ToolRequest(frame.tool, args, frame.call_id)
        verdict = await self._verdict(request)
        if isinstance(verdict, Block):
            return frames.blocked(frame.id, verdict.reason)
        if isinstance(verdict, Gate | Held) and command is None:
            return frames.blocked(frame.id, _NO_COMMAND)
        modified = self._modified(request, command, verdict) if command else None
        answer = frames.allowed(
            frame.id,
            modified if modified != frame.args else None,
            gated=isinstance(verdict, Gate),
        )
        if frame.tool in frames.TOOLS and frame.call_id is not None:
            self._let_through.append((frame.tool, frame.call_id))
        return answer

    async def _verdict(self, request: ToolRequest) -> Verdict:
        """The session's, within the time; a Gate only for commands."""
        if self._aborted:
            return Block(_ABORTED)
        verdict: Verdict = Block(_LATE)
        with self._limited(self._limits.intercept):
            try:
                verdict = await self._host.intercept(request)
                if isinstance(verdict, Gate | Held) and request.tool != commands.TOOL:
                    verdict = Block(_UNDECIDED)
                    verdict = await self._host.decide(request)
            except LspAgentError as error:
                verdict = Block(f"Not run: {error}")
        return Block(_ABORTED) if self._aborted else verdict

    def _modified(
        self, request: ToolRequest, command: commands.Command, verdict: Allow | Gate | Held
    ) -> Mapping[str, object]:
        if isinstance(verdict, Gate):
            number = self._gatekeeper.expect(request, command.timeout)
            return command.gated_args(self._lines.of(self._place.gate(number)))
        if isinstance(verdict, Held):
            return self._held(request, command, verdict)
        unread = verdict.unread
        if verdict.note is None:
            return command.allowed_args(self._lines.of(unread=unread))
        # A gate that opens at once says the note, so that the header stays readable.
        number = self._gatekeeper.expect(request, None, Allow(verdict.note))
        gate = self._place.gate(number)
        return command.allowed_args(self._lines.of(gate, unread=unread))

    def _held(
        self, request: ToolRequest, command: commands.Command, held: Held
    ) -> Mapping[str, object]:
        """A gate that opens at once says the note, and begins the command's time, which does not
        go on while a person decides on its second try."""
        number = self._gatekeeper.expect_failure(request, command.timeout, self._place.outcome)
        words = self._place.held(held, command.text, number, command.timeout)
        if held.note is None and command.timeout is None:
            return command.allowed_args(self._lines.of(unread=True, held=words))
        first = self._gatekeeper.expect(request, command.timeout, Allow(held.note))
        return command.gated_args(self._lines.of(self._place.gate(first), unread=True, held=words))

    def _call_id(self, tool: str) -> str | None:
        """Calls run one after another, so it is the last one of that name let through."""
        for call in reversed(self._let_through):
            if call[0] == tool:
                self._let_through.remove(call)
                return call[1]
        return None

    async def _run(self, identifier: str, request: ToolRequest, writer: StreamWriter) -> None:
        answer = await self._tool_answer(request)
        try:
            line = frames.tool_result(
                identifier, answer.text, is_error=answer.is_error, image=answer.image
            )
        except frames.LineTooLarge as error:
            done = "failed" if answer.is_error else "was carried out"
            text = f"The call {done}, but its result is too large to be shown ({error})."
            line = frames.tool_result(identifier, text, is_error=True)
        await self._send(writer, line)

    async def _tool_answer(self, request: ToolRequest) -> ToolAnswer:
        if request.tool not in frames.TOOLS:
            return ToolAnswer(f'unknown tool "{request.tool}"', is_error=True)
        if self._aborted:
            return ToolAnswer(_ABORTED, is_error=True)
        answer: ToolAnswer | None = None
        with self._limited(self._limits.run):
            try:
                answer = await self._host.run(request)
            except LspAgentError as error:
                answer = ToolAnswer(str(error), is_error=True)
        late = ToolAnswer(_STOPPED if self._aborted else _RUN_LATE, is_error=True)
        return answer or late

    @contextmanager
    def _limited(self, seconds: float) -> Generator[None]:
        """Cancels the body after that time and at an abort."""
        with anyio.move_on_after(seconds) as scope:
            self._pending.add(scope)
            try:
                yield
            finally:
                self._pending.discard(scope)

    async def _send(self, writer: StreamWriter, line: bytes) -> None:
        if not writer.is_closing():
            writer.write(line)
            with suppress(ConnectionError):  # the reader sees the same end
                await writer.drain()
