"""What the agent said can be read in editors that show no chat."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

import pytest
from support.project import EVENTS, Project, call, step
from support.raw_client import Json, wait_until
from test_code_actions import actions, run, titles

from lsp_agent.protocol.events import AssistantMessage, Event, StampedEvent, TurnEnded, TurnStarted
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.turns.last_answers import LastAnswers

LONG = "It is a list.\n\nOf three:\n- one\n- two\n- three"
SHOW: Json = {"window": {"showDocument": {"support": True}}}
PROGRESS: Json = {"window": {"workDoneProgress": True}}
TITLE = "Show the agent's answer: Explain it."


def test_a_long_answer_is_told_of_and_shown_once_by_code_action(project: Project) -> None:
    path = project.file("a.txt", "text\n")
    editor = project.editor(step(LONG), capabilities=SHOW)
    editor.handlers["window/showDocument"] = lambda _params: {"success": True}
    document = editor.open(path)
    editor.ask_agent("Explain it.")
    told = [each["message"] for each in editor.received("window/showMessage")]
    assert told == ["The agent has answered; a code action shows it."]
    (action,) = actions(editor, document)
    assert action["title"] == TITLE
    run(editor, action)
    assert wait_until(lambda: editor.received("window/showDocument"))
    (shown,) = editor.received("window/showDocument")
    file = Path(unquote(urlparse(str(shown["uri"])).path))
    assert file.read_text() == f"# Explain it.\n\n{LONG}\n"
    assert file.name == "answer.md"
    assert actions(editor, document) == []


@pytest.mark.parametrize(
    ("capabilities", "name", "told"),
    [
        ({"window": {}}, "another", ["Done."]),
        (PROGRESS, "another", []),
        (PROGRESS, "kakoune-lsp", ["Done."]),
    ],
)
def test_a_short_one_is_a_message_where_no_progress_shows_it(
    project: Project, capabilities: Json, name: str, told: list[str]
) -> None:
    editor = project.editor(step("Done."), capabilities=capabilities, clientInfo={"name": name})
    editor.handlers["window/workDoneProgress/create"] = lambda _params: None
    editor.ask_agent("Do it.")
    assert [each["message"] for each in editor.received("window/showMessage")] == told


def test_it_is_offered_until_the_next_turn(project: Project) -> None:
    path = project.file("a.txt", "text\n")
    editor = project.editor(step(LONG), step("Done."))
    document = editor.open(path)
    editor.ask_agent("Explain it.")
    assert titles(actions(editor, document)) == [TITLE]
    editor.ask_agent("Go on.")
    assert actions(editor, document) == []


def test_the_texts_of_all_steps_are_the_answer(project: Project) -> None:
    project.file("a.txt", "text\n")
    editor = project.editor(
        step("I look.", call("read", path="a.txt")), step("It says text."), client=EVENTS
    )
    result = editor.ask_agent("Explain it.")
    answer = editor.call("agent/lastAnswer")
    assert answer["text"] == "I look.\n\nIt says text."
    assert answer["turnId"] == result["turnId"]
    assert editor.command("lastAnswer") == answer
    assert editor.received("window/showMessage") == []


@pytest.mark.parametrize("said", ["Done.", ""])
def test_a_short_answer_is_the_end_of_the_progress_and_nothing_more(
    project: Project, said: str
) -> None:
    path = project.file("a.txt", "text\n")
    editor = project.editor(step(said))
    document = editor.open(path)
    editor.ask_agent("Explain it.")
    assert actions(editor, document) == []
    assert editor.received("window/showMessage") == []


def test_where_nothing_was_said_it_says_so(project: Project) -> None:
    editor = project.editor(step("Done."))
    assert editor.failure("agent/lastAnswer").data["kind"] == "unknownTurn"


def test_an_answer_is_of_its_own_turn_only() -> None:
    told: list[str] = []

    class Told:
        def notify(self, method: str, _params: object) -> None:
            told.append(method)

    connection: Any = Told()
    answers = LastAnswers(connection, ClientInfo())

    def take(turn: str, event: Event) -> None:
        answers.take(StampedEvent("s", turn, 1, 0.0, event))

    def say(turn: str, text: str) -> None:
        content: Any = [{"type": "text", "text": text}]
        take(turn, AssistantMessage({"role": "assistant", "content": content}))

    take("one", TurnStarted("Explain it."))
    say("one", LONG)
    take("waits", TurnEnded("aborted"))
    say("waits", "of another")
    assert (told, answers.unseen()) == ([], [])
    take("one", TurnEnded("endTurn"))
    (answer,) = answers.unseen()
    assert (answer.turn_id, answer.text) == ("one", LONG)
    assert told == ["window/showMessage"]
