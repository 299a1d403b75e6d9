"""The bridge to a session's agent: opened before it starts, closed when it has ended."""

import os
from dataclasses import replace

import anyio
from anyio.abc import TaskGroup, TaskStatus

from lsp_agent.agents.bridge import Bridge
from lsp_agent.protocol import messages
from lsp_agent.protocol.events import ToolResult
from lsp_agent.protocol.git_environment import unread
from lsp_agent.toolset.calls import ToolHost
from lsp_agent.wires.wire import Launch


class Bridged:
    """At most one bridge, and none of an agent without our extension. ``file_tools``: the agent is
    to use ours."""

    def __init__(self, *, file_tools: bool) -> None:
        self._file_tools = file_tools
        self._bridge: Bridge | None = None
        self._closing = anyio.Event()

    @property
    def is_open(self) -> bool:
        return self._bridge is not None

    async def open(self, host: ToolHost, launch: Launch, tasks: TaskGroup) -> Bridge:
        """A bridge for an agent that starts as ``launch`` says; the one before is closed."""
        self.close()
        self._closing = anyio.Event()
        bridge: Bridge = await tasks.start(self._hold, host, launch, self._closing)
        self._bridge = bridge
        return bridge

    def close(self) -> None:
        self._bridge = None
        self._closing.set()

    async def _hold(
        self,
        host: ToolHost,
        launch: Launch,
        closing: anyio.Event,
        *,
        task_status: TaskStatus[Bridge],
    ) -> None:
        """One task enters and leaves the bridge, whoever asks for its end."""
        async with Bridge(
            host,
            unset=launch.secrets,
            for_unread=unread({**os.environ, **launch.env}),
            file_tools=self._file_tools,
        ) as bridge:
            task_status.started(bridge)
            await closing.wait()

    def turn_begins(self) -> None:
        if self._bridge is not None:
            self._bridge.resume()

    def abort(self) -> None:
        """From here on what comes over it is refused."""
        if self._bridge is not None:
            self._bridge.abort()

    def turn_ended(self) -> None:
        if self._bridge is not None:
            self._bridge.turn_ended()

    def was_asked(self, call_id: str) -> bool:
        """Whether the agent asked before the call."""
        return self._bridge is not None and self._bridge.was_asked(call_id)

    def call_ended(self, call_id: str) -> None:
        if self._bridge is not None:
            self._bridge.call_ended(call_id)

    def as_meant(self, result: ToolResult) -> ToolResult:
        """A result as the agent's call would have had it without our gate."""
        return replace(
            result,
            content=[self._block_as_meant(result.tool_call_id, block) for block in result.content],
        )

    def _block_as_meant(self, call_id: str, block: messages.Block) -> messages.Block:
        if self._bridge is None or block["type"] != "text":
            return block
        return messages.text(self._bridge.as_meant(call_id, block["text"]))
