"""Which changes are within the lines that a prompt is confined to."""

import pytest

from lsp_agent.sessions.shared.confinement import ConfinedLines, Confinement
from lsp_agent.text.lines import Text

LINES = "one\ntwo\nthree\nfour\nfive\n"


def confined(start: int = 1, end: int = 3) -> Confinement:
    """To lines 2 and 3."""
    return Confinement([ConfinedLines("/w/a.txt", "a.txt", Text.of(LINES), start, end)])


def refusal(held: Confinement, now: str, after: str, path: str = "/w/a.txt") -> str | None:
    return held.refusal(path, path.removeprefix("/w/"), Text.of(now), Text.of(after))


def test_a_change_of_these_lines_is_made_and_one_beyond_is_refused_with_its_line() -> None:
    held = confined()
    assert refusal(held, LINES, LINES.replace("two\nthree", "2\n2a\n3")) is None
    assert refusal(held, LINES, LINES.replace("two\n", "")) is None
    assert refusal(held, LINES, LINES.replace("three\n", "three\nmore\n")) is None
    why = refusal(held, LINES, LINES.replace("two", "2").replace("five", "5"))
    assert why is not None
    assert "lines 2-3 of a.txt" in why
    assert "line 5 of a.txt" in why


def test_they_move_as_the_person_types() -> None:
    held = confined()
    now = "typed\n" + LINES.replace("two", "two, typed")
    assert refusal(held, now, now.replace("three", "3")) is None
    why = refusal(held, now, now.replace("one", "1"))
    assert why is not None
    assert "lines 3-4" in why


def test_they_grow_with_what_the_agent_puts_in() -> None:
    held = confined()
    first = LINES.replace("three\n", "three\nnew\n")
    assert refusal(held, LINES, first) is None
    held.changed("/w/a.txt", Text.of(LINES), Text.of(first))
    assert refusal(held, first, first.replace("new", "newer")) is None
    assert refusal(held, first, first.replace("four", "4")) is not None


@pytest.mark.parametrize("after", ["new\n", ""])
def test_another_file_is_not_changed_nor_made(after: str) -> None:
    why = refusal(confined(), "", after, "/w/b.txt")
    assert why is not None
    assert "b.txt" in why
