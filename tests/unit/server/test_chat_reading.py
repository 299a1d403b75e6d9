"""What an editor that knows nothing of us shows of a conversation: an outline, folds, links,
completion, and what waits as problems. None of it does anything."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.project import EVENTS, Document, Editor, Project, bash, new_project, step
from support.raw_client import Json, wait_until
from test_chat_documents import ASKED, SHOW, answered, say, send, text_of
from test_code_actions import actions, run, the_action

from lsp_agent.server.chat.outline import Fold, folds, outline
from lsp_agent.server.chat.places import places
from lsp_agent.server.chat.symbols import MOST_CHARACTERS, MOST_SYMBOLS, symbols
from lsp_agent.server.client.capabilities import FOR_CHATS

PROBLEMS: Json = {"textDocument": {"publishDiagnostics": {}}}
TALK = """# Notes

## You

Why does it fail?
Say it in short.

## Agent

I look.

- `read: a.py`
- `bash: make`
  - 3 lines, the last: `no`

It opens `src/a.py:2` twice, see docs/notes.md.

```diff
-one
+two
```

## You

"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Editor]]:
    """A project with files, and one server whose agent is never asked."""
    with new_project(tmp_path_factory.mktemp("desk")) as project:
        for name in ("src/a.py", "docs/notes.md", "src/deep/parse.py", ".hidden/x", ".env"):
            project.file(name, "one\ntwo\n")
        yield project, project.editor(step("Never."))


def talk(desk: tuple[Project, Editor], text: str = TALK) -> Document:
    project, editor = desk
    return editor.open(project.file("x.chat.md", text))


def ask(editor: Editor, feature: str, document: Document, **more: Any) -> Any:
    params: Json = {"textDocument": {"uri": document.uri}}
    return editor.call(f"textDocument/{feature}", params | more)


def at(line: int, character: int) -> Json:
    return {"position": {"line": line, "character": character}}


def completed(editor: Editor, document: Document) -> list[str]:
    """At the end of the document."""
    lines = text_of(document).split("\n")
    found = ask(editor, "completion", document, **at(len(lines) - 1, len(lines[-1])))
    return [] if found is None else [each["textEdit"]["newText"] for each in found["items"]]


# Pure


def test_the_outline_is_turns_and_in_them_calls() -> None:
    (turn,) = outline(TALK)
    assert (turn.title, turn.first, turn.past) == ("Why does it fail?", 2, 22)
    calls = [(call.title, call.first, call.past) for call in turn.calls]
    assert calls == [("read: a.py", 11, 12), ("bash: make", 12, 14)]


def test_turns_answers_calls_in_a_row_and_changes_fold() -> None:
    assert folds(TALK) == [Fold(2, 20), Fold(7, 20), Fold(11, 13), Fold(17, 20)]


def test_places_are_names_with_a_point_or_a_slash_and_maybe_a_line() -> None:
    text = "See `src/a.py:12:3`, @b.py. And 3.5 of (c/d), not https://x.org/a or `x`.\n"
    found = [(place.path, place.at, text[place.start : place.end]) for place in places(text)]
    assert found == [
        ("src/a.py", 12, "src/a.py:12:3"),
        ("b.py", None, "@b.py"),
        ("3.5", None, "3.5"),
        ("c/d", None, "c/d"),
    ]


# By a server


def test_symbols_and_folds_are_told_of_conversations_alone(desk: tuple[Project, Editor]) -> None:
    editor, document = desk[1], talk(desk)
    (turn,) = ask(editor, "documentSymbol", document)
    assert turn["name"] == "Why does it fail?"
    assert [call["name"] for call in turn["children"]] == ["read: a.py", "bash: make"]
    assert [fold["startLine"] for fold in ask(editor, "foldingRange", document)] == [2, 7, 11, 17]
    other = editor.open(desk[0].file("x.md", TALK))
    for feature in ("documentSymbol", "foldingRange", "documentLink"):
        assert ask(editor, feature, other) is None  # so that the editor's own are shown
    for feature in ("completion", "definition"):
        assert ask(editor, feature, other, **at(22, 0)) is None


def test_what_it_names_in_the_workspace_is_a_link_and_a_definition(
    desk: tuple[Project, Editor],
) -> None:
    (project, editor), document = desk, talk(desk)
    links = {each["target"] for each in ask(editor, "documentLink", document)}
    source = (project.folder / "src/a.py").as_uri()
    assert links == {f"{source}#L2", (project.folder / "docs/notes.md").as_uri()}
    (place,) = ask(editor, "definition", document, **at(15, 14))
    assert (place["uri"], place["range"]["start"]["line"]) == (source, 1)
    assert ask(editor, "definition", document, **at(15, 3)) == []


def test_files_complete_behind_an_at(desk: tuple[Project, Editor]) -> None:
    editor, document = desk[1], talk(desk, f"{TALK}Look at @")
    named = completed(editor, document)
    assert named.index("@src/a.py") < named.index("@src/deep/parse.py")
    assert not any(".hidden" in name or ".env" in name for name in named)
    say(editor, document, "src/pa")
    assert completed(editor, document) == ["@src/deep/parse.py"]
    say(editor, document, " and @.e")
    assert "@.env" in completed(editor, document)
    editor.retype(document, "## You\n\nFix.\n\n## Agent\n\nSee @")
    assert completed(editor, document) == []


def test_what_open_files_define_completes_to_its_place(desk: tuple[Project, Editor]) -> None:
    project, editor = desk
    shop = editor.open(project.file("src/shop.py", "import a\n\ndef total(l):\n    pass\n"))
    editor.open(project.file("src/.env", "def total_secret():\n"))
    document = talk(desk, f"{TALK}Look at @tot")
    assert completed(editor, document) == ["@src/shop.py:3"]
    editor.retype(shop, "\n\nclass Tote:\n    async def total(self):\n")  # not saved
    assert completed(editor, document) == ["@src/shop.py:3", "@src/shop.py:4"]
    editor.retype(document, text_of(document).replace("@tot", "@src/shop.py:4"))
    lines = text_of(document).split("\n")
    (place,) = ask(editor, "definition", document, **at(len(lines) - 1, len(lines[-1]) - 2))
    assert place["range"]["start"]["line"] == 3


def test_what_is_open_outside_the_workspace_is_not_named(
    desk: tuple[Project, Editor], tmp_path: Path
) -> None:
    (tmp_path / "far.py").write_text("def far_away():\n")
    desk[1].open(tmp_path / "far.py")
    assert completed(desk[1], talk(desk, f"{TALK}Look at @far_aw")) == []


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("def price(n):", "price"),
        ("    async def total(self):", "total"),
        ("export default function shop() {", "shop"),
        ("pub fn open(path: &str) {", "open"),
        ("func (s *Server) Start() error {", "Start"),
        ("public abstract class Till {", "Till"),
        ("type Place = string;", "Place"),
        ("local function add(l)", "add"),
    ],
)
def test_a_definition_is_known_by_how_its_line_begins(line: str, name: str) -> None:
    assert [each.name for each in symbols([("a", line)])] == [name]


def test_so_much_is_looked_at_and_no_more() -> None:
    many = "def a(): ...\n" * (MOST_SYMBOLS + 1)
    assert len(list(symbols([("a", many)]))) == MOST_SYMBOLS
    assert list(symbols([("a", "\n" * MOST_CHARACTERS), ("b", "def b():")])) == []


@pytest.mark.skipif(os.name == "nt", reason="symlinks")
def test_no_link_leads_out_of_the_workspace(desk: tuple[Project, Editor], tmp_path: Path) -> None:
    (project, editor), secret = desk, tmp_path / "secret.txt"
    secret.write_text("s3cret")
    (project.folder / "out").symlink_to(tmp_path)
    (project.folder / "file.txt").symlink_to(secret)
    document = talk(desk, f"See {secret}, ../../secret.txt, out/secret.txt, file.txt.\n\n@out/")
    assert ask(editor, "documentLink", document) == []
    assert ask(editor, "definition", document, **at(0, 6)) == []
    assert completed(editor, document) == []
    for typed in ("../", f"{tmp_path}/", "~/"):
        editor.retype(document, f"@{typed}")
        assert completed(editor, document) == []


def test_commands_complete_at_the_beginning_of_a_prompt_once_its_agent_runs(
    project: Project,
) -> None:
    editor = project.editor(step("One."), agent=project.agent(step("One.")))
    document = editor.open(project.file("x.chat.md", "## You\n\n/"))
    assert completed(editor, document) == []
    assert editor.call("agent/sessions")["sessions"] == []  # and none was started for it
    editor.retype(document, ASKED)
    send(editor, document)
    assert wait_until(lambda: answered(document))
    say(editor, document, "/")
    named = completed(editor, document)
    offered = editor.call("agent/commands", {"sessionId": its_session(editor)})["commands"]
    assert named == [f"/{each['name']}" for each in offered]
    say(editor, document, "x and /")
    assert completed(editor, document) == []


def its_session(editor: Editor) -> str:
    (session,) = editor.call("agent/sessions")["sessions"]
    return session["sessionId"]


def problems(editor: Editor, document: Document) -> list[tuple[str, str]]:
    """The line and the words of each that is shown."""
    told = [
        each["diagnostics"]
        for each in editor.received("textDocument/publishDiagnostics")
        if each["uri"] == document.uri
    ]
    lines = [*document.text.lines, ""]
    return [
        (lines[min(each["range"]["start"]["line"], len(lines) - 1)], each["message"])
        for each in (told[-1] if told else [])
    ]


def test_a_question_is_a_problem_where_the_turn_goes_on_until_it_is_answered(
    project: Project,
) -> None:
    editor = project.editor(step("I look.", bash("touch made.txt")), capabilities=PROBLEMS)
    document = editor.open(project.file("x.chat.md", ASKED))
    send(editor, document)
    asks = "The agent asks: bash: touch made.txt. Answer it by a code action."
    assert wait_until(
        lambda: (
            [(line[:21], words) for line, words in problems(editor, document)]
            == [("<!-- the agent is at ", asks)]
        )
    )
    run(editor, the_action(actions(editor, document), "Stop the agent: "))
    assert wait_until(lambda: answered(document) and problems(editor, document) == [])


def test_an_answer_that_was_cut_off_is_a_problem(project: Project) -> None:
    editor = project.editor(step("Never."), capabilities=PROBLEMS)
    mark = "<!-- the agent is at work: t-0123456789ab -->\n"
    document = editor.open(project.file("x.chat.md", f"{ASKED}\n## Agent\n\nI\n{mark}"))
    words = "The answer was cut off here. Send goes on with the conversation."
    assert wait_until(lambda: problems(editor, document) == [(mark, words)])


# Who is served


def able(*names: str) -> Json:
    return SHOW | {"textDocument": {name: {"dynamicRegistration": True} for name in names}}


def test_a_client_that_can_be_told_so_is_asked_about_conversations_alone(
    project: Project,
) -> None:
    editor = project.start()
    editor.handlers["client/registerCapability"] = lambda _params: None
    served = editor.initialize(able("completion", "foldingRange"), folders=[project.folder])
    assert wait_until(lambda: editor.received("client/registerCapability"))
    (told,) = editor.received("client/registerCapability")
    registered = {each["method"]: each["registerOptions"] for each in told["registrations"]}
    assert registered.keys() == {"textDocument/completion", "textDocument/foldingRange"}
    assert registered["textDocument/completion"] == {
        "documentSelector": [{"pattern": "**/*.chat.md"}],
        "triggerCharacters": ["@", "/"],
    }
    served = served["capabilities"]
    assert "definitionProvider" in served
    assert not {"completionProvider", "foldingRangeProvider"} & served.keys()


def test_a_client_with_a_chat_of_its_own_is_not_served_in_all_documents(project: Project) -> None:
    served = project.start().initialize(agent=EVENTS, folders=[project.folder])["capabilities"]
    assert not served.keys() & {f"{name}Provider" for name in FOR_CHATS}
