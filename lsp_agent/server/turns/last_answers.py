"""What the agent said last in each session, for editors that show no chat.

A short answer is the end of the turn's progress, or a message where none is shown. A longer one can
be shown as a file, and the person is told so.
"""

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
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.client.titles import shortened
from lsp_agent.server.rpc.connection import Connection

_INFO = 3
_TOLD = "The agent has answered; a code action shows it."
#: An error of one short line is what Neovim waits for no key at.
_ERROR = 1
_TOLD_SHORT = "Read the answer by code action"
_MOST_SESSIONS = 50


@dataclass(slots=True)
class Answer:
    """The texts of a turn's steps, in order. ``unseen``: it is long, ended, and was not shown."""

    session_id: str
    turn_id: str
    prompt: str
    texts: list[str] = field(default_factory=list[str])
    unseen: bool = False

    @property
    def text(self) -> str:
        return "\n\n".join(self.texts)


class LastAnswers:
    """``take`` is called with every session's events; ``is_read`` says of a session whether its
    answers can be read elsewhere."""

    def __init__(
        self,
        connection: Connection,
        client: ClientInfo,
        is_read: Callable[[str], bool] = lambda _session_id: False,
    ) -> None:
        self._connection = connection
        self._shows_chat = client.events
        self._shows_progress = client.work_done_progress and not client.quirks.hides_progress
        self._waits_for_a_key = client.quirks.waits_for_a_key
        self._is_read = is_read
        self._answers: dict[str, Answer] = {}

    def take(self, stamped: StampedEvent) -> None:
        event = stamped.event
        match event:
            case TurnStarted(prompt) if stamped.turn_id is not None:
                self._begin(Answer(stamped.session_id, stamped.turn_id, prompt.strip()))
            case AssistantMessage(message):
                text = plain_text(message["content"]).strip()
                if text and (answer := self._of_turn(stamped)):
                    answer.texts.append(text)
            case TurnEnded():
                self._end(self._of_turn(stamped))
            case Rewound():
                self._answers.pop(stamped.session_id, None)
            case (
                TurnStarted()
                | StepStarted()
                | UserMessage()
                | TextDelta()
                | ThinkingDelta()
                | ToolCallStarted()
                | ToolArgsDelta()
                | ToolCall()
                | ToolProgress()
                | ToolResult()
                | Plan()
                | UsageReported()
                | WindowFilled()
                | StepEnded()
                | ErrorReported()
                | Notice()
                | Compacted()
                | QueueChanged()
                | QuestionAsked()
                | QuestionAnswered()
                | EditChanged()
                | OptionChanged()
                | BackgroundCommand()
                | AgentStatus()
            ):
                pass
            case _:
                assert_never(event)

    def get(self, session_id: str | None) -> Answer | None:
        """That session's, or the latest of all; None where nothing was said."""
        answers = [one for one in self._answers.values() if one.texts]
        return next(
            (one for one in reversed(answers) if session_id in (None, one.session_id)), None
        )

    def unseen(self) -> list[Answer]:
        return [answer for answer in self._answers.values() if answer.unseen]

    def _of_turn(self, stamped: StampedEvent) -> Answer | None:
        """Not that of another turn: one that waits can be dropped while another one runs."""
        answer = self._answers.get(stamped.session_id)
        return answer if answer is not None and answer.turn_id == stamped.turn_id else None

    def _begin(self, answer: Answer) -> None:
        self._answers.pop(answer.session_id, None)  # the latest comes last
        self._answers[answer.session_id] = answer
        if len(self._answers) > _MOST_SESSIONS:
            del self._answers[next(iter(self._answers))]

    def _end(self, answer: Answer | None) -> None:
        if self._shows_chat or answer is None or not answer.texts:
            return
        if self._is_read(answer.session_id):
            return
        last = answer.texts[-1]
        if shortened(last) != last:
            answer.unseen = True
            kind, message = _INFO, _TOLD
            if self._waits_for_a_key:
                kind, message = _ERROR, _TOLD_SHORT
            self._connection.notify("window/showMessage", {"type": kind, "message": message})
        elif not self._shows_progress:  # which ends with it
            self._connection.notify("window/showMessage", {"type": _INFO, "message": last})
