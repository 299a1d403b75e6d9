"""A file that is open in two documents, through a symlink: no text of either is ever lost."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from support.scripted_editor import Point, Policy, ScriptedEditor

from lsp_agent.text.edits import TextEdit
from lsp_agent.text.lines import Text
from lsp_agent.workspace.changing.file_host import FileHost, Origin, View
from lsp_agent.workspace.changing.several_documents import OpenTwice
from lsp_agent.workspace.disk.paths import from_ledger, path_to_uri
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Applied, EditorTraits
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.mirror.disk_change import Brought, Waits
from lsp_agent.workspace.mirror.mirror import Mirror
from lsp_agent.workspace.mirror.watcher import Known
from lsp_agent.workspace.placing.flight import Timings

ORIGIN = Origin("s1", "t1", "c1", "agent: edit real.txt")
QUICK = Timings(tick=0.01, align_within=0.03, align_wait=0.04, quiet=0.08, unknown=0.6)
TEXT = "one\ntwo\nthree\n"
SAVING = Policy("saves")
UNSAVING = Policy("does not save", traits=EditorTraits())


class Both:
    """An editor that keeps a text for each name of one file, and does not reload them."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "real.txt"
        self.file.write_text(TEXT)
        (folder / "link.txt").symlink_to("real.txt")
        self._names = {name: path_to_uri(str(folder / name)) for name in ("real.txt", "link.txt")}
        self.documents = Documents()
        self.editors: dict[str, ScriptedEditor] = {}
        self.ledger = Ledger(str(folder / "ledger"))
        reviews = Reviews(self.ledger)
        self.host = FileHost(self.documents, self, self.ledger, reviews, QUICK)
        waits = Waits(reload=0.05)
        self.mirror = Mirror(self.documents, self, self.host, self.ledger, reviews, waits)
        self.policy = SAVING

    async def open(
        self,
        name: str,
        text: str = TEXT,
        keys: Callable[[ScriptedEditor, Point, int], None] = lambda *_: None,
    ) -> ScriptedEditor:
        uri = self._names[name]
        self.editors[uri] = ScriptedEditor(
            self.documents, uri, text, self.policy, keys, self._write
        )
        await self.document(name).compared()
        return self.editors[uri]

    def document(self, name: str) -> OpenDocument:
        document = self.documents.get(self._names[name])
        assert document is not None
        return document

    def _write(self, text: str) -> None:
        self.file.write_text(text)

    async def upper(self, word: str) -> str:
        def resolve(view: View) -> Text:
            return Text.of(view.require_text().content.replace(word, word.upper()))

        path = from_ledger(str(self.file))
        placed = await self.host.replace(path, ORIGIN, resolve, review="after", save="clean")
        return placed.status

    async def on_disk(self, text: str) -> Brought:
        known, path = Known(), str(self.file)
        await self.mirror.look(known, [path], claim=lambda _: True)
        self.file.write_text(text)
        (change,) = await self.mirror.look(known, [path], claim=lambda _: True)
        return await self.mirror.take(change, ORIGIN)

    # The ``Editor`` port.

    @property
    def traits(self) -> EditorTraits:
        return self.policy.traits

    async def apply(
        self, uri: str, version: int | None, edits: Sequence[TextEdit], label: str
    ) -> Applied:
        return await self.editors[uri].apply(uri, version, edits, label)

    async def sync(self, uri: str) -> None:
        await self.editors[uri].sync(uri)

    async def save(self, uri: str, version: int | None = None, *, removes: bool = False) -> bool:
        return await self.editors[uri].save(uri, version, removes=removes)

    async def reload(self, uri: str) -> bool:
        return await self.editors[uri].reload(uri)


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Both]:
    both = Both(tmp_path)
    yield both
    both.ledger.close()


pytestmark = pytest.mark.asyncio


async def test_an_edit_of_two_clean_ones_is_in_both_and_on_disk(both: Both) -> None:
    first, second = await both.open("real.txt"), await both.open("link.txt")
    assert await both.upper("two") == "applied"
    assert first.buffer.text == second.buffer.text == both.file.read_text() == "one\nTWO\nthree\n"
    assert len(both.ledger.changes()) == 1


async def test_an_edit_that_the_editor_does_not_save_is_in_the_one_opened_last(both: Both) -> None:
    both.policy = UNSAVING
    first, second = await both.open("real.txt"), await both.open("link.txt")
    assert await both.upper("two") == "applied"
    assert await both.upper("three") == "applied"
    assert (first.buffer.text, both.file.read_text()) == (TEXT, TEXT)
    assert second.buffer.text == "one\nTWO\nTHREE\n"


async def test_an_edit_goes_into_the_one_with_unsaved_text(both: Both) -> None:
    first, second = await both.open("real.txt", f"{TEXT}typed\n"), await both.open("link.txt")
    assert await both.upper("two") == "applied"
    assert first.buffer.text == "one\nTWO\nthree\ntyped\n"
    assert (second.buffer.text, both.file.read_text()) == (TEXT, TEXT)


async def test_where_both_have_unsaved_text_neither_is_edited(both: Both) -> None:
    first, second = (
        await both.open("real.txt", f"{TEXT}a\n"),
        await both.open("link.txt", f"b{TEXT}"),
    )
    with pytest.raises(OpenTwice, match=r"^real.txt: it is open .*/real.txt, .*/link.txt"):
        await both.upper("two")
    assert (first.buffer.text, second.buffer.text) == (f"{TEXT}a\n", f"b{TEXT}")
    assert both.ledger.changes() == []


async def test_a_change_on_disk_is_in_both_and_recorded_once(both: Both) -> None:
    first, second = await both.open("real.txt"), await both.open("link.txt")
    brought = await both.on_disk("one\n2\nthree\n")
    assert brought.what == "merged"
    assert first.buffer.text == second.buffer.text == "one\n2\nthree\n"
    assert not both.document("real.txt").dirty
    assert not both.document("link.txt").dirty
    assert len(both.ledger.changes()) == 1


async def test_a_change_on_disk_is_merged_with_unsaved_text_beside_a_clean_one(both: Both) -> None:
    first, second = await both.open("real.txt", f"{TEXT}typed\n"), await both.open("link.txt")
    brought = await both.on_disk("one\n2\nthree\n")
    assert brought.what == "merged"
    assert first.buffer.text == "one\n2\nthree\ntyped\n"
    assert second.buffer.text == "one\n2\nthree\n"


async def test_a_change_on_disk_is_proposed_where_both_have_unsaved_text(both: Both) -> None:
    first, second = (
        await both.open("real.txt", f"{TEXT}a\n"),
        await both.open("link.txt", f"b{TEXT}"),
    )
    brought = await both.on_disk("one\n2\nthree\n")
    assert (brought.what, brought.reason[:10]) == ("proposed", "it is open")
    assert (first.buffer.text, second.buffer.text) == (f"{TEXT}a\n", f"b{TEXT}")
    assert [change.status for change in both.ledger.changes()] == ["proposed"]


async def test_what_is_typed_into_a_clean_one_that_follows_its_file_stays(both: Both) -> None:
    def keys(editor: ScriptedEditor, point: Point, send: int) -> None:
        if (point, send) == ("before apply", 1):
            editor.type(0, "typed ")

    first, second = await both.open("real.txt", keys=keys), await both.open("link.txt")
    await both.on_disk("one\n2\nthree\n")
    assert second.buffer.text == "one\n2\nthree\n"
    assert first.buffer.text == "typed one\n2\nthree\n"
