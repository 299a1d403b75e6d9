"""Other users of the machine, and a person whose umask lets them in: what we keep is theirs alone,
and what may be another user's words is not believed."""

import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project import EVENTS, Project, bash, new_project, step, write

pytestmark = pytest.mark.slow

MANIFEST = {"name": "helper", "version": "1", "exec": "lsp-agent", "args": ["ext", "run", "h.py"]}
PROGRAM = """
import pathlib, sys
print("begins", file=sys.stderr, flush=True)
pathlib.Path({ran!r}).touch()
from lsp_agent import ext
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


@pytest.fixture
def open_umask() -> Iterator[None]:
    """What is started from here on leaves everything to everybody."""
    before = os.umask(0)
    yield
    os.umask(before)


def extension(folder: Path, ran: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "extension.json").write_text(json.dumps(MANIFEST))
    (folder / "h.py").write_text(PROGRAM.format(ran=str(ran)))
    return folder


def ext(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return project.command("ext", *arguments)


def worked(project: Project) -> list[str]:
    """What a person is told while an agent takes its turn."""
    editor = project.editor(
        step("", write("a.txt", "one\n"), bash("echo hello")),
        step("Done."),
        client=EVENTS,
        options={"permissions": {"command": "allow"}},
    )
    editor.ask_agent("Go.")
    assert editor.shut_down() == 0
    told = [event["message"] for event in editor.events("notice")]
    return told + [message["message"] for message in editor.received("window/showMessage")]


@pytest.mark.usefixtures("open_umask")
def test_what_is_kept_is_the_persons_alone_under_any_umask(project: Project) -> None:
    source = extension(project.home / "source", project.home / "ran")
    extension(project.folder / ".zot" / "extensions" / "helper", project.home / "ran")
    assert ext(project, "install", str(source)).returncode == 0
    assert ext(project, "trust").returncode == 0
    worked(project)
    found: dict[str, str] = {}
    for top in ("data", "state"):
        for folder, _, files in os.walk(project.home / top):
            for path in (Path(folder), *(Path(folder, name) for name in files)):
                found[str(path.relative_to(project.home))] = oct(stat.S_IMODE(path.stat().st_mode))
    names = list(found)
    for wanted in ("trusted-extensions.json", "journal.jsonl", "messages.jsonl", "ext-helper.log"):
        assert any(name.endswith(wanted) for name in names), (wanted, names)
    copied = "data/lsp-agent/extensions/helper"  # as its author has it, in a folder of ours
    assert {
        name: mode
        for name, mode in found.items()
        if mode not in ("0o700", "0o600") and not name.startswith(copied)
    } == {}


def test_folders_that_were_open_are_shut(project: Project) -> None:
    """As an earlier lsp-agent left them under such a umask."""
    data = project.home / "data" / "lsp-agent"
    (data / "workspaces").mkdir(parents=True)
    for folder in (data, data / "workspaces"):
        folder.chmod(0o777)
    worked(project)
    for folder in (data, data / "workspaces"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("path", ["trusted-extensions.json", "."])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_a_record_of_trust_that_others_may_write_is_not_believed(
    project: Project, path: str, mode: int
) -> None:
    extension(project.folder / ".zot" / "extensions" / "helper", project.home / "ran")
    assert ext(project, "trust").returncode == 0
    assert "this repository's" in ext(project, "list").stdout
    opened = project.home / "data" / "lsp-agent" / path
    opened.chmod(opened.stat().st_mode | mode)
    assert "not trusted" in ext(project, "list").stdout
    again = ext(project, "trust")
    assert again.returncode == 0, again.stderr
    assert "this repository's" in ext(project, "list").stdout


def test_a_record_that_is_not_believed_runs_nothing_and_says_what_to_do(project: Project) -> None:
    extension(project.folder / ".zot" / "extensions" / "helper", ran := project.home / "ran")
    assert ext(project, "trust").returncode == 0
    record = project.home / "data" / "lsp-agent" / "trusted-extensions.json"
    record.chmod(0o666)
    (told,) = {words for words in worked(project) if str(record) in words}
    assert "other users may write to it" in told
    assert f"lsp-agent ext trust {project.folder}" in told
    assert not ran.exists()


def test_trusting_again_takes_over_nothing_that_was_not_believed(project: Project) -> None:
    extension(project.folder / ".zot" / "extensions" / "helper", project.home / "ran")
    assert ext(project, "trust").returncode == 0
    record = project.home / "data" / "lsp-agent" / "trusted-extensions.json"
    record.write_text(json.dumps({"/somewhere": "00", **json.loads(record.read_text())}))
    record.chmod(0o666)
    assert ext(project, "trust").returncode == 0
    assert list(json.loads(record.read_text())) == [str(project.folder)]


def test_extensions_in_a_folder_that_others_may_write_are_not_run(project: Project) -> None:
    ran = project.home / "ran"
    assert ext(project, "install", str(extension(project.home / "source", ran))).returncode == 0
    worked(project)
    assert ran.exists()
    ran.unlink()
    folder = project.home / "data" / "lsp-agent" / "extensions"
    folder.chmod(0o777)
    (told,) = {words for words in worked(project) if str(folder) in words}
    assert "other users may write to it" in told
    assert f"chmod go-w {folder}" in told
    assert not ran.exists()


@pytest.mark.other_user
@pytest.mark.parametrize("what", ["trusted-extensions.json", "extensions/helper", ""])
def test_what_belongs_to_another_user_is_not_believed(project: Project, what: str) -> None:
    ran = project.home / "ran"
    source = extension(project.folder / ".zot" / "extensions" / "helper", ran)
    assert ext(project, "trust").returncode == 0
    assert ext(project, "install", str(source)).returncode == 0
    if what.startswith("extensions"):
        shutil.rmtree(project.folder / ".zot")
    os.chown(project.home / "data" / "lsp-agent" / what, 65534, 65534)
    assert any("belongs to another user (65534)" in words for words in worked(project))
    if what.startswith("extensions"):
        assert not ran.exists()
