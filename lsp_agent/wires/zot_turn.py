"""One turn on zot's wire: from ``response(prompt)`` to ``done``.

The wire repeats itself and leaves out things; a turn makes of it exactly one ``ToolCall`` and
one ``ToolResult`` a call, one ``ErrorReported`` an error and one ``TurnEnded``.
"""

import re
from dataclasses import dataclass
from typing import Literal

from lsp_agent.protocol.events import (
    AssistantMessage,
    ErrorReported,
    Notice,
    StepEnded,
    StepStarted,
    StopReason,
    TextDelta,
    ToolArgsDelta,
    ToolCall,
    ToolCallStarted,
    ToolProgress,
    ToolResult,
    TurnEnded,
    UsageReported,
    UserMessage,
)
from lsp_agent.protocol.messages import text
from lsp_agent.wires import zot_messages as zot
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.zot_messages import Frame

#: The frames that belong to a turn, besides its text.
TURN_FRAMES = frozenset(
    {
        "user_message",
        "turn_start",
        "assistant_start",
        "tool_use_start",
        "tool_use_args",
        "tool_use_end",
        "usage",
        "assistant_message",
        "tool_call",
        "turn_end",
        "tool_progress",
        "tool_result",
    }
)

_MAX_STEPS = re.compile(r"max steps \(\d+\) exceeded")


@dataclass(slots=True)
class _Call:
    tool: str
    state: Literal["started", "called", "ended"] = "started"


class Turn:
    """``aborted`` is set by whoever asked for the abort: no stop reason tells it reliably."""

    def __init__(self, *, aborted: bool) -> None:
        self.aborted = aborted
        self._step = 0
        self._step_open = False
        self._step_has_text = False
        self._stop: StopReason | None = None
        self._error: str | None = None
        self._calls: dict[str, _Call] = {}

    def text(self, delta: str, batch: Batch) -> None:
        self._step_has_text = True
        batch.add(TextDelta(delta))

    def frame(self, kind: str, frame: Frame, batch: Batch) -> None:
        """A frame whose type is in :data:`TURN_FRAMES`."""
        match kind:
            case "tool_use_args":
                self._args(frame, batch)
            case "tool_progress":
                self._progress(frame, batch)
            case "user_message":
                batch.add(UserMessage(zot.message(frame, "user")))
            case "turn_start":
                self._step_start(batch)
            case "tool_use_start":
                self._start(zot.string(frame, "id"), zot.string(frame, "name"), batch)
            case "usage":
                batch.add(UsageReported(zot.usage(frame), zot.usage(frame.get("cumulative"))))
            case "assistant_message":
                self._assistant_message(frame, batch)
            case "tool_call":
                self._call(frame, batch)
            case "tool_result":
                self._result(frame, batch)
            case "turn_end":
                self._step_end(frame, batch)
            case _:  # assistant_start, tool_use_end: the frames around them say it all
                pass

    def error(self, message: str, batch: Batch) -> None:
        """A failure; told once though a step's end and an event of its own both name it."""
        if self.aborted:
            batch.add(Notice("debug", f"in an aborted turn: {message}", "agent"))
        elif message != self._error:
            self._error = message
            batch.add(ErrorReported(message))

    def end(self, batch: Batch) -> None:
        """``done`` came."""
        if self._stop is None and self._error is None and not self.aborted:
            self.error("the agent ended the turn in the middle of its work", batch)
        self._close(*self._outcome(), batch)

    def cut(self, reason: StopReason, message: str | None, batch: Batch) -> None:
        """Nothing more will come."""
        if self.aborted or reason == "aborted":
            self._close("aborted", None, batch)
            return
        if reason == "error" and message is not None:
            self.error(message, batch)
        self._close(reason, message or self._error, batch)

    def _outcome(self) -> tuple[StopReason, str | None]:
        if self.aborted:
            return "aborted", None
        if self._error is not None and _MAX_STEPS.search(self._error):
            return "maxSteps", self._error
        if self._stop == "aborted":
            return "aborted", self._error
        if self._error is not None or self._stop is None:
            return "error", self._error
        return self._stop, None

    def _close(self, reason: StopReason, error: str | None, batch: Batch) -> None:
        missing = "aborted" if reason == "aborted" else "no result"
        for call_id, call in self._calls.items():
            self._called(call_id, call, None, batch)
            if call.state != "ended":
                call.state = "ended"
                batch.add(ToolResult(call_id, is_error=True, content=[text(missing)]))
        if self._step_open:
            self._step_open = False
            batch.add(StepEnded(reason, error))
        batch.add(TurnEnded(reason, error))

    def _step_start(self, batch: Batch) -> None:
        self._step += 1
        self._step_open = True
        self._step_has_text = False
        self._stop = None
        self._error = None
        # A provider may count its ids anew in each step, so a finished one is free again.
        self._calls = {id_: call for id_, call in self._calls.items() if call.state != "ended"}
        batch.add(StepStarted(self._step))

    def _args(self, frame: Frame, batch: Batch) -> None:
        call_id = zot.string(frame, "id")
        if call_id in self._calls:
            batch.piece(ToolArgsDelta, call_id, zot.string(frame, "delta"))
        else:
            self._stray("tool_use_args", batch)

    def _call(self, frame: Frame, batch: Batch) -> None:
        call_id = zot.string(frame, "id")
        call = self._start(call_id, zot.string(frame, "name"), batch)
        self._called(call_id, call, frame.get("args"), batch)

    def _progress(self, frame: Frame, batch: Batch) -> None:
        call_id = zot.string(frame, "id")
        call = self._calls.get(call_id)
        if call is None or call.state == "ended":
            self._stray("tool_progress", batch)
            return
        self._called(call_id, call, None, batch)
        batch.piece(ToolProgress, call_id, zot.string(frame, "text"))

    def _result(self, frame: Frame, batch: Batch) -> None:
        call_id = zot.string(frame, "id")
        call = self._calls.get(call_id)
        if call is None or call.state == "ended":
            self._stray("tool_result", batch)
            return
        self._called(call_id, call, None, batch)
        call.state = "ended"
        content = zot.blocks(frame.get("content"))
        batch.add(ToolResult(call_id, frame.get("is_error") is True, content))

    def _assistant_message(self, frame: Frame, batch: Batch) -> None:
        message = zot.message(frame, "assistant")
        if message["content"] or self._step_has_text:  # else it only thought
            batch.add(AssistantMessage(message))

    def _step_end(self, frame: Frame, batch: Batch) -> None:
        name = zot.string(frame, "stop")
        if name not in zot.STOP_REASONS:
            batch.add(Notice("debug", f"unknown stop reason {name[:80]!r}", "agent"))
        stop = zot.STOP_REASONS.get(name, "endTurn")
        error = zot.string(frame, "error") or None
        if self.aborted and stop in ("aborted", "error"):
            stop, error = "aborted", None
        elif stop == "error" and error is None:
            error = "the agent failed and gave no reason"
        self._stop = stop
        self._step_open = False
        batch.add(StepEnded(stop, error))
        if error is not None:
            self.error(error, batch)

    def _start(self, call_id: str, tool: str, batch: Batch) -> _Call:
        call = self._calls.get(call_id)
        if call is None:
            call = self._calls[call_id] = _Call(tool)
            batch.add(ToolCallStarted(call_id, tool))
        return call

    def _called(self, call_id: str, call: _Call, args: object, batch: Batch) -> None:
        if call.state == "started":
            call.state = "called"
            kind = zot.tool_kind(call.tool)
            batch.add(ToolCall(call_id, call.tool, kind, args, zot.paths(args)))

    def _stray(self, kind: str, batch: Batch) -> None:
        batch.add(Notice("debug", f"{kind} of a call that is not open", "agent"))
