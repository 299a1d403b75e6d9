"""The one broker of questions to the person.

A question is open until it is answered, dismissed, or its turn ends. No answer is never
consent: whoever asked gets None.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import anyio
from anyio.abc import TaskGroup

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Event, QuestionAnswered, QuestionAsked
from lsp_agent.protocol.questions import (
    CANNOT_ASK,
    Answer,
    Asker,
    NotAsked,
    Option,
    Question,
    QuestionKind,
)
from lsp_agent.text.plain import escaped_line, escaped_lines


class Emitter(Protocol):
    """Puts an event into a session's log."""

    def __call__(self, event: Event, turn_id: str | None) -> object: ...


@dataclass(slots=True)
class _Open:
    question: Question
    emit: Emitter
    scope: anyio.CancelScope
    answered: anyio.Event
    answer: Answer | None = None


class Questions:
    """The open questions of all sessions; ``ask`` puts one to the person."""

    def __init__(self, tasks: TaskGroup, ask: Asker) -> None:
        self._tasks = tasks
        self._ask = ask
        self._open: dict[str, _Open] = {}

    async def ask(
        self,
        emit: Emitter,
        *,
        session_id: str,
        turn_id: str | None,
        kind: QuestionKind,
        title: str,
        options: Sequence[Option],
        detail: str | None = None,
        tool_call_id: str | None = None,
    ) -> Answer | None:
        """What was chosen, or None. Cancelling this closes the question.

        What the person is shown may be an agent's own words: whatever would not be seen in them
        is written out.
        """
        question = Question(
            question_id=f"q-{uuid.uuid4().hex[:8]}",
            session_id=session_id,
            turn_id=turn_id,
            tool_call_id=tool_call_id,
            kind=kind,
            title=escaped_line(title),
            detail=None if detail is None else escaped_lines(detail),
            options=[o.model_copy(update={"name": escaped_line(o.name)}) for o in options],
        )
        entry = _Open(question, emit, anyio.CancelScope(), anyio.Event())
        self._open[question.question_id] = entry
        emit(QuestionAsked(question), turn_id)
        self._tasks.start_soon(self._reach, entry)
        try:
            await entry.answered.wait()
        finally:
            self._close(entry)
        return entry.answer

    def answer(self, question_id: str | None, answer: Answer | None) -> bool:
        """Answers an open question; without an id, the only one. None dismisses it.

        :raises RequestFailed: "conflict" where the id or option does not fit
        """
        entry = self._find(question_id)
        if entry is None:
            return False
        known = _ids(entry.question)
        if answer is not None and answer.option_id not in known:
            has = escaped_line(", ".join(known))
            raise RequestFailed(
                "conflict", f"The question has no option {answer.option_id!r}; it has {has}."
            )
        self._settle(entry, answer)
        return True

    def open(self, session_id: str | None = None) -> list[Question]:
        return [
            entry.question
            for entry in self._open.values()
            if session_id in (None, entry.question.session_id)
        ]

    def close_turn(self, session_id: str, turn_id: str) -> None:
        """Dismisses what a turn that ends has asked."""
        for entry in list(self._open.values()):
            if (entry.question.session_id, entry.question.turn_id) == (session_id, turn_id):
                self._settle(entry, None)

    async def _reach(self, entry: _Open) -> None:
        answer: Answer | NotAsked | None = CANNOT_ASK
        with entry.scope:
            answer = await self._ask(entry.question)
        if isinstance(answer, NotAsked):
            return
        known = answer is not None and answer.option_id in _ids(entry.question)
        self._settle(entry, answer if known else None)

    def _settle(self, entry: _Open, answer: Answer | None) -> None:
        if not entry.answered.is_set():
            entry.answer = answer
            entry.answered.set()
            self._close(entry)

    def _close(self, entry: _Open) -> None:
        if self._open.pop(entry.question.question_id, None) is None:
            return
        entry.scope.cancel()
        question = entry.question
        chosen = entry.answer.option_id if entry.answer else None
        entry.emit(QuestionAnswered(question.question_id, chosen), question.turn_id)

    def _find(self, question_id: str | None) -> _Open | None:
        if question_id is not None:
            return self._open.get(question_id)
        if len(self._open) > 1:
            raise RequestFailed(
                "conflict",
                "Several questions are open; name one by questionId.",
                {"questionIds": list(self._open)},
            )
        return next(iter(self._open.values()), None)


def _ids(question: Question) -> list[str]:
    return [option.option_id for option in question.options]
