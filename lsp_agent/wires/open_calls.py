"""The calls of one turn, each told of once: by one start, one call and one result, in that order.

For agents that tell a call's course in frames of their own and name its path as the embedded
agent's tools do. The frames may repeat a call, leave out its beginning and never tell its end.
"""

from dataclasses import dataclass
from typing import Literal

from lsp_agent.protocol.events import Notice, StopReason, ToolCall, ToolCallStarted, ToolResult
from lsp_agent.protocol.messages import Block, text
from lsp_agent.toolset.kinds import paths, tool_kind
from lsp_agent.wires.batch import Batch


@dataclass(slots=True)
class _Call:
    tool: str
    state: Literal["started", "called", "ended"] = "started"


class OpenCalls:
    """What was told of each call; the events go into the batch that each method is given."""

    def __init__(self) -> None:
        self._calls: dict[str, _Call] = {}

    def __contains__(self, call_id: str) -> bool:
        """Whether this step has had the call, which may have ended."""
        return call_id in self._calls

    def start(self, call_id: str, tool: str, batch: Batch) -> None:
        """The model begins a call; its arguments are to come."""
        if call_id not in self._calls:
            self._calls[call_id] = _Call(tool)
            batch.add(ToolCallStarted(call_id, tool))

    def call(self, call_id: str, tool: str, args: object, batch: Batch) -> None:
        """The arguments are whole."""
        self.start(call_id, tool, batch)
        self._called(call_id, args, batch)

    def goes_on(self, frame_type: str, call_id: str, args: object, batch: Batch) -> bool:
        """Whether the call that a frame is of is open; ``args`` where nothing has told them."""
        call = self._calls.get(call_id)
        if call is None or call.state == "ended":
            batch.add(Notice("debug", f"{frame_type} of a call that is not open", "agent"))
            return False
        self._called(call_id, args, batch)
        return True

    def end(self, call_id: str, content: list[Block], batch: Batch, *, is_error: bool) -> None:
        """The result of a call that is open (:meth:`goes_on`)."""
        self._calls[call_id].state = "ended"
        batch.add(ToolResult(call_id, is_error, content))

    def next_step(self) -> None:
        """A provider may count its ids anew in each step, so a finished one is free again."""
        self._calls = {id_: call for id_, call in self._calls.items() if call.state != "ended"}

    def close(self, reason: StopReason, batch: Batch) -> None:
        """The turn ends for ``reason``, and with it what is open."""
        for call_id, call in self._calls.items():
            self._called(call_id, None, batch)
            if call.state != "ended":
                self.end(call_id, [missing_result(reason)], batch, is_error=True)

    def _called(self, call_id: str, args: object, batch: Batch) -> None:
        call = self._calls[call_id]
        if call.state == "started":
            call.state = "called"
            batch.add(ToolCall(call_id, call.tool, tool_kind(call.tool), args, paths(args)))


def missing_result(reason: StopReason) -> Block:
    """What stands for a call's result in a turn that ended for ``reason`` before there was one."""
    return text("aborted" if reason == "aborted" else "no result")
