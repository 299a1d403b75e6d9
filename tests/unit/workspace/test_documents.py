"""The mirror of what the editor shows."""

import logging
from pathlib import Path
from typing import Any, NoReturn

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.scripted_editor import Buffer, Policy

from lsp_agent.text.lines import Text
from lsp_agent.text.positions import Encoding
from lsp_agent.workspace.disk.paths import path_to_uri
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import ContentChange

URI = "untitled:1"
PIECES = ["a", "b ", "\n", "\r\n", "\r", "\x0c", "\u2028", "é", "😀", "👩\u200d🚒", "\t"]
texts = st.lists(st.sampled_from(PIECES), max_size=15).map("".join)


def span(start_line: int, start: int, end_line: int, end: int) -> dict[str, Any]:
    return {
        "start": {"line": start_line, "character": start},
        "end": {"line": end_line, "character": end},
    }


def opened(text: str, encoding: Encoding = "utf-16") -> Documents:
    documents = Documents(encoding)
    documents.open(URI, 1, text)
    return documents


def shown(documents: Documents) -> str:
    document = documents.get(URI)
    assert document is not None
    assert "".join(document.lines) == document.text.content
    return document.text.content


@given(texts, st.data(), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_the_mirror_equals_the_editors_own_text(
    text: str, data: st.DataObject, encoding: Encoding
) -> None:
    buffer, documents = Buffer(text, encoding, Policy("plain")), opened(text, encoding)
    for _ in range(data.draw(st.integers(1, 5))):
        start = data.draw(st.integers(0, len(buffer.text)))
        # An editor's cursor is never inside \r\n.
        if buffer.text[max(start - 1, 0) : start + 1] == "\r\n":
            start -= 1
        buffer.type(start, data.draw(texts))
        for version, changes in buffer.take():
            documents.change(URI, version, changes)
        assert shown(documents) == buffer.text
    document = documents.get(URI)
    assert document is not None
    assert document.version == buffer.version


def test_several_changes_of_one_message_follow_each_other() -> None:
    documents = opened("one\n")
    documents.change(
        URI,
        2,
        [{"range": span(0, 3, 0, 3), "text": "\ntwo"}, {"range": span(1, 0, 1, 3), "text": "2"}],
    )
    assert shown(documents) == "one\n2\n"


def test_a_change_without_a_range_is_the_whole_text() -> None:
    documents = opened("one\n")
    documents.change(URI, 2, [{"text": "all\r\nnew"}])
    assert shown(documents) == "all\r\nnew"


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (span(0, 99, 0, 99), "oneX\n"),
        (span(9, 0, 9, 9), "one\nX"),
        (span(0, 1, 99, 99), "oX"),
        (span(0, 2, 0, 1), "onXe\n"),
    ],
)
def test_a_range_that_is_not_there_is_clamped(where: dict[str, Any], text: str) -> None:
    documents = opened("one\n")
    documents.change(URI, 2, [{"range": where, "text": "X"}])
    assert shown(documents) == text


@pytest.mark.parametrize("text", [None, 5, ["a"]])
def test_a_document_without_a_text_is_not_opened_and_what_was_open_stays(text: Any) -> None:
    documents = opened("one\n")
    for uri in (URI, "file:///other"):
        with pytest.raises(TypeError, match="malformed didOpen"):
            documents.open(uri, 1, text)
    assert documents.get("file:///other") is None
    assert shown(documents) == "one\n"


@pytest.mark.parametrize(
    "change",
    [{}, {"text": 1}, {"text": "x", "range": {"start": {}}}, {"text": "x", "range": 5}, "nonsense"],
)
def test_a_malformed_change_is_logged_and_left_out(
    change: Any, caplog: pytest.LogCaptureFixture
) -> None:
    documents = opened("one\n")
    with caplog.at_level(logging.ERROR):
        documents.change(URI, 2, [change])
    assert "malformed didChange" in caplog.text
    assert shown(documents) == "one\n"


def test_an_unknown_document_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    documents = Documents()
    documents.change(URI, 1, [{"text": "x"}])
    documents.close(URI)
    documents.save(URI)
    assert caplog.text.count("not open") == 2
    assert documents.get(URI) is None


def test_every_content_change_is_observed_with_both_texts() -> None:
    documents = opened("one\n")
    document = documents.get(URI)
    assert document is not None
    seen: list[ContentChange] = []
    with document.record(seen.append):
        documents.change(
            URI,
            2,
            [{"range": span(0, 0, 0, 0), "text": "a"}, {"range": span(0, 0, 0, 1), "text": ""}],
        )
        documents.open(URI, 0, "reloaded\n")
        documents.close(URI)
        documents.open(URI, 0, "again\n")
    assert [(c.before.content, c.text, c.after.content) for c in seen] == [
        ("one\n", "a", "aone\n"),
        ("aone\n", "", "one\n"),
        ("one\n", "reloaded\n", "reloaded\n"),
        ("reloaded\n", "again\n", "again\n"),
    ]
    assert documents.get(URI) is document
    assert document.seq == 5


@pytest.mark.asyncio
async def test_the_next_change_can_be_waited_for() -> None:
    documents = opened("one\n")
    document = documents.get(URI)
    assert document is not None
    with document.next_change() as changed:
        documents.change(URI, 2, [{"text": "x"}])
        with anyio.fail_after(1):
            await changed.wait()
    assert not document.observed


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("disk", "shown_text", "dirty"),
    [
        (b"a\nb\n", "a\nb\n", False),
        (b"a\nb\n", "a\nB\n", True),
        (b"a\r\nb\r\n", "a\nb\n", False),  # Emacs keeps line ends apart
        (b"a\r\nb\r\nc\n", "a\r\nb\r\nc\r\n", False),  # VS Code makes them alike
        (b"", "\n", False),  # Neovim
        (b"a\xff\n", "aÿ\n", False),  # an encoding that we do not know
        (None, "", True),
    ],
)
async def test_unsaved_text_is_known_by_the_disk_at_open_and_by_saves(
    tmp_path: Path, disk: bytes | None, shown_text: str, dirty: bool
) -> None:
    file = tmp_path / "a.txt"
    if disk is not None:
        file.write_bytes(disk)
    documents, uri = Documents(), path_to_uri(str(file))
    documents.open(uri, 1, shown_text)
    document = documents.get(uri)
    assert document is not None
    await document.compared()
    assert document.dirty is dirty
    documents.change(uri, 2, [{"text": shown_text + "more"}])
    assert document.dirty
    file.write_bytes((shown_text + "more").encode())
    documents.save(uri)
    assert not document.dirty
    await document.compared()
    assert not document.dirty


@pytest.mark.asyncio
async def test_what_is_typed_while_the_file_is_written_is_unsaved(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\n")
    documents, uri = Documents(), path_to_uri(str(file))
    documents.open(uri, 1, "one\n")
    document = documents.get(uri)
    assert document is not None
    await document.compared()
    documents.change(uri, 2, [{"text": "one more\n"}])
    documents.save(uri)
    await document.compared()
    assert document.dirty
    assert document.saved == Text.of("one\n")


@pytest.mark.asyncio
@pytest.mark.parametrize("pieces", [["one\nx\ntwo\n"], ["one\nx\n", "one\nx\ntwo\n"]])
async def test_what_a_reload_has_read_is_saved(tmp_path: Path, pieces: list[str]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one\n")
    uri = path_to_uri(str(path))
    documents = Documents()
    documents.open(uri, 1, "one\n")
    document = documents.get(uri)
    assert document is not None
    await document.compared()
    path.write_text("one\nx\ntwo\n")
    for version, text in enumerate(pieces, 2):
        documents.change(uri, version, [{"text": text}])
        await document.compared()
    assert not document.dirty
    assert document.has_read_since(path.stat().st_mtime - 1)
    documents.change(uri, 4, [{"text": "typed\n"}])
    await document.compared()
    assert document.saved == Text.of("one\nx\ntwo\n")


@pytest.mark.asyncio
async def test_a_document_has_the_encoding_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("\ufeffx\n".encode("utf-16-le"))
    documents, uri = Documents(), path_to_uri(str(tmp_path / "a"))
    documents.open(uri, 1, "x\n")
    document = documents.get(uri)
    assert document is not None
    await document.compared()
    assert not document.dirty
    assert (document.text.encoding, document.text.bom) == ("utf-16-le", True)


@pytest.mark.asyncio
async def test_a_document_is_found_by_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x")
    (tmp_path / "link").symlink_to("real")
    documents = Documents()
    real, link = (path_to_uri(str(tmp_path / name)) for name in ("real", "link"))
    documents.open(link, 1, "x")
    first = documents.get(link)
    assert first is not None
    await first.compared()
    documents.open(real, 1, "x")
    second = documents.get(real)
    assert second is not None
    await second.compared()
    assert documents.at(str(tmp_path / "real")) is second  # opened last
    documents.change(link, 2, [{"text": "unsaved"}])
    assert documents.at(str(tmp_path / "real")) is first
    documents.change(real, 2, [{"text": "unsaved as well"}])
    assert documents.at(str(tmp_path / "real")) is first
    documents.close(real)
    documents.close(link)
    assert documents.at(str(tmp_path / "real")) is None
    assert documents.all() == []


class CountedLines(list[str]):
    """Counts the lines that are read or written; a walk over all of them is an error."""

    touched = 0

    def __getitem__(self, place: Any) -> Any:
        return self._counted(place, super().__getitem__(place))

    def __setitem__(self, place: Any, value: Any) -> None:
        super().__setitem__(place, self._counted(place, value))

    def __iter__(self) -> NoReturn:
        raise AssertionError("all lines are walked over")

    def _counted(self, place: object, value: Any) -> Any:
        self.touched += len(value) if isinstance(place, slice) else 1
        return value


def test_a_key_in_a_long_document_touches_its_line_alone() -> None:
    documents = opened("a line\n" * 10_000)
    document = documents.get(URI)
    assert document is not None
    document.lines = lines = CountedLines(document.lines)
    for version in range(2, 12):
        documents.change(URI, version, [{"range": span(5_000, 1, 5_000, 1), "text": "x"}])
    assert lines[5_000] == "a" + 10 * "x" + " line\n"
    assert lines.touched < 200
