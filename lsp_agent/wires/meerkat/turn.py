"""One turn on Meerkat's wire: from ``run_started`` to the response to ``turn/start``.

Its events are best effort: any of them may be missing, and the last ones may come after the
response. A turn makes of them exactly one ``ToolCall`` and one ``ToolResult`` a call, one
``ErrorReported`` an error and one ``TurnEnded``.
"""

from dataclasses import dataclass, field

from lsp_agent.protocol.events import (
    AssistantMessage,
    ErrorReported,
    Notice,
    StepEnded,
    StepStarted,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallStarted,
    ToolResult,
    TurnEnded,
    UsageReported,
    UserMessage,
)
from lsp_agent.protocol.messages import Block, Usage, text
from lsp_agent.toolset.loose_json import Frame, frame, integer, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.meerkat import messages as meerkat
from lsp_agent.wires.meerkat import tools as meerkat_tools
from lsp_agent.wires.open_calls import missing_result
from lsp_agent.wires.usage import added, beyond, filled

_NO_REASON = "Meerkat ended the run and gave no reason"


@dataclass(slots=True)
class _Call:
    """``output`` is what the tool said, where only its end has been told of yet."""

    tool: str
    ended: bool = False
    output: tuple[bool, list[Block]] | None = None


@dataclass(slots=True)
class _Step:
    """One model call. ``said`` are the deltas that no final text stands for yet."""

    blocks: list[Block] = field(default_factory=list[Block])
    said: list[str] = field(default_factory=list[str])
    thought: list[str] = field(default_factory=list[str])


class Turn:
    """``aborted`` is set by whoever asked for the abort: no answer tells it reliably. ``known`` is
    the session's usage so far. With ``results_follow`` a tool's end is not its result."""

    def __init__(self, *, aborted: bool, known: Usage, results_follow: bool) -> None:
        self.aborted = aborted
        self.known = known
        self._results_follow = results_follow
        self._reported: Usage = {}
        self._count = 0
        self._step: _Step | None = None
        self._stop: StopReason | None = None
        self._last_text = ""
        self._failure: str | None = None
        self._limit_reached = False
        self._calls: dict[str, _Call] = {}
        self._hidden: set[str] = set()

    # -- events

    @property
    def told_failure(self) -> str:
        """The words of ``run_failed``."""
        return self._failure or ""

    def event(self, kind: str, payload: Frame, batch: Batch) -> bool:
        """Takes an event; False if it says nothing of the turn's course."""
        match kind:
            case "text_delta" | "reasoning_delta":
                self._delta(kind, string(payload, "delta"), batch)
            case "text_complete" | "reasoning_complete":
                self._final(kind, string(payload, "content"), batch)
            case "run_started":
                self._told(payload, batch)
            case "turn_started":
                self._start_step(batch)
            case "turn_completed":
                self._complete(payload, batch)
            case "retrying":
                self._retry(payload, batch)
            case "run_completed":
                self._note_cause(payload)
            case "run_failed":
                report = frame(payload.get("error_report"))
                self._note_cause(payload)
                self._limit_reached |= string(report, "class") in meerkat.TURN_LIMITS
                self._failure = meerkat.words(string(report, "message")) or _NO_REASON
            case _:
                return self._tool(kind, payload, batch)
        return True

    def _delta(self, kind: str, delta: str, batch: Batch) -> None:
        if not delta:
            return
        step = self._opened(batch)
        if kind == "text_delta":
            step.said.append(delta)
            batch.add(TextDelta(delta))
        else:
            step.thought.append(delta)
            batch.add(ThinkingDelta(delta))

    def _final(self, kind: str, content: str, batch: Batch) -> None:
        """Stands for the deltas before it."""
        step = self._opened(batch)
        if kind == "text_complete":
            step.said.clear()
            step.blocks.append(text(content))
        else:
            step.thought.clear()
            step.blocks.append({"type": "thinking", "text": content})

    def _tool(self, kind: str, payload: Frame, batch: Batch) -> bool:
        match kind:
            case "tool_call_requested":
                call_id, tool = string(payload, "id"), string(payload, "name")
                self.call(call_id, tool, payload.get("args"), batch)
            case "tool_execution_started":
                pass  # the call and its result say it all
            case "tool_execution_completed":
                self._completed(payload, batch)
            case "tool_result_received":
                content = meerkat.blocks(payload.get("content"))
                self._result(payload, payload.get("is_error") is True, content, batch)
            case "tool_execution_timed_out":
                limit = payload.get("timeout_ms")
                self._result(payload, True, [text(f"timed out after {limit} ms")], batch)
            case _:
                return False
        return True

    def call(self, call_id: str, tool: str, args: object, batch: Batch) -> None:
        """A call at its first sight, which may be the request to run it."""
        if meerkat_tools.is_catalogue(tool):
            if call_id not in self._hidden:
                self._hidden.add(call_id)
                batch.add(Notice("debug", f"the model looks for its tools ({tool})", "agent"))
            return
        if call_id in self._calls:
            return
        self._calls[call_id] = _Call(tool)
        step = self._opened(batch)
        self._flush(step)
        block: Block = {"type": "toolCall", "toolCallId": call_id, "tool": tool, "args": args}
        step.blocks.append(block)
        batch.add(ToolCallStarted(call_id, tool))
        batch.add(
            ToolCall(call_id, tool, meerkat_tools.tool_kind(tool), args, meerkat_tools.paths(args))
        )

    # -- its end

    def respond(self, result: Frame, batch: Batch) -> None:
        """The response came: its text and its usage are the truth."""
        self._note_cause(result)
        final = string(result, "text")
        if final and not self.aborted and final.strip() != self._shown().strip():
            step = self._opened(batch)
            step.said.clear()
            step.blocks = [one for one in step.blocks if one["type"] != "text"]
            step.blocks.append(text(final))
        self._account(result, batch)
        self._end(batch)

    def fail(self, message: str, batch: Batch) -> None:
        """The response was an error; ``message`` has what ``run_failed`` told of it."""
        self._failure = message
        self._end(batch)

    def cut(self, reason: StopReason, message: str | None, batch: Batch) -> None:
        """Nothing more will come."""
        if self.aborted or reason == "aborted":
            reason, message = "aborted", None
        elif reason == "error" and message is not None:
            batch.add(ErrorReported(message))
        self._close(reason, message, batch)
        batch.add(TurnEnded(reason, message))

    def _end(self, batch: Batch) -> None:
        reason, error = self._outcome()
        if reason == "error" and error is not None:
            batch.add(ErrorReported(error))
        self._close(reason, error, batch)
        batch.add(TurnEnded(reason, error))

    def _outcome(self) -> tuple[StopReason, str | None]:
        if self.aborted or self._stop == "aborted":
            return "aborted", None
        if self._limit_reached:
            return "maxSteps", self._failure or meerkat.MAX_STEPS
        if self._failure is not None:
            return "error", self._failure
        return self._stop or "endTurn", None

    def _close(self, reason: StopReason, error: str | None, batch: Batch) -> None:
        for call_id, call in self._calls.items():
            if not call.ended:
                call.ended = True
                is_error, content = call.output or (True, [missing_result(reason)])
                batch.add(ToolResult(call_id, is_error, content))
        self._end_step(reason, error, batch)

    def _account(self, result: Frame, batch: Batch) -> None:
        """Tells of the usage that no step has told of."""
        total = meerkat.usage(result.get("usage"))
        if not total:
            return
        if of_run := meerkat.usage(result.get("run_usage")):
            missing = beyond(self._reported, of_run)
        else:
            missing = beyond(self.known, total)
        if missing or total != self.known:
            batch.add(UsageReported(missing, total))
        self.known = total

    # -- steps

    def _opened(self, batch: Batch) -> _Step:
        """The step that runs; one whose start was not told begins now."""
        return self._step or self._start_step(batch)

    def _start_step(self, batch: Batch) -> _Step:
        self._results_in_hand(batch)
        self._end_step(None, None, batch)
        self._count += 1
        self._stop = None
        self._step = _Step()
        # A provider may count its ids anew in each step, so a finished one is free again.
        self._calls = {id_: call for id_, call in self._calls.items() if not call.ended}
        batch.add(StepStarted(self._count))
        return self._step

    def _end_step(self, reason: StopReason | None, error: str | None, batch: Batch) -> None:
        step, self._step = self._step, None
        if step is None:
            return
        self._flush(step)
        content = [one for one in step.blocks if one["type"] != "text" or one["text"]]
        self._last_text = "".join(one["text"] for one in content if one["type"] == "text")
        if content:
            batch.add(AssistantMessage({"role": "assistant", "content": content}))
        batch.add(StepEnded(reason, error))

    def _flush(self, step: _Step) -> None:
        """Deltas without a final text are the text."""
        if step.thought:
            step.blocks.append({"type": "thinking", "text": "".join(step.thought)})
            step.thought.clear()
        if step.said:
            step.blocks.append(text("".join(step.said)))
            step.said.clear()

    def _shown(self) -> str:
        """The text of the last step, as it was told so far."""
        if self._step is None:
            return self._last_text
        said = [one["text"] for one in self._step.blocks if one["type"] == "text"]
        return "".join([*said, *self._step.said])

    def _complete(self, payload: Frame, batch: Batch) -> None:
        name = string(payload, "stop_reason")
        if name not in meerkat.STOP_REASONS:
            batch.add(Notice("debug", f"unknown stop reason {name[:80]!r}", "agent"))
        used = meerkat.usage(payload.get("usage"))
        if used:
            self._reported = added(self._reported, used)
            self.known = added(self.known, used)
            batch.add(UsageReported(used, self.known))
            batch.add(filled(used))
        self._opened(batch)
        self._stop = meerkat.STOP_REASONS.get(name, "endTurn")
        self._end_step(self._stop, None, batch)

    def _retry(self, payload: Frame, batch: Batch) -> None:
        retry = frame(payload.get("retry"))
        why = string(frame(retry.get("failure")), "message") or "the model failed"
        plan = frame(retry.get("plan"))
        attempt, most = integer(plan, "attempt"), integer(plan, "max_retries")
        message = f"{why}; " + (
            "trying again" if attempt is None else f"attempt {attempt} of {most}"
        )
        step = self._step
        if step is not None and (step.blocks or step.said or step.thought):
            message += ", so the text so far is dropped"
            step.blocks.clear()
            step.said.clear()
            step.thought.clear()
            batch.add(Notice("warning", message, "agent"))
            self._start_step(batch)
        else:
            batch.add(Notice("warning", message, "agent"))

    # -- small parts

    def _told(self, payload: Frame, batch: Batch) -> None:
        content = meerkat.blocks(frame(payload.get("input")).get("content"))
        if not content:
            content = meerkat.blocks(payload.get("prompt"))
        if content:
            batch.add(UserMessage({"role": "user", "content": content}))

    def _note_cause(self, source: Frame) -> None:
        if string(source, "terminal_cause_kind") in meerkat.TURN_LIMITS:
            self._limit_reached = True

    def _completed(self, payload: Frame, batch: Batch) -> None:
        content = meerkat.blocks(payload.get("content", payload.get("result")))
        is_error = payload.get("is_error") is True
        if not self._results_follow:
            self._result(payload, is_error, content, batch)
            return
        call = self._calls.get(string(payload, "id"))
        if call is not None and content:
            call.output = (is_error, content)

    def _results_in_hand(self, batch: Batch) -> None:
        """The model goes on, so what its calls said is all that will be said of them."""
        for call_id, call in self._calls.items():
            if not call.ended and call.output is not None:
                call.ended = True
                batch.add(ToolResult(call_id, *call.output))

    def _result(self, payload: Frame, is_error: bool, content: list[Block], batch: Batch) -> None:
        call_id = string(payload, "id")
        if call_id in self._hidden:
            return
        call = self._calls.get(call_id)
        if call is None or call.ended:
            batch.add(Notice("debug", "a result of a call that is not open", "agent"))
            return
        call.ended = True
        batch.add(ToolResult(call_id, is_error, content))
