"""Which paths a file tool may touch."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.text.lines import Text
from lsp_agent.workspace.files import FileProblem, read_bytes, write_atomic
from lsp_agent.workspace.paths import (
    Confinement,
    OutsideWorkspace,
    SafePath,
    path_to_uri,
    uri_to_path,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work space"
    folder.mkdir()
    return folder


def confine(root: Path, path: str, *, write: bool = True) -> SafePath:
    return Confinement([str(root)], [str(root / ".data")]).confine(path, str(root), write=write)


def test_a_relative_path_is_taken_from_the_working_folder(root: Path) -> None:
    assert confine(root, "src/../a.py") == SafePath(str(root / "a.py"), "src/../a.py")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", "a\0b"])
def test_a_path_outside_the_roots_is_refused_by_name(root: Path, path: str) -> None:
    with pytest.raises(OutsideWorkspace) as refused:
        confine(root, path, write=False)
    assert str(refused.value).startswith(f"{path}: ")


def test_a_folder_whose_name_only_begins_alike_is_outside(root: Path) -> None:
    with pytest.raises(OutsideWorkspace):
        confine(root, f"{root}-other/x")


def test_a_symlink_that_leads_outside_is_outside(root: Path, tmp_path: Path) -> None:
    (root / "link").symlink_to(tmp_path)
    with pytest.raises(OutsideWorkspace):
        confine(root, "link/x", write=False)


def test_a_symlink_inside_is_followed_to_its_target(root: Path) -> None:
    (root / "real").mkdir()
    (root / "link").symlink_to("real")
    assert confine(root, "link/x").path == str(root / "real/x")


@pytest.mark.parametrize("path", [".git/config", "sub/.git", "sub/.GIT/hooks/x", ".data/ledger"])
def test_git_and_our_own_data_can_be_read_but_not_written(root: Path, path: str) -> None:
    assert confine(root, path, write=False).path == str(root / path)
    with pytest.raises(OutsideWorkspace):
        confine(root, path)


def test_a_symlink_into_git_is_not_written_through(root: Path) -> None:
    (root / ".git").mkdir()
    (root / "innocent").symlink_to(".git/config")
    with pytest.raises(OutsideWorkspace):
        confine(root, "innocent")


def test_a_folder_that_has_become_a_symlink_since_is_not_followed(
    root: Path, tmp_path: Path
) -> None:
    (root / "sub").mkdir()
    (root / "sub/a").write_text("a")
    safe = confine(root, "sub/a")
    outside = tmp_path / "outside"
    (root / "sub").rename(outside)
    (root / "sub").symlink_to(outside)
    with pytest.raises(OutsideWorkspace):
        write_atomic(safe, Text.of("b"), b"a")
    with pytest.raises(OutsideWorkspace):
        read_bytes(safe)
    assert (outside / "a").read_text() == "a"


def test_a_file_that_has_become_a_symlink_since_is_not_followed(root: Path) -> None:
    safe = confine(root, "a")
    (root / "b").write_text("b")
    (root / "a").symlink_to("b")
    with pytest.raises(FileProblem) as refused:
        read_bytes(safe)
    assert refused.value.kind == "special"


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c/%C3%A9.py", "/a/b c/é.py"),
        ("file:///a/c%3A%23%3F%25", "/a/c:#?%"),
        ("file://localhost/a", "/a"),
        ("FILE:///a", "/a"),
        ("file:///a/%FF", os.fsdecode(b"/a/\xff")),
        ("untitled:Untitled-1", None),
        ("vscode-remote://host/a", None),
        ("file://server/share", None),
        ("file:///a%00b", None),
        ("nonsense", None),
    ],
)
def test_a_file_uri_is_a_path_and_others_are_none(uri: str, path: str | None) -> None:
    assert uri_to_path(uri) == path


@given(st.binary(min_size=1, max_size=20).filter(lambda name: b"\0" not in name))
def test_every_path_survives_its_uri(name: bytes) -> None:
    path = "/" + os.fsdecode(name)
    assert uri_to_path(path_to_uri(path)) == path
