"""The user's data folder cannot be written: an error that says so, and the session goes on."""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import gettempdir

import pytest
from embedded_job import EDITED, SHOWN, WRITTEN, Project
from support.raw_client import Json
from support.stage import Editor

Outcome = Callable[[str, str], None]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "work", "1")


def unusable_file(data: Path) -> None:
    data.write_text("not a folder", encoding="utf-8")


def unusable_link(data: Path) -> None:
    data.symlink_to("/proc/self/nowhere")


@pytest.mark.parametrize("spoil", [unusable_file, unusable_link])
def test_without_a_data_folder_the_person_is_told_and_the_session_goes_on(
    tmp_path: Path, project: Project, spoil: Callable[[Path], None], outcome: Outcome
) -> None:
    """Edits are then recorded in a temporary folder, which goes with the server."""
    spoil(tmp_path / "data")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    sockets = {"XDG_RUNTIME_DIR": gettempdir()}  # their paths must be short
    with Editor(tmp_path, env={"TMPDIR": str(temporary)} | sockets) as editor:
        editor.start(project.folder, project.options)
        uri = project.open(editor)
        told = editor.notification("window/showMessage")
        assert str(tmp_path / "data") in told["message"]
        editor.works(text="edit")
        assert editor.texts[uri] == EDITED
        assert [edit["status"] for edit in editor.call("agent/edits")["edits"]] == ["applied"]
        editor.end()
    assert list(temporary.iterdir()) == []
    outcome("data folder cannot be made", "told at the start, session goes on")


@pytest.fixture
def editor(tmp_path: Path, project: Project) -> Iterator[Editor]:
    with Editor(tmp_path) as editor:
        editor.start(project.folder, project.options)
        editor.works(text="again")
        yield editor
        editor.end()


def test_with_a_full_disk_nothing_is_changed_until_there_is_room(
    editor: Editor, project: Project, outcome: Outcome
) -> None:
    uri = project.open(editor)
    fill(editor)
    for prompt in ("edit", "write"):
        result = tool_result(editor, prompt)
        assert result["isError"]
        assert "could not be recorded" in result["content"][0]["text"]
    assert editor.texts[uri] == SHOWN
    assert [path.name for path in project.folder.iterdir()] == ["open.txt"]
    make_room(editor)
    editor.works(text="edit")
    editor.works(text="write")
    assert editor.texts[uri] == EDITED
    assert (project.folder / "new.txt").read_text(encoding="utf-8") == WRITTEN
    outcome("disk full for the ledger", "tool error, nothing changed, works once there is room")


def test_without_a_folder_for_sockets_the_error_says_what_to_set(
    tmp_path: Path, project: Project, outcome: Outcome
) -> None:
    long_path = tmp_path / ("x" * 100)
    long_path.mkdir()
    env = {"TMPDIR": str(long_path), "XDG_RUNTIME_DIR": str(tmp_path / "nowhere")}
    with Editor(tmp_path, env=env) as editor:
        editor.start(project.folder, project.options)
        error = editor.failure(editor.prompt("again"), "notConfigured")
        assert "XDG_RUNTIME_DIR" in error.message
        assert editor.call("agent/state")["busy"] is False
        editor.end()
    outcome("no folder for sockets", "notConfigured")


def tool_result(editor: Editor, prompt: str) -> Json:
    turn = editor.works(text=prompt)["turnId"]
    (result,) = editor.events(turnId=turn, type="toolResult")
    return result


def fill(editor: Editor) -> None:
    """No file of the server's can grow: it sees what it would see on a full disk."""
    resource.prlimit(editor.process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


def make_room(editor: Editor) -> None:
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(editor.process.pid, resource.RLIMIT_FSIZE, unlimited)
