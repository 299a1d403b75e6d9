"""An agent that cannot be started: the error says why, and works once that is put right."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from embedded_job import Project
from support.stage import Editor

pytestmark = pytest.mark.sampled

Outcome = Callable[[str, str], None]


def missing(path: Path) -> None:
    assert not path.exists()


def not_executable(path: Path) -> None:
    path.write_text("#!/bin/sh\n", encoding="utf-8")


def folder(path: Path) -> None:
    path.mkdir()


def no_interpreter(path: Path) -> None:
    path.write_text("#!/no/such/interpreter\n", encoding="utf-8")
    path.chmod(0o755)


def no_program(path: Path) -> None:
    path.write_bytes(b"\x00\x01 no program at all")
    path.chmod(0o755)


def dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def install(path: Path) -> None:
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[tuple[Editor, Project, Path]]:
    program = tmp_path / "bin" / "my agent"
    program.parent.mkdir()
    project = Project(tmp_path / "work", "1")
    options = project.options
    arguments = options["agents"]["embedded"]["command"][1:]
    options["agents"]["embedded"]["command"] = [str(program), *arguments]
    with Editor(tmp_path) as editor:
        editor.start(project.folder, options)
        yield editor, project, program
        editor.end()


@pytest.mark.parametrize(
    ("lay", "why"),
    [
        (missing, "does not exist"),
        (not_executable, "is not executable"),
        (folder, "folder"),
        (no_interpreter, "cannot be executed"),
        (no_program, "cannot be executed"),
        (dangling_link, "does not exist"),
    ],
)
def test_a_program_that_cannot_run_is_named_and_found_once_it_is_there(
    stage: tuple[Editor, Project, Path], lay: Callable[[Path], None], why: str, outcome: Outcome
) -> None:
    editor, _, program = stage
    lay(program)
    error = editor.failure(editor.prompt("again"), "agentNotFound")
    assert str(program) in error.message
    assert why in error.message
    assert "settings" in error.message
    if program.is_dir():
        program.rmdir()
    program.unlink(missing_ok=True)
    install(program)
    editor.works(text="again")
    outcome(f"program: {lay.__name__.replace('_', ' ')}", "agentNotFound, works once it is there")


def test_a_program_that_is_not_on_path_is_named(tmp_path: Path, outcome: Outcome) -> None:
    project = Project(tmp_path / "work", "1")
    options = {"agent": "a", "agents": {"a": {"wire": "zot", "command": ["no-such-agent"]}}}
    with Editor(tmp_path) as editor:
        editor.start(project.folder, options)
        for _ in range(2):
            error = editor.failure(editor.prompt("again"), "agentNotFound")
            assert "no-such-agent" in error.message
            assert "PATH" in error.message
        editor.end()
    outcome("program: not on PATH", "agentNotFound")


def test_a_folder_that_was_removed_is_named_and_works_once_it_is_back(
    stage: tuple[Editor, Project, Path], outcome: Outcome
) -> None:
    editor, project, program = stage
    install(program)
    editor.works(text="again")
    shutil.rmtree(project.folder)
    session = editor.new_session()
    error = editor.failure(editor.prompt("again", session), "agentNotFound")
    assert str(project.folder) in error.message
    project.folder.mkdir()
    editor.works(session, "again")
    outcome("working folder removed", "agentNotFound, works once it is back")
