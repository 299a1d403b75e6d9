"""What a turn reads like in a document: its events as Markdown that only grows. Pure.

Words are the agent's own; a line of them that would be one of our headings is moved in by a space.
Calls, questions and what became of them are a line each; a change has its place and its lines.
"""

import re
from typing import assert_never

from lsp_agent.protocol.edits import Edit
from lsp_agent.protocol.events import (
    AgentStatus,
    AssistantMessage,
    BackgroundCommand,
    Compacted,
    EditChanged,
    ErrorReported,
    Event,
    Notice,
    OptionChanged,
    Plan,
    QuestionAnswered,
    QuestionAsked,
    QueueChanged,
    Rewound,
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
from lsp_agent.protocol.plan import headline
from lsp_agent.protocol.questions import Question
from lsp_agent.server.chat.grammar import HEADINGS
from lsp_agent.server.client.titles import shortened
from lsp_agent.server.questions.whole_question import fits_menu
from lsp_agent.server.turns.turn_display import ENDINGS, tool_title
from lsp_agent.sessions.stored.excerpts import fenced
from lsp_agent.sessions.stored.recap import closed, code, printed
from lsp_agent.text.lines import split_lines
from lsp_agent.text.plain import escaped_line
from lsp_agent.text.surrogates import whole
from lsp_agent.workspace.disk.paths import uri_to_path

#: What an editor would break lines at, or not show; tabs and line feeds stay.
_CONTROL = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u2028\u2029]")
#: Of one turn, in characters. An editor would not show more, and no document keeps it.
LONGEST = 1 << 20
#: Lines of one change, and of all of a turn, that are shown.
MOST_CHANGED, MOST_CHANGED_IN_ALL = 60, 600
_LONGEST_LINE = 500
_TOO_LONG = "*(too long: lspAgent.lastAnswer shows all of it)*"
_ASKS = "> **The agent asks:** {}  \n> Answer it by a code action."


class Words:
    """``take`` a turn's events, in order; ``said`` is what they come to so far. Files in ``folder``
    are named from there."""

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self._changes: set[str] = set()
        self._change_lines = 0
        self.ended = False
        self._said: list[str] = []
        self._length = 0
        self._ends = ""  # the line ends before what is said next
        self._block = ""  # what the last words are: "prose", "call", "question", or none
        self._goes_on = False  # whether prose would be of the same message
        self._prose_at = 0  # where in ``_said`` the last of it began
        self._line = ""  # the beginning of a prose line that may be a heading yet
        self._inside = False  # whether that of one is said already
        self._is_full = False
        self._streamed = False
        self._calls: dict[str, tuple[str, bool]] = {}
        self._titles: dict[str, str] = {}
        self._last_call = ""
        self._questions: dict[str, Question] = {}

    @property
    def length(self) -> int:
        """Tells of more without making the text."""
        return self._length

    @property
    def said(self) -> str:
        return "".join(self._said)

    def take(self, event: Event) -> None:
        match event:
            case StepStarted():
                self._goes_on = self._streamed = False
            case TextDelta(text):
                self._streamed = True
                self._prose(text)
            case AssistantMessage(message):
                if not self._streamed:  # an agent that says it in one
                    self._goes_on = False
                    self._prose(plain_text(message["content"]))
                self._streamed = False
            case ToolCall() | ToolResult():
                self._call(event)
            case QuestionAsked() | QuestionAnswered():
                self._question(event)
            case Plan(entries) if entries:
                self._add("call", f"- {escaped_line(headline(entries))}")
            case EditChanged("editApplied", edit):
                self._change(edit)
            case EditChanged(name, edit) if name in _EDITS:
                file = escaped_line(named(edit.uri, self._folder))
                self._add("call", f"- {file}: {_EDITS[name]}")
            case TurnEnded():
                self._finish(event)
            case (
                TurnStarted()
                | UserMessage()
                | ThinkingDelta()
                | ToolCallStarted()
                | ToolArgsDelta()
                | ToolProgress()
                | Plan()
                | UsageReported()
                | WindowFilled()
                | StepEnded()
                | ErrorReported()
                | Notice()
                | Compacted()
                | Rewound()
                | BackgroundCommand()
                | QueueChanged()
                | EditChanged()
                | OptionChanged()
                | AgentStatus()
            ):
                pass
            case _:
                assert_never(event)

    def _prose(self, text: str) -> None:
        room = LONGEST - self._length
        if room <= 0:
            if not self._is_full:
                self._is_full = True
                self._add("", _TOO_LONG)
            return
        text = _CONTROL.sub("", whole(text[:room]))
        if self._block != "prose" or not self._goes_on:
            text = text.lstrip("\n")
            if not text:
                return
            self._begin("prose")
            self._goes_on, self._prose_at = True, len(self._said)
        for piece in split_lines(text):
            self._line += piece
            ends = piece.endswith("\n")
            if ends or self._inside or not _may_be_heading(self._line):
                self._say_line()
                self._inside = not ends

    def _say_line(self) -> None:
        moved = " " if not self._inside and self._line.rstrip() in HEADINGS else ""
        self._say(moved + self._line)
        self._line = ""

    def _close(self) -> None:
        """Ends what was being said: it may have been stopped in a block of code."""
        if self._line:
            self._say_line()
        self._inside = False
        if self._block == "prose":
            prose = "".join(self._said[self._prose_at :])
            self._say(closed(prose)[len(prose) :])
        self._ends = ""

    def _begin(self, block: str) -> None:
        joined = block == self._block == "call"
        self._close()
        if self._said:
            self._ends = "\n" if joined else "\n\n"
        self._block = block

    def _add(self, block: str, text: str) -> None:
        self._begin(block)
        self._say(text)

    def _say(self, text: str) -> None:
        """Line ends wait for what follows them."""
        if said := text.rstrip("\n"):
            self._said.append(self._ends + said)
            self._length += len(self._said[-1])
            self._ends = ""
        self._ends += text[len(said) :]

    def _call(self, event: ToolCall | ToolResult) -> None:
        if isinstance(event, ToolCall):
            title = tool_title(event)
            self._calls[event.tool_call_id] = title, event.kind == "command"
            self._titles[event.tool_call_id] = title
            self._last_call = event.tool_call_id
            self._add("call", f"- {code(title)}")
            return
        title, is_command = self._calls.pop(event.tool_call_id, ("", False))
        text = plain_text(event.content)
        lines = (text if event.is_error else printed(text)).strip().splitlines()
        if not title or not (event.is_error or (is_command and lines)):
            return
        last = code(shortened(lines[-1])) if lines and shortened(lines[-1]) else ""
        count = f"{len(lines)} {'line' if len(lines) == 1 else 'lines'}, the last: {last}"
        told = (f"failed: {last}" if last else "failed") if event.is_error else count
        self._add("call", f"  - {self._of(event.tool_call_id)}{told}")

    def _of(self, call_id: str | None) -> str:
        """Names the call, unless what is said of it stands under it."""
        title = self._titles.get(call_id or "")
        return "" if title is None or call_id == self._last_call else f"{code(title)}: "

    def _change(self, edit: Edit) -> None:
        """Where it is and what, once: it may be taken out and put in again."""
        if edit.edit_id in self._changes or not edit.hunks:
            return
        self._changes.add(edit.edit_id)
        file = named(edit.uri, self._folder)
        lines: list[str] = []
        of = self._of(edit.tool_call_id)
        for hunk in edit.hunks:
            self._add("call", f"  - {of}{escaped_line(file)}:{hunk.range.start.line + 1}")
            lines += [f"-{line}" for line in hunk.old_text.splitlines()]
            lines += [f"+{line}" for line in hunk.new_text.splitlines()]
        room = min(MOST_CHANGED, MOST_CHANGED_IN_ALL - self._change_lines)
        shown = [_CONTROL.sub("", whole(line[:_LONGEST_LINE])) for line in lines[: max(room, 0)]]
        if not shown:
            return
        self._change_lines += len(shown)
        if len(lines) > len(shown):
            shown.append(f"… {len(lines) - len(shown)} more lines")
        self._add("change", fenced("\n".join(shown), "diff"))

    def _question(self, event: QuestionAsked | QuestionAnswered) -> None:
        if isinstance(event, QuestionAsked):
            question = event.question
            self._questions[question.question_id] = question
            # As in a menu: one that is longer is shown whole before it can be allowed.
            title = question.title if fits_menu(question) else shortened(question.title)
            self._add("question", _ASKS.format(escaped_line(title)))
            return
        question = self._questions.pop(event.question_id, None)
        if question is not None:
            options = (each for each in question.options if each.option_id == event.option_id)
            answer = next((escaped_line(each.name) for each in options), "Not answered")
            self._add("question", f"> {answer}: {shortened(question.title)}")

    def _finish(self, event: TurnEnded) -> None:
        self._close()
        self.ended = True
        ending = escaped_line(event.error) if event.error else ENDINGS.get(event.stop_reason, "")
        if event.stop_reason != "endTurn" or event.error or not self._said:
            self._add("", f"*({ending or event.stop_reason})*")


def named(uri: str, folder: str) -> str:
    """The file of a URI, from ``folder`` on if it is in it."""
    path = uri_to_path(uri) or uri
    return path.removeprefix(folder.rstrip("/") + "/") if folder else path.rpartition("/")[2]


_EDITS = {
    "editProposed": "a change is proposed",
    "editConflict": "a change is not in",
    "editUnknown": "it is not known whether a change is in",
}


def _may_be_heading(line: str) -> bool:
    return any(heading.startswith(line) or line.rstrip() == heading for heading in HEADINGS)
