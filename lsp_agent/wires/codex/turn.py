"""One turn on Codex's wire: from the answer to ``turn/start`` to ``turn/completed``.

Codex tells of items, not of model calls. A step ends with the usage of a model call, and the next
one begins with what comes after that.
"""

from dataclasses import dataclass

from lsp_agent.protocol.events import (
    AssistantMessage,
    ErrorReported,
    Notice,
    Plan,
    StepEnded,
    StepStarted,
    StopReason,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallStarted,
    ToolProgress,
    ToolResult,
    TurnEnded,
    TurnStarted,
    UsageReported,
    UserMessage,
    WindowFilled,
)
from lsp_agent.protocol.messages import Block, PlanEntry, Usage, text
from lsp_agent.toolset.loose_json import Frame, frame, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.codex import messages as codex
from lsp_agent.wires.open_calls import missing_result


@dataclass(slots=True)
class _Saying:
    """A text or a thought that is being told, by its item's id. ``parts`` are its deltas."""

    thinking: bool
    parts: list[str]


class Turn:
    """``id`` is Codex's. ``aborted`` is set by whoever asked for the abort."""

    def __init__(self, turn_id: str, prompt: str, *, aborted: bool) -> None:
        self.id = turn_id
        self.aborted = aborted
        #: Codex has begun it, so it can be interrupted.
        self.active = False
        #: Its model was told why its patches are declined.
        self.noted = False
        self._prompt = prompt
        self._step = 1
        #: The step's usage was told.
        self._counted = False
        self._has_calls = False
        self._saying: dict[str, _Saying] = {}
        self._blocks: list[Block] = []
        self._open: list[str] = []
        self._plan: tuple[PlanEntry, ...] = ()

    def begin(self, batch: Batch) -> None:
        batch.add(TurnStarted(self._prompt))
        batch.add(StepStarted(self._step))

    # -- what the model says

    def delta(self, item_id: str, delta: str, batch: Batch, *, thinking: bool) -> None:
        if not delta:
            return
        self._next_step(batch)
        saying = self._saying.setdefault(item_id, _Saying(thinking, []))
        saying.parts.append(delta)
        batch.add(ThinkingDelta(delta) if thinking else TextDelta(delta))

    def _said(self, item_id: str, whole: str, batch: Batch, *, thinking: bool) -> None:
        """A text is complete; what no delta has told of it is told now."""
        saying = self._saying.pop(item_id, None)
        if not whole:
            return
        if saying is None:
            self._next_step(batch)
            batch.add(ThinkingDelta(whole) if thinking else TextDelta(whole))
        self._blocks.append({"type": "thinking", "text": whole} if thinking else text(whole))

    # -- items

    def started(self, item: Frame, batch: Batch) -> None:
        call = codex.called(item)
        if call is None or call.id in self._open:
            return
        self._next_step(batch)
        self._say_message(batch)
        self._has_calls = True
        self._open.append(call.id)
        batch.add(ToolCallStarted(call.id, call.tool))
        batch.add(ToolCall(call.id, call.tool, call.kind, call.args, call.paths))

    def completed(self, item: Frame, batch: Batch) -> None:
        item_id = string(item, "id")
        match string(item, "type"):
            case "userMessage":
                if not codex.is_note(item):
                    self._next_step(batch)
                    self._say_message(batch)
                    batch.add(UserMessage({"role": "user", "content": codex.user_blocks(item)}))
            case "agentMessage":
                self._said(item_id, string(item, "text"), batch, thinking=False)
            case "reasoning":
                self._said(item_id, codex.reasoning(item), batch, thinking=True)
            case "contextCompaction":
                batch.add(Notice("info", "Codex has compacted the transcript.", "agent"))
            case _ if codex.called(item) is not None:
                self.started(item, batch)
                self._open.remove(item_id)
                is_error, content = codex.result(item)
                batch.add(ToolResult(item_id, is_error, content))
            case _:
                pass

    def progress(self, item_id: str, printed: str, batch: Batch) -> None:
        if item_id in self._open:
            batch.piece(ToolProgress, item_id, printed)

    def planned(self, params: Frame, batch: Batch) -> None:
        entries = codex.plan(params)
        if entries != self._plan:
            self._plan = entries
            self._next_step(batch)
            self._say_message(batch)
            batch.add(Plan(entries))

    def count(self, last: Usage, total: Usage, window: WindowFilled, batch: Batch) -> None:
        """The usage of a model call."""
        self._say_message(batch)
        self._counted = True
        batch.add(UsageReported(last, total))
        batch.add(window)

    # -- its end

    def end(self, ended: Frame, batch: Batch) -> None:
        """``turn/completed`` came with this turn."""
        status = string(ended, "status")
        if self.aborted or status == "interrupted":
            self._close("aborted", None, batch)
        elif status == "failed":
            reason, message = codex.failed(frame(ended.get("error")))
            if reason == "error":
                batch.add(ErrorReported(message))
            self._close(reason, message if reason == "error" else None, batch)
        else:
            self._close("endTurn", None, batch)

    def cut(self, reason: StopReason, message: str | None, batch: Batch) -> None:
        """Nothing more will come."""
        if self.aborted or reason == "aborted":
            reason, message = "aborted", None
        elif reason == "error" and message is not None:
            batch.add(ErrorReported(message))
        self._close(reason, message, batch)

    def _close(self, reason: StopReason, error: str | None, batch: Batch) -> None:
        self._say_message(batch)
        for call_id in self._open:
            batch.add(ToolResult(call_id, is_error=True, content=[missing_result(reason)]))
        self._open.clear()
        batch.add(StepEnded(reason, error))
        batch.add(TurnEnded(reason, error))

    # -- steps

    def _next_step(self, batch: Batch) -> None:
        """Before what the model says or does: it is a new step's once the last one was counted."""
        if not self._counted:
            return
        self._counted = False
        batch.add(StepEnded(None if self._has_calls else "endTurn"))
        self._has_calls = False
        self._step += 1
        batch.add(StepStarted(self._step))

    def _say_message(self, batch: Batch) -> None:
        """The message that was told so far; of a text that was cut, what there is of it."""
        for saying in self._saying.values():
            whole = "".join(saying.parts)
            self._blocks.append(
                {"type": "thinking", "text": whole} if saying.thinking else text(whole)
            )
        self._saying.clear()
        content = list(self._blocks)
        self._blocks.clear()
        if content:
            batch.add(AssistantMessage({"role": "assistant", "content": content}))
