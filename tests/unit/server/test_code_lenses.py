"""Code lenses above what there is to review, and when the client is told to ask anew."""

from anyio import create_task_group, fail_after, sleep
from review_kit import URI, FakeConnection, FakeEdits, hunk
from review_kit import edit as an_edit
from support.project import Document, Editor, Project, call, edit, step
from support.raw_client import NO_ANSWER, Json, wait_until
from support.scripted_editor import in_virtual_time

from lsp_agent.protocol.edits import Edit
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.client.refresh import Refresh
from lsp_agent.server.review.code_lenses import review_lenses, told_apart
from lsp_agent.server.review.open_review import OpenReviews
from lsp_agent.server.review.review_ui import ReviewUi
from lsp_agent.workspace.documents.documents import Documents

BEFORE: Json = {"edits": {"review": "before"}}
REFRESH: Json = {"workspace": {"applyEdit": True, "codeLens": {"refreshSupport": True}}}
PATH = "/w/a.txt"


async def lenses(*edits: Edit) -> list[tuple[int, str, str, object]]:
    """(line, title, command, argument) of each."""
    documents = Documents()
    documents.open(URI, 1, "text\n" * 30)
    document = documents.get(URI)
    assert document is not None
    review = await OpenReviews(FakeEdits(*edits)).of(document)  # type: ignore[arg-type]
    drawn: list[tuple[int, str, str, object]] = []
    for lens in told_apart(review_lenses(URI, review)):
        assert lens.command is not None
        assert lens.command.arguments
        name = lens.command.command.removeprefix("lspAgent.")
        line = lens.range.start.line
        drawn.append((line, lens.command.title, name, lens.command.arguments[0]))
    return drawn


@in_virtual_time
async def test_without_anything_to_review_nothing_is_drawn() -> None:
    assert await lenses() == []
    assert await lenses(an_edit("e", hunk(2, status="lost"), status="lost")) == []
    assert await lenses(an_edit("e", hunk(2, status="kept"), hunk(3, status="kept"))) == []


@in_virtual_time
async def test_above_a_change_it_is_kept_or_undone() -> None:
    argument = {"editId": "e", "hunks": ["0"]}
    assert await lenses(an_edit("e", hunk(2))) == [
        (2, "Keep", "keepEdit", argument),
        (2, "Undo", "rejectEdit", argument),
    ]


@in_virtual_time
async def test_above_a_proposal_it_is_applied_rejected_or_previewed() -> None:
    argument = {"editId": "e", "hunks": ["0"]}
    assert await lenses(an_edit("e", hunk(2, status="proposed"), status="proposed")) == [
        (2, "Apply", "applyEdit", argument),
        (2, "Reject", "rejectEdit", argument),
        (2, "Preview", "previewEdit", argument),
    ]


@in_virtual_time
async def test_several_hunks_are_decided_on_in_the_first_line() -> None:
    two = an_edit("e", hunk(5, name="1"), hunk(0, name="0"))
    drawn = await lenses(two)
    assert [(line, title) for line, title, _, _ in drawn] == [
        (0, "Keep all 2"),
        (0, "Undo all"),
        (0, "Keep"),
        (0, "Undo"),
        (5, "Keep"),
        (5, "Undo"),
    ]
    assert [each[2:] for each in drawn[:2]] == [
        ("keepAll", {"uri": URI}),
        ("undoAll", {"uri": URI}),
    ]


@in_virtual_time
async def test_several_proposals_are_applied_or_rejected_in_the_first_line() -> None:
    hunks = [hunk(n, status="proposed", name=str(n)) for n in (3, 5)]
    drawn = await lenses(an_edit("e", *hunks, status="proposed"))
    assert [each for each in drawn if each[0] == 0] == [
        (0, "Apply all 2", "applyAll", {"uri": URI}),
        (0, "Reject all 2", "undoAll", {"uri": URI}),
    ]


@in_virtual_time
async def test_changes_and_proposals_are_decided_on_in_the_first_line() -> None:
    proposal = an_edit("p", hunk(5, status="proposed"), status="proposed")
    drawn = await lenses(an_edit("e", hunk(2)), proposal)
    assert [each[1] for each in drawn if each[0] == 0] == ["Keep all 1", "Apply all 1", "Undo all"]


@in_virtual_time
async def test_no_two_lenses_of_a_line_look_alike() -> None:
    deleted, changed = hunk(2, 2, name="0"), hunk(2, 4, name="1")
    drawn = await lenses(an_edit("e", deleted, changed))
    titles = [title for line, title, _, _ in drawn if line == 2]
    assert titles == ["Keep", "Undo", "Keep (2)", "Undo (2)"]


# Asking the client to ask


async def asked_after(connection: FakeConnection, *paths: str, able: bool = True) -> int:
    """How often the client was told, after the reviews of these files changed."""
    documents, edits = Documents(), FakeEdits()
    documents.open(URI, 1, "text\n")
    client = ClientInfo(code_lens_refresh=able)
    async with create_task_group() as tasks:
        review = ReviewUi(
            connection,
            client,
            tasks,
            documents,
            edits,  # type: ignore[arg-type]
            lambda _path: Settings(),
            lambda _document: [],
        )
        tasks.start_soon(review.run)
        for path in paths:
            edits.changed(path)
            await sleep(0.01)
        await sleep(0.2)
        tasks.cancel_scope.cancel()
    return len(connection.asked)


@in_virtual_time
async def test_many_changes_at_once_are_one_refresh() -> None:
    connection = FakeConnection()
    assert await asked_after(connection, *[PATH] * 6) == 1
    assert connection.asked == [("workspace/codeLens/refresh", None)]


@in_virtual_time
async def test_a_client_is_not_told_what_it_did_not_ask_for() -> None:
    assert await asked_after(FakeConnection(), PATH, able=False) == 0
    assert await asked_after(FakeConnection(), "/w/closed.txt") == 0


@in_virtual_time
async def test_one_refresh_is_on_its_way_at_a_time() -> None:
    class Slow(FakeConnection):
        running = most = 0

        async def ask(self, method: str, params: object, timeout: float | None) -> object:
            self.running += 1
            self.most = max(self.most, self.running)
            await sleep(0.25)
            self.running -= 1
            return await super().ask(method, params, timeout)

    connection = Slow()
    refresh = Refresh(connection, "workspace/codeLens/refresh", able=True)
    with fail_after(5):
        async with create_task_group() as tasks:
            tasks.start_soon(refresh.run)
            while len(connection.asked) < 2:
                refresh.want()
                await sleep(0.02)
            tasks.cancel_scope.cancel()
    assert connection.most == 1


# In a real server


def drawn_by(editor: Editor, document: Document) -> list[Json]:
    return editor.call("textDocument/codeLens", {"textDocument": {"uri": document.uri}})


def press(editor: Editor, document: Document, title: str) -> None:
    """As a client does: it sends the command as it got it."""
    command = next(
        lens["command"] for lens in drawn_by(editor, document) if lens["command"]["title"] == title
    )
    editor.call(
        "workspace/executeCommand",
        {"command": command["command"], "arguments": command["arguments"]},
    )


def test_lenses_decide_on_hunks_in_a_real_server(project: Project) -> None:
    path = project.file("a.txt", "one\ntwo\nthree\nfour\n")
    twice = [{"oldText": old, "newText": old.upper()} for old in ("two", "four")]
    editor = project.editor(
        step("", call("edit", path="a.txt", edits=twice)), step("Done."), capabilities=REFRESH
    )
    refreshed: list[Json] = []
    editor.handlers["workspace/codeLens/refresh"] = refreshed.append
    document = editor.open(path)
    assert drawn_by(editor, document) == []
    editor.ask_agent("Go.")
    assert wait_until(lambda: refreshed)
    editor.type(document, 0, "typed\n")
    lines = [lens["range"]["start"]["line"] for lens in drawn_by(editor, document)]
    assert lines == [0, 0, 2, 2, 4, 4]
    press(editor, document, "Undo")
    assert document.text.content == "typed\none\ntwo\nthree\nFOUR\n"
    press(editor, document, "Keep")
    assert drawn_by(editor, document) == []


def test_a_client_that_refuses_to_ask_anew_harms_nothing(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "two")), step("Done."), capabilities=REFRESH, options=BEFORE
    )
    document = editor.open(path)
    editor.ask_agent("Go.")  # the refresh is answered with MethodNotFound
    assert wait_until(lambda: editor.received("workspace/codeLens/refresh"))
    editor.handlers["workspace/codeLens/refresh"] = lambda _params: NO_ANSWER
    press(editor, document, "Apply")
    assert document.text.content == "two\n"
    assert [lens["command"]["title"] for lens in drawn_by(editor, document)] == ["Keep", "Undo"]


def test_lenses_are_advertised(project: Project) -> None:
    editor = project.editor(step("Done."), initialize=False)
    answer = editor.initialize(folders=[project.folder])
    assert answer["capabilities"]["codeLensProvider"] == {"resolveProvider": False}
