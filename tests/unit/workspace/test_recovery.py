"""After a restart: what of an earlier run's changes is in the files, and what is lost."""

from itertools import pairwise
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.restarts import BOTH, LINES, TWO, a_run

from lsp_agent.text.lines import Text
from lsp_agent.text.presence import present, taken_out
from lsp_agent.workspace import recovery as recovery_module
from lsp_agent.workspace.ledger.records import ChangeStatus


@pytest.fixture(autouse=True)
def _no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery_module, "GRACE_SECONDS", 0)


@pytest.mark.asyncio
@pytest.mark.parametrize("disk", [LINES, TWO, TWO + "more\n"])
async def test_an_edit_that_was_under_way_is_in_or_lost(tmp_path: Path, disk: str) -> None:
    async with a_run(tmp_path) as run:
        await run.change(LINES, TWO, "pending")
        run.file.write_text(disk)
    async with a_run(tmp_path) as run:
        await run.judge()
        if disk == LINES:
            assert run.statuses() == ["lost"]
            assert "1 change of the agent's" in run.said[0]
            assert "a.txt" in run.said[0]
        else:
            assert (run.statuses(), run.said) == (["applied"], [])
            assert run.marks(disk) == ["TWO\n"]


@pytest.mark.asyncio
async def test_marks_are_back_though_no_review_was_written_down(tmp_path: Path) -> None:
    async with a_run(tmp_path) as run:
        await run.change(LINES, TWO, "applied", on_disk=True)
        run.file.write_text(TWO)
    async with a_run(tmp_path) as run:
        await run.judge()
        assert run.statuses() == ["applied"]
        assert run.marks(TWO) == ["TWO\n"]


@pytest.mark.asyncio
async def test_marks_that_were_written_down_are_there_once(tmp_path: Path) -> None:
    async with a_run(tmp_path) as run:
        await run.change(LINES, TWO, "applied", on_disk=True)
        assert run.marks(TWO) == ["TWO\n"]
        run.file.write_text(TWO)
    async with a_run(tmp_path) as run:
        await run.judge()
        assert run.marks(TWO) == ["TWO\n"]
        assert run.statuses() == ["applied"]


@pytest.mark.asyncio
@pytest.mark.parametrize("status", ["applied", "kept"])
@pytest.mark.parametrize("reviewed", [True, False])
async def test_what_only_a_dead_buffer_had_is_lost_and_found_in_one_that_comes_back(
    tmp_path: Path, status: ChangeStatus, *, reviewed: bool
) -> None:
    async with a_run(tmp_path) as run:
        run.file.write_text(LINES)
        await run.change(LINES, TWO, "applied")
        if reviewed:
            assert run.marks(TWO) == ["TWO\n"]
        if status == "kept":
            run.ledger.set_status(run.ledger.changes()[0].id, "kept")
    async with a_run(tmp_path) as run:
        await run.judge()
        assert run.statuses() == ["lost"]
        assert len(run.said) == 1
        await run.open(TWO)
        assert run.statuses() == [status]
        assert run.marks(TWO) == (["TWO\n"] if status == "applied" else [])


@pytest.mark.asyncio
async def test_a_document_that_opens_in_time_is_what_counts(tmp_path: Path) -> None:
    async with a_run(tmp_path) as run:
        run.file.write_text(LINES)
        await run.change(LINES, TWO, "applied")
        await run.change(TWO, BOTH, "pending")
    async with a_run(tmp_path) as run:
        await run.open("typed\n" + BOTH)
        await run.judge()
        assert (run.statuses(), run.said) == (["applied", "applied"], [])
        assert run.marks("typed\n" + BOTH) == ["TWO\n", "FOUR\n"]


@pytest.mark.asyncio
async def test_marks_that_come_back_leave_those_of_others_as_they_are(tmp_path: Path) -> None:
    """The first was on its way, the second is in the review that was written down."""
    async with a_run(tmp_path) as run:
        await run.change(LINES, TWO, "pending")
        later = await run.change(LINES, LINES.replace("four", "FOUR"), "applied")
        run.marks(LINES.replace("four", "FOUR"))
        run.file.write_text(BOTH)
    async with a_run(tmp_path) as run:
        await run.judge()
        assert run.statuses() == ["applied", "applied"]
        assert run.marks(BOTH) == ["TWO\n", "FOUR\n"]
        await run.host.undo(str(run.file), [(later, 0)])
        assert run.file.read_text() == TWO
    async with a_run(tmp_path) as run:
        assert run.marks(TWO) == ["TWO\n"]


@pytest.mark.asyncio
async def test_changes_of_the_same_lines_are_told_apart(tmp_path: Path) -> None:
    """The first was saved, the second died with the buffer; or both came back."""
    second = TWO.replace("TWO", "2")
    for shown, expected in ((TWO, ["applied", "lost"]), (second, ["applied", "applied"])):
        folder = tmp_path / expected[1]
        folder.mkdir()
        async with a_run(folder) as run:
            await run.change(LINES, TWO, "applied")
            await run.change(TWO, second, "applied")
        async with a_run(folder) as run:
            run.file.write_text(shown)
            await run.judge()
            assert run.statuses() == expected


@pytest.mark.asyncio
@pytest.mark.parametrize("reviewed", [True, False])
async def test_a_line_that_a_lost_change_had_taken_out_is_not_one_that_put_it_back(
    tmp_path: Path, *, reviewed: bool
) -> None:
    """A buffer was closed unsaved: what the disk has is from before both."""
    other = LINES.replace("two\nthree\n", "2\nthree\n")
    gone = LINES.replace("two\nthree\n", "")
    back = LINES.replace("two\nthree\n", "three\n")
    async with a_run(tmp_path) as run:
        run.file.write_text(LINES)
        for before, after in pairwise((LINES, other, gone, back)):
            await run.change(before, after, "applied")
            if reviewed:
                run.marks(after)
    async with a_run(tmp_path) as run:
        await run.judge()
        assert run.statuses()[2] == "lost"
        assert run.marks(LINES) == []


@pytest.mark.asyncio
@pytest.mark.parametrize("reviewed", [True, False])
async def test_a_lost_change_that_the_agent_has_made_again_stays_lost(
    tmp_path: Path, *, reviewed: bool
) -> None:
    mine = "mine\n"
    async with a_run(tmp_path) as run:
        await run.change(mine + LINES, mine + BOTH, "applied")
        run.file.write_text(LINES)
    async with a_run(tmp_path) as run:
        await run.open(LINES)
        assert run.statuses() == ["lost"]
        await run.change(LINES, BOTH, "applied", on_disk=True)
        if reviewed:
            assert run.marks(BOTH) == ["TWO\n", "FOUR\n"]
    async with a_run(tmp_path) as run:
        await run.open(BOTH)
        assert run.statuses() == ["lost", "applied"]
        assert run.marks(BOTH) == ["TWO\n", "FOUR\n"]


@pytest.mark.asyncio
async def test_a_save_is_noted_and_what_was_typed_meanwhile_does_not_matter(
    tmp_path: Path,
) -> None:
    async with a_run(tmp_path) as run:
        run.file.write_text(LINES)
        await run.change(LINES, TWO, "applied")
        await run.change(TWO, BOTH, "applied")
        await run.save("typed while saving\n" + BOTH, disk=TWO)
        assert [change.on_disk for change in run.ledger.changes()] == [True, False]
        await run.save("typed while saving\n" + BOTH)
        assert [change.on_disk for change in run.ledger.changes()] == [True, True]


@pytest.mark.asyncio
async def test_where_one_hunk_was_changed_by_others_the_rest_is_open(tmp_path: Path) -> None:
    async with a_run(tmp_path) as run:
        await run.change(LINES, BOTH, "applied", on_disk=True)
    async with a_run(tmp_path) as run:
        now = BOTH.replace("FOUR", "mine")
        run.file.write_text(now)
        await run.judge()
        assert (run.statuses(), run.said) == (["applied"], [])
        assert run.marks(now) == ["TWO\n"]


@pytest.mark.asyncio
async def test_what_was_on_disk_and_then_changed_by_others_is_not_offered(tmp_path: Path) -> None:
    async with a_run(tmp_path) as run:
        await run.change(LINES, TWO, "applied", on_disk=True)
        await run.change(TWO, BOTH, "kept", on_disk=True)
    async with a_run(tmp_path) as run:
        run.file.write_text(LINES)
        await run.judge()
        assert (run.statuses(), run.said) == (["superseded", "kept"], [])


@pytest.mark.asyncio
@pytest.mark.parametrize("status", ["rejected", "applied"])  # killed before that was written down
async def test_an_undo_that_was_never_saved_is_undone_by_the_crash(
    tmp_path: Path, status: ChangeStatus
) -> None:
    async with a_run(tmp_path) as run:
        change_id = await run.change(LINES, TWO, status, on_disk=True)
        run.ledger.decide(change_id, {0: "rejected"})
    async with a_run(tmp_path) as run:
        run.file.write_text(TWO)
        await run.judge()
        assert run.statuses() == ["applied"]
        assert run.ledger.changes()[0].decided == {0: "applied"}
        assert run.marks(TWO) == ["TWO\n"]


@pytest.mark.asyncio
@pytest.mark.parametrize("other", ["applied", "kept"])
async def test_a_hunk_whose_undo_was_never_saved_is_open_again(tmp_path: Path, other: str) -> None:
    async with a_run(tmp_path) as run:
        change_id = await run.change(LINES, BOTH, "applied", on_disk=True)
        path, out = str(run.file), LINES.replace("four", "FOUR")
        assert run.marks(BOTH) == ["TWO\n", "FOUR\n"]
        run.reviews.undone(path, Text.of(BOTH), Text.of(out), [(change_id, 0)])
        if other == "kept":
            run.reviews.keep(path, Text.of(out), [(change_id, 1)])
        assert run.statuses() == [other]
    async with a_run(tmp_path) as run:
        run.file.write_text(BOTH)
        await run.judge()
        assert run.statuses() == ["applied"]
        assert run.ledger.changes()[0].decided[0] == "applied"
        assert run.marks(BOTH) == (["TWO\n", "FOUR\n"] if other == "applied" else ["TWO\n"])


@pytest.mark.asyncio
async def test_hunks_beside_it_stay_as_they_are(tmp_path: Path) -> None:
    before, after = LINES.replace("five", "4.5\nfive"), BOTH.replace("five", "4.5\nFIVE")
    async with a_run(tmp_path) as run:
        change_id = await run.change(before, after, "applied", on_disk=True)
        path, out = str(run.file), after.replace("TWO", "two")
        assert run.marks(after) == ["TWO\n", "FOUR\n", "FIVE\n"]
        run.reviews.undone(path, Text.of(after), Text.of(out), [(change_id, 0)])
        run.reviews.keep(path, Text.of(out), [(change_id, 1)])
    async with a_run(tmp_path) as run:
        disk = after.replace("FOUR", "something else")
        run.file.write_text(disk)
        await run.judge()
        assert run.statuses() == ["applied"]
        assert run.marks(disk) == ["TWO\n", "FIVE\n"]


@pytest.mark.asyncio
async def test_a_declined_hunk_that_the_person_wrote_all_the_same_decides_no_others(
    tmp_path: Path,
) -> None:
    async with a_run(tmp_path) as run:
        change_id = await run.change(LINES, BOTH, "proposed")
        run.ledger.decide(change_id, {0: "rejected"})
    async with a_run(tmp_path) as run:
        run.file.write_text(TWO)
        await run.judge()
        assert run.statuses() == ["proposed"]


@pytest.mark.asyncio
async def test_a_hunk_whose_undo_was_saved_stays_out(tmp_path: Path) -> None:
    async with a_run(tmp_path) as run:
        change_id = await run.change(LINES, BOTH, "applied", on_disk=True)
        out = LINES.replace("four", "FOUR")
        assert run.marks(BOTH) == ["TWO\n", "FOUR\n"]
        run.reviews.undone(str(run.file), Text.of(BOTH), Text.of(out), [(change_id, 0)])
    async with a_run(tmp_path) as run:
        run.file.write_text(out)
        await run.judge()
        assert run.ledger.changes()[0].decided == {0: "rejected"}
        assert run.marks(out) == ["FOUR\n"]


@pytest.mark.asyncio
async def test_what_was_kept_beside_it_stays_kept_though_it_is_changed_later(
    tmp_path: Path,
) -> None:
    async with a_run(tmp_path) as run:
        change_id = await run.change(LINES, BOTH, "applied", on_disk=True)
        path, out = str(run.file), LINES.replace("four", "FOUR")
        assert run.marks(BOTH) == ["TWO\n", "FOUR\n"]
        run.reviews.undone(path, Text.of(BOTH), Text.of(out), [(change_id, 0)])
        run.reviews.keep(path, Text.of(out), [(change_id, 1)])
    async with a_run(tmp_path) as run:
        run.file.write_text("something else\n")
        await run.judge()
        assert (run.statuses(), run.said) == (["kept"], [])


@pytest.mark.asyncio
async def test_created_and_deleted_files_are_told_by_their_being_there(tmp_path: Path) -> None:
    for before, after in ((None, TWO), (TWO, None)):
        for done in (True, False):
            folder = tmp_path / f"{before is None}{done}"
            folder.mkdir()
            async with a_run(folder) as run:
                await run.change(before, after, "pending")
                there = after if done else before
                if there is not None:
                    run.file.write_text(there)
            async with a_run(folder) as run:
                await run.judge()
                assert run.statuses() == ["applied" if done else "lost"]


@pytest.mark.asyncio
async def test_a_lost_change_is_applied_by_the_host(tmp_path: Path) -> None:
    for reviewed in (True, False):
        folder = tmp_path / str(reviewed)
        folder.mkdir()
        async with a_run(folder) as run:
            run.file.write_text(LINES)
            change_id = await run.change(LINES, TWO, "applied")
            if reviewed:
                run.marks(TWO)
        async with a_run(folder) as run:
            run.file.write_text("more\n" + LINES)
            await run.judge()
            assert run.statuses() == ["lost"]
            placed = await run.host.accept(change_id)
            assert placed.status == "applied"
            assert run.file.read_text() == "more\n" + TWO
            assert run.statuses() == ["applied"]
            assert run.marks("more\n" + TWO) == ["TWO\n"]


@pytest.mark.asyncio
async def test_a_file_that_cannot_be_read_leaves_the_ledger_as_it_was(tmp_path: Path) -> None:
    async with a_run(tmp_path) as run:
        await run.change(LINES, TWO, "pending")
        run.file.mkdir()
    async with a_run(tmp_path) as run:
        await run.judge()
        assert (run.statuses(), run.said) == (["unknown"], [])


@pytest.mark.parametrize("reviewed", [True, False])
@pytest.mark.asyncio
async def test_a_change_whose_texts_are_damaged_ends_and_the_others_of_its_file_go_on(
    tmp_path: Path, reviewed: bool
) -> None:
    texts = tmp_path / "ledger" / "texts"
    async with a_run(tmp_path) as run:
        await run.change(LINES, TWO, "applied", on_disk=True)
        others = set(texts.glob("*/*"))
        await run.change(TWO, BOTH, "applied", on_disk=True)
        run.file.write_text(BOTH + "more\n")
        if reviewed:
            assert run.marks(BOTH) == ["TWO\n", "FOUR\n"]
    for text in set(texts.glob("*/*")) - others:
        text.write_bytes(text.read_bytes().swapcase())  # a start finds those of another length
    async with a_run(tmp_path) as run:
        await run.judge()
        assert run.statuses() == ["applied", "lost"]
        assert "TWO\n" in run.marks(BOTH + "more\n")
        (said,) = run.said
        assert "texts of 1 change" in said
        assert "a.txt" in said
    async with a_run(tmp_path) as run:
        await run.judge()
        assert (run.statuses(), run.said) == (["applied", "lost"], [])


# Which changes are in a text.

_LINE = st.sampled_from(["a\n", "b\n", "c\n", "d\n"])
_TEXT = st.lists(_LINE, max_size=8).map(lambda lines: Text(tuple(lines)))


@settings(max_examples=300)
@given(st.lists(_TEXT, min_size=2, max_size=5))
def test_all_steps_that_led_to_a_text_are_in_it_and_can_be_taken_out(texts: list[Text]) -> None:
    steps = list(pairwise(texts))
    assert None not in present(steps, texts[-1])
    assert taken_out(reversed(steps), texts[-1]) == texts[0]


@pytest.mark.asyncio
async def test_who_asks_for_the_changes_waits_for_the_comparing(tmp_path: Path) -> None:
    async with a_run(tmp_path) as run:
        await run.change(LINES, TWO, "applied", on_disk=True)
        run.file.write_text(TWO)
    async with a_run(tmp_path) as run:
        assert run.recovery
        marks: list[list[str]] = []

        async def asked() -> None:
            assert run.recovery
            await run.recovery.judged()
            marks.append(run.marks(TWO))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(asked)
            await run.recovery.judged("another session")
            await run.recovery.judged(path="/another/file")
            assert marks == []
            await run.judge()
        assert marks == [["TWO\n"]]


@pytest.mark.asyncio
async def test_who_asks_waits_no_longer_than_a_few_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovery_module, "_PATIENCE", 0.05)
    async with a_run(tmp_path) as run:
        await run.change(LINES, TWO, "pending")
    async with a_run(tmp_path) as run:
        assert run.recovery
        with anyio.fail_after(5):
            await run.recovery.judged()
