"""One host for files, open or not: the one way that each needs, recorded, proved, saved."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
import pytest_asyncio
from support.mirror_bench import eventually
from support.scripted_editor import KAKOUNE, POLICIES, REFUSAL, Point, Policy, ScriptedEditor

from lsp_agent.text.lines import Text
from lsp_agent.workspace.changing.file_host import FileHost, NotWanted, Origin, Placed, Save, View
from lsp_agent.workspace.disk.files import FileProblem, NotText
from lsp_agent.workspace.disk.paths import Confinement, SafePath, path_to_uri
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import EditorTraits
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.placing.flight import Timings

ORIGIN = Origin("s1", "t1", "c1", "agent: edit a.py")
QUICK = Timings(tick=0.01, align_within=0.03, align_wait=0.04, quiet=0.08, unknown=0.6, late=5.0)
PLAIN = Policy("plain")
TEXT = "one\ntwo\nthree\n"


class Bench:
    """A workspace folder with ``a.py`` in it, an editor that may open it, a host."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "w"
        self.root.mkdir()
        self.file = self.root / "a.py"
        self.file.write_bytes(TEXT.encode())
        self.uri = path_to_uri(str(self.file))
        self.documents = Documents()
        self.ledger = Ledger(str(folder / "ledger"))
        self.editor: ScriptedEditor | None = None
        self.host = FileHost(self.documents, _NoEditor(), self.ledger, Reviews(self.ledger), QUICK)

    async def open(
        self,
        text: str = TEXT,
        policy: Policy = PLAIN,
        keys: Callable[[ScriptedEditor, Point, int], None] = lambda *_: None,
    ) -> ScriptedEditor:
        self.editor = ScriptedEditor(
            self.documents, self.uri, text, policy, keys, self.write_as_the_editor
        )
        self.host = FileHost(self.documents, self.editor, self.ledger, Reviews(self.ledger), QUICK)
        document = self.documents.get(self.uri)
        assert document is not None
        await document.compared()
        return self.editor

    def write_as_the_editor(self, text: str) -> None:
        self.file.write_bytes(text.encode())

    def path(self, name: str = "a.py") -> SafePath:
        return Confinement([str(self.root)]).confine(name, str(self.root), write=True)

    async def replace(
        self,
        old: str,
        new: str,
        *,
        name: str = "a.py",
        review: str = "after",
        save: Save = "clean",
        still_wanted: Callable[[], bool] = lambda: True,
    ) -> Placed:
        def resolve(view: View) -> Text:
            content = view.require_text().content if view.exists else ""
            if old and content.count(old) != 1:
                raise LookupError(old)
            return Text.of(content.replace(old, new) if old else new, like=view.text)

        return await self.host.replace(
            self.path(name),
            ORIGIN,
            resolve,
            review=review,  # type: ignore[arg-type]
            save=save,
            still_wanted=still_wanted,
        )

    def disk(self, name: str = "a.py") -> str:
        return (self.root / name).read_bytes().decode()

    def statuses(self) -> list[str]:
        return [change.status for change in self.ledger.changes()]


class _NoEditor:
    """Nothing is open, so nothing may be asked of it."""

    traits = EditorTraits()

    async def apply(self, *_: object) -> None:
        raise AssertionError

    sync = save = reload = apply


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.ledger.close()


# Files that are not open.


@pytest.mark.asyncio
async def test_a_file_that_is_not_open_is_written_to_disk(bench: Bench) -> None:
    placed = await bench.replace("two", "2")
    assert (placed.status, bench.disk()) == ("applied", "one\n2\nthree\n")
    assert placed.change is not None
    assert (placed.change.before, placed.change.after) == (placed.before, placed.now)
    assert (placed.change.session_id, placed.change.turn_id, placed.change.tool_call_id) == (
        "s1",
        "t1",
        "c1",
    )


@pytest.mark.asyncio
async def test_a_new_file_is_made_with_its_folders(bench: Bench) -> None:
    placed = await bench.replace("", "new\n", name="sub/b.py")
    assert (placed.before, bench.disk("sub/b.py")) == (None, "new\n")
    assert placed.change is not None
    assert placed.change.before is None


@pytest.mark.asyncio
async def test_what_is_so_already_is_no_change(bench: Bench) -> None:
    placed = await bench.replace("two", "two")
    assert (placed.status, placed.change, bench.statuses()) == ("applied", None, [])
    await bench.open()
    placed = await bench.replace("two", "two")
    assert (placed.status, placed.change, bench.statuses()) == ("applied", None, [])


@pytest.mark.asyncio
async def test_a_refusal_of_the_caller_leaves_no_trace(bench: Bench) -> None:
    with pytest.raises(LookupError):
        await bench.replace("nowhere", "x")
    await bench.open()
    with pytest.raises(LookupError):
        await bench.replace("nowhere", "x")
    assert (bench.disk(), bench.statuses()) == (TEXT, [])


@pytest.mark.asyncio
async def test_a_change_on_disk_in_the_last_moment_is_taken_in(bench: Bench) -> None:
    asked = 0

    def still_wanted() -> bool:
        nonlocal asked
        asked += 1
        if asked == 2:
            bench.file.write_text(TEXT + "theirs\n")
        return True

    await bench.replace("two", "2", still_wanted=still_wanted)
    assert bench.disk() == "one\n2\nthree\ntheirs\n"
    assert [c.before for c in bench.ledger.changes()] == [Text.of(TEXT + "theirs\n")]


@pytest.mark.asyncio
async def test_a_file_that_is_opened_in_the_middle_is_edited_in_the_editor(bench: Bench) -> None:
    editor = await bench.open()
    bench.documents.close(bench.uri)
    asked = 0

    def still_wanted() -> bool:
        nonlocal asked
        asked += 1
        if asked == 2:  # in the writing thread, after the first look at the disk
            bench.documents.open(bench.uri, 1, TEXT)
        return True

    placed = await bench.replace("two", "2", still_wanted=still_wanted, save="never")
    assert (placed.status, editor.buffer.text, bench.disk()) == ("applied", "one\n2\nthree\n", TEXT)
    assert bench.statuses() == ["applied"]


@pytest.mark.asyncio
async def test_a_stopped_turn_changes_nothing(bench: Bench) -> None:
    for _ in range(2):
        with pytest.raises(NotWanted):
            await bench.replace("two", "2", still_wanted=lambda: False)
        await bench.open()
    assert (bench.disk(), bench.statuses()) == (TEXT, [])
    assert bench.editor is not None
    assert bench.editor.sends == 0


@pytest.mark.asyncio
async def test_a_failed_write_leaves_no_change_behind(bench: Bench) -> None:
    bench.file.chmod(0o444)
    with pytest.raises(FileProblem):
        await bench.replace("two", "2")
    assert bench.statuses() == []


@pytest.mark.asyncio
async def test_nothing_is_changed_that_cannot_be_recorded(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("lsp_agent.workspace.ledger.journal.os.write", full)
    with pytest.raises(LedgerFailed):
        await bench.replace("two", "2")
    editor = await bench.open()
    with pytest.raises(LedgerFailed):
        await bench.replace("two", "2")
    assert (bench.disk(), editor.sends) == (TEXT, 0)


# Views.


@pytest.mark.asyncio
async def test_the_editors_text_goes_before_the_disks(bench: Bench) -> None:
    closed = await bench.host.view(bench.path(), "s1")
    assert (closed.text, closed.data, closed.open) == (Text.of(TEXT), TEXT.encode(), False)
    await bench.open("unsaved\n")
    view = await bench.host.view(bench.path(), "s1")
    assert (view.text, view.data, view.open, view.dirty) == (Text.of("unsaved\n"), None, True, True)


@pytest.mark.asyncio
async def test_a_missing_a_binary_and_a_folder_view_differ(bench: Bench) -> None:
    missing = await bench.host.view(bench.path("none"), None)
    assert not missing.exists
    with pytest.raises(FileProblem):
        missing.require_text()
    (bench.root / "b").write_bytes(b"\0\1")
    binary = await bench.host.view(bench.path("b"), None)
    assert (binary.exists, binary.data) == (True, b"\0\1")
    with pytest.raises(NotText):
        binary.require_text()
    with pytest.raises(FileProblem) as refused:
        await bench.host.view(SafePath(str(bench.root), "."), None)
    assert refused.value.kind == "directory"


# Open documents, and saving.


@pytest.mark.asyncio
async def test_an_open_clean_document_is_edited_and_saved_by_the_editor(bench: Bench) -> None:
    editor = await bench.open()
    placed = await bench.replace("two", "2")
    assert (placed.status, placed.note) == ("applied", None)
    assert editor.buffer.text == bench.disk() == "one\n2\nthree\n"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("save", "dirty", "can_save", "saved", "note"),
    [
        ("clean", True, True, False, "unsaved text"),
        ("always", True, True, True, None),
        ("never", False, True, False, None),
        ("clean", False, False, False, "by hand"),
    ],
)
async def test_saving_follows_the_setting(
    bench: Bench, save: Save, dirty: bool, can_save: bool, saved: bool, note: str | None
) -> None:
    policy = Policy("plain", traits=EditorTraits(can_save=can_save))
    editor = await bench.open(TEXT + "unsaved\n" if dirty else TEXT, policy)
    placed = await bench.replace("two", "2", save=save)
    assert editor.buffer.text.startswith("one\n2\n")
    assert (bench.disk() == editor.buffer.text) is saved
    assert (note in (placed.note or "")) if note else placed.note is None


@pytest.mark.asyncio
@pytest.mark.parametrize("point", ["before apply", "same didChange", "unanswered", "before save"])
async def test_what_is_typed_before_the_save_is_not_written_to_disk(
    bench: Bench, point: Point
) -> None:
    def keys(editor: ScriptedEditor, at: Point, _: int) -> None:
        if at == point and "«" not in editor.buffer.text:
            editor.type(0, "«")

    editor = await bench.open(TEXT, POLICIES[0], keys)
    placed = await bench.replace("two", "2")
    await editor.settle()
    assert editor.buffer.text == "«one\n2\nthree\n"
    assert (placed.status, bench.disk()) == ("applied", TEXT)
    assert (placed.note or "").startswith("not saved: ")


@pytest.mark.asyncio
@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
async def test_keys_during_the_save_are_kept(bench: Bench, policy: Policy) -> None:
    counts: Counter[str] = Counter()

    def keys(editor: ScriptedEditor, point: Point, _: int) -> None:
        if point == "during save":
            editor.type(0, f"«{editor.buffer.version}😀»")
            counts["typed"] += 1

    quick = Policy(**{**vars(policy), "debounce": policy.debounce / 10})
    editor = await bench.open(TEXT, quick, keys)
    for old, new in (("two", "2"), ("three", "3")):
        placed = await bench.replace(old, new, save="always")
        counts[placed.status] += 1
        await anyio.sleep(0.1)
    await editor.settle()
    document = bench.documents.get(bench.uri)
    assert document is not None
    print(f"{policy.name:36} during save      {dict(counts)}")
    assert document.text.content == editor.buffer.text
    assert editor.buffer.text.count("«") == counts["typed"] == counts["applied"] == 2
    assert editor.buffer.text.endswith("one\n2\n3\n")


@pytest.mark.asyncio
async def test_an_unproved_edit_is_unknown_and_applied_when_it_comes_late(bench: Bench) -> None:
    editor = await bench.open(TEXT, Policy("mute", lie="late", late=1.0))
    heard: list[str] = []
    bench.ledger.subscribe(lambda change: heard.append(change.status))
    placed = await bench.replace("two", "2")
    assert placed.status == "unknown"
    assert await eventually(lambda: heard == ["unknown", "applied"])
    assert editor.buffer.text == "one\n2\nthree\n"


@pytest.mark.asyncio
async def test_a_refused_edit_is_a_conflict_that_can_be_applied(bench: Bench) -> None:
    editor = await bench.open(TEXT, Policy("refuses", lie="refuses"))
    placed = await bench.replace("two", "2")
    assert (placed.status, placed.refused, placed.note) == (
        "conflict",
        True,
        f"the editor refused the edit: {REFUSAL}",
    )
    assert placed.change is not None
    again = await bench.host.accept(placed.change.id)
    assert (again.status, again.refused, editor.buffer.text) == ("conflict", True, TEXT)
    assert bench.statuses() == ["conflict"]
    await bench.open()
    accepted = await bench.host.accept(placed.change.id)
    assert (accepted.status, bench.statuses()) == ("applied", ["applied"])


@pytest.mark.asyncio
@pytest.mark.parametrize("review", ["after", "before"])
async def test_a_refused_edit_that_comes_all_the_same_is_applied(bench: Bench, review: str) -> None:
    editor = await bench.open(TEXT, Policy("refuses", lie="refuses"))
    placed = await bench.replace("two", "2", review=review)
    if review == "before":
        assert placed.change is not None
        placed = await bench.host.accept(placed.change.id)
    assert placed.refused
    at = editor.buffer.text.index("two")
    editor.buffer.replace(at, at + 3, "2")
    editor.flush()
    assert await eventually(lambda: bench.statuses() == ["applied"])


@pytest.mark.asyncio
async def test_a_call_that_is_cancelled_in_flight_leaves_an_unknown_change(bench: Bench) -> None:
    await bench.open(TEXT, Policy("mute", lie="late", late=0.3))
    with anyio.move_on_after(0.1):
        await bench.replace("two", "2")
    assert bench.statuses() == ["unknown"]
    assert await eventually(lambda: bench.statuses() == ["applied"])


@pytest.mark.asyncio
async def test_calls_for_one_path_go_one_after_the_other(bench: Bench) -> None:
    editor = await bench.open()
    async with anyio.create_task_group() as tasks:
        for old, new in (("one", "1"), ("two", "2"), ("three", "3")):
            tasks.start_soon(bench.replace, old, new)
    assert editor.buffer.text == bench.disk() == "1\n2\n3\n"
    assert editor.most_in_flight == 1
    assert bench.statuses() == ["applied"] * 3


@pytest.mark.asyncio
async def test_a_document_closed_before_the_answer_is_made_sure_of_on_disk(bench: Bench) -> None:
    def keys(editor: ScriptedEditor, point: Point, _: int) -> None:
        if point == "before apply":  # closed: the edit has nowhere to go
            editor.documents.close(editor.uri)

    await bench.open(TEXT, Policy("closing", lie="true, not done"), keys)
    placed = await bench.replace("two", "2")
    assert (placed.status, bench.disk()) == ("applied", "one\n2\nthree\n")
    assert bench.statuses() == ["applied"]


@pytest.mark.asyncio
async def test_an_edit_that_was_saved_before_the_close_is_not_made_twice(bench: Bench) -> None:
    def keys(editor: ScriptedEditor, point: Point, _: int) -> None:
        if point == "same didChange":
            bench.write_as_the_editor(editor.buffer.text)
            editor.buffer.pending.clear()
            editor.documents.close(editor.uri)

    await bench.open(TEXT, PLAIN, keys)
    placed = await bench.replace("two", "two two")
    assert (placed.status, bench.disk()) == ("applied", "one\ntwo two\nthree\n")
    assert bench.statuses() == ["applied"]


@pytest.mark.asyncio
async def test_a_reload_in_the_middle_is_one_more_state(bench: Bench) -> None:
    def keys(editor: ScriptedEditor, point: Point, send: int) -> None:
        if point == "before apply" and send == 1:  # as Neovim's :checktime does
            editor.documents.close(editor.uri)
            editor.buffer.text = editor.buffer.sent_text = "zero\n" + TEXT
            editor.buffer.version = 7
            editor.documents.open(editor.uri, 7, editor.buffer.text)

    editor = await bench.open(TEXT, PLAIN, keys)
    placed = await bench.replace("two", "2", save="never")
    assert (placed.status, editor.buffer.text) == ("applied", "zero\none\n2\nthree\n")


@pytest.mark.asyncio
async def test_an_edit_between_the_close_and_the_open_of_a_reload_is_in_the_editor(bench: Bench):
    editor = await bench.open(TEXT, PLAIN)
    editor.documents.close(editor.uri)  # as Neovim does when it has read the file
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(bench.replace, "two", "2", save="never"))
        await anyio.sleep(0.02)
        editor.documents.open(editor.uri, 7, editor.buffer.text)
        editor.buffer.version = 7
    assert editor.buffer.text == "one\n2\nthree\n"
    assert bench.disk() == TEXT
    assert bench.statuses() == ["applied"]


@pytest.mark.asyncio
async def test_an_edit_right_after_a_close_is_on_disk(bench: Bench):
    editor = await bench.open(TEXT, PLAIN)
    editor.documents.close(editor.uri)
    placed = await bench.replace("two", "2", save="never")
    assert (placed.status, bench.disk()) == ("applied", "one\n2\nthree\n")


@pytest.mark.asyncio
async def test_an_edit_of_a_file_that_an_editor_has_read_and_not_yet_opened_comes_into_it(
    bench: Bench,
):
    editor = await bench.open(TEXT, PLAIN)
    editor.documents.close(editor.uri)
    caretaker = asyncio.create_task(bench.host.put_right_late())
    try:
        await bench.replace("two", "2", save="never")
        editor.buffer.version = 7
        editor.documents.open(editor.uri, 7, TEXT)
        document = bench.documents.get(editor.uri)
        assert document is not None
        with document.next_change() as changed, anyio.fail_after(5):
            await changed.wait()
    finally:
        caretaker.cancel()
    assert editor.buffer.text == bench.disk() == "one\n2\nthree\n"
    assert bench.statuses() == ["applied"]


# Review.


@pytest.mark.asyncio
async def test_without_review_a_change_is_kept_at_once(bench: Bench) -> None:
    placed = await bench.replace("two", "2", review="off")
    assert placed.status == "applied"
    assert bench.statuses() == ["kept"]


@pytest.mark.asyncio
@pytest.mark.parametrize("is_open", [False, True])
async def test_a_proposal_changes_nothing_and_its_session_sees_it(
    bench: Bench, is_open: bool
) -> None:
    if is_open:
        await bench.open()
    placed = await bench.replace("two", "2", review="before")
    assert (placed.status, bench.disk()) == ("proposed", TEXT)
    mine = await bench.host.view(bench.path(), "s1")
    others = await bench.host.view(bench.path(), "s2")
    assert (mine.text, others.text) == (Text.of("one\n2\nthree\n"), Text.of(TEXT))
    assert mine.data == (None if is_open else b"one\n2\nthree\n")
    second = await bench.replace("2", "2 and a half", review="before")
    assert second.before == mine.text


@pytest.mark.asyncio
@pytest.mark.parametrize("is_open", [False, True])
async def test_an_accepted_proposal_is_merged_into_the_text_as_it_is_now(
    bench: Bench, is_open: bool
) -> None:
    placed = await bench.replace("two", "2", review="before")
    assert placed.change is not None
    now = TEXT.replace("three", "three, typed since")
    if is_open:
        await bench.open(now)
    else:
        bench.write_as_the_editor(now)
    accepted = await bench.host.accept(placed.change.id, save="always")
    assert (accepted.status, bench.disk()) == ("applied", now.replace("two", "2"))
    assert bench.statuses() == ["applied"]
    again = await bench.host.accept(placed.change.id)
    assert (again.status, bench.disk()) == ("applied", now.replace("two", "2"))


@pytest.mark.asyncio
@pytest.mark.parametrize("is_open", [False, True])
async def test_a_proposal_that_no_longer_fits_is_a_conflict_and_stays(
    bench: Bench, is_open: bool
) -> None:
    placed = await bench.replace("two", "2", review="before")
    assert placed.change is not None
    now = TEXT.replace("two", "zwei")
    bench.write_as_the_editor(now)
    if is_open:
        await bench.open(now)
    accepted = await bench.host.accept(placed.change.id)
    assert (accepted.status, bench.disk(), bench.statuses()) == ("conflict", now, ["proposed"])


@pytest.mark.asyncio
@pytest.mark.parametrize("is_open", [False, True])
async def test_a_change_is_taken_out_and_later_work_stays(bench: Bench, is_open: bool) -> None:
    if is_open:
        await bench.open()
    first = await bench.replace("two", "2")
    await bench.replace("three", "3")
    assert first.change is not None
    out = await bench.host.take_out(first.change.id, save="always")
    assert (out.status, bench.disk()) == ("rejected", "one\ntwo\n3\n")
    assert bench.statuses() == ["rejected", "applied"]
    again = await bench.host.take_out(first.change.id)
    assert (again.status, bench.disk()) == ("rejected", "one\ntwo\n3\n")


@pytest.mark.asyncio
async def test_what_later_work_touches_is_not_taken_out(bench: Bench) -> None:
    first = await bench.replace("two", "2")
    await bench.replace("2", "2, typed over")
    assert first.change is not None
    out = await bench.host.take_out(first.change.id)
    assert (out.status, bench.statuses()) == ("conflict", ["applied", "applied"])
    assert bench.disk() == "one\n2, typed over\nthree\n"


@pytest.mark.asyncio
async def test_taking_out_a_new_file_deletes_it_unless_more_was_put_there(bench: Bench) -> None:
    first = await bench.replace("", "new\n", name="b")
    second = await bench.replace("", "new\n", name="c")
    assert first.change is not None
    assert second.change is not None
    (bench.root / "c").write_text("new\nmore\n")
    out = await bench.host.take_out(first.change.id)
    assert (out.status, out.now, (bench.root / "b").exists()) == ("rejected", None, False)
    out = await bench.host.take_out(second.change.id)
    assert (out.status, bench.disk("c")) == ("conflict", "new\nmore\n")


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["readOnly", "hardLink"])
async def test_what_cannot_be_written_is_not_proposed_unless_it_is_open(
    bench: Bench, kind: str
) -> None:
    early = await bench.replace("three", "3", review="before")
    assert early.change is not None
    if kind == "readOnly":
        bench.file.chmod(0o444)
    else:
        (bench.root / "b").hardlink_to(bench.file)
    with pytest.raises(FileProblem) as refused:
        await bench.replace("two", "2", review="before")
    with pytest.raises(FileProblem) as refused_later:
        await bench.host.accept(early.change.id)
    assert (refused.value.kind, refused_later.value.kind) == (kind, kind)
    assert (bench.statuses(), bench.disk()) == (["proposed"], TEXT)
    await bench.open()
    assert (await bench.replace("two", "2", review="before")).status == "proposed"


@pytest.mark.asyncio
async def test_a_rejected_proposal_changes_nothing(bench: Bench) -> None:
    placed = await bench.replace("two", "2", review="before")
    assert placed.change is not None
    out = await bench.host.take_out(placed.change.id)
    assert (out.status, bench.statuses(), bench.disk()) == ("rejected", ["rejected"], TEXT)
    with pytest.raises(KeyError):
        await bench.host.accept("unknown")


@pytest.mark.asyncio
async def test_a_port_that_fails_leaves_an_unknown_change(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = await bench.open()

    async def broken(*_: object) -> None:
        raise ConnectionError("gone")

    monkeypatch.setattr(editor, "apply", broken)
    with pytest.raises(ConnectionError):
        await bench.replace("two", "2")
    assert bench.statuses() == ["unknown"]


@pytest.mark.asyncio
@pytest.mark.parametrize("wanted", [True, False])
async def test_an_edit_that_goes_astray_long_after_it_was_sent_is_put_right(
    bench: Bench, wanted: bool
) -> None:
    stopped = False
    eglot = next(policy for policy in POLICIES if policy.name == "eglot")

    def keys(editor: ScriptedEditor, point: Point, send: int) -> None:
        if (point, send) == ("before apply", 1):
            editor.type(0, "typed\n")  # not sent, so that the edit lands a line off

    editor = await bench.open(policy=eglot, keys=keys)
    caretaker = asyncio.create_task(bench.host.put_right_late())
    try:
        placing = asyncio.create_task(
            bench.replace("two", "2", save="never", still_wanted=lambda: not stopped)
        )
        for n in range(6):  # without a pause, so that nothing is sent
            await anyio.sleep(0.2)
            editor.type(len(editor.buffer.text), f"key {n}\n")
            stopped = not wanted
        placed = await placing
        stopped = True  # the turn has ended
        assert placed.status == "unknown"
        keys_typed = "".join(f"key {n}\n" for n in range(6))
        right = f"typed\none\n{'2' if wanted else 'two'}\nthree\n{keys_typed}"
        await anyio.sleep(3)
        assert editor.buffer.text == right
        assert bench.statuses() == ["applied" if wanted else "unknown"]
    finally:
        caretaker.cancel()


class LateKakoune(ScriptedEditor):
    """Answers an edit at once, tells of a line that was typed above it, and then makes the edit."""

    def _process(self, version: int | None, wire: list[dict[str, Any]], send: int) -> bool | None:
        if send != 1:
            return super()._process(version, wire, send)
        asyncio.get_running_loop().call_later(0.01, self._type_above)
        asyncio.get_running_loop().call_later(0.012, self._apply, wire, send)
        return True

    def _type_above(self) -> None:
        self.buffer.type(0, "typed\n")
        self.flush()


@pytest.mark.asyncio
async def test_an_edit_that_goes_astray_before_it_is_sent_again_is_put_right(bench: Bench) -> None:
    editor = LateKakoune(bench.documents, bench.uri, TEXT, KAKOUNE)
    bench.host = FileHost(bench.documents, editor, bench.ledger, Reviews(bench.ledger), QUICK)
    placed = await bench.replace("two", "two and more words", save="never")
    await editor.settle()
    assert editor.buffer.text == "typed\none\ntwo and more words\nthree\n"
    assert (placed.status, bench.statuses()) == ("applied", ["applied"])
