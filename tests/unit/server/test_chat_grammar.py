"""A conversation's text: nothing of the person's goes, no words of the agent's make a prompt."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.protocol.edits import Edit, Hunk, Position, Range
from lsp_agent.protocol.events import (
    EditChanged,
    StepStarted,
    TextDelta,
    ToolCall,
    ToolResult,
    TurnEnded,
)
from lsp_agent.server.chat.grammar import (
    HEADINGS,
    Part,
    earlier,
    prompt_of,
    sections,
    without_stale,
    written,
)
from lsp_agent.server.chat.words import LONGEST, MOST_CHANGED_IN_ALL, Words
from lsp_agent.toolset.commands import CommandOutput, bash_result

TURN = Part("t-0123456789ab", "Fix it.")
LINES = [
    "## You",
    "## Agent",
    "## You ",
    "# Title",
    "",
    "```",
    "Fix it.",
    "words",
    "  ## You",
    "x\r",
]
TEXTS = st.lists(st.sampled_from(LINES)).map("\n".join)
#: Places in a text, as a share of its length.
PLACES = st.floats(0, 1)


def said(*deltas: str) -> str:
    words = Words()
    for event in (StepStarted(1), *map(TextDelta, deltas), TurnEnded("endTurn")):
        words.take(event)
    return words.said


def holds_in_order(text: str, marks: list[str]) -> bool:
    at = -1
    return all((at := text.find(mark, at + 1)) >= 0 for mark in marks)


def solid(text: str) -> str:
    return "".join(text.split())


def is_within(part: str, whole: str) -> bool:
    """As a subsequence."""
    rest = iter(whole)
    return all(char in rest for char in part)


@given(TEXTS, st.lists(st.tuples(PLACES, st.booleans()), max_size=8), st.booleans())
def test_whatever_stands_there_and_is_typed_meanwhile_stays(
    text: str, keys: list[tuple[float, bool]], here: bool
) -> None:
    part, marks = replace(TURN, here=here), list[str]()
    document = written(text, part)
    assert is_within(solid(text), solid(document))
    for number, (place, more) in enumerate(keys):
        at = round(place * len(document))
        mark = chr(0x2460 + number)
        document = document[:at] + mark + document[at:]
        marks.append(mark)
        if more:
            part = replace(part, said=f"{part.said} said{number}")
            before = document
            document = written(document, part)
            assert is_within(solid(before), solid(document))
            part = replace(part, told=len(part.said))
    document = written(document, replace(part, said=f"{part.said} end", ended=True))
    assert all(document.count(mark) == 1 for mark in marks)
    assert is_within(solid(text), solid(document))
    assert document.count(" end") == 1
    assert sections(document)[-1].speaker == "you"


@given(TEXTS, st.lists(st.text("ab \n", min_size=1), min_size=1, max_size=6))
def test_an_answer_is_whole_and_in_one_piece(text: str, pieces: list[str]) -> None:
    part = replace(TURN, here=False)
    document = written(text, part)
    for piece in pieces:
        more = replace(part, said=part.said + piece.strip() + ".")
        document = written(document, more)
        part = replace(more, told=len(more.said))
    document = written(document, replace(part, ended=True))
    assert f"## Agent\n\n{part.said}\n" in document
    assert part.marker not in document


@given(st.lists(st.sampled_from([*HEADINGS, "## ", "You", "\n", " ", "\r\n", "x", "```", "#"])))
def test_no_words_of_the_agents_are_a_heading(deltas: list[str]) -> None:
    answer = said(*deltas)
    assert not {line.rstrip() for line in answer.split("\n")} & {*HEADINGS}
    assert said("".join(deltas)) == answer


@given(TEXTS)
def test_what_is_written_at_the_end_of_a_prompt_is_the_prompt(text: str) -> None:
    prompt = prompt_of(f"{text}\n## You\n\nDo it.\n\n")
    assert prompt is not None
    assert prompt.words == "Do it."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", None),
        ("Fix it.\n", "Fix it."),
        ("# Title\n\n## You\n\n", None),
        ("# Title\n\n## You\n\nFix it.\n", "Fix it."),
        ("Fix it.\n\n## Agent\n\nDone.\n", None),
        ("## You\n\nFix it.\n\n## Agent\n\n```\n## You\nGo on.\n", "Go on."),
        ("## You\r\n\r\nFix\r\nit.\r\n", "Fix\r\nit."),
        ("### You\n\nFix it.\n", "### You\n\nFix it."),
    ],
)
def test_the_last_section_is_the_prompt(text: str, words: str | None) -> None:
    prompt = prompt_of(text)
    assert (prompt.words if prompt else None) == words
    if prompt is not None:
        assert text[prompt.start :].startswith(prompt.words)


def test_where_the_prompt_was_changed_since_both_are_there() -> None:
    text = written("## You\n\nFix this.\n", replace(TURN, said="Done.", ended=True))
    assert text == ("## You\n\nFix it.\n\n## Agent\n\nDone.\n\n## You\n\nFix this.\n")


def test_where_the_marker_was_taken_out_the_answer_goes_on() -> None:
    part = replace(TURN, said="One")
    text = written("## You\n\nFix it.\n", part).replace(f"{part.marker}\n", "")
    text = written(text, replace(part, told=3, said="One two"))
    assert text == f"## You\n\nFix it.\n\n## Agent\n\nOne two\n{part.marker}\n\n## You\n\n"


def test_where_all_of_it_was_undone_all_of_it_comes_again() -> None:
    part = replace(TURN, said="One two", told=3, ended=True)
    text = written("## You\n\nFix it.\n", part)
    assert text == "## You\n\nFix it.\n\n## Agent\n\nOne two\n\n## You\n\n"


def test_what_was_cut_off_is_said_to_be() -> None:
    text = written("Fix it.", TURN)
    assert TURN.marker in without_stale(text, {TURN.turn_id})
    assert "*(cut off)*" in without_stale(text, set())
    assert TURN.marker not in earlier(text)


def test_a_heading_is_one_at_the_beginning_of_a_line_alone() -> None:
    assert said("see ", "## You", " there\n", "## ", "You\n") == "see ## You there\n ## You"


def test_of_an_answer_without_an_end_the_beginning_stands_there() -> None:
    text = said(*["word " * 1000] * 300)
    assert text.startswith("word word")
    assert len(text) < LONGEST + 200
    assert text.endswith("*(too long: lspAgent.lastAnswer shows all of it)*")


def changed(lines: int, name: str = "e") -> EditChanged:
    place = Range(start=Position(line=4, character=0), end=Position(line=5, character=0))
    new = "".join(f"## You {number}```\n" for number in range(lines))
    hunk = Hunk(hunk_id="0", status="applied", range=place, old_text="", new_text=new)
    uri = "file:///shop/src/a.py"
    edit = Edit(edit_id=name, session_id="s", uri=uri, status="applied", hunks=(hunk,))
    return EditChanged("editApplied", edit)


def test_a_change_has_its_place_and_its_lines_once_and_not_without_end() -> None:
    words = Words("/shop")
    words.take(changed(2))
    words.take(changed(2))
    diff = "````diff\n+## You 0```\n+## You 1```\n````"
    assert words.said == f"  - src/a.py:5\n\n{diff}"
    for number in range(40):
        words.take(changed(100, f"e{number}"))
    assert words.said.count("… 40 more lines") == 9
    assert words.said.count("\n+") == MOST_CHANGED_IN_ALL
    assert words.said.count("src/a.py:5") == 41


def test_a_change_under_another_call_names_its_own() -> None:
    words = Words("/shop")
    words.take(ToolCall("1", "bash", "command", {"command": "make"}))
    words.take(ToolCall("2", "edit", "edit", {}, ("src/b.py",)))
    edit = changed(1).edit
    words.take(EditChanged("editApplied", edit.model_copy(update={"tool_call_id": "1"})))
    assert "- `edit: src/b.py`\n  - `bash: make`: src/a.py:5\n" in words.said


@pytest.mark.parametrize(
    ("printed", "told"),
    [("", ""), ("one\n3 passed\n", "\n  - 2 lines, the last: `3 passed`")],
)
def test_of_a_command_it_is_told_what_it_printed(printed: str, told: str) -> None:
    words = Words("/shop")
    words.take(ToolCall("1", "bash", "command", {"command": "make"}))
    text = bash_result("make", CommandOutput(printed), 0, 0.1)
    words.take(ToolResult("1", is_error=False, content=[{"type": "text", "text": text}]))
    assert words.said == f"- `bash: make`{told}"
