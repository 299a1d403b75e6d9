"""Everything by code action, for editors that know only the standard."""

import time
from pathlib import Path

import pytest
from support.project import ALLOWED, Document, Editor, Project, Stubborn, bash, edit, step
from support.raw_client import Json, wait_until

from lsp_agent.text.lines import Text

BEFORE: Json = {"edits": {"review": "before"}}


def actions(
    editor: Editor,
    document: Document,
    start: tuple[int, int] = (0, 0),
    end: tuple[int, int] | None = None,
    only: list[str] | None = None,
) -> list[Json]:
    """The code actions for a range; end exclusive, characters in the negotiated encoding."""
    last = end or start
    context: Json = {"diagnostics": []} | ({"only": only} if only else {})
    return editor.call(
        "textDocument/codeAction",
        {
            "textDocument": {"uri": document.uri},
            "range": {
                "start": {"line": start[0], "character": start[1]},
                "end": {"line": last[0], "character": last[1]},
            },
            "context": context,
        },
    )


def titles(found: list[Json]) -> list[str]:
    return [action["title"] for action in found]


def run(editor: Editor, action: Json) -> object:
    """Runs an action as an editor does."""
    command = action["command"]
    return editor.call(
        "workspace/executeCommand",
        {"command": command["command"], "arguments": command["arguments"]},
    )


def the_action(found: list[Json], beginning: str) -> Json:
    (action,) = [action for action in found if action["title"].startswith(beginning)]
    return action


@pytest.mark.parametrize(
    ("line", "prompt"),
    [
        ("# agent: add a test", "add a test"),
        ("  // agent:  rename it", "rename it"),
        ("<!-- agent: say more -->", "say more"),
        ("/* agent: say more */", "say more"),
        ("agent: 😀 please", "😀 please"),
        ("reagent: no, agent: yes", "yes"),
        ("agent: a b\t */ \t", "a b"),
        ("/* agent: say more */ int x = 1;", "say more"),
        (" * agent: say more */ int x = 1;", "say more"),
        ("<!-- agent: say more --> <p>text</p>", "say more"),
        ("# agent: look at src/**/*.py and (*this*)", "look at src/**/*.py and (*this*)"),
        ("agent: look at src/**/*.py", "look at src/**/*.py"),
        ('// agent: say what "agent: x" means', 'say what "agent: x" means'),
    ],
)
def test_a_line_that_is_for_the_agent_is_the_prompt(shared: Editor, line: str, prompt: str) -> None:
    document = opened(shared, f"first\n{line}\nlast\n")
    found = actions(shared, document, (1, 3))
    assert titles(found) == [f"Ask the agent: {prompt}"]
    assert found[0]["kind"] == "refactor"
    (argument,) = found[0]["command"]["arguments"]
    assert found[0]["command"]["command"] == "lspAgent.prompt"
    assert argument == {"text": prompt, "context": [{"uri": document.uri}]}


@pytest.mark.parametrize(
    "line",
    [
        "agent:" + " " * 100_000,
        "agent:" + " " * 100_000 + "x" + " " * 100_000 + "y",
        "agent: x" + " */" * 10_000 + " ." + "\t" * 100_000,
        "xagent:" * 100_000,
    ],
    ids=["only blanks", "blanks in it", "ends of comments", "parts of words"],
)
def test_a_line_of_any_length_for_the_agent_is_read_at_once(shared: Editor, line: str) -> None:
    document = opened(shared, f"{line}\n")
    started = time.monotonic()
    actions(shared, document)
    assert time.monotonic() - started < 5


def opened(editor: Editor, text: str) -> Document:
    """A document of an editor that many tests share."""
    number = len(editor.documents)
    return editor.open(Path(f"/nowhere/shared-{number}.txt"), text)


def test_the_selection_is_the_prompt_and_its_context(shared: Editor) -> None:
    document = opened(shared, "a😀 do this\nand that\n")
    (action,) = actions(shared, document, (0, 4), (1, 3))
    assert action["title"] == "Ask the agent: do this"
    (argument,) = action["command"]["arguments"]
    assert argument["text"] == "do this\nand"
    (excerpt,) = argument["context"]
    assert excerpt["range"] == {
        "start": {"line": 0, "character": 4},
        "end": {"line": 1, "character": 3},
    }


def test_a_marker_in_the_selection_takes_the_rest_as_context(shared: Editor) -> None:
    document = opened(shared, "def f():\n    # agent: explain f\n    return 1\n")
    (action,) = actions(shared, document, (0, 0), (3, 0))
    (argument,) = action["command"]["arguments"]
    assert argument["text"] == "explain f"
    assert "range" in argument["context"][0]


@pytest.mark.parametrize("place", [(0, 0), (1, 0), (2, 0), (3, 0), (7, 0)])
def test_where_nothing_is_asked_there_is_no_action(shared: Editor, place: tuple[int, int]) -> None:
    document = opened(shared, "user-agent:\n\nreagent: x\n/* agent: */\n")
    assert actions(shared, document, place) == []


def test_asking_by_code_action_runs_a_turn(project: Project) -> None:
    path = project.file("a.txt", "one\n# agent: change it\n")
    editor = project.editor(step("", edit("a.txt", "one", "two"), match="change it"), step("Done."))
    document = editor.open(path)
    run(editor, the_action(actions(editor, document, (1, 0)), "Ask the agent"))
    assert wait_until(lambda: document.text.content.startswith("two\n"))


def test_proposals_of_the_file_are_applied_and_rejected(project: Project) -> None:
    path = project.file("a.txt", "one\ntwo\n")
    other = project.file("b.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO"), edit("b.txt", "one", "ONE")),
        step("Done."),
        options=BEFORE,
    )
    document, second = editor.open(path), editor.open(other)
    editor.ask_agent("Go.")
    found = actions(editor, document)
    assert titles(found) == [
        "Apply the agent's proposal (line 2)",
        "Reject the agent's proposal (line 2)",
        "Apply all proposals of the agent in this file",
        "Reject all proposals of the agent in this file",
        "Undo the agent's turn: Go.",
        "Next change of the agent's",
        "Preview the agent's proposal (line 2)",
    ]
    run(editor, found[0])
    assert document.text.content == "one\nTWO\n"
    run(editor, the_action(actions(editor, second), "Reject the agent's proposal"))
    # What was applied is there to be reviewed.
    assert titles(actions(editor, second)) == ["Next change of the agent's"]
    assert second.text.content == "one\n"


def test_applied_edits_of_the_file_are_kept_and_undone(project: Project) -> None:
    path = project.file("a.txt", "one\ntwo\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "ONE")),
        step("Done."),
        step("", edit("a.txt", "two", "TWO")),
        step("Done."),
    )
    document = editor.open(path)
    editor.ask_agent("Go.")
    run(editor, the_action(actions(editor, document), "Keep the agent's change"))
    assert actions(editor, document) == []
    editor.ask_agent("Go on.")
    run(editor, the_action(actions(editor, document), "Undo the agent's change (line 2)"))
    assert document.text.content == "ONE\ntwo\n"
    assert actions(editor, document) == []


def test_while_the_agent_works_it_can_be_stopped(project: Project) -> None:
    stubborn = Stubborn()
    path = project.file("a.txt", "one\n")
    editor = project.editor(step("", bash(stubborn.command)), options=ALLOWED)
    document = editor.open(path)
    prompt = editor.prompt("Make it so.\nNow.")
    assert wait_until(stubborn.processes)
    action = the_action(actions(editor, document), "Stop the agent: Make it so.")
    assert run(editor, action) == {"aborted": True}
    assert editor.result(prompt)["stopReason"] == "aborted"
    assert stubborn.processes() == []
    assert actions(editor, document) == []


def test_a_client_gets_only_the_kinds_that_it_wants(project: Project) -> None:
    path = project.file("a.txt", "agent: one\n")
    editor = project.editor(step("", edit("a.txt", "one", "two")), step("Done."), options=BEFORE)
    document = editor.open(path)
    editor.ask_agent("Go.")
    assert {a["kind"] for a in actions(editor, document)} == {"quickfix", "refactor"}
    assert {a["kind"] for a in actions(editor, document, only=[""])} == {"quickfix", "refactor"}
    assert {a["kind"] for a in actions(editor, document, only=["refactor"])} == {"refactor"}
    assert {a["kind"] for a in actions(editor, document, only=["quickfix"])} == {"quickfix"}
    assert actions(editor, document, only=["source.organizeImports"]) == []


def test_a_document_that_is_not_open_has_no_actions(shared: Editor) -> None:
    path = Path("/nowhere/closed.txt")
    assert actions(shared, Document(path.as_uri(), path, Text.of("agent: x\n"))) == []
