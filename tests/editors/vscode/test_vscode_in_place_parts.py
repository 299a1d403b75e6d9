"""What is asked for in place: its lines as they move, its state in words, comments as a prompt."""

from typing import Any

import pytest
from support.vscode_modules import returned

pytestmark = [pytest.mark.vscode]

Json = dict[str, Any]


def change(start: tuple[int, int], end: tuple[int, int], text: str) -> Json:
    at = [{"line": line, "character": character} for line, character in (start, end)]
    return {"range": {"start": at[0], "end": at[1]}, "text": text}


MOVED = """
const { changes, lengths } = argument;
const place = { start: { line: 5, character: 0 }, end: { line: 7, character: 4 } };
return lines.linesOf(changes.reduce(lines.moved, place), (line) => lengths[line] ?? 9);
"""


def moved(*changes: Json, **lengths: int) -> list[int]:
    """Of lines 5 to 7, of which the last has four characters."""
    told = {"changes": changes, "lengths": {key[1:]: each for key, each in lengths.items()}}
    return returned(MOVED, told, lines="in_place/lines")


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        pytest.param([change((0, 0), (0, 0), "new\n")], [6, 8], id="before"),
        pytest.param([change((1, 0), (3, 0), "")], [3, 5], id="removed before"),
        pytest.param([change((5, 0), (5, 0), "new\n")], [5, 8], id="at their start"),
        pytest.param([change((6, 2), (6, 2), "\n\n")], [5, 9], id="among them"),
        pytest.param([change((5, 0), (7, 4), "one")], [5, 5], id="all of them"),
        pytest.param([change((6, 0), (9, 0), "")], [5, 5], id="their end and more"),
        pytest.param([change((8, 0), (8, 0), "new\n")], [5, 7], id="behind"),
        pytest.param(
            [change((5, 0), (8, 0), ""), change((5, 0), (5, 0), "a\nb\n")], [5, 6], id="anew"
        ),
    ],
)
def test_lines_move_with_what_is_changed_before_and_among_them(
    changes: list[Json], lines: list[int]
) -> None:
    assert moved(*changes) == lines


def test_lines_that_go_and_come_with_the_end_of_the_line_before_are_without_that() -> None:
    gone, back = change((4, 3), (7, 4), ""), change((4, 3), (4, 3), "\na\nb")
    assert moved(gone, back, _4=3) == [5, 6]


STATE = "return state.stateOf(argument, 'file:///a')"


def state(*turns: Json) -> Json:
    return returned(STATE, turns, state="in_place/state")


def call(status: str | None = None, **more: Any) -> Json:
    files = [] if status is None else [{"uri": "file:///a", "status": status}]
    kind = {"kind": "tool", "tool": "edit", "toolKind": "edit", "subject": "src/a.py"}
    return kind | {"files": files} | more


def turn(state: str, *parts: Json, **more: Any) -> Json:
    return {"state": state, "parts": parts, "stopReason": "endTurn"} | more


def test_what_becomes_of_a_prompt_is_told_as_in_neovim() -> None:
    said = {"kind": "text", "text": "\nIt is fine.\nReally."}
    asks = {"kind": "question", "question": {}}
    told = [
        state(turn("queued")),
        state(turn("running")),
        state(turn("running", call())),
        state(turn("running", call(), asks)),
        state(turn("ended", call("applied"), said)),
        state(turn("ended", call("proposed"))),
        state(turn("ended", call("rejected"), said)),
        state(turn("ended", stopReason="error", error="No network\nat all")),
        state(turn("ended", stopReason="aborted")),
    ]
    assert [(each["is"], each["told"]) for each in told] == [
        ("waits", "agent: waits"),
        ("works", "agent: works"),
        ("works", "agent: works · edit a.py"),
        ("works", "agent: waits for your answer"),
        ("answered", "agent: changed"),
        ("answered", "agent: proposed"),
        ("unchanged", "agent: no change: It is fine."),
        ("failed", "agent: failed: No network"),
        ("failed", "agent: failed: stopped"),
    ]


def test_what_was_refined_is_answered_while_any_of_it_is_open() -> None:
    assert state(turn("ended", call("applied")), turn("ended"))["is"] == "answered"
    assert state(turn("ended", call("kept")), turn("ended"))["is"] == "unchanged"


def test_comments_are_one_prompt_with_the_changes_that_they_are_about() -> None:
    comments = [
        {"path": "a.py", "lines": [2, 2], "text": " Why? "},
        {
            "path": "b.py",
            "lines": [4, 6],
            "text": "Shorter\nplease",
            "hunk": {"oldText": "x\n", "newText": "```\ny\n", "status": "proposed"},
        },
    ]
    code = "return prompt.commentPrompt(argument)"
    assert returned(code, comments, prompt="in_place/comment_prompt") == (
        "2 comments from my review. Do what each asks.\n\n"
        "1. a.py, line 3:\n\nWhy?\n\n"
        "2. b.py, lines 5-7, your proposal:\n\n"
        "````diff\n-x\n+```\n+y\n````\n\nShorter\nplease"
    )
    assert returned(code, comments[:1], prompt="in_place/comment_prompt").startswith(
        "A comment from my review. Do what it asks.\n\n1. a.py, line 3:"
    )
