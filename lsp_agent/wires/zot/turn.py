"""One turn on zot's wire: from ``response(prompt)`` to ``done``.

The wire repeats itself and leaves out things; a turn makes of it exactly one ``ToolCall`` and
one ``ToolResult`` a call, one ``ErrorReported`` an error and one ``TurnEnded``.
"""

import re

from lsp_agent.protocol.events import (
    AssistantMessage,
    ErrorReported,
    Notice,
    StepEnded,
    StepStarted,
    StopReason,
    TextDelta,
    ToolArgsDelta,
    ToolProgress,
    TurnEnded,
    UsageReported,
    UserMessage,
)
from lsp_agent.toolset.loose_json import Frame, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.open_calls import OpenCalls
from lsp_agent.wires.usage import filled
from lsp_agent.wires.zot import messages as zot

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


class Turn:
    """``aborted`` is set by whoever asked for the abort: no stop reason tells it reliably."""

    def __init__(self, *, aborted: bool) -> None:
        self.aborted = aborted
        self._step = 0
        self._step_open = False
        self._step_has_text = False
        self._stop: StopReason | None = None
        self._error: str | None = None
        self._calls = OpenCalls()

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
                self._calls.start(string(frame, "id"), string(frame, "name"), batch)
            case "usage":
                step = zot.usage(frame)
                batch.add(UsageReported(step, zot.usage(frame.get("cumulative"))))
                batch.add(filled(step))
            case "assistant_message":
                self._assistant_message(frame, batch)
            case "tool_call":
                call_id, tool = string(frame, "id"), string(frame, "name")
                self._calls.call(call_id, tool, frame.get("args"), batch)
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
        self._calls.close(reason, batch)
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
        self._calls.next_step()
        batch.add(StepStarted(self._step))

    def _args(self, frame: Frame, batch: Batch) -> None:
        call_id = string(frame, "id")
        if call_id in self._calls:
            batch.piece(ToolArgsDelta, call_id, string(frame, "delta"))
        else:
            batch.add(Notice("debug", "tool_use_args of a call that is not open", "agent"))

    def _progress(self, frame: Frame, batch: Batch) -> None:
        call_id = string(frame, "id")
        if self._calls.goes_on("tool_progress", call_id, None, batch):
            batch.piece(ToolProgress, call_id, string(frame, "text"))

    def _result(self, frame: Frame, batch: Batch) -> None:
        call_id = string(frame, "id")
        if self._calls.goes_on("tool_result", call_id, None, batch):
            content = zot.blocks(frame.get("content"))
            self._calls.end(call_id, content, batch, is_error=frame.get("is_error") is True)

    def _assistant_message(self, frame: Frame, batch: Batch) -> None:
        message = zot.message(frame, "assistant")
        if message["content"] or self._step_has_text:  # else it only thought
            batch.add(AssistantMessage(message))

    def _step_end(self, frame: Frame, batch: Batch) -> None:
        name = string(frame, "stop")
        if name not in zot.STOP_REASONS:
            batch.add(Notice("debug", f"unknown stop reason {name[:80]!r}", "agent"))
        stop = zot.STOP_REASONS.get(name, "endTurn")
        error = string(frame, "error") or None
        if self.aborted and stop in ("aborted", "error"):
            stop, error = "aborted", None
        elif stop == "error" and error is None:
            error = "the agent failed and gave no reason"
        self._stop = stop
        self._step_open = False
        batch.add(StepEnded(stop, error))
        if error is not None:
            self.error(error, batch)
