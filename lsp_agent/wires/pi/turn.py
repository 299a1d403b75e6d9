"""One turn on pi's wire: from the prompt's answer to ``agent_settled``.

pi may run its loop more than once in a turn (a failed request is tried again, a steered message
is taken up): the steps count on, and only the last error is one.
"""

from lsp_agent.protocol.events import (
    AssistantMessage,
    ErrorReported,
    Notice,
    StepEnded,
    StepStarted,
    StopReason,
    ToolArgsDelta,
    ToolProgress,
    TurnEnded,
    UsageReported,
    UserMessage,
)
from lsp_agent.protocol.messages import Usage, plain_text
from lsp_agent.toolset.failures import plain, readable
from lsp_agent.toolset.loose_json import Frame, frame, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.open_calls import OpenCalls
from lsp_agent.wires.pi import messages as pi
from lsp_agent.wires.usage import added, filled

#: The frames that belong to a turn.
TURN_FRAMES = frozenset(
    {
        "turn_start",
        "turn_end",
        "message_start",
        "message_update",
        "message_end",
        "tool_execution_start",
        "tool_execution_update",
        "tool_execution_end",
        "auto_retry_start",
        "auto_retry_end",
    }
)

#: How much of the output so far is looked for in the next one, whose beginning pi may have cut.
_OVERLAP = 200


class Turn:
    """``aborted`` is set by whoever asked for the abort. ``usage`` is the session's so far."""

    def __init__(self, usage: Usage, *, aborted: bool) -> None:
        self.aborted = aborted
        self.usage = usage
        self._step = 0
        self._step_open = False
        self._stop: StopReason | None = "endTurn"
        self._error: str | None = None
        self._calls = OpenCalls()
        #: What the calls have printed so far, as pi last told it.
        self._outputs: dict[str, str] = {}
        #: The calls of the message that streams, by their place in it.
        self._streaming: dict[object, str] = {}

    def frame(self, kind: str, source: Frame, batch: Batch) -> None:
        """A frame whose type is in :data:`TURN_FRAMES`; of ``message_update`` not a text's."""
        match kind:
            case "message_update":
                self._update(frame(source.get("assistantMessageEvent")), batch)
            case "message_end":
                self._message(frame(source.get("message")), batch)
            case "tool_execution_start":
                call_id, tool = string(source, "toolCallId"), string(source, "toolName")
                self._calls.call(call_id, tool, source.get("args"), batch)
            case "tool_execution_update":
                self._progress(source, batch)
            case "tool_execution_end":
                self._result(source, batch)
            case "turn_start":
                self._step_start(batch)
            case "turn_end":
                self._step_open = False
                batch.add(StepEnded(self._stop, self._error))
            case "auto_retry_start":
                self._retry(source, batch)
            case "auto_retry_end" if source.get("success") is not True:
                # Where a retry was cancelled no answer follows that could say it.
                self._error = readable(string(source, "finalError")) or self._error
            case _:  # message_start: the frames around it say it all
                pass

    def end(self, batch: Batch, *, aborted: bool) -> None:
        """pi is at rest again."""
        self.aborted = self.aborted or aborted
        if self.aborted or self._stop == "aborted":
            self._close("aborted", None, batch)
        elif self._error is not None:
            batch.add(ErrorReported(self._error))
            self._close("error", self._error, batch)
        else:
            self._close(self._stop or "endTurn", None, batch)

    def cut(self, reason: StopReason, message: str | None, batch: Batch) -> None:
        """Nothing more will come."""
        if self.aborted or reason == "aborted":
            self._close("aborted", None, batch)
            return
        if reason == "error" and message is not None:
            batch.add(ErrorReported(message))
        self._close(reason, message or self._error, batch)

    def _close(self, reason: StopReason, error: str | None, batch: Batch) -> None:
        self._calls.close(reason, batch)
        if self._step_open:
            self._step_open = False
            batch.add(StepEnded(reason, error))
        batch.add(TurnEnded(reason, error))

    # -- steps and messages

    def _step_start(self, batch: Batch) -> None:
        self._step += 1
        self._step_open = True
        self._stop = "endTurn"
        self._error = None
        self._calls.next_step()
        batch.add(StepStarted(self._step))

    def _message(self, source: Frame, batch: Batch) -> None:
        self._streaming.clear()
        match string(source, "role"):
            case "user" if (said := pi.message(source)) is not None:
                batch.add(UserMessage(said))
            case "assistant" if (said := pi.message(source)) is not None:
                if said["content"]:
                    batch.add(AssistantMessage(said))
                self._ended(source, batch)
                if usage := pi.usage(source.get("usage")):
                    self.usage = added(self.usage, usage)
                    batch.add(UsageReported(usage, self.usage))
                    batch.add(filled(usage))
            case _:  # the system's; a tool's result, which its call has told already
                pass

    def _ended(self, message: Frame, batch: Batch) -> None:
        """What ended the model's answer; a failure is one only if nothing better follows."""
        name = string(message, "stopReason")
        if name not in pi.STOP_REASONS:
            batch.add(Notice("debug", f"unknown stop reason {name[:80]!r}", "agent"))
        self._stop = pi.STOP_REASONS.get(name, "endTurn")
        self._error = None
        if self._stop == "error":
            reason = string(message, "errorMessage")
            self._error = readable(reason) or "the agent failed and gave no reason"
            if self.aborted:
                self._stop, self._error = "aborted", None

    def _retry(self, source: Frame, batch: Batch) -> None:
        reason = plain(string(source, "errorMessage")) or "no reason was given"
        which = f"{source.get('attempt')} of {source.get('maxAttempts')}"
        message = f"The model's answer failed ({reason}); trying again ({which})."
        batch.add(Notice("warning", message, "agent"))

    # -- calls

    def _update(self, event: Frame, batch: Batch) -> None:
        place = event.get("contentIndex")
        place = place if isinstance(place, (int, str)) else None
        match string(event, "type"):
            case "toolcall_start" if call_id := string(event, "id"):
                self._streaming[place] = call_id
                self._calls.start(call_id, string(event, "toolName"), batch)
            case "toolcall_delta" if place in self._streaming:
                batch.piece(ToolArgsDelta, self._streaming[place], string(event, "delta"))
            case "toolcall_end":
                call = frame(event.get("toolCall"))
                if call_id := string(call, "id"):  # the first sight of it in older builds
                    self._calls.start(call_id, string(call, "name"), batch)
            case _:  # where a text or a thought begins and ends
                pass

    def _progress(self, source: Frame, batch: Batch) -> None:
        call_id = string(source, "toolCallId")
        if not self._calls.goes_on("tool_execution_update", call_id, source.get("args"), batch):
            return
        before = self._outputs.get(call_id, "")
        output = plain_text(pi.blocks(frame(source.get("partialResult")).get("content")))
        batch.piece(ToolProgress, call_id, new_output(before, output))
        self._outputs[call_id] = output or before

    def _result(self, source: Frame, batch: Batch) -> None:
        call_id = string(source, "toolCallId")
        if not self._calls.goes_on("tool_execution_end", call_id, None, batch):
            return
        self._outputs.pop(call_id, None)
        result = source.get("result")  # of older builds an error's text alone
        content = pi.blocks(result if isinstance(result, str) else frame(result).get("content"))
        self._calls.end(call_id, content, batch, is_error=source.get("isError") is True)


def new_output(before: str, now: str) -> str:
    """What a command has printed since: pi repeats all of it each time, or, of a long output, the
    end."""
    if now.startswith(before):
        return now[len(before) :]
    last = before[-_OVERLAP:]
    found = now.rfind(last)
    return now if found < 0 else now[found + len(last) :]
