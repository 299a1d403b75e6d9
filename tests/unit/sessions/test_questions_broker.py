"""The one broker of questions: whoever answers first is heard, and no answer is never consent."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import QuestionAnswered, QuestionAsked
from lsp_agent.protocol.questions import CANNOT_ASK, Answer, NotAsked, Option, OptionKind, Question
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.questions.ask_person import PersonAsker
from lsp_agent.server.questions.meant import Shown
from lsp_agent.sessions.shared.questions import Questions

pytestmark = pytest.mark.asyncio

YES = Option(option_id="yes", name="Allow", kind="allowOnce")
NO = Option(option_id="no", name="Deny", kind="deny")


class Person:
    """An asker that answers when it is told to."""

    def __init__(self) -> None:
        self.shown: list[Question] = []
        self.withdrawn: list[str] = []
        self._answers: dict[str, str | NotAsked | None] = {}
        self._said = anyio.Event()

    async def __call__(self, question: Question) -> Answer | NotAsked | None:
        self.shown.append(question)
        try:
            while question.question_id not in self._answers:
                await self._said.wait()
        except BaseException:
            self.withdrawn.append(question.question_id)
            raise
        said = self._answers[question.question_id]
        return Answer(said) if isinstance(said, str) else said

    def say(self, answer: str | NotAsked | None, number: int = 0) -> None:
        self._answers[self.shown[number].question_id] = answer
        self._said.set()
        self._said = anyio.Event()


class Desk:
    """The broker with its person; ``answers`` are what the askers got, by their title."""

    def __init__(self, tasks: Any, person: Any) -> None:
        self.tasks = tasks
        self.person = person
        self.broker = Questions(tasks, person)
        self.answers: dict[str, str | None] = {}
        self.events: list[object] = []

    async def ask(self, title: str = "Run?", **more: Any) -> None:
        """Asks in a task of its own."""
        self.tasks.start_soon(self._ask, title, more)
        await settle()

    async def _ask(self, title: str, more: dict[str, Any]) -> None:
        asked = {"session_id": "s", "turn_id": "t", "kind": "permission", "options": [YES, NO]}
        answer = await self.broker.ask(
            lambda event, _turn: self.events.append(event), title=title, **{**asked, **more}
        )
        self.answers[title] = answer and answer.option_id

    def answered(self) -> list[str | None]:
        return [event.option_id for event in self.events if isinstance(event, QuestionAnswered)]


async def settle() -> None:
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def desk(person: Any = None) -> AsyncGenerator[Desk, None]:
    async with anyio.create_task_group() as tasks:
        yield Desk(tasks, person or Person())
        tasks.cancel_scope.cancel()


async def test_a_question_is_open_until_its_answer() -> None:
    async with desk() as at:
        await at.ask()
        (question,) = at.broker.open("s")
        assert at.answers == {}
        at.person.say("yes")
        await settle()
        assert at.answers == {"Run?": "yes"}
        assert at.broker.open() == []
        assert at.events == [QuestionAsked(question), QuestionAnswered(question.question_id, "yes")]


@pytest.mark.parametrize("answer", [None, "", "Yes", "allowSession", "yes ", "\0"])
async def test_what_is_no_option_is_no_consent(answer: str | None) -> None:
    async with desk() as at:
        await at.ask()
        at.person.say(answer)
        await settle()
        assert at.answers == {"Run?": None}


async def test_who_cannot_be_asked_leaves_the_question_open_for_the_command() -> None:
    async with desk() as at:
        await at.ask()
        at.person.say(CANNOT_ASK)
        await settle()
        assert len(at.broker.open()) == 1
        assert at.broker.answer(None, Answer("yes")) is True
        await settle()
        assert at.answers == {"Run?": "yes"}


async def test_the_first_answer_counts_and_the_dialog_is_withdrawn() -> None:
    async with desk() as at:
        await at.ask()
        (question,) = at.broker.open()
        assert at.broker.answer(question.question_id, Answer("no")) is True
        assert at.broker.answer(question.question_id, Answer("yes")) is False
        at.person.say("yes")
        await settle()
        assert at.answers == {"Run?": "no"}
        assert at.person.withdrawn == [question.question_id]
        assert at.answered() == ["no"]


async def test_two_questions_are_open_at_once_and_answered_in_any_order() -> None:
    async with desk() as at:
        await at.ask("First?")
        await at.ask("Second?")
        at.person.say("yes", 1)
        await settle()
        assert at.answers == {"Second?": "yes"}
        at.person.say("no", 0)
        await settle()
        assert at.answers == {"Second?": "yes", "First?": "no"}


async def test_with_several_open_an_answer_without_a_name_is_refused() -> None:
    async with desk() as at:
        await at.ask("First?")
        await at.ask("Second?")
        with pytest.raises(RequestFailed) as caught:
            at.broker.answer(None, Answer("yes"))
        assert caught.value.kind == "conflict"
        await settle()
        assert at.answers == {}


async def test_what_is_asked_twice_is_two_questions() -> None:
    async with desk() as at:
        await at.ask("Run?")
        await at.ask("Run?")
        at.person.say("yes", 0)
        await settle()
        assert len(at.broker.open()) == 1


async def test_the_end_of_a_turn_dismisses_its_questions_and_no_others() -> None:
    async with desk() as at:
        await at.ask("Mine?")
        await at.ask("Next turn's?", turn_id="t2")
        await at.ask("Another session's?", session_id="s2")
        at.broker.close_turn("s", "t")
        await settle()
        assert at.answers == {"Mine?": None}
        assert [question.title for question in at.broker.open()] == [
            "Next turn's?",
            "Another session's?",
        ]


async def test_who_gives_up_asking_withdraws_the_question() -> None:
    async with desk() as at:
        with anyio.move_on_after(0.01):
            await at.broker.ask(
                lambda event, _turn: at.events.append(event),
                session_id="s",
                turn_id="t",
                kind="permission",
                title="Run?",
                options=[YES],
            )
        await settle()
        assert at.broker.open() == []
        assert at.answered() == [None]
        assert len(at.person.withdrawn) == 1


# An agent's own questions


AGENTS: list[tuple[str, str, OptionKind]] = [
    ("proceed_always", "Always Allow Shell: git\x1b[2K", "allowSession"),
    ("proceed_once", "Yes", "allowOnce"),
    ("deny", "Yes", "other"),
    ("allow", "", "other"),
    ("cancel", "No (esc)\u202e", "deny"),
]


async def test_an_agents_own_options_are_taken_as_they_are_and_named_plainly() -> None:
    options = [Option(option_id=i, name=n, kind=k) for i, n, k in AGENTS]
    async with desk() as at:
        await at.ask("Shell: git push?\n\x1b[1A", kind="agent", options=options)
        (question,) = at.person.shown
        assert question.kind == "agent"
        assert question.title == "Shell: git push?\\n\\x1b[1A"
        assert [(o.option_id, o.kind) for o in question.options] == [(i, k) for i, _, k in AGENTS]
        assert question.options[0].name == "Always Allow Shell: git\\x1b[2K"
        assert question.options[4].name == "No (esc)\\u202e"
        at.person.say("proceed_always")
        await settle()
        assert list(at.answers.values()) == ["proceed_always"]


class Client:
    """A client that presses the button with the title it is told."""

    def __init__(self, press: str) -> None:
        self.press = press
        self.titles: list[str] = []

    async def ask(self, method: str, params: Any, timeout: float | None) -> Any:
        assert (method, timeout) == ("window/showMessageRequest", None)
        self.titles = [action["title"] for action in params["actions"]]
        await anyio.sleep(0.35)  # they read it
        return {"title": self.press}

    def notify(self, method: str, params: object = None) -> None:
        raise AssertionError(method)


@pytest.mark.parametrize(
    ("press", "answer"),
    [("Yes", "proceed_once"), ("Yes (4)", "deny"), ("allow", "allow"), ("yes", None), ("", None)],
)
async def test_buttons_of_one_name_are_told_apart(press: str, answer: str | None) -> None:
    options = [Option(option_id=i, name=n, kind=k) for i, n, k in AGENTS]
    client = Client(press)
    whole: Any = None  # a message shows all of it
    asker: Callable[[Question], Awaitable[Any]] = PersonAsker(
        client, ClientInfo(show_message_request=True), whole, Shown()
    )
    async with desk(asker) as at:
        await at.ask(kind="agent", options=options)
        await anyio.sleep(0.5)
        assert len(set(client.titles)) == len(AGENTS) + 1  # the one that answers nothing
        assert client.titles[2:5] == ["Yes", "Yes (4)", "allow"]
        assert at.answers == {"Run?": answer}
