"""``read``, ``write`` and ``edit`` on real files."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_agent.runtime.tools import files
from lsp_agent.runtime.tools.outcome import Outcome
from lsp_agent.toolset.arguments import ToolFailure

Tool = Callable[[str, object], Outcome]


def text(outcome: Outcome) -> str:
    assert not outcome.is_error
    return "".join(str(block["text"]) for block in outcome.content)


def failure(tool: Tool, cwd: Path, **args: object) -> str:
    with pytest.raises(ToolFailure) as caught:
        tool(str(cwd), args)
    return caught.value.text


def write(cwd: Path, path: str, content: str) -> str:
    return text(files.write(str(cwd), {"path": path, "content": content}))


def read(cwd: Path, path: str, **lines: int) -> str:
    return text(files.read(str(cwd), {"path": path, **lines}))


def edit(cwd: Path, path: str, *edits: tuple[str, str]) -> str:
    pairs = [{"oldText": old, "newText": new} for old, new in edits]
    return text(files.edit(str(cwd), {"path": path, "edits": pairs}))


def test_a_write_makes_folders_and_echoes_what_it_wrote(tmp_path: Path):
    assert write(tmp_path, "src/new/é.txt", "a\r\nb") == "a\r\nb"
    assert (tmp_path / "src/new/é.txt").read_bytes() == b"a\r\nb"


def test_a_new_file_is_for_its_owner_to_write(tmp_path: Path):
    umask = os.umask(0o022)
    try:
        write(tmp_path, "d/a", "x")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "d/a").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "d").stat().st_mode) == 0o755


def test_a_write_keeps_the_mode_of_the_file(tmp_path: Path):
    file = tmp_path / "run.sh"
    file.write_text("old")
    file.chmod(0o751)
    write(tmp_path, "run.sh", "new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", 0o751)


def test_a_write_goes_through_a_link(tmp_path: Path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write(tmp_path, "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_write_leaves_no_other_file(tmp_path: Path):
    write(tmp_path, "a", "x")
    (tmp_path / "folder").mkdir()
    failure(files.write, tmp_path, path="folder", content="x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "folder"]


def test_an_absolute_path_is_taken_as_it_stands(tmp_path: Path):
    write(Path("/nowhere"), str(tmp_path / "a"), "x")
    assert (tmp_path / "a").read_text() == "x"


def test_a_relative_path_is_cleaned(tmp_path: Path):
    assert failure(files.read, tmp_path, path="./x/../gone") == (
        f"stat {tmp_path}/gone: no such file or directory"
    )


def test_every_line_of_a_long_file_can_be_read(tmp_path: Path):
    (tmp_path / "a").write_text("".join(f"line {number}\n" for number in range(1, 20_001)))
    assert read(tmp_path, "a", offset=19_999) == "line 19999\nline 20000\n"
    assert read(tmp_path, "a", offset=20_001) == "(the file ends before these lines)"


def test_of_a_huge_file_the_beginning_can_be_read(tmp_path: Path):
    with (tmp_path / "a").open("wb") as file:
        file.write(b"one\ntwo\n" + b"x" * 9000)
        file.truncate(1 << 40)
    assert read(tmp_path, "a", limit=2) == "one\ntwo\n"
    beyond = failure(files.read, tmp_path, path="a", offset=9)
    assert beyond == f"{tmp_path}/a: only the first 64 MiB can be read"


def test_failures_have_zots_words(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    pair = [{"oldText": "a", "newText": "b"}]
    assert [
        failure(files.read, tmp_path, path="folder"),
        failure(files.read, tmp_path, path="file/x"),
        failure(files.write, tmp_path, path="folder", content=""),
        failure(files.write, tmp_path, path="file/x/y/z", content=""),
        failure(files.edit, tmp_path, path="folder", edits=pair),
        failure(files.edit, tmp_path, path="gone", edits=pair),
        failure(files.edit, tmp_path, path="gone", edits=[]),
        failure(files.read, tmp_path, path="a\0b"),
    ] == [
        f"{tmp_path}/folder is a directory",
        f"stat {tmp_path}/file/x: not a directory",
        f"open {tmp_path}/folder: is a directory",
        f"mkdir {tmp_path}/file: not a directory",
        f"read {tmp_path}/folder: is a directory",
        f"open {tmp_path}/gone: no such file or directory",
        "at least one edit is required",
        "open a\0b: invalid argument",
    ]


def test_a_file_that_may_not_be_written_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "a"
    file.write_text("x")
    # Asked for rather than made so: root, as whom tests may run, is never refused.
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert failure(files.write, tmp_path, path="a", content="y").endswith("permission denied")
    assert file.read_text() == "x"


@pytest.mark.timeout(10)
@pytest.mark.parametrize("tool", [files.read, files.write, files.edit])
def test_a_pipe_is_no_file(tmp_path: Path, tool: Tool):
    os.mkfifo(tmp_path / "pipe")
    args = {"path": "pipe", "content": "x", "edits": [{"oldText": "a", "newText": "b"}]}
    assert failure(tool, tmp_path, **args).endswith("not a regular file")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_an_image_is_told_by_its_size(tmp_path: Path):
    (tmp_path / "p.png").write_bytes(b"\x89PNG\0")
    outcome = files.read(str(tmp_path), {"path": "p.png"})
    assert outcome.content == [
        {"type": "image", "mime_type": "image/png", "bytes": 5, "data": "iVBORwA="}
    ]


def test_an_edit_answers_with_its_diff(tmp_path: Path):
    (tmp_path / "a").write_text("one\ntwo\n")
    assert edit(tmp_path, "a", ("two", "TWO")) == " one\n-two\n+TWO\n \n"


def test_an_edit_keeps_bom_line_ends_and_bytes_that_are_no_text(tmp_path: Path):
    before = b"\xef\xbb\xbfone\r\ntwo \xff\nthree"
    (tmp_path / "a").write_bytes(before)
    assert edit(tmp_path, "a", ("one", "1")) == "-one\n+1\n two \ufffd\n three\n"
    assert (tmp_path / "a").read_bytes() == before.replace(b"one", b"1")


def test_a_failed_edit_changes_nothing(tmp_path: Path):
    (tmp_path / "a").write_text("one two")
    edits = [{"oldText": "one", "newText": "1"}, {"oldText": "three", "newText": "3"}]
    assert failure(files.edit, tmp_path, path="a", edits=edits) == (
        "edit 2: oldText not found in a"
    )
    assert (tmp_path / "a").read_text() == "one two"
