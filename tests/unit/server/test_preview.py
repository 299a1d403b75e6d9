"""A proposal as a unified diff: as text, and as a file for clients that know only the standard."""

import os
import stat
from pathlib import Path

import pytest
from support.project import EVENTS, Editor, Project, edit, step
from support.raw_client import Json, wait_until

from lsp_agent.server.review.preview import PreviewFiles, file_name
from lsp_agent.workspace.disk.paths import uri_to_path

BEFORE: Json = {"edits": {"review": "before"}}
SHOWS: Json = {"window": {"showDocument": {"support": True}}}
DIFF = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n"


def proposed(project: Project, **more: Json) -> tuple[Editor, str]:
    """An editor with a proposal, and its id."""
    path = project.file("a.txt", "one\ntwo\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "ONE")), step("Done."), options=BEFORE, **more
    )
    editor.open(path)
    (summary,) = editor.ask_agent("Go.")["edits"]
    return editor, summary["editId"]


def written(answer: Json) -> Path:
    path = uri_to_path(answer["uri"])
    assert path is not None
    return Path(path)


def text_of(path: str) -> str:
    return Path(path).read_text(encoding="utf-8")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# The files


@pytest.mark.asyncio
async def test_a_preview_can_be_read_by_nobody_else_and_written_by_nobody() -> None:
    files = PreviewFiles()
    path = Path(await files.write("key", "a.txt", DIFF))
    assert (path.name, text_of(str(path))) == ("a.txt.diff", DIFF)
    assert [mode_of(each) for each in (path, *path.parents[:2])] == [0o400, 0o700, 0o700]
    await files.close()
    with pytest.raises(FileNotFoundError):
        mode_of(path.parents[1])


@pytest.mark.asyncio
async def test_the_same_preview_has_the_same_place_and_others_have_others() -> None:
    files = PreviewFiles()
    first = await files.write("one", "a.txt", "old")
    assert await files.write("one", "a.txt", "new") == first
    assert text_of(first) == "new"
    assert await files.write("two", "a.txt", "other") != first
    assert text_of(first) == "new"
    await files.close()


@pytest.mark.asyncio
async def test_after_the_end_nothing_is_written() -> None:
    files = PreviewFiles()
    await files.close()
    with pytest.raises(OSError, match="ends"):
        await files.write("key", "a.txt", DIFF)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a.txt", "a.txt"),
        ("a\n\u202eb", "a\\n\\u202eb"),
        ("../x", ".._x"),
        ("é" * 300 + ".py", "é" * 57 + ".py"),
        ("", "proposal"),
    ],
)
def test_odd_names_become_names_of_files(name: str, shown: str) -> None:
    assert file_name(name) == shown
    assert len(os.fsencode(f"{file_name('😀' * 300)}.diff")) <= 255


# In a real server


def test_the_request_answers_the_text_alone(project: Project) -> None:
    editor, edit_id = proposed(project, capabilities=SHOWS)
    assert editor.call("agent/previewEdit", {"editId": edit_id}) == {"text": DIFF}
    assert editor.call("agent/previewEdit", {"editId": edit_id, "hunks": []}) == {"text": ""}
    error = editor.failure("agent/previewEdit", {"editId": "e-none"})
    assert error.data["kind"] == "unknownEdit"
    assert editor.received("window/showDocument") == []


def test_the_command_shows_a_file_that_goes_with_the_server(project: Project) -> None:
    editor, _ = proposed(project, capabilities=SHOWS)
    editor.handlers["window/showDocument"] = lambda _params: {"success": True}
    answer = editor.command("previewEdit")
    shown = editor.notification("window/showDocument")
    assert (shown["uri"], shown["takeFocus"]) == (answer["uri"], True)
    path = written(answer)
    assert (path.name, path.read_text()) == ("a.txt.diff", DIFF)
    assert [told["message"] for told in editor.received("window/showMessage")] == ["Done."]
    editor.shut_down()
    assert not path.exists()


@pytest.mark.parametrize("able", [False, True])
def test_who_cannot_be_shown_it_is_told_where_it_is(project: Project, able: bool) -> None:
    editor, edit_id = proposed(project, capabilities=SHOWS if able else {})
    editor.handlers["window/showDocument"] = lambda _params: {"success": False}
    path = written(editor.command("previewEdit", {"editId": edit_id}))
    message = f"The agent's edit of a.txt, as a diff: {path}"
    assert wait_until(
        lambda: {"type": 3, "message": message} in editor.received("window/showMessage")
    )
    assert bool(editor.received("window/showDocument")) is able


def test_a_client_that_knows_us_is_left_to_show_it_itself(project: Project) -> None:
    editor, edit_id = proposed(project, capabilities=SHOWS, client=EVENTS)
    assert editor.command("previewEdit", {"editId": edit_id}) == {"text": DIFF}
    assert editor.received("window/showDocument") == []
