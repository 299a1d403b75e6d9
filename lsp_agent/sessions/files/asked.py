"""What a session's agent asks of us: over its bridge (``ToolHost``), or on its wire."""

from dataclasses import replace

import anyio
import anyio.to_thread

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.sessions.files.calls_at_work import ToolCallSeen
from lsp_agent.sessions.files.covering import OF_COMMAND
from lsp_agent.sessions.files.hosted_tools import HostedTools
from lsp_agent.sessions.files.hosting_state import HostingState
from lsp_agent.sessions.files.mirroring import Mirroring
from lsp_agent.sessions.files.own_commands import OwnCommands
from lsp_agent.sessions.permissions.consent import STOPPED
from lsp_agent.sessions.permissions.judge import paths_of
from lsp_agent.sessions.permissions.repository_code import linked_instructions
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.toolset.calls import (
    Allow,
    Block,
    Gate,
    Held,
    Outcome,
    ToolAnswer,
    ToolRequest,
    Verdict,
)
from lsp_agent.toolset.commands import run_in
from lsp_agent.toolset.kinds import OF_BACKGROUND, tool_kind
from lsp_agent.wires.wire import (
    AgentRequest,
    Answer,
    Answered,
    Approve,
    Dialog,
    Granted,
    ReadText,
    Refused,
    RunTool,
    WriteText,
)
from lsp_agent.workspace.disk.paths import refuse_together


class Asked:
    """Implements ``ToolHost`` for one session. What is let happen on disk is looked at first."""

    def __init__(
        self,
        session: SessionView,
        state: HostingState,
        tools: HostedTools,
        mirroring: Mirroring,
        own_commands: OwnCommands,
    ) -> None:
        self._session = session
        self._state = state
        self._tools = tools
        self._mirroring = mirroring
        self._own_commands = own_commands

    # -- ToolHost

    async def intercept(self, request: ToolRequest) -> Verdict:
        return await self._intercept(request, can_hold=True)

    async def _intercept(self, request: ToolRequest, *, can_hold: bool) -> Verdict:
        if request.tool in OF_BACKGROUND and self._state.runs_background:
            return Block(STOPPED) if self._session.stopped else Allow()
        if tool_kind(request.tool) == "command":
            refused = await self._tools.covering.in_command(request)
            if refused is not None:
                return refused
        verdict = await self._tools.consent.intercept(request, can_hold=can_hold)
        if isinstance(verdict, Allow | Held):
            await self._before(request)
        return verdict

    async def decide(
        self, request: ToolRequest, *, patient: bool = False, brief: bool = False
    ) -> Allow | Block:
        """As ``Consent`` decides."""
        decision = await self._tools.consent.decide(request, patient=patient, brief=brief)
        if isinstance(decision, Allow):
            await self._before(request)
        return decision

    async def decide_again(self, request: ToolRequest, outcome: Outcome) -> Allow | Block:
        return await self._tools.consent.decide_again(request, outcome)

    async def run(self, request: ToolRequest) -> ToolAnswer:
        self._state.came_to_us(request.tool_call_id)
        return await self._tools.run(request)

    # -- what an agent without a bridge asks on its wire

    async def answer(self, request: AgentRequest) -> Answer:
        """Never raises: what cannot be done is refused with the reason."""
        try:
            match request:
                case Approve():
                    return await self._approve(request)
                case ReadText() | WriteText():
                    self._state.came_to_us(request.tool_call_id)
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
        args = dict(request.args)
        command = args.get("command")
        if request.folder and request.tool == "bash" and isinstance(command, str):
            args["command"] = run_in(request.folder, command, self._session.cwd)
        call = ToolRequest(request.tool, args, request.tool_call_id, request.named)
        still_wanted = self._session.still_wanted()
        verdict = await self._leave(call)
        others = request.paths[1:]
        if tool_kind(request.tool) == "read" and isinstance(verdict, Allow):
            (path,) = paths_of(call)[:1] or [""]
            others += await anyio.to_thread.run_sync(
                lambda: tuple(linked_instructions(path, self._session.cwd))
            )
            if not still_wanted():
                return Refused(STOPPED)
        for path in others:
            if isinstance(verdict, Block):
                break
            verdict = await self._leave(replace(call, args={**request.args, "path": path}))
        if isinstance(verdict, Block):
            return Refused(verdict.reason)
        if tool_kind(request.tool) == "edit":
            refuse_together(request.paths, self._session.cwd)
        return Granted(verdict.note)

    async def _leave(self, call: ToolRequest) -> Allow | Block:
        verdict = await self._intercept(call, can_hold=False)
        if isinstance(verdict, Gate | Held):
            return await self.decide(call, patient=True)
        return verdict

    async def _run_ours(self, request: ToolRequest) -> Answer:
        answer = await self.run(request)
        return Refused(answer.text) if answer.is_error else Answered(answer.text)

    async def _run_command(self, call: ToolRequest, seconds: float | None) -> Answer:
        """The agent waits ``seconds`` for question and command together."""
        began, still_wanted = anyio.current_time(), self._session.still_wanted()
        verdict = await self._intercept(call, can_hold=False)
        if isinstance(verdict, Gate | Held):
            verdict = await self.decide(call, brief=seconds is not None)
        if isinstance(verdict, Block):
            return Refused(verdict.reason)
        if not still_wanted():
            return Refused(STOPPED)
        left = None if seconds is None else seconds - (anyio.current_time() - began)
        answer = await self._own_commands.run(call, verdict, left)
        match answer:
            case Answered(text):
                return Answered(await self._tools.covering.covered(text, OF_COMMAND))
            case Refused(reason):
                return Refused(await self._tools.covering.covered(reason, OF_COMMAND))
            case _:
                return answer

    async def _before(self, call: ToolRequest) -> None:
        kind = tool_kind(call.tool)
        if self._state.changes_disk(kind):
            paths = tuple(paths_of(call))
            seen = ToolCallSeen(
                call.tool, kind, call.args, paths, call.tool_call_id, self._session.turn_id
            )
            await self._mirroring.before(seen)
