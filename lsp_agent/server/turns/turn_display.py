"""What a client without any extension sees of a turn: progress, notices, errors."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never

from lsp_agent.protocol.events import (
    AgentStatus,
    AssistantMessage,
    BackgroundCommand,
    Compacted,
    EditChanged,
    ErrorReported,
    Event,
    Level,
    Notice,
    OptionChanged,
    Plan,
    QuestionAnswered,
    QuestionAsked,
    QueueChanged,
    Rewound,
    StampedEvent,
    StepEnded,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolArgsDelta,
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
from lsp_agent.protocol.messages import plain_text
from lsp_agent.protocol.plan import checklist, headline
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.turns import progress as shown
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.text.plain import escaped_line, escaped_lines

_MESSAGE_TYPES: dict[Level, int] = {"error": 1, "warning": 2, "info": 3, "debug": 4}
_TITLE_LENGTH = 60


@dataclass(slots=True)
class _Display:
    """``said`` is the text of the last step, ``plan`` how far the plan is; "" without one."""

    progress: shown.Progress
    plan: str = ""
    said: str = ""
    tools: dict[str, shown.ToolProgress] = field(default_factory=dict[str, shown.ToolProgress])


class TurnDisplays:
    """Subscribes to each session's log; ``begin`` is called with each accepted prompt."""

    def __init__(
        self,
        connection: Connection,
        board: shown.ProgressBoard,
        abort: Callable[[Session, Turn], None],
    ) -> None:
        self._connection = connection
        self._board = board
        self._abort = abort
        self._displays: dict[str, _Display] = {}

    def begin(self, session: Session, turn: Turn, prompt: str, token: str | int | None) -> None:
        title = f"agent: {one_line(prompt)}"
        progress = self._board.turn(title, lambda: self._abort(session, turn), token)
        self._displays[turn.id] = _Display(progress)
        if turn.id in session.queued and session.turn is not None:
            progress.report("waits for the running turn")

    def take(self, stamped: StampedEvent) -> None:
        """A session's subscriber."""
        event = stamped.event
        if isinstance(event, Notice):
            self.notice(event)
        elif isinstance(event, BackgroundCommand):
            self.notice(Notice("info", _of_background(event), "agent"))
        elif isinstance(event, ErrorReported):
            message = escaped_lines(event.message)
            self._connection.notify("window/showMessage", {"type": 1, "message": message})
        elif stamped.turn_id is not None and stamped.turn_id in self._displays:
            self._show(stamped.turn_id, self._displays[stamped.turn_id], event)

    def _show(self, turn_id: str, display: _Display, event: Event) -> None:
        match event:
            case StepStarted(step):
                display.progress.report(display.plan or f"step {step}")
            case Plan(()):
                display.plan = ""
            case Plan(entries):
                display.plan = one_line(headline(entries))
                display.progress.report(display.plan)
                self.notice(Notice("info", f"Plan:\n{checklist(entries)}", "agent"))
            case ToolCall() | ToolProgress() | ToolResult():
                self._show_tool(display, event)
            case QuestionAsked(question):
                asking = display.tools.get(question.tool_call_id or "", display.progress)
                asking.report(_ASKING)
            case AssistantMessage(message):
                display.said = plain_text(message["content"])
            case TurnEnded():
                del self._displays[turn_id]
                _end(display, event)
            case (
                TurnStarted()
                | UserMessage()
                | TextDelta()
                | ThinkingDelta()
                | ToolCallStarted()
                | ToolArgsDelta()
                | UsageReported()
                | WindowFilled()
                | StepEnded()
                | ErrorReported()
                | Notice()
                | Compacted()
                | Rewound()
                | QueueChanged()
                | QuestionAnswered()
                | EditChanged()
                | OptionChanged()
                | BackgroundCommand()
                | AgentStatus()
            ):
                pass
            case _:
                assert_never(event)

    def _show_tool(self, display: _Display, event: ToolCall | ToolProgress | ToolResult) -> None:
        match event:
            case ToolCall(tool_call_id):
                title = tool_title(event)
                display.progress.report(title)
                display.tools[tool_call_id] = self._board.tool(title)
            case ToolProgress(tool_call_id, text):
                if tool_progress := display.tools.get(tool_call_id):
                    tool_progress.output(text)
            case ToolResult(tool_call_id, is_error):
                if tool_progress := display.tools.pop(tool_call_id, None):
                    tool_progress.end("failed" if is_error else "done")

    def show_text(self, text: str) -> None:
        """What the person has asked for pops up."""
        message = escaped_lines(text)
        self._connection.notify("window/showMessage", {"type": 3, "message": message})

    def notice(self, notice: Notice) -> None:
        """What a person should see now pops up; the rest goes to the client's log."""
        popup = notice.level in ("warning", "error")
        self._connection.notify(
            "window/showMessage" if popup else "window/logMessage",
            {"type": _MESSAGE_TYPES[notice.level], "message": escaped_lines(notice.message)},
        )


_ASKING = "waits for your answer"
ENDINGS = {
    "endTurn": "done",
    "maxTokens": "stopped at the model's limit of tokens",
    "maxSteps": "stopped at the limit of steps",
    "refusal": "the model refused",
    "aborted": "stopped",
}


def _end(display: _Display, ended: TurnEnded) -> None:
    for tool_progress in display.tools.values():
        tool_progress.end("stopped")
    ending = ENDINGS.get(ended.stop_reason, ended.stop_reason)
    if ended.stop_reason == "endTurn" and display.said.strip():
        ending = one_line(display.said)
    display.progress.end(escaped_lines(ended.error) if ended.error else ending)


def _of_background(told: BackgroundCommand) -> str:
    state = told.state
    if told.exit_code is not None:
        state += f", exit {told.exit_code}"
    return f"Background command {told.id} ({state}): {one_line(told.command)}"


def tool_title(call: ToolCall) -> str:
    match call.args:
        case {"command": str(command)} if call.kind == "command":
            subject = command
        case _:
            subject = "".join(call.paths[:1])
    tool = one_line(call.tool)
    return f"{tool}: {one_line(subject)}" if subject else tool


def one_line(text: str) -> str:
    first, _, rest = text.strip().partition("\n")
    shown = escaped_line(first[: _TITLE_LENGTH + 1])
    return shown[:_TITLE_LENGTH] + ("…" if rest or len(shown) > _TITLE_LENGTH else "")
