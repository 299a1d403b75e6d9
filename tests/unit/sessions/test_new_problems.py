"""Which problems of an edited document are new, and when they are told."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from lsp_agent.protocol.client_requests import Diagnostic
from lsp_agent.sessions.shared.diagnostics import NewProblems, new_problems
from lsp_agent.workspace.documents.documents import Documents

URI = "file:///p/a.py"
PATH = "/p/a.py"


def problem(message: str, line: int = 0, severity: int | None = 1, **more: str) -> Diagnostic:
    place = {"line": line, "character": 0}
    return Diagnostic.model_validate(
        {"range": {"start": place, "end": place}, "message": message, "severity": severity} | more
    )


def words(found: Sequence[Diagnostic]) -> list[str]:
    return [each.message for each in found]


class LanguageServers:
    """What they say is ``said``, after ``silent`` more requests ``later``."""

    def __init__(self, *said: Diagnostic) -> None:
        self.said = list(said)
        self.later = list(said)
        self.silent = 0
        self.asked = 0

    async def __call__(self, uris: Sequence[str]) -> Mapping[str, list[Diagnostic]]:
        self.asked += 1
        self.silent -= 1
        if self.silent < 0:
            self.said = self.later
        return {uri: list(self.said) for uri in uris}

    def will_say(self, *later: Diagnostic, after: int = 0) -> None:
        self.later, self.silent = list(later), after


class Turn:
    """One document, one agent's session."""

    def __init__(self, *said: Diagnostic) -> None:
        self.servers = LanguageServers(*said)
        documents = Documents("utf-16")
        documents.open(URI, 1, "text\n")
        self.problems = NewProblems(self.servers, documents)

    async def edit(self, *later: Diagnostic, after: int = 0, turn: str = "t") -> str:
        await self.problems.before_edit(PATH, turn)
        self.servers.will_say(*later, after=after)
        self.problems.edited(PATH)
        return await self.note()

    async def note(self) -> str:
        return await self.problems.note(lambda: True)


def test_what_was_there_before_is_not_new_wherever_it_is_now() -> None:
    assert new_problems([problem("odd", 3)], [problem("odd", 9)]) == []


def test_one_more_of_the_same_is_new() -> None:
    found = new_problems([problem("odd", 3)], [problem("odd", 3), problem("odd", 7)])
    assert [each.range.start.line for each in found] == [7]


def test_errors_come_before_warnings_and_hints_are_left_out() -> None:
    now = [problem("w", 0, 2), problem("e", 5, 1), problem("n", 6, None), problem("h", 1, 4)]
    assert words(new_problems([], now)) == ["e", "n", "w"]


def test_the_same_words_of_another_source_are_new() -> None:
    assert new_problems([problem("odd", source="a")], [problem("odd", source="b")]) != []


@pytest.mark.asyncio
async def test_a_new_problem_is_told_with_its_place_and_source() -> None:
    told = await Turn().edit(problem("no\n  pi", 4, source="Pyright", code="undefined"))
    assert told == (
        f"\n[Note from the editor]\nNew problems in {PATH}, say its language servers:\n"
        "error, line 5: no pi (Pyright undefined)\n"
    )


@pytest.mark.asyncio
async def test_a_language_server_that_takes_a_moment_is_waited_for() -> None:
    assert "odd" in await Turn().edit(problem("odd"), after=2)


@pytest.mark.asyncio
async def test_one_that_takes_long_is_told_with_the_next_result_and_once() -> None:
    turn = Turn()
    assert await turn.edit(problem("odd"), after=1000) == ""
    assert turn.servers.asked <= 7  # before the edit, and each 0.1 s of the half one
    turn.servers.silent = 0
    assert "odd" in await turn.note()
    assert await turn.note() == ""
    assert await turn.edit(problem("odd")) == ""


@pytest.mark.asyncio
async def test_without_an_edit_nobody_is_asked_again() -> None:
    turn = Turn()
    await turn.problems.before_edit(PATH, "t")
    asked = turn.servers.asked
    assert await turn.note() == ""
    assert turn.servers.asked == asked


@pytest.mark.asyncio
async def test_problems_that_a_person_made_between_turns_are_not_the_agents() -> None:
    turn = Turn()
    assert await turn.edit() == ""
    turn.servers.will_say(problem("typed by the person"))
    assert await turn.edit(problem("typed by the person"), turn="t2") == ""


@pytest.mark.asyncio
async def test_many_problems_are_cut() -> None:
    told = await Turn().edit(*(problem(f"p{n} " + "x" * 999, n) for n in range(40)))
    assert "and 35 more" in told
    assert len(told) < 2500


@pytest.mark.asyncio
async def test_a_document_that_is_not_open_and_a_client_without_answers_cost_nothing(
    tmp_path: Path,
) -> None:
    turn = Turn()
    await turn.problems.before_edit(str(tmp_path), "t")
    assert turn.servers.asked == 0
    silent = NewProblems(None, Documents("utf-16"))
    await silent.before_edit(PATH, "t")
    silent.edited(PATH)
    assert await silent.note(lambda: True) == ""


@pytest.mark.asyncio
async def test_a_stopped_turn_waits_for_nothing() -> None:
    turn = Turn()
    await turn.problems.before_edit(PATH, "t")
    turn.problems.edited(PATH)
    turn.servers.will_say(problem("odd"))
    assert await turn.problems.note(lambda: False) == ""
