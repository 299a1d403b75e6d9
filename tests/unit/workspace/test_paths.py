"""Which paths a file tool may touch."""

import errno
import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.text.lines import Text
from lsp_agent.workspace.disk.files import FileProblem, read_bytes, write_atomic
from lsp_agent.workspace.disk.paths import (
    Confinement,
    OutsideWorkspace,
    Reserved,
    SafePath,
    path_to_uri,
    uri_to_path,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work space"
    folder.mkdir()
    return folder


RESERVED = (
    (".data", False, False),
    ("limits.toml", False, True),
    ("run/agent-", True, False),
)


def confine(root: Path, path: str, *, write: bool = True) -> SafePath:
    reserved = [
        Reserved(str(root / name), "is kept", prefix=prefix, readable=readable)
        for name, prefix, readable in RESERVED
    ]
    return Confinement([str(root)], reserved).confine(path, str(root), write=write)


def rule(root: Path, path: str, *, write: bool = True) -> str:
    """Why it is refused."""
    with pytest.raises(OutsideWorkspace) as refused:
        confine(root, path, write=write)
    return refused.value.rule


def test_a_relative_path_is_taken_from_the_working_folder(root: Path) -> None:
    assert confine(root, "src/../a.py") == SafePath(str(root / "a.py"), "src/../a.py")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", ""])
def test_a_path_outside_the_roots_is_refused_by_name(root: Path, path: str) -> None:
    with pytest.raises(OutsideWorkspace) as refused:
        confine(root, path, write=False)
    assert str(refused.value).startswith(f"{path}: ")


def test_a_refusal_is_one_short_line_whatever_the_path(root: Path) -> None:
    with pytest.raises(OutsideWorkspace) as refused:
        confine(root, "../\x1b[2J\n\u202e" + "x" * 5000)
    assert str(refused.value).startswith("../\\x1b[2J\\n\\u202exxx")
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("path", ["a\0b", "half \ud800"])
def test_what_no_file_can_be_called_is_no_path(root: Path, path: str) -> None:
    assert rule(root, path, write=False) == "is not a path"


@pytest.mark.parametrize("path", ["~", "~/x", "file:///x", "FILE://host/x"])
def test_what_another_program_takes_for_another_path_is_refused(root: Path, path: str) -> None:
    assert "give the" in rule(root, path, write=False)


def test_dots_after_a_symlink_are_refused_where_they_matter(root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "link").symlink_to("a/b")
    assert "in two ways" in rule(root, "link/../x", write=False)
    assert confine(root, "a/b/../x").path == str(root / "a/x")


@pytest.mark.parametrize("path", ["loop", "loop/x", "none/../loop/../link/x"])
def test_symlinks_in_a_circle_are_refused(root: Path, path: str) -> None:
    (root / "loop").symlink_to("pool")
    (root / "pool").symlink_to("loop")
    (root / "link").symlink_to("/etc")
    assert "circle" in rule(root, path, write=False)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.parametrize("path", ["/proc/self/cwd/x", "/dev/fd/0", "here/x"])
def test_proc_is_refused_though_all_else_is_allowed(root: Path, path: str) -> None:
    (root / "here").symlink_to("/proc/self/cwd")
    with pytest.raises(OutsideWorkspace) as refused:
        Confinement(["/"]).confine(path, str(root), write=False)
    assert "/proc" in refused.value.rule


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("path", ["n" * 300, "n" * 300 + "/x", "é" * 130, "d/" * 3000 + "x"])
def test_a_path_that_is_too_long_for_any_file_is_refused(
    root: Path, path: str, write: bool
) -> None:
    assert rule(root, path, write=write) == "cannot be judged: File name too long"


def test_a_path_of_a_megabyte_is_refused_at_once(root: Path) -> None:
    (root / "sub").mkdir()
    began = time.perf_counter()
    for name in ("sub/../", "./", "/", "n"):
        assert rule(root, name * (1_000_000 // len(name)), write=False) == "is too long for a path"
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.ELOOP])
@pytest.mark.parametrize(("call", "name"), [("readlink", "a"), ("stat", "HEAD")])
def test_a_path_that_cannot_be_looked_at_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch, call: str, name: str, number: int
) -> None:
    plain = getattr(os, call)

    def failing(path: str, *args: object, **named: object) -> object:
        if Path(path).name == name and Path(path).is_relative_to(root):
            raise OSError(number, os.strerror(number), path)
        return plain(path, *args, **named)

    monkeypatch.setattr(os, call, failing)
    with pytest.raises(OutsideWorkspace) as refused:
        confine(root, "a/b")
    assert refused.value.rule == f"cannot be judged: {os.strerror(number)}"


def test_in_a_folder_that_may_not_be_looked_into_nothing_is_written(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: str, *_args: object, **_named: object) -> object:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr(os, "readlink", denied)
    monkeypatch.setattr(os, "stat", denied)
    assert confine(root, "a/b", write=False).path == str(root / "a/b")
    assert rule(root, "a/b") == "cannot be judged: Permission denied"


def test_what_is_reserved_is_neither_read_nor_written(root: Path) -> None:
    for path in (".data", ".data/ledger", "run/agent-x/gate"):
        for write in (False, True):
            assert rule(root, path, write=write) == "is kept"
    assert confine(root, "run/other").path == str(root / "run/other")


def test_what_is_reserved_may_be_readable(root: Path) -> None:
    assert rule(root, "limits.toml") == "is kept"
    assert confine(root, "limits.toml", write=False).path == str(root / "limits.toml")


def test_what_is_reserved_is_so_through_a_symlink_and_as_a_symlink(root: Path) -> None:
    (root / "kept").mkdir()
    (root / ".data").symlink_to("kept")
    (root / "link").symlink_to("kept")
    for path in ("kept/x", "link/x", ".data/x"):
        assert rule(root, path) == "is kept"


@given(st.lists(st.sampled_from(["a", "up", "here", "deep", "loop", "pool", "gone", "..", ""])))
def test_roots_are_where_the_system_has_them(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "a" / "a").mkdir(parents=True)
        links = {"a/up": "..", "here": "a", "a/deep": "../here/a", "loop": "pool", "pool": "loop"}
        for name, target in links.items():
            (folder / name).symlink_to(target)
        (folder / "a" / "a" / "here").symlink_to(folder / "a")
        path = os.path.join(folder, *names)  # noqa: PTH118 - it would be made plain
        between = str(folder / "here")
        assert Confinement([between, path]).roots == [*map(os.path.realpath, (between, path))]


@pytest.mark.parametrize("path", ["//", "//tmp", "/", ".", "a", "/a" * 2000])
def test_so_they_are_where_the_path_is_an_odd_one(path: str) -> None:
    assert Confinement([path]).roots == [os.path.realpath(path)]


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


@pytest.mark.parametrize(
    "path",
    [".git/config", "sub/.git", "sub/.GIT/hooks/x", ".git. /x", "git~1/x", ".g\u200cit/x",
     ".git::$INDEX_ALLOCATION/x"],
)  # fmt: skip
def test_git_can_be_read_but_not_written(root: Path, path: str) -> None:
    assert confine(root, path, write=False).path == str(root / path)
    assert rule(root, path) == "lies in .git, which only git may write"


@pytest.mark.parametrize("path", [".gitignore", ".github/x", "a.git/x", "git~2"])
def test_what_is_not_gits_can_be_written(root: Path, path: str) -> None:
    assert confine(root, path).path == str(root / path)


def test_a_repository_by_any_name_can_be_read_but_not_written(root: Path) -> None:
    for folder in ("bare/objects", "bare/refs", "tree"):
        (root / folder).mkdir(parents=True)
    for name in ("bare/HEAD", "tree/HEAD", "tree/commondir"):
        (root / name).write_text("x")
    (root / ".git").symlink_to("bare")
    assert rule(root, "bare/hooks/x") == f"lies in {root}/bare, which only git may write"
    assert "only git" in rule(root, "tree/config")
    assert "only git" in rule(root, ".git/config")
    assert confine(root, "bare/config", write=False).path == str(root / "bare/config")


@pytest.mark.parametrize("path", ["a\nb", "\x1b[2J", "a/\x7f/b"])
def test_names_with_control_characters_are_not_written(root: Path, path: str) -> None:
    assert "control character" in rule(root, path)
    assert confine(root, path, write=False).path == str(root / path)


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


@pytest.mark.parametrize(
    ("there", "path"),
    [
        ("objects/x", "HEAD"),
        ("refs/x", "head"),
        ("commondir", "HEAD"),
        ("HEAD", "objects/pack/x"),
        ("HEAD", "Objects"),
        ("HEAD", "refs./heads/main"),
        ("HEAD", "r\u200cefs/heads/main"),
        ("HEAD", "commondir"),
    ],
)
def test_what_would_make_a_folder_a_repository_is_not_written(
    root: Path, there: str, path: str
) -> None:
    for folder in (root, root / "deep" / "er"):
        (folder / there).parent.mkdir(parents=True, exist_ok=True)
        (folder / there).write_text("x")
        place = str((folder / path).relative_to(root))
        assert f"with it {folder} could be taken for a repository" in rule(root, place)
        assert confine(root, place, write=False).path == str(folder / path)


def test_a_link_counts_as_the_head_that_git_takes_it_for(root: Path) -> None:
    (root / "HEAD").symlink_to("refs/heads/main")
    assert "could be taken for a repository" in rule(root, "objects/x")


@pytest.mark.parametrize(
    "path", ["HEAD", "config", "objects/x", "refs/x", "sub/HEAD", "refs/HEAD/x", "objects/head/x"]
)
def test_an_ordinary_name_that_git_has_too_is_written(root: Path, path: str) -> None:
    for name in ("objects/a", "refs/b", "other/HEAD"):
        (root / "theirs" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "theirs" / name).touch()
    (root / "head").mkdir()
    assert confine(root, path).path == str(root / path)
    assert confine(root, "theirs/objects/x").path == str(root / "theirs/objects/x")


@pytest.mark.parametrize("path", ["src/.lsp-agent.toml", "a/b/.LSP-Agent.toml"])
def test_settings_further_in_than_the_workspaces_own_are_not_written(root: Path, path: str) -> None:
    assert "settings of a workspace of its own" in rule(root, path)
    assert confine(root, path, write=False).path == str(root / path)
    assert confine(root, ".lsp-agent.toml").path == str(root / ".lsp-agent.toml")
    assert confine(root, "src/.lsp-agent.toml.md").path == str(root / "src/.lsp-agent.toml.md")
