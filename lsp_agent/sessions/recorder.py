"""Has the store keep of a session's events what shows it again."""

import time
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
from lsp_agent.protocol.messages import Message, ToolCallBlock, text
from lsp_agent.protocol.plan import plan_message
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.stored.store import Entry
from lsp_agent.sessions.stored.transcript import message_line, turn_line

#: Streamed text is kept at the latest when it is so long, in characters, or after a second.
_PIECE_LENGTH = 4000
_PIECE_SECONDS = 1.0


class Recorder:
    """Listens from now until ``close``."""

    def __init__(self, session: Session, entry: Entry) -> None:
        self.entry = entry
        self._session = session
        self._asked: str | None = None
        self._said: list[str] = []
        self._said_length = 0
        self._said_at = 0.0
        self._calls: set[str] = set()
        self._closed = False
        self._stop_listening = session.log.subscribe(self._take)

    def cleared(self) -> None:
        """The agent has forgotten the conversation."""
        self.entry.append({"cleared": True})
        self.keep_agent()

    def rewound(self) -> None:
        """The session goes on from an earlier prompt."""
        self.entry.change(title=self._session.title, updated=time.time())
        self.keep_agent()

    def keep_agent(self) -> None:
        """What the agent takes the session up by, and what it was set to by the person."""
        agent, about = self._session.agent, self.entry.about
        # Taken up by one in which nothing was said yet, the agent would be told nothing either.
        ref = None if agent.untold and self._session.runner.recap else agent.resume
        model = agent.chosen.model or self._session.choice.agent.model or None
        options = dict(agent.chosen.options) or None
        if (about.ref, about.model, about.options) != (ref, model, options):
            self.entry.change(ref=ref, model=model, options=options)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._stop_listening()
            self.entry.release()

    def _take(self, stamped: StampedEvent) -> None:
        now, event = stamped.time, stamped.event
        match event:
            case TurnStarted(prompt):
                self._begin_turn(prompt, now)
            case UserMessage(message):
                self._asked = None
                self._add(message, now)
            case TextDelta(piece):
                self._hear(piece, now)
            case AssistantMessage(message):
                self._said.clear()  # the message has it
                self._add(message, now)
            case ToolCall(call_id, tool, _, args) if call_id not in self._calls:
                block = ToolCallBlock(type="toolCall", toolCallId=call_id, tool=tool, args=args)
                self._add({"role": "assistant", "content": [block]}, now)
            case ToolResult(call_id, is_error, content):
                self._calls.discard(call_id)  # the next of that id is another
                self._add(
                    {
                        "role": "tool",
                        "content": [
                            {
                                "type": "toolResult",
                                "toolCallId": call_id,
                                "isError": is_error,
                                "content": content,
                            }
                        ],
                    },
                    now,
                )
            case Plan(entries):
                self._add(plan_message(entries), now)
            case Compacted(summary):
                self.entry.append({"compacted": summary})
            case TurnEnded():
                self._keep_asked(now)
                self._keep_said()
                self.entry.change(updated=now)
            case AgentStatus("ready") | OptionChanged():
                self.keep_agent()
            case (
                StepStarted()
                | BackgroundCommand()
                | ThinkingDelta()
                | ToolCallStarted()
                | ToolArgsDelta()
                | ToolCall()
                | ToolProgress()
                | UsageReported()
                | WindowFilled()
                | StepEnded()
                | ErrorReported()
                | Notice()
                | Rewound()
                | QueueChanged()
                | QuestionAsked()
                | QuestionAnswered()
                | EditChanged()
                | AgentStatus()
            ):
                pass
            case _:
                assert_never(event)

    def _begin_turn(self, prompt: str, now: float) -> None:
        self._asked = prompt
        self._calls.clear()
        if (turn := self._session.turn) is not None:
            self.entry.append(turn_line(turn.id, turn.words, now))
        self.entry.change(title=self._session.title, updated=now)
        self.keep_agent()

    def _add(self, message: Message, now: float) -> None:
        self._keep_asked(now)
        self._keep_said()
        for block in message["content"]:
            if block["type"] == "toolCall":
                self._calls.add(block["toolCallId"])
        self.entry.append(message_line(message, now))

    def _hear(self, piece: str, now: float) -> None:
        if not self._said:
            self._said_at, self._said_length = now, 0
        self._said.append(piece)
        self._said_length += len(piece)
        if self._said_length > _PIECE_LENGTH or now - self._said_at > _PIECE_SECONDS:
            self._keep_asked(now)
            self._keep_said()

    def _keep_asked(self, now: float) -> None:
        """For an agent that does not say what it was asked."""
        if self._asked is not None:
            asked, self._asked = self._asked, None
            self.entry.append(message_line({"role": "user", "content": [text(asked)]}, now))

    def _keep_said(self) -> None:
        if self._said:
            self.entry.append({"delta": "".join(self._said)})
            self._said.clear()
