"""Files on disk: what is kept, what is refused, and that no reader sees half a file."""

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsp_agent.text.lines import Text
from lsp_agent.workspace.disk import files
from lsp_agent.workspace.disk.files import (
    ChangedOnDisk,
    FileProblem,
    NotText,
    NotWritten,
    decode,
    encode,
    read_bytes,
    remove,
    write_atomic,
)
from lsp_agent.workspace.disk.paths import Confinement, OutsideWorkspace, SafePath


def safe(folder: Path, name: str) -> SafePath:
    return Confinement([str(folder)]).confine(name, str(folder), write=True)


def left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.tmp")]


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8")), st.data())
def test_every_text_keeps_its_bytes(content: str, data: st.DataObject) -> None:
    mark = data.draw(
        st.sampled_from([("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe")])
    )
    raw = mark[1] + content.encode(mark[0])
    if content.startswith("\ufeff") and not mark[1]:
        return
    assert encode(decode(raw)) == raw
    assert decode(raw).content == content


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a\0b", "looks binary"),
        (b"ok\n\xff\n", "is not valid UTF-8 (byte 3)"),
        (b"\xff\xfea", "is not valid UTF-16-LE (byte 2)"),
        (b"\xef\xbb\xbfa\0", "looks binary"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_the_reason(data: bytes, reason: str) -> None:
    with pytest.raises(NotText) as refused:
        decode(data)
    assert refused.value.reason == reason


def test_half_a_surrogate_pair_cannot_be_written() -> None:
    with pytest.raises(NotText):
        encode(Text.of("\ud83d"))


def test_a_new_file_gets_its_folders_and_the_usual_mode(tmp_path: Path) -> None:
    write_atomic(safe(tmp_path, "a/b/c.txt"), Text.of("x\r\n"), None)
    made = tmp_path / "a/b/c.txt"
    assert made.read_bytes() == b"x\r\n"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(made.stat().st_mode) == 0o644 & ~mask
    assert left_over(tmp_path) == []


def test_mode_bom_and_encoding_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_bytes("\ufeffold\n".encode("utf-16-le"))
    file.chmod(0o750)
    text = decode(file.read_bytes())
    write_atomic(safe(tmp_path, "run.sh"), Text.of("new\n", like=text), file.read_bytes())
    assert file.read_bytes() == "\ufeffnew\n".encode("utf-16-le")
    assert stat.S_IMODE(file.stat().st_mode) == 0o750


def test_no_right_to_run_as_another_is_kept(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("old")
    (tmp_path / "run").chmod(0o6755)
    write_atomic(safe(tmp_path, "run"), Text.of("new"), b"old")
    assert stat.S_IMODE((tmp_path / "run").stat().st_mode) == 0o755


def test_a_folder_swapped_for_a_symlink_at_the_last_moment_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    folder = tmp_path / "work" / "sub"
    for one in (outside, folder):
        one.mkdir(parents=True)
        (one / "a").write_text("old")

    def swap() -> bool:
        if not folder.is_symlink():
            folder.rename(tmp_path / "moved")
            folder.symlink_to(outside)
        return True

    write_atomic(safe(tmp_path / "work", "sub/a"), Text.of("new"), b"old", permitted=swap)
    assert (outside / "a").read_text() == "old"
    assert (tmp_path / "moved" / "a").read_text() == "new"
    assert left_over(tmp_path) == []


def test_a_file_swapped_for_a_pipe_at_the_last_moment_does_not_hold_us_up(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")

    def swap() -> bool:
        if file.is_file():
            file.unlink()
            os.mkfifo(file)
        return True

    with pytest.raises(FileProblem) as refused:
        write_atomic(safe(tmp_path, "a"), Text.of("new"), b"old", permitted=swap)
    assert refused.value.kind == "special"
    assert left_over(tmp_path) == []


def test_a_symlink_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_atomic(safe(tmp_path, "link.txt"), Text.of("new"), b"old")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("theirs")
    for expected in (b"old", None):
        with pytest.raises(ChangedOnDisk):
            write_atomic(safe(tmp_path, "a"), Text.of("ours"), expected)
    with pytest.raises(ChangedOnDisk):
        write_atomic(safe(tmp_path, "gone"), Text.of("ours"), b"old")
    assert (tmp_path / "a").read_text() == "theirs"
    assert not (tmp_path / "gone").exists()
    assert left_over(tmp_path) == []


def test_a_change_at_the_last_moment_is_seen(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    asked = 0

    def permitted() -> bool:
        nonlocal asked
        asked += 1
        if asked == 1:  # after the first look, before the last one
            (tmp_path / "a").write_text("theirs")
        return True

    with pytest.raises(ChangedOnDisk):
        write_atomic(safe(tmp_path, "a"), Text.of("ours"), b"old", permitted=permitted)
    assert (tmp_path / "a").read_text() == "theirs"
    assert left_over(tmp_path) == []


def test_what_is_no_longer_permitted_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(NotWritten):
        write_atomic(safe(tmp_path, "a"), Text.of("x"), None, permitted=lambda: False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["directory", "special", "hardLink", "readOnly", "notDirectory"])
def test_a_file_that_must_not_be_replaced_is_refused(tmp_path: Path, kind: str) -> None:
    target, name, expected = tmp_path / "a", "a", b"x"
    if kind == "directory":
        target.mkdir()
    elif kind == "special":
        os.mkfifo(target)
    else:
        target.write_bytes(expected)
    if kind == "hardLink":
        os.link(target, tmp_path / "b")
    elif kind == "readOnly":
        target.chmod(0o444)
    elif kind == "notDirectory":
        name, expected = "a/b", b""
    with pytest.raises(FileProblem) as refused:
        write_atomic(safe(tmp_path, name), Text.of("new"), expected or None)
    assert refused.value.kind == kind
    assert left_over(tmp_path) == []


def test_a_new_file_whose_other_name_cannot_be_removed_is_written_and_can_be_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = safe(tmp_path, "a")

    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", fails)
        write_atomic(path, Text.of("new\n"), None)
    assert (tmp_path / "a").read_text() == "new\n"
    assert len(left_over(tmp_path)) == 1
    write_atomic(path, Text.of("newer\n"), b"new\n")
    assert (tmp_path / "a").read_text() == "newer\n"
    assert left_over(tmp_path) == []


def test_a_huge_file_is_refused_in_both_directions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    (tmp_path / "a").write_bytes(b"x" * 11)
    for call in (
        lambda: read_bytes(safe(tmp_path, "a")),
        lambda: write_atomic(safe(tmp_path, "b"), Text.of("x" * 11), None),
    ):
        with pytest.raises(FileProblem) as refused:
            call()
        assert refused.value.kind == "huge"


def test_a_missing_file_is_its_own_kind(tmp_path: Path) -> None:
    with pytest.raises(FileProblem) as refused:
        read_bytes(safe(tmp_path, "none/a"))
    assert refused.value.kind == "missing"


def test_a_full_disk_is_named_and_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(FileProblem) as refused:
        write_atomic(safe(tmp_path, "a"), Text.of("new"), b"old")
    assert refused.value.kind == "diskFull"
    assert (tmp_path / "a").read_text() == "old"
    assert left_over(tmp_path) == []


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.EIO, errno.EACCES])
@pytest.mark.parametrize("expected", [b"old", None])
def test_a_folder_that_cannot_be_synced_is_no_failed_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected: bytes | None, number: int
) -> None:
    if expected is not None:
        (tmp_path / "a").write_bytes(expected)
    sync, refused = os.fsync, []

    def refusing(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            refused.append(descriptor)
            raise OSError(number, os.strerror(number))
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", refusing)
    write_atomic(safe(tmp_path, "a"), Text.of("new"), expected)
    assert (tmp_path / "a").read_text() == "new"
    assert refused


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOTSUP, errno.ENOSYS])
def test_where_nothing_can_be_synced_files_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refusing(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refusing)
    write_atomic(safe(tmp_path, "a"), Text.of("new"), None)
    assert (tmp_path / "a").read_text() == "new"


def test_a_file_whose_text_does_not_reach_the_disk_is_left_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")

    def failing(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(FileProblem, match="Input/output error"):
        write_atomic(safe(tmp_path, "a"), Text.of("new"), b"old")
    assert (tmp_path / "a").read_text() == "old"
    assert left_over(tmp_path) == []


def test_a_file_is_removed_only_as_it_was_seen(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("now")
    with pytest.raises(ChangedOnDisk):
        remove(safe(tmp_path, "a"), b"then")
    remove(safe(tmp_path, "a"), b"now")
    assert list(tmp_path.iterdir()) == []


#: What a folder has that git takes for a repository.
PIECES = ("HEAD", "objects/x", "refs/x", "config")


def test_what_was_confined_before_the_rest_came_makes_no_repository(tmp_path: Path) -> None:
    """As proposals that are accepted one after the other."""
    confined = [safe(tmp_path, name) for name in PIECES]
    for path in confined[:1]:
        write_atomic(path, Text.of("x\n"), None)
    for path in confined[1:3]:
        with pytest.raises(OutsideWorkspace, match="could be taken for a repository"):
            write_atomic(path, Text.of("x\n"), None)
    write_atomic(confined[3], Text.of("x\n"), None)
    assert not (tmp_path / "objects").exists()
    assert left_over(tmp_path) == []


def test_what_is_written_at_once_makes_no_repository(tmp_path: Path) -> None:
    def write(path: SafePath) -> bool:
        try:
            write_atomic(path, Text.of("x\n"), None)
        except OutsideWorkspace:
            return False
        return True

    with ThreadPoolExecutor(len(PIECES)) as pool:
        for number in range(200):
            folder = tmp_path / str(number)
            confined = [safe(tmp_path, f"{number}/{name}") for name in PIECES]
            written = list(pool.map(write, confined))
            assert not all(written)
            there = [(folder / name.partition("/")[0]).exists() for name in PIECES]
            assert not (there[0] and (there[1] or there[2]))
            assert left_over(folder) == []
