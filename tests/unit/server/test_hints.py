"""Hint diagnostics on what there is to review (``edits.hints``)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import create_task_group, sleep
from review_kit import URI, FakeConnection, FakeEdits, hunk
from review_kit import edit as an_edit
from support.project import Document, Editor, Project, call, step
from support.project import edit as an_agents_edit
from support.raw_client import Json, wait_until
from support.scripted_editor import in_virtual_time

from lsp_agent.protocol.settings.settings import EditSettings, Settings
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.review.hints import Hints, per_file, per_hunk
from lsp_agent.server.review.open_review import FileReview, OpenReviews
from lsp_agent.workspace.documents.documents import Documents

PUBLISH: Json = {"textDocument": {"publishDiagnostics": {}}}
PATH = "/w/a.txt"
LINES = "one\ntwo\nthree\nfour\n"


# What they say


def test_a_file_has_one_at_its_first_hunk() -> None:
    review = FileReview.of([an_edit("e", hunk(7, name="1"), hunk(2, 4, name="0"))])
    (hint,) = per_file(review)
    assert hint == {
        "range": {"start": {"line": 2, "character": 0}, "end": {"line": 4, "character": 0}},
        "severity": 4,
        "source": "lsp-agent",
        "message": "2 changes of the agent's to review",
    }
    (one,) = per_file(FileReview.of([an_edit("e", hunk(2))]))
    assert one["message"] == "1 change of the agent's to review"
    assert per_file(FileReview()) == []


def test_each_hunk_has_one() -> None:
    review = FileReview.of(
        [
            an_edit("p", hunk(9, status="proposed"), status="proposed"),
            an_edit("e", hunk(2, name="0"), hunk(5, status="kept", name="1")),
        ]
    )
    assert [(hint["range"]["start"]["line"], hint["message"]) for hint in per_hunk(review)] == [
        (2, "changed by the agent"),
        (9, "proposed by the agent"),
    ]


# When they are pushed


class Desk:
    """One document, open; ``kind`` is the setting."""

    def __init__(self, *, able: bool = True) -> None:
        self.kind = "hunk"
        self.edits = FakeEdits()
        self.connection = FakeConnection()
        self.documents = Documents()
        self.hints = Hints(
            self.connection,
            ClientInfo(publish_diagnostics=able),
            self.documents,
            OpenReviews(self.edits),  # type: ignore[arg-type]
            lambda _path: Settings(edits=EditSettings(hints=self.kind)),  # type: ignore[arg-type]
        )
        self.edits.subscribe(self.hints.changed)
        self.tell("didOpen")

    def tell(self, kind: str) -> None:
        """The editor opens the document, types a character or closes it."""
        if kind == "didOpen":
            self.documents.open(URI, 1, LINES)
        elif kind == "didChange":
            self.documents.change(URI, 2, [{"text": LINES + "x"}])
        else:
            self.documents.close(URI)
        self.hints.hooks[f"textDocument/{kind}"](URI)

    def agent(self, *lines: int) -> None:
        """What the agent has changed is in these lines alone now."""
        self.edits.edits = [an_edit(f"e{n}", hunk(n)) for n in lines]
        self.edits.changed(PATH)

    @property
    def pushed(self) -> list[list[int]]:
        """The lines of each push, forgotten once they are read."""
        news = [
            [hint["range"]["start"]["line"] for hint in params["diagnostics"]]
            for _, params in self.connection.notified
        ]
        self.connection.notified.clear()
        return news


@asynccontextmanager
async def desk(*, able: bool = True) -> AsyncIterator[Desk]:
    made = Desk(able=able)
    async with create_task_group() as tasks:
        tasks.start_soon(made.hints.run)
        await sleep(0.1)
        yield made
        tasks.cancel_scope.cancel()


@in_virtual_time
async def test_they_follow_the_review_and_go_with_it() -> None:
    async with desk() as at:
        assert at.pushed == []
        for lines in ([1], [1, 3]):
            at.agent(*lines)
        await sleep(0.15)
        assert at.pushed == [[1, 3]]
        at.agent()
        await sleep(0.15)
        assert at.pushed == [[]]
        at.agent()
        await sleep(0.15)
        assert at.pushed == []


@in_virtual_time
async def test_they_wait_until_the_typing_pauses() -> None:
    async with desk() as at:
        at.agent(1)
        await sleep(0.15)
        assert at.pushed == [[1]]
        at.edits.edits = [an_edit("e", hunk(2))]
        for _ in range(6):
            at.tell("didChange")
            await sleep(0.08)
        assert at.pushed == []
        await sleep(0.4)
        assert at.pushed == [[2]]


@in_virtual_time
async def test_typing_does_not_put_off_what_the_agent_did() -> None:
    async with desk() as at:
        at.agent(1)
        await sleep(0.15)
        at.agent(1, 2)
        for _ in range(5):
            at.tell("didChange")
            await sleep(0.03)
        assert [1, 2] in at.pushed


@in_virtual_time
async def test_typing_where_nothing_is_shown_looks_nothing_up() -> None:
    async with desk() as at:
        looked_up = at.edits.found
        at.tell("didChange")
        await sleep(0.4)
        assert (at.edits.found, at.pushed) == (looked_up, [])


@in_virtual_time
async def test_they_are_taken_back_when_the_document_closes_and_are_there_when_it_opens() -> None:
    async with desk() as at:
        at.agent(1)
        await sleep(0.15)
        at.tell("didClose")
        assert at.pushed == [[1], []]
        at.agent(1, 2)
        await sleep(0.15)
        assert at.pushed == []
        at.tell("didOpen")
        await sleep(0.15)
        assert at.pushed == [[1, 2]]


@in_virtual_time
async def test_they_go_when_the_setting_turns_off_and_come_back_with_it() -> None:
    async with desk() as at:
        at.agent(1)
        await sleep(0.15)
        for kind, pushed in (("off", [[1], []]), ("hunk", [[1]])):
            at.kind = kind
            at.hints.settings_changed()
            await sleep(0.15)
            assert at.pushed == pushed


@in_virtual_time
async def test_a_client_without_diagnostics_gets_none() -> None:
    async with desk(able=False) as at:
        at.agent(1)
        await sleep(0.15)
        assert at.pushed == []


# In a real server


def hinted(project: Project, **settings: str) -> tuple[Editor, Document]:
    path = project.file("a.txt", LINES)
    twice = [{"oldText": old, "newText": old.upper()} for old in ("two", "four")]
    editor = project.editor(
        step("", call("edit", path="a.txt", edits=twice)),
        step("Done."),
        capabilities=PUBLISH,
        options={"edits": settings},
    )
    document = editor.open(path)
    editor.ask_agent("Go.")
    return editor, document


def shown(editor: Editor, path: Path) -> list[tuple[int, str]]:
    """(line, message) of what the client shows for a file."""
    pushed = [
        params["diagnostics"]
        for params in editor.received("textDocument/publishDiagnostics")
        if params["uri"] == path.as_uri()
    ]
    latest = pushed[-1] if pushed else []
    return [(hint["range"]["start"]["line"], hint["message"]) for hint in latest]


def test_a_file_says_how_much_there_is_to_review(project: Project) -> None:
    editor, document = hinted(project)
    two = [(1, "2 changes of the agent's to review")]
    assert wait_until(lambda: shown(editor, document.path) == two)
    editor.type(document, 0, "typed\n")
    assert wait_until(lambda: shown(editor, document.path) == [(2, two[0][1])])
    editor.call("agent/keepAll", {"uri": document.uri})
    assert wait_until(lambda: shown(editor, document.path) == [])


def test_hunks_that_are_decided_lose_their_hint(project: Project) -> None:
    editor, document = hinted(project, hints="hunk")
    both = [(1, "changed by the agent"), (3, "changed by the agent")]
    assert wait_until(lambda: shown(editor, document.path) == both)
    (edit,) = editor.call("agent/edits")["edits"]
    editor.call("agent/rejectEdit", {"editId": edit["editId"], "hunks": ["0"]})
    assert wait_until(lambda: shown(editor, document.path) == both[1:])


def test_a_hunk_that_the_editors_undo_brings_back_has_its_hint_again(project: Project) -> None:
    editor, document = hinted(project, hints="hunk")
    both = [(1, "changed by the agent"), (3, "changed by the agent")]
    assert wait_until(lambda: shown(editor, document.path) == both)
    editor.call("agent/undoAll")
    assert wait_until(lambda: shown(editor, document.path) == [])
    editor.retype(document, LINES.replace("two", "TWO"))
    assert wait_until(lambda: shown(editor, document.path) == both[:1])


def test_with_the_setting_off_nothing_is_pushed(project: Project) -> None:
    editor, _ = hinted(project, hints="off")
    editor.call("agent/keepAll")
    assert editor.received("textDocument/publishDiagnostics") == []


def test_a_changed_setting_holds_at_once(project: Project) -> None:
    editor, document = hinted(project)
    assert wait_until(lambda: shown(editor, document.path))
    (project.folder / ".lsp-agent.toml").write_text('[edits]\nhints = "off"\n')
    editor.notify("workspace/didChangeConfiguration", {"settings": None})
    assert wait_until(lambda: shown(editor, document.path) == [])


def test_a_line_typed_where_the_agent_took_lines_out_is_not_the_agents(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(
        step("", an_agents_edit("a.txt", "three\nfour\n", "")),
        step("Done."),
        capabilities=PUBLISH,
        options={"edits": {"hints": "hunk"}},
    )
    document = editor.open(path)
    editor.ask_agent("Go.")
    hint = [(1, "lines taken out by the agent")]
    assert wait_until(lambda: shown(editor, path) == hint)
    pushes = len(editor.received("textDocument/publishDiagnostics"))
    editor.type(document, 2, "typed\n")
    assert wait_until(lambda: len(editor.received("textDocument/publishDiagnostics")) > pushes)
    assert shown(editor, path) == hint
    (edit,) = editor.call("agent/edits")["edits"]
    (found,) = edit["hunks"]
    place = {"line": 2, "character": 0}
    assert (found["range"], found["newText"]) == ({"start": place, "end": place}, "")
    editor.call("agent/rejectEdit", {"editId": edit["editId"]})
    assert document.text.content == LINES + "typed\n"
