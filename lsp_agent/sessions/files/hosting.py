"""How a session's agent reaches files: through us (hosted), or by itself (mirror)."""

from collections.abc import Callable
from typing import Literal

from anyio.abc import TaskGroup

from lsp_agent.agents.bridge import Bridge
from lsp_agent.protocol.events import BackgroundCommand, Notice, ToolCall, ToolResult
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.sessions.files.asked import Asked
from lsp_agent.sessions.files.bridged import Bridged
from lsp_agent.sessions.files.calls_at_work import ToolCallSeen
from lsp_agent.sessions.files.hosted_tools import HostedTools
from lsp_agent.sessions.files.hosting_state import HostingState
from lsp_agent.sessions.files.mirroring import Mirroring
from lsp_agent.sessions.files.own_commands import OwnCommands
from lsp_agent.sessions.permissions.agent_sandbox import AgentSandbox
from lsp_agent.sessions.shared.services import Services
from lsp_agent.sessions.shared.session_view import SessionView
from lsp_agent.wires.wire import Launch

_BYPASSED = (
    "The agent ran a command without asking whether it may, and was ended. Check its `command` in"
    " the settings: it cannot be held to the permissions."
)


class Hosting:
    """Of one session: joins the bridge to its agent, what that asks, and what it does unasked.
    ``end_agent`` ends the agent at once."""

    def __init__(
        self,
        services: Services,
        session: SessionView,
        wanted: Literal["auto", "hosted", "mirror"],
        end_agent: Callable[[], None],
    ) -> None:
        self._session = session
        self._end_agent = end_agent
        self._ended_agent = False
        mirror = wanted == "mirror"
        self.bridged = Bridged(file_tools=not mirror)
        self.state = HostingState(session, self.bridged, mirror=mirror)
        tools = HostedTools(
            services, session, self.state.surely_hosts_files, lambda: self.state.runs_background
        )
        self.served = tools.served
        self.covering = tools.covering
        self._covers = services.covers
        self._permissions = tools.permissions
        self._consent = tools.consent
        self._mirroring = Mirroring(services, session, tools.served, tools.confined)
        self._own_commands = OwnCommands(session)
        self._sandbox = AgentSandbox(session, services.confinement)
        self.asked = Asked(session, self.state, tools, self._mirroring, self._own_commands)

    @property
    def can_review_before(self) -> bool:
        """Whether nothing reaches the disk before it was reviewed, where the settings want so."""
        return self.state.hosts_files and not self._mirroring.brought_in.commands_change_files

    @property
    def unsettled(self) -> bool:
        """Whether the turn has changed the disk in ways that may not be brought in yet."""
        return self._mirroring.busy

    async def settle(self) -> None:
        """Brings in what the turn has changed on disk; bounded."""
        await self._mirroring.settle()

    async def open_bridge(self, launch: Launch, tasks: TaskGroup) -> Bridge:
        """A bridge for an agent that starts as ``launch`` says; the one before is closed."""
        bridge = await self.bridged.open(self.asked, launch, tasks)
        self._consent.hosts_live_in(bridge.sockets, tasks)
        return bridge

    async def sandboxed(
        self, launch: Launch, name: str, agent: AgentSettings, tasks: TaskGroup
    ) -> Launch:
        """As ``AgentSandbox``."""
        return await self._sandbox.around(launch, name, agent, tasks)

    def agent_starts(self, launch: Launch, tasks: TaskGroup) -> None:
        self._mirroring.live_in(tasks)
        self._own_commands.surround(launch)
        self._permissions.surround(launch.env)
        self._covers.know(launch.env)
        self._ended_agent = False

    def turn_begins(self) -> None:
        self.bridged.turn_begins()
        self.state.turn_begins()

    def stop(self) -> None:
        """The turn is stopped: ends what we run of it, and refuses what comes over the bridge."""
        self._own_commands.stop()
        self.bridged.abort()

    async def commands_ended(self) -> None:
        """After a stop: until the commands that we run for the agent are gone."""
        await self._own_commands.ended()

    def turn_ended(self) -> None:
        self.state.turn_ended()
        self._mirroring.turn_ended()
        self.bridged.turn_ended()

    def observe(self, event: ToolCall | ToolResult | BackgroundCommand) -> None:
        """Learns from the wire what the agent does."""
        match event:
            case ToolCall():
                self._called(event)
            case ToolResult():
                self._returned(event)
            case BackgroundCommand():
                self._consent.background(event)

    def _called(self, call: ToolCall) -> None:
        self.state.called(call)
        if self.state.changes_disk(call.kind):
            turn_id = self._session.turn_id
            seen = ToolCallSeen(
                call.tool, call.kind, call.args, call.paths, call.tool_call_id, turn_id
            )
            self._mirroring.called(seen)

    def _returned(self, result: ToolResult) -> None:
        call_id = result.tool_call_id
        self._consent.returned(result)
        asked = self.bridged.was_asked(call_id)
        if self.bridged.is_open and self.state.ran(result) and not asked:
            self._end_bypassed()
        self.bridged.call_ended(call_id)
        self.state.returned(result)
        if self.state.is_ours(call_id):
            self._mirroring.was_ours(call_id)
        else:
            self.covering.returned(result)
            self._mirroring.returned(call_id, is_error=result.is_error, asked=asked)
        self.state.forget(call_id)

    def _end_bypassed(self) -> None:
        if not self._ended_agent:
            self._ended_agent = True
            self._session.emit(Notice("error", _BYPASSED, "lsp-agent"), self._session.turn_id)
            self._end_agent()
