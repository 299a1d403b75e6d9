"""How a session's agent reaches files: through us (hosted), or by itself (mirror)."""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, Protocol

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup, TaskStatus

from lsp_agent.agents.bridge import Bridge
from lsp_agent.agents.tool_host import Allow, Block, Gate, ToolAnswer, ToolRequest, Verdict
from lsp_agent.protocol import messages
from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.protocol.events import Event, Notice, ToolCall, ToolKind, ToolResult
from lsp_agent.protocol.git_environment import unread
from lsp_agent.protocol.settings import Settings
from lsp_agent.sessions.mirroring import Mirroring
from lsp_agent.sessions.own_commands import OwnCommands
from lsp_agent.sessions.permissions import paths_of
from lsp_agent.sessions.repository_code import linked_instructions
from lsp_agent.sessions.services import Services
from lsp_agent.sessions.tools import HostedTools
from lsp_agent.sessions.turn import Turn
from lsp_agent.wires.tool_kinds import tool_kind
from lsp_agent.wires.wire import (
    AgentRequest,
    Answer,
    Answered,
    Approve,
    Dialog,
    Granted,
    Launch,
    ReadText,
    Refused,
    RunTool,
    WriteText,
)
from lsp_agent.workspace.paths import refuse_together

HostingState = Literal["starting", "hosted", "mirror"]

#: Short: some editors stop the typist for a message that does not fit into a line.
_MIRROR_NOTICE = "This agent writes files itself; open ones are merged with them."
_MIRROR_BEFORE = " `review = before` cannot hold for it: each edit is asked about."
_STOPPED = "Not run: the user stopped this turn."
_BYPASSED = (
    "The agent ran a command without asking whether it may, and was ended. Check its `command` in"
    " the settings: it cannot be held to the permissions."
)


class Owner(Protocol):
    """The session, as its hosting sees it."""

    id: str
    cwd: str

    @property
    def turn(self) -> Turn | None: ...
    @property
    def settings(self) -> Settings: ...
    def emit(self, event: Event, turn_id: str | None) -> object: ...
    def end_agent(self) -> None: ...


class Hosting:
    """Implements ``ToolHost`` for one session, and knows what its agent turned out to do.

    ``starting`` until the agent's first file call: one that comes to us makes it ``hosted``,
    a file tool of its own makes it ``mirror`` for good.
    """

    def __init__(
        self, services: Services, owner: Owner, wanted: Literal["auto", "hosted", "mirror"]
    ) -> None:
        self._owner = owner
        self._asked_to_mirror = wanted == "mirror"
        self.state: HostingState = "mirror" if self._asked_to_mirror else "starting"
        self._tools = HostedTools(
            services, owner.id, owner.cwd, self, owner.emit, lambda: owner.settings
        )
        self.served = self._tools.served
        self._mirroring = Mirroring(
            services,
            owner.id,
            owner.cwd,
            self.served,
            emit=owner.emit,
            settings=lambda: owner.settings,
            confined=self._tools.confined,
            still_wanted=self.still_wanted,
        )
        self._own_commands = OwnCommands(owner.cwd, owner.emit)
        self._bridge: Bridge | None = None
        self._bridge_closing = anyio.Event()
        self._ended_agent = False
        self._stopped = False
        self._notified = False
        self._file_calls: dict[str, ToolKind] = {}
        self._own_calls: set[str] = set()
        self._commands: set[str] = set()

    @property
    def turn_id(self) -> str | None:
        return self._owner.turn.id if self._owner.turn else None

    @property
    def hosts_files(self) -> bool:
        """File calls come to us."""
        return self.state != "mirror"

    @property
    def can_review_before(self) -> bool:
        """Whether nothing reaches the disk before it was reviewed, where the settings want so."""
        return self.hosts_files and not self._mirroring.commands_change_files

    @property
    def unsettled(self) -> bool:
        """Whether the turn has changed the disk in ways that may not be brought in yet."""
        return self._mirroring.busy

    async def settle(self) -> None:
        """Brings in what the turn has changed on disk; bounded."""
        await self._mirroring.settle()

    @property
    def stopped(self) -> bool:
        """Nothing of the agent's may be done: its turn was stopped, or none runs."""
        return self._stopped or self._owner.turn is None

    def still_wanted(self) -> Callable[[], bool]:
        """Whether the turn that runs now still wants what it asked for."""
        turn = self._owner.turn
        return lambda: self._owner.turn is turn and not self.stopped

    async def open_bridge(self, launch: Launch, tasks: TaskGroup) -> Bridge:
        """A bridge for an agent that starts as ``launch`` says; the one before is closed."""
        self.close_bridge()
        self._bridge_closing = anyio.Event()
        bridge: Bridge = await tasks.start(self._hold_bridge, launch, self._bridge_closing)
        self._bridge = bridge
        return bridge

    def agent_starts(self, launch: Launch, tasks: TaskGroup) -> None:
        self._mirroring.live_in(tasks)
        self._own_commands.surround(launch.env, launch.secrets)
        self._ended_agent = False

    def close_bridge(self) -> None:
        self._bridge = None
        self._bridge_closing.set()

    async def _hold_bridge(
        self,
        launch: Launch,
        closing: anyio.Event,
        *,
        task_status: TaskStatus[Bridge],
    ) -> None:
        """One task enters and leaves the bridge, whoever asks for its end."""
        async with Bridge(
            self,
            unset=launch.secrets,
            for_unread=unread({**os.environ, **launch.env}),
            file_tools=not self._asked_to_mirror,
        ) as bridge:
            task_status.started(bridge)
            await closing.wait()

    def turn_begins(self) -> None:
        self._stopped = False
        if self._bridge is not None:
            self._bridge.resume()
        if self.state == "mirror":
            self._tell_mirror()

    def stop(self) -> None:
        """From here on every file call, intercept and gate is refused."""
        self._stopped = True
        self._own_commands.stop()
        if self._bridge is not None:
            self._bridge.abort()

    async def commands_ended(self) -> None:
        """After a stop: until the commands that we run for the agent are gone."""
        await self._own_commands.ended()

    def turn_ended(self) -> None:
        self._file_calls.clear()
        self._own_calls.clear()
        self._commands.clear()
        self._mirroring.turn_ended()
        if self._bridge is not None:
            self._bridge.turn_ended()

    def as_meant(self, result: ToolResult) -> ToolResult:
        """A result as the agent's call would have had it without our gate."""
        return replace(result, content=[self._block_as_meant(block) for block in result.content])

    def _block_as_meant(self, block: messages.Block) -> messages.Block:
        if self._bridge is None or block["type"] != "text":
            return block
        return messages.text(self._bridge.as_meant(block["text"]))

    def observe(self, event: ToolCall | ToolResult) -> None:
        """Learns from the wire whose file tools the agent used."""
        if isinstance(event, ToolCall):
            if event.kind in ("read", "edit"):
                self._file_calls[event.tool_call_id] = event.kind
            elif event.kind == "command":
                self._commands.add(event.tool_call_id)
            if self._changes_disk(event.kind):
                self._mirroring.called(
                    event.tool,
                    event.kind,
                    event.args,
                    event.paths,
                    event.tool_call_id,
                    self.turn_id,
                )
            return
        asked = self._bridge is not None and self._bridge.was_asked(event.tool_call_id)
        if self._bridge is not None:
            if self._ran(event) and not asked:
                self._end_bypassed()
            self._bridge.call_ended(event.tool_call_id)
        if self._is_its_own(event.tool_call_id) and not event.is_error and self.hosts_files:
            self.state = "mirror"
            self._tell_mirror()
        if event.tool_call_id in self._own_calls & self._file_calls.keys():
            self._mirroring.was_ours(event.tool_call_id)
        else:
            self._mirroring.returned(event.tool_call_id, is_error=event.is_error, asked=asked)

    def _is_its_own(self, call_id: str) -> bool:
        """Whether it was a file call that did not come to us. One without our extension may look
        at files in ways of its own, and still have its edits come."""
        kind = self._file_calls.get(call_id)
        if kind is None or call_id in self._own_calls:
            return False
        return kind == "edit" or self._bridge is not None

    def _changes_disk(self, kind: ToolKind) -> bool:
        """Whether a call of that kind reaches the disk without us; of one whose files come to us,
        only a command does."""
        return kind == "command" or self.state != "hosted"

    def _ran(self, result: ToolResult) -> bool:
        """Whether it is a command's, and not of one that was refused or stopped before it began:
        that is an error without the header of a command that ran."""
        if result.tool_call_id not in self._commands:
            return False
        return not result.is_error or any(
            block["type"] == "text" and block["text"].startswith("$ ") for block in result.content
        )

    def _tell_mirror(self) -> None:
        if not self._notified:
            self._notified = True
            held = self._owner.settings.edits.review == "before"
            message = _MIRROR_NOTICE + (_MIRROR_BEFORE if held else "")
            self._owner.emit(Notice("warning", message, "lsp-agent"), self.turn_id)

    # -- ToolHost

    async def intercept(self, request: ToolRequest) -> Verdict:
        verdict = await self._tools.consent.intercept(request)
        if isinstance(verdict, Allow):
            await self._before(request)
        return verdict

    async def decide(self, request: ToolRequest, *, patient: bool = False) -> Allow | Block:
        """``patient``: the agent waits as long as a person needs, whatever the call."""
        decision = await self._tools.consent.decide(request, patient=patient)
        if isinstance(decision, Allow):
            await self._before(request)
        return decision

    async def _before(self, request: ToolRequest) -> None:
        kind = tool_kind(request.tool)
        if self._changes_disk(kind):
            paths = paths_of(request)
            await self._mirroring.before(
                request.tool, kind, request.args, paths, request.tool_call_id, self.turn_id
            )

    async def run(self, request: ToolRequest) -> ToolAnswer:
        self._come_to_us(request.tool_call_id)
        return await self._tools.run(request)

    # -- what an agent without a bridge asks on its wire

    async def answer(self, request: AgentRequest) -> Answer:
        """Never raises: what cannot be done is refused with the reason."""
        try:
            match request:
                case Approve():
                    return await self._approve(request)
                case ReadText() | WriteText():
                    self._come_to_us(request.tool_call_id)
                    return await self._tools.text(request)
                case RunTool(_, tool, args, tool_call_id):
                    call = ToolRequest(tool, args, tool_call_id)
                    if tool_kind(tool) == "command":
                        return await self._run_command(call, request.seconds)
                    return await self._run_ours(call)
                case Dialog():
                    return await self._tools.dialog(request)
        except LspAgentError as error:
            return Refused(str(error))

    async def _approve(self, request: Approve) -> Answer:
        """Of a call that touches several files, each is asked for; and where instructions that
        an agent reads along are links, those."""
        call = ToolRequest(request.tool, request.args, request.tool_call_id)
        still_wanted = self.still_wanted()
        verdict = await self._leave(call)
        others = request.paths[1:]
        if tool_kind(request.tool) == "read" and isinstance(verdict, Allow):
            (path,) = paths_of(call)[:1] or [""]
            others += await anyio.to_thread.run_sync(
                lambda: tuple(linked_instructions(path, self._owner.cwd))
            )
            if not still_wanted():
                return Refused(_STOPPED)
        for path in others:
            if isinstance(verdict, Block):
                break
            verdict = await self._leave(replace(call, args={**request.args, "path": path}))
        if isinstance(verdict, Block):
            return Refused(verdict.reason)
        if tool_kind(request.tool) == "edit":
            refuse_together(request.paths, self._owner.cwd)
        return Granted(verdict.note)

    async def _leave(self, call: ToolRequest) -> Allow | Block:
        verdict = await self.intercept(call)
        return await self.decide(call, patient=True) if isinstance(verdict, Gate) else verdict

    async def _run_ours(self, request: ToolRequest) -> Answer:
        answer = await self.run(request)
        return Refused(answer.text) if answer.is_error else Answered(answer.text)

    def agent_can(self, capabilities: Mapping[str, bool]) -> None:
        """What its handshake said: one that never lets us serve its files is no hosted agent."""
        if not capabilities["hostedFiles"] and self.state == "starting":
            self.state = "mirror"
            self._tell_mirror()

    async def _run_command(self, call: ToolRequest, seconds: float | None) -> Answer:
        """The agent waits ``seconds`` for question and command together."""
        began, still_wanted = anyio.current_time(), self.still_wanted()
        verdict = await self.intercept(call)
        if isinstance(verdict, Gate):
            verdict = await self._tools.consent.decide(call, brief=seconds is not None)
            if isinstance(verdict, Allow):
                await self._before(call)
        if isinstance(verdict, Block):
            return Refused(verdict.reason)
        if not still_wanted():
            return Refused(_STOPPED)
        left = None if seconds is None else seconds - (anyio.current_time() - began)
        return await self._own_commands.run(call, verdict, self.turn_id, left)

    def _come_to_us(self, tool_call_id: str | None) -> None:
        if tool_call_id is not None:
            self._own_calls.add(tool_call_id)
        if self.state == "starting":
            self.state = "hosted"

    def _end_bypassed(self) -> None:
        if not self._ended_agent:
            self._ended_agent = True
            self._owner.emit(Notice("error", _BYPASSED, "lsp-agent"), self.turn_id)
            self._owner.end_agent()
