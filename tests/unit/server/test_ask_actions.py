"""The code actions that ask the agent, as an editor gets and runs them."""

from pathlib import Path
from typing import Any

import pytest
from support.project import Document, Editor, Project, edit, step
from support.raw_client import Json, wait_until
from test_code_actions import opened, run, titles

CODE = "import os\n\n\ndef area(radius):\n    return pi * radius\n"


def problem(message: str, line: int = 0, *, severity: int | None = 1, **more: Json | str) -> Json:
    place = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 3}}
    level = {} if severity is None else {"severity": severity}
    return {"range": place, "message": message} | level | more


def actions_on(
    editor: Editor, document: Document, *problems: Json, at: int = 0, to: tuple[int, int] = (0, 0)
) -> list[Json]:
    """With the cursor in line ``at``, or the selection up to ``to``."""
    end = max((at, 0), to)
    return editor.call(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": document.uri},
            "range": {
                "start": {"line": at, "character": 0},
                "end": {"line": end[0], "character": end[1]},
            },
            "context": {"diagnostics": list(problems)},
        },
    )


def argument(action: Json) -> Json:
    (only,) = action["command"]["arguments"]
    return only


def test_a_problem_under_the_cursor_can_be_fixed_or_explained(shared: Editor) -> None:
    document = opened(shared, CODE)
    undefined = problem('"pi" is not defined', 4, source="Pyright", code="reportUndefined")
    fix, explain = actions_on(shared, document, undefined, at=4)
    assert titles([fix, explain]) == [
        'Ask the agent to fix: "pi" is not defined',
        'Ask the agent to explain: "pi" is not defined',
    ]
    for action in (fix, explain):
        assert action["kind"] == "quickfix"
        assert action["command"]["command"] == "lspAgent.prompt"
        assert [each["message"] for each in action["diagnostics"]] == ['"pi" is not defined']
    name = document.uri.rsplit("/", 1)[-1]
    assert argument(fix)["text"] == (
        f'Fix this problem in {name}, line 5:\n\n> "pi" is not defined\n\n'
        "(error reportUndefined of Pyright)\n\nChange only what that needs."
    )
    assert argument(explain)["text"].startswith(f"Explain this problem in {name}, line 5:")
    assert argument(explain)["text"].endswith("Change nothing.")


def test_the_lines_around_a_problem_are_its_context(shared: Editor) -> None:
    document = opened(shared, "".join(f"line {n}\n" for n in range(40)))
    for line, start, end in ((20, 15, 26), (1, 0, 7), (39, 34, 40)):
        fix, _explain = actions_on(shared, document, problem("odd", line), at=line)
        (context,) = argument(fix)["context"]
        assert (context["range"]["start"]["line"], context["range"]["end"]["line"]) == (start, end)


def test_of_many_problems_the_worst_three_are_offered(shared: Editor) -> None:
    document = opened(shared, CODE)
    found = actions_on(
        shared,
        document,
        problem("a hint", severity=4),
        problem("a warning", severity=2),
        problem("no severity", severity=None),
        problem("an error", severity=1),
        problem("some information", severity=3),
    )
    fixes = [title for title in titles(found) if "to fix" in title]
    assert [title.rpartition(": ")[2] for title in fixes] == [
        "no severity",
        "an error",
        "a warning",
    ]


def test_the_hints_of_the_server_itself_are_no_problems(shared: Editor) -> None:
    document = opened(shared, CODE)
    assert actions_on(shared, document, problem("1 change to review", source="lsp-agent")) == []


def test_two_problems_in_the_same_words_are_told_apart(shared: Editor) -> None:
    document = opened(shared, CODE)
    found = titles(actions_on(shared, document, problem("odd"), problem("odd")))
    assert len(set(found)) == len(found) == 4


def test_a_long_message_is_cut_in_the_title_and_quoted_in_the_prompt(shared: Editor) -> None:
    document = opened(shared, CODE)
    fix, _explain = actions_on(shared, document, problem("expected:\n  int\n" + "x" * 9000))
    assert fix["title"] == "Ask the agent to fix: expected:"
    text = argument(fix)["text"]
    assert "> expected:\n>   int\n> xxx" in text
    assert len(text) < 2500


@pytest.mark.parametrize("more", [{"tags": [99, 1]}, {"severity": 9}], ids=["tag", "severity"])
def test_a_problem_with_values_of_a_newer_editor_is_served(
    shared: Editor, more: dict[str, Any]
) -> None:
    document = opened(shared, CODE)
    sent = problem("odd") | more
    fix, _explain = actions_on(shared, document, sent)
    assert fix["diagnostics"] == [sent]


@pytest.mark.parametrize(
    ("text", "offered"),
    [("w", False), ("\n", False), ("a_b.c()\n", False), ("two words", True), ("测", True)],
)
def test_a_single_word_is_where_the_cursor_is_and_no_prompt(
    shared: Editor, text: str, offered: bool
) -> None:
    """Helix sends the character under the cursor, Emacs the word."""
    document = opened(shared, f"{text}\nmore\n")
    end = (1, 0) if text.endswith("\n") else (0, len(text))
    assert bool(actions_on(shared, document, to=end)) == offered


def test_a_word_under_the_cursor_is_not_sent_as_an_excerpt(shared: Editor) -> None:
    document = opened(shared, "# agent: add a test\n")
    (action,) = actions_on(shared, document, to=(0, 1))
    assert argument(action) == {"text": "add a test", "context": [{"uri": document.uri}]}


def test_fixing_a_problem_runs_a_turn(project: Project) -> None:
    path: Path = project.file("area.py", CODE)
    editor = project.editor(
        step("", edit("area.py", "import os", "from math import pi"), match="Fix this problem"),
        step("Done."),
    )
    document = editor.open(path)
    fix, _explain = actions_on(editor, document, problem("unused import"))
    run(editor, fix)
    assert wait_until(lambda: document.text.content.startswith("from math import pi\n"))


# A line that was written to ask


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("agent: add a test", None),
        ("    # agent: add a test", None),
        ("<!-- agent: add a test -->", None),
        ("x = 1  # agent: why one?", "x = 1"),
        ("/* agent: add a test */ int x = 1;", "int x = 1;"),
        ("int x; /* agent: add a test */ int y;", "int x; int y;"),
        ("  <!-- agent: add a test --> <p>text</p>", "  <p>text</p>"),
        ('int x; // agent: say what "agent: y" means', "int x;"),
        # What began above, or goes on below, is still a comment.
        (" * agent: add a test */ int x;", " */ int x;"),
        ("/** agent: add a test", "/**"),
        ("/* TODO agent: add a test */", "/* TODO */"),
        ("agent: add a test */", "*/"),
    ],
)
def test_in_helix_it_is_taken_out_once_it_is_sent(
    project: Project, line: str, left: str | None
) -> None:
    editor = project.editor(step("Done.", delay_ms=200), clientInfo={"name": "helix"})
    path = project.file("a.py", f"one\n{line}\ntwo\n")
    document = editor.open(path)
    (ask,) = actions_on(editor, document, at=1)
    editor.type(document, 0, f"{line}, not this\n")  # since the menu was opened
    run(editor, ask)
    kept = f"{left}\n" if left else ""
    assert document.text.content == f"{line}, not this\none\n{kept}two\n"
    assert path.read_text() == f"one\n{line}\ntwo\n"  # nothing is saved for the person
    assert editor.call("agent/edits")["edits"] == []


def test_elsewhere_it_stays(shared: Editor) -> None:
    document = opened(shared, "agent: add a test\n")
    (ask,) = actions_on(shared, document)
    assert "from" not in argument(ask)
