"""The settings files on disk."""

import os
from pathlib import Path

import pytest

from lsp_agent.protocol.settings.files import (
    LARGEST,
    WORKSPACE_FILE,
    load_for_folder,
    read_user_file,
    read_workspace_file,
    user_settings_path,
)


@pytest.fixture(autouse=True)
def user_folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HOME", str(tmp_path))
    path = user_settings_path().parent
    assert path.is_relative_to(tmp_path)
    path.mkdir(parents=True)
    return path


@pytest.fixture
def folder(tmp_path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


def the_problem_with(folder: Path) -> str:
    read = read_workspace_file(folder)
    assert read is not None
    assert read.values == {}
    return str(read.problems[0])


def test_both_files_are_read_and_named_as_origins(user_folder, folder):
    (user_folder / "config.toml").write_text('[permissions]\nread = "ask"\n')
    (folder / WORKSPACE_FILE).write_text('[edits]\nreview = "before"\n')
    loaded = load_for_folder(folder)
    assert loaded.settings.permissions.read == "ask"
    assert loaded.settings.edits.review == "before"
    assert loaded.origins["permissions.read"] == str(user_folder / "config.toml")
    assert loaded.origins["edits.review"] == str(folder / WORKSPACE_FILE)


def test_each_folder_of_a_workspace_has_its_own(tmp_path):
    folders = [tmp_path / "strict", tmp_path / "plain"]
    for folder in folders:
        folder.mkdir()
    (folders[0] / WORKSPACE_FILE).write_text('[permissions]\ncommand = "deny"\n')
    strict, plain = (load_for_folder(folder).settings for folder in folders)
    assert strict.permissions.command == "deny"
    assert plain.permissions.command == "ask"


def test_without_files_and_folder_the_defaults_hold():
    assert read_user_file() is None
    assert load_for_folder(None).problems == ()


def test_garbled_toml_is_a_problem_that_says_where(folder):
    (folder / WORKSPACE_FILE).write_text("agent = 'builtin'\nagent agent\n")
    assert "not TOML" in the_problem_with(folder)
    assert "line 2" in the_problem_with(folder)
    assert load_for_folder(folder).settings == load_for_folder(None).settings


def test_bytes_that_are_no_text_are_a_problem(folder):
    (folder / WORKSPACE_FILE).write_bytes(b"agent = '\xff'")
    assert "not UTF-8 at byte 9" in the_problem_with(folder)


def test_a_byte_order_mark_is_no_problem(folder):
    (folder / WORKSPACE_FILE).write_bytes(b"\xef\xbb\xbfagent = 'builtin'\n")
    read = read_workspace_file(folder)
    assert read is not None
    assert read.values == {"agent": "builtin"}


def test_a_huge_file_is_not_parsed(folder):
    (folder / WORKSPACE_FILE).write_bytes(b"#" * (LARGEST + 1))
    assert "larger than 256 KiB" in the_problem_with(folder)


@pytest.mark.parametrize("text", ["a = " + "[" * 50_000, "a = " + "9" * 50_000])
def test_a_hostile_file_is_a_problem_and_no_crash(folder, text):
    (folder / WORKSPACE_FILE).write_text(text)
    assert "not TOML" in the_problem_with(folder)


def test_a_workspaces_symbolic_link_is_refused_and_the_users_followed(user_folder, folder):
    target = folder / "elsewhere.toml"
    target.write_text('agent = "builtin"\n')
    (folder / WORKSPACE_FILE).symlink_to(target)
    assert "not read: it is a symbolic link" in the_problem_with(folder)

    (user_folder / "config.toml").symlink_to(target)
    read = read_user_file()
    assert read is not None
    assert read.values == {"agent": "builtin"}


@pytest.mark.parametrize(
    ("make", "message"), [(os.mkfifo, "not a regular file"), (os.mkdir, "Is a directory")]
)
def test_what_is_no_file_is_a_problem_and_never_waited_for(folder, make, message):
    make(folder / WORKSPACE_FILE)
    assert message in the_problem_with(folder)
