"""What the ledger holds in memory and on disk is bounded; what is let go comes again."""

from pathlib import Path

import pytest

from lsp_agent.text.lines import Text
from lsp_agent.text.review_hunks import ReviewHunk
from lsp_agent.workspace.changing.entries import NewEntry
from lsp_agent.workspace.ledger import journal, ledger
from lsp_agent.workspace.ledger.change import Change, Origin
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed
from lsp_agent.workspace.ledger.records import ChangeStatus, ReviewRecord
from lsp_agent.workspace.ledger.reviews import Reviews

ORIGIN = Origin("s1")


async def settled(
    ledger: Ledger, number: int, status: ChangeStatus = "applied", path: str = "/w/a"
) -> Change:
    change = await ledger.record(ORIGIN, path, Text.of(f"{number}\n"), Text.of(f"{number + 1}\n"))
    return ledger.set_status(change.id, status)


def review(*change_ids: str) -> ReviewRecord:
    hunks = tuple(ReviewHunk(i, 0, 0, 1, 0, 1, None) for i in change_ids)
    return ReviewRecord(Text.of("0\n"), Text.of("1\n"), base_exists=True, hunks=hunks)


@pytest.mark.asyncio
async def test_only_the_newest_changes_keep_their_texts_in_memory(tmp_path: Path) -> None:
    book = Ledger(str(tmp_path / "l"))
    made = [await settled(book, number) for number in range(70)]
    assert [c.cold for c in book.changes()] == [True] * 6 + [False] * 64
    assert not made[0].cold  # whoever was handed it may read on
    book.close()


@pytest.mark.asyncio
async def test_only_some_mebibytes_of_texts_stay_in_memory(tmp_path: Path) -> None:
    book = Ledger(str(tmp_path / "l"))
    for letter in "abcde":
        change = await book.record(ORIGIN, "/w/a", None, Text.of(letter * 3_000_000))
        assert not book.set_status(change.id, "applied").cold
    assert [c.cold for c in book.changes()] == [True, True, True, False, False]
    book.close()


@pytest.mark.asyncio
async def test_what_is_pending_or_proposed_keeps_its_texts(tmp_path: Path) -> None:
    book = Ledger(str(tmp_path / "l"))
    pending = await book.record(ORIGIN, "/w/a", None, Text.of("p"))
    proposed = await book.record(ORIGIN, "/w/a", None, Text.of("q"), "proposed")
    for number in range(70):
        await settled(book, number)
    assert book.get(pending.id) is pending
    assert book.changes(status="proposed") == [proposed]
    assert book.changes(status="pending") == [pending]
    book.set_status(proposed.id, "rejected")
    assert book.changes(status="proposed") == []
    book.close()


@pytest.mark.asyncio
async def test_a_cold_change_gives_its_texts_only_when_loaded(tmp_path: Path) -> None:
    book = Ledger(str(tmp_path / "l"))
    first, *_ = [(await settled(book, number)).id for number in range(70)]
    cold = book.get(first)
    assert cold is not None
    for read in (lambda: cold.before, lambda: cold.after):
        with pytest.raises(RuntimeError, match=r"Ledger\.loaded"):
            read()
    loaded = await book.loaded(first)
    assert not loaded.cold
    assert book.get(first) == loaded
    del loaded
    assert book.get(first) == cold
    with pytest.raises(KeyError):
        await book.loaded("nothing")
    book.close()


@pytest.mark.asyncio
async def test_a_hot_change_is_loaded_already(tmp_path: Path) -> None:
    book = Ledger(str(tmp_path / "l"))
    change = await settled(book, 0)
    assert await book.loaded(change.id) is change
    book.close()


@pytest.mark.asyncio
async def test_listeners_get_the_texts_of_a_cold_change_that_the_decider_loaded(
    tmp_path: Path,
) -> None:
    book = Ledger(str(tmp_path / "l"))
    first, second, *_ = [(await settled(book, number)).id for number in range(70)]
    heard: list[tuple[str, bool]] = []
    book.subscribe(lambda change: heard.append((change.id, change.cold)))
    loaded = await book.loaded(first)
    book.set_status(first, "kept")
    book.set_status(second, "kept")
    assert heard == [(first, False), (second, True)]
    assert (await book.loaded(first)).after == loaded.after
    book.close()


@pytest.mark.asyncio
async def test_a_change_too_long_to_stay_is_decided_with_the_texts_that_its_maker_holds(
    tmp_path: Path,
) -> None:
    book = Ledger(str(tmp_path / "l"))
    pending = await book.record(ORIGIN, "/w/a", None, Text.of("x" * 9_000_000))
    applied = book.set_status(pending.id, "applied")
    assert [c.cold for c in book.changes()] == [True]
    heard: list[bool] = []
    book.subscribe(lambda change: heard.append(change.cold))
    book.decide(applied.id, {0: "kept"})
    kept = book.set_status(applied.id, "kept")
    assert (kept.cold, heard) == (False, [False, False])
    book.close()


@pytest.mark.asyncio
async def test_a_cold_change_can_be_amended(tmp_path: Path) -> None:
    book = Ledger(str(tmp_path / "l"))
    change, *_ = [await settled(book, number) for number in range(70)]
    amended = book.amend(change.id, None, Text.of("late\n"))
    assert (amended.before, amended.after) == (None, Text.of("late\n"))
    book.close()


@pytest.mark.asyncio
async def test_a_text_that_is_gone_is_an_error_that_names_the_change(tmp_path: Path) -> None:
    first = Ledger(str(tmp_path / "l"))
    change = await settled(first, 0)
    first.set_review("/w/a", review(change.id))
    first.close()
    again = Ledger(str(tmp_path / "l"))
    for text in (tmp_path / "l/texts").glob("*/*"):
        text.unlink()
    with pytest.raises(LedgerFailed, match=change.id):
        await again.loaded(change.id)
    with pytest.raises(LedgerFailed, match="/w/a"):
        await again.review_of("/w/a")
    again.close()


@pytest.mark.asyncio
async def test_at_start_only_texts_of_what_waits_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Ledger(str(tmp_path / "l"))
    changes = [await settled(first, number) for number in range(5)]
    first.set_review("/w/a", review(changes[0].id))
    await first.record(ORIGIN, "/w/b", None, Text.of("pending\n"))
    await first.record(ORIGIN, "/w/b", Text.of("1\n"), Text.of("proposed\n"), "proposed")
    first.close()
    read: list[str] = []
    bytes_of = Path.read_bytes

    def recording(path: Path) -> bytes:
        data = bytes_of(path)
        read.append(data.decode())
        return data

    monkeypatch.setattr(Path, "read_bytes", recording)
    again = Ledger(str(tmp_path / "l"))
    assert sorted(read) == ["1\n", "pending\n", "proposed\n"]
    assert len(again.changes()) == 7
    again.close()


@pytest.mark.asyncio
async def test_the_oldest_decided_change_goes_when_there_are_too_many(tmp_path: Path) -> None:
    book = Ledger(str(tmp_path / "l"), max_changes=4)
    applied = await settled(book, 0)
    reviewed = await settled(book, 1, "kept")
    book.set_review("/w/a", review(reviewed.id))
    kept = [await settled(book, number, "kept") for number in (2, 3, 4)]
    assert [c.id for c in book.changes()] == [applied.id, reviewed.id, kept[1].id, kept[2].id]
    book.close()
    again = Ledger(str(tmp_path / "l"), max_changes=2)
    assert [c.id for c in again.changes()] == [applied.id, reviewed.id]
    again.set_review("/w/a", None)
    last = await settled(again, 5)
    assert [c.id for c in again.changes()] == [applied.id, last.id]
    again.close()


@pytest.mark.asyncio
async def test_room_is_counted_by_the_texts_as_amended(tmp_path: Path) -> None:
    book = Ledger(str(tmp_path / "l"), max_bytes=100)
    change = await settled(book, 0)
    book.amend(change.id, None, Text.of("x" * 90))
    # Loading anything waits for the writer.
    await book.review_of("/w/a")
    await book.loaded((await settled(book, 1)).id)
    await settled(book, 2)
    last = await book.record(ORIGIN, "/w/a", None, Text.of("y" * 20))
    assert book.get(change.id) is None
    assert book.get(last.id) is last
    book.close()


@pytest.mark.asyncio
async def test_a_long_journal_is_written_anew_while_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_REWRITE_BYTES", 2000)
    book = Ledger(str(tmp_path / "l"))
    change = await settled(book, 0)
    other = await settled(book, 1)
    for number in range(200):
        book.decide(change.id, {0: "kept" if number % 2 else "applied"})
    book.mark_on_disk([other.id])
    book.set_review("/w/a", review(change.id))
    book.close()
    assert (tmp_path / "l/journal.jsonl").stat().st_size < 5000
    again = Ledger(str(tmp_path / "l"))
    found = [(c.id, c.status, c.decided, c.on_disk) for c in again.changes()]
    assert found == [
        (change.id, "applied", {0: "kept"}, False),
        (other.id, "applied", {}, True),
    ]
    assert await again.review_of("/w/a") == review(change.id)
    again.close()


def test_the_bounds_are_those_that_the_documentation_gives() -> None:
    assert (ledger.MAX_CHANGES, ledger.MAX_BYTES) == (2000, 256 * 1024 * 1024)


@pytest.mark.asyncio
async def test_a_long_change_that_was_late_is_under_review(
    tmp_path: Path,
) -> None:
    book = Ledger(str(tmp_path / "l"))
    reviews = Reviews(book)
    entry = NewEntry(book, ORIGIN, "/w/a", kept=False)
    long = "x" * 9_000_000 + "\n"
    await entry.begin(Text.of(long), Text.of(long + "new\n"))
    after = Text.of(long + "typed\nnew\n")
    entry.unknown()
    entry.landed_late(Text.of(long + "typed\n"), after)
    assert [hunk.change_id for hunk in reviews.peek("/w/a", after).hunks] == [
        change.id for change in book.changes()
    ]
    book.close()
