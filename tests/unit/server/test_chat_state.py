"""What an editor colours in a conversation, and what it shows of its state behind the lines."""

import re
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from support.project import ALLOWED, CAPABILITIES, Document, Editor, Project, bash, edit, step
from support.raw_client import Json, wait_until
from test_chat_documents import ASKED, answered, send, text_of

from lsp_agent.server.chat.outline import outline
from lsp_agent.server.chat.state_hints import Standing, state_hints
from lsp_agent.server.chat.token_marks import difference, encoded, marks
from lsp_agent.server.chat.turn_states import TurnState
from lsp_agent.server.client.capabilities import TOKEN_TYPES
from lsp_agent.text.lines import split_lines

HINTS: Json = {"workspace": CAPABILITIES["workspace"] | {"inlayHint": {"refreshSupport": True}}}
TALK = """# Notes

## You

Why does it fail?
- `not: a call`

## Agent

I look.

- `read: a.py`
- `bash: make it`
  - 3 lines, the last: `no`
  - failed: `no such file`
- `edit: 😀.py`
  - `edit: b.py`: src/b.py:3
  - src/b.py:12

```diff
-one
+two
+- `three: four`
```

> **The agent asks:** Run make?  \n> Answer it by a code action.

> Allow once: Run make?

> Quoted: by the agent

- a.py: a change is proposed

<!-- the agent is at work: t-1 -->

*(stopped)*

## You

"""

# Pure


def coloured(text: str) -> list[tuple[str, str]]:
    lines = split_lines(text)
    return [(one.type, lines[one.line][one.start : one.end]) for one in marks(text)]


@pytest.mark.timeout(20)  # where an end is looked for from each letter, it takes hours
@pytest.mark.parametrize("begun", ["- `", "- ``", "- `a: ", "  - `", "  - `a`: ", "  - :1"])
@pytest.mark.parametrize("more", ["a", "`", "`: ", "`: x", ":1", "1"])
def test_a_long_line_of_an_agent_that_begins_as_one_of_ours_is_read_at_once(
    begun: str, more: str
) -> None:
    line = f"{begun}{more * 300_000}_"
    assert [mark.type for mark in marks(f"## Agent\n\n{line}\n")] == ["namespace"]
    assert outline(f"## You\n\nGo.\n\n## Agent\n\n{line}\n")[0].calls == ()


def test_headings_calls_questions_and_how_it_stands_are_coloured() -> None:
    assert coloured(TALK) == [
        ("keyword", "## You"),
        ("namespace", "## Agent"),
        ("function", "read"),
        ("parameter", "a.py"),
        ("function", "bash"),
        ("parameter", "make it"),
        ("macro", "failed"),
        ("function", "edit"),
        ("parameter", "😀.py"),
        ("property", "src/b.py:3"),
        ("property", "src/b.py:12"),
        ("event", "**The agent asks:** Run make?"),
        ("enumMember", "Allow once"),
        ("macro", "a change is proposed"),
        ("comment", "<!-- the agent is at work: t-1 -->"),
        ("macro", "*(stopped)*"),
        ("keyword", "## You"),
    ]


def test_they_are_told_in_the_units_of_the_client() -> None:
    text = "## Agent\n\n- `edit: 😀 b`\n"
    found, lines = marks(text), split_lines(text)
    wide = encoded(found, lines, TOKEN_TYPES, "utf-16")
    assert wide == [0, 0, 8, 1, 0, 2, 3, 4, 4, 0, 0, 6, 4, 5, 0]
    assert encoded(found, lines, TOKEN_TYPES, "utf-32")[-3] == 3


@pytest.mark.parametrize("after", [[], [1, 2], [1, 9, 3, 4], [1, 2, 3, 4, 2, 3, 4], [0, 1]])
def test_the_difference_makes_the_one_into_the_other(after: list[int]) -> None:
    before = [1, 2, 3, 4]
    start, gone, come = difference(before, after)
    assert [*before[:start], *come, *before[start + gone :]] == after


def test_a_conversation_of_ten_thousand_lines_is_coloured_at_once() -> None:
    text = TALK * (10_000 // TALK.count("\n"))
    lines = split_lines(text)
    took = min(_seconds(text, lines) for _ in range(5))
    assert took < 0.1, took


def _seconds(text: str, lines: Sequence[str]) -> float:
    begun = time.process_time()
    encoded(marks(text), lines, TOKEN_TYPES, "utf-16")
    state_hints(text, None)
    return time.process_time() - begun


STATE = TurnState("s", "Why?", begun=100.0, step=3, tokens=4120)
RUNNING = "## You\n\nWhy?\n\n## Agent\n\nWell.\n<!-- the agent is at work: t-1 -->\n\n## You\n\n"


def standing(*ended: TurnState, running: TurnState | None = None, asked: bool = False) -> Standing:
    return Standing(ended, lambda _turn: running, lambda turn: turn == "t-1", asked, now=112.4)


def hinted(text: str, stands: Standing | None = None) -> list[tuple[str, str]]:
    """The line that each stands behind, and its words."""
    lines = text.splitlines()
    return [(lines[one.line], one.words) for one in state_hints(text, stands)]


def test_behind_the_mark_of_a_turn_stands_how_far_it_is() -> None:
    mark = "<!-- the agent is at work: t-1 -->"
    assert hinted(RUNNING, standing(running=STATE)) == [(mark, "step 3, 12 s, 4.1k tokens")]
    assert hinted(RUNNING, standing(running=STATE, asked=True)) == [(mark, "waiting for you")]
    assert hinted(RUNNING, standing()) == [(mark, "the agent starts")]
    of_another_run = RUNNING.replace("t-1", "t-2")
    assert hinted(of_another_run, standing(running=STATE)) == []


def test_behind_the_mark_of_a_turn_that_waits_for_another_stands_that_it_does() -> None:
    text = RUNNING + RUNNING.replace("t-1", "t-2")
    stands = standing(running=STATE)
    first = replace(stands, state=lambda turn: STATE if turn == "t-1" else None)
    words = [each for _, each in hinted(text, replace(first, is_written=lambda _turn: True))]
    assert words == ["step 3, 12 s, 4.1k tokens", "waits for the turn before it"]


def test_at_an_answer_stands_what_it_took() -> None:
    def turn(prompt: str, ended: float, tokens: int = 0) -> TurnState:
        return TurnState("s", prompt, begun=0.0, tokens=tokens, ended=ended)

    text = "".join(
        f"## You\n\n{prompt}\n\n## Agent\n\n{prompt}!\n\n" for prompt in ("a", "b", "b", "c")
    )
    known = turn("c", 125.2, 12), turn("gone", 9.0), turn("b", 2.0), turn("a", 1.0)
    found = state_hints(text, standing(*known))
    lines = [number for number, line in enumerate(text.splitlines()) if line == "## Agent"]
    assert [(one.line, one.words) for one in found] == [
        (lines[0], "1 s"),
        (lines[2], "2 s"),
        (lines[3], "2 min 5 s, 12 tokens"),
    ]


def test_at_a_change_stands_how_many_lines_it_has() -> None:
    assert hinted(TALK) == [("  - src/b.py:12", "+2 −1")]
    cut = "## Agent\n\n  - a.py:1\n\n```diff\n+one\n… 61 more lines\n```\n"
    assert hinted(cut) == [("  - a.py:1", "+1 −0, 61 more lines")]
    assert hinted("  - a.py:1\n\nWords.\n\n```diff\n+one\n```\n") == []


# By a server


def tokens(editor: Editor, document: Document, before: str | None = None) -> Json:
    params: Json = {"textDocument": {"uri": document.uri}}
    if before is None:
        return editor.call("textDocument/semanticTokens/full", params)
    more = {"previousResultId": before}
    return editor.call("textDocument/semanticTokens/full/delta", params | more)


def hints(editor: Editor, document: Document) -> list[str]:
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 9999, "character": 0}}
    params = {"textDocument": {"uri": document.uri}, "range": place}
    return [each["label"] for each in editor.call("textDocument/inlayHint", params) or []]


def test_tokens_are_told_of_conversations_alone_and_then_what_is_new(project: Project) -> None:
    editor = project.editor(step("Never."))
    document = editor.open(project.file("x.chat.md", TALK))
    whole = tokens(editor, document)
    assert whole["data"][:5] == [2, 0, 6, 0, 0]
    editor.retype(document, text_of(document) + "## Agent\n")
    more = tokens(editor, document, whole["resultId"])
    at = len(whole["data"])
    assert more["edits"] == [{"start": at, "deleteCount": 0, "data": [2, 0, 8, 1, 0]}]
    assert tokens(editor, document, more["resultId"])["edits"] == []
    assert "data" in tokens(editor, document, whole["resultId"])  # not the last one
    other = editor.open(project.file("x.md", TALK))
    assert tokens(editor, other) is None


def refreshes(editor: Editor) -> int:
    return len(editor.received("workspace/inlayHint/refresh"))


def test_a_turn_that_asks_is_hinted_at(project: Project) -> None:
    editor = project.editor(step("", bash("touch made")), step("Done."), capabilities=HINTS)
    document = editor.open(project.file("x.chat.md", ASKED))
    assert hints(editor, document) == []
    send(editor, document)
    assert wait_until(lambda: hints(editor, document) == ["waiting for you"])


def test_hints_follow_a_turn_and_the_client_is_told_to_ask_anew(project: Project) -> None:
    waits = bash("until test -e go; do sleep 0.05; done")
    steps = step("", waits), step("", edit("a.py", "one", "two")), step("Done.")
    editor = project.editor(*steps, capabilities=HINTS, options=ALLOWED)
    project.file("a.py", "one\n")
    document = editor.open(project.file("x.chat.md", ASKED))
    assert hints(editor, document) == []
    assert refreshes(editor) == 0
    send(editor, document)
    far = re.compile(r"step 1, [1-9]\d* s, 8 tokens")
    assert wait_until(lambda: far.fullmatch("".join(hints(editor, document))))
    before = refreshes(editor)
    assert wait_until(lambda: refreshes(editor) > before)  # though nothing is said or done
    (project.folder / "go").touch()
    assert wait_until(lambda: answered(document))
    took, change = hints(editor, document)
    assert re.fullmatch(r"\d+ s, \d+ tokens", took)
    assert change == "+1 −1"


def test_a_client_that_asks_while_a_call_runs_already_is_told_to_ask_anew(project: Project) -> None:
    editor = project.editor(step("", bash("sleep 60")), capabilities=HINTS, options=ALLOWED)
    document = editor.open(project.file("x.chat.md", ASKED))
    send(editor, document)
    assert wait_until(lambda: "bash" in text_of(document))
    time.sleep(1)  # nothing more is said or done
    assert len(hints(editor, document)) == 1
    assert wait_until(lambda: refreshes(editor) > 1)


def test_a_client_that_shows_no_hints_is_not_told_to_ask_for_them(project: Project) -> None:
    editor = project.editor(step("Done."), capabilities=HINTS)
    document = editor.open(project.file("x.chat.md", ASKED))
    send(editor, document)
    assert wait_until(lambda: answered(document))
    assert refreshes(editor) == 0
