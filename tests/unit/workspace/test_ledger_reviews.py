"""What the ledger keeps of a review: decided hunks, what was on disk, one record a path; and
what is there again when its process is killed after any line."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_agent.text.lines import Text
from lsp_agent.text.review_hunks import ReviewHunk
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.records import ReviewRecord
from lsp_agent.workspace.ledger.reviews import Reviews

ORIGIN = Origin("s1")
BEFORE, AFTER = Text.of("a\r\n", Text((), "utf-16-le", bom=True)), Text.of("b\nc\n")
REVIEW = ReviewRecord(
    Text.of("a\n"),
    Text.of("b\n\udcff\u2028"),
    base_exists=False,
    hunks=(
        ReviewHunk("1", 0, 0, 1, 0, 2, None),
        ReviewHunk("2", 3, 1, 1, 2, 2, ("left\r\n", ""), over=(("1", 1), ("3", 0)), by=("3", 0)),
        ReviewHunk("3", 0, 1, 1, 2, 2, ("left\n",), mixed=True, replaced=("taken\n",)),
    ),
)


def texts(ledger: Ledger) -> list[str]:
    found = (Path(ledger.folder) / "texts").glob("*/*")
    return sorted(path.read_bytes().decode("utf-8", "surrogatepass") for path in found)


def last_line(ledger: Ledger) -> object:
    lines = (Path(ledger.folder) / "journal.jsonl").read_text().splitlines()
    return json.loads(lines[-1])


@pytest.mark.asyncio
async def test_decided_hunks_are_told_and_there_again(tmp_path: Path) -> None:
    first = Ledger(str(tmp_path / "l"))
    change = await first.record(ORIGIN, "/w/a", BEFORE, AFTER, "applied")
    heard: list[object] = []
    first.subscribe(lambda change: heard.append((change.status, dict(change.decided))))
    assert change.decided == {}
    first.decide(change.id, {0: "kept"})
    first.decide(change.id, {0: "kept"})
    decided = first.decide(change.id, {0: "kept", 2: "rejected"})
    assert decided.decided == {0: "kept", 2: "rejected"}
    assert heard == [("applied", {0: "kept"}), ("applied", {0: "kept", 2: "rejected"})]
    with pytest.raises(KeyError):
        first.decide("nothing", {0: "kept"})
    first.close()
    assert last_line(first) == {"id": change.id, "hunks": {"2": "rejected"}}
    for _ in range(2):  # from its lines, then from the journal that was written anew
        again = Ledger(str(tmp_path / "l"))
        assert [(c.status, c.decided) for c in again.changes()] == [("applied", decided.decided)]
        again.close()


@pytest.mark.asyncio
async def test_amending_a_change_forgets_what_was_decided_of_its_hunks(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "l"))
    change = await ledger.record(ORIGIN, "/w/a", BEFORE, AFTER, "unknown")
    ledger.decide(change.id, {0: "kept"})
    assert ledger.amend(change.id, BEFORE, Text.of("other\n")).decided == {}
    ledger.close()
    again = Ledger(str(tmp_path / "l"))
    assert [c.decided for c in again.changes()] == [{}]
    again.close()


@pytest.mark.asyncio
async def test_what_was_on_disk_is_one_line_that_nobody_is_told(tmp_path: Path) -> None:
    first = Ledger(str(tmp_path / "l"))
    made = [await first.record(ORIGIN, "/w/a", BEFORE, AFTER, "applied") for _ in range(3)]
    heard: list[object] = []
    first.subscribe(heard.append)
    first.mark_on_disk([made[0].id, made[2].id, "nothing"])
    first.mark_on_disk([made[0].id])
    assert heard == []
    first.close()
    assert last_line(first) == {"on_disk": [made[0].id, made[2].id]}
    for _ in range(2):
        again = Ledger(str(tmp_path / "l"))
        assert [c.on_disk for c in again.changes()] == [True, False, True]
        again.close()


@pytest.mark.asyncio
async def test_a_review_is_there_again_as_it_was(tmp_path: Path) -> None:
    first = Ledger(str(tmp_path / "l"))
    first.set_review("/w/\udcff", REVIEW)
    assert await first.review_of("/w/\udcff") == REVIEW
    assert await first.review_of("/w/other") is None
    first.close()
    for _ in range(2):
        again = Ledger(str(tmp_path / "l"))
        assert again.reviews() == ["/w/\udcff"]
        assert await again.review_of("/w/\udcff") == REVIEW
        again.close()


@pytest.mark.asyncio
async def test_the_latest_review_of_a_path_holds_and_its_texts_alone_stay(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "l"))
    for number in range(3):
        text = Text.of(f"{number}")
        ledger.set_review("/w/a", ReviewRecord(BEFORE, text, base_exists=True, hunks=()))
    found = await ledger.review_of("/w/a")
    assert found is not None
    assert found.text == Text.of("2")
    assert (found.base.encoding, found.base.bom) == ("utf-16-le", True)
    assert texts(ledger) == ["2", "a\r\n"]
    ledger.set_review("/w/a", None)
    ledger.set_review("/w/a", None)
    assert await ledger.review_of("/w/a") is None
    ledger.close()
    assert texts(ledger) == []
    again = Ledger(str(tmp_path / "l"))
    assert again.reviews() == []
    again.close()


@pytest.mark.asyncio
async def test_a_text_that_a_change_and_a_review_share_stays_for_either(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "l"))
    change = await ledger.record(ORIGIN, "/w/a", None, AFTER, "pending")
    ledger.set_review("/w/a", ReviewRecord(AFTER, AFTER, base_exists=True, hunks=()))
    ledger.withdraw(change.id)
    assert (await ledger.review_of("/w/a")) is not None
    other = await ledger.record(ORIGIN, "/w/a", None, AFTER, "applied")
    ledger.set_review("/w/a", None)
    ledger.close()
    assert texts(ledger) == [AFTER.content]
    again = Ledger(str(tmp_path / "l"))
    assert (await again.loaded(other.id)).after == AFTER
    again.close()


_KILLED = """
import asyncio, os, signal, sys
from lsp_agent.text.lines import Text
from lsp_agent.text.review_hunks import ReviewHunk
from lsp_agent.workspace.ledger import journal
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.records import ReviewRecord
from lsp_agent.workspace.ledger.reviews import Reviews

lines_left = int(sys.argv[2])
append = journal.Journal._append

def counting(self, line):
    global lines_left
    if lines_left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    lines_left -= 1
    append(self, line)

journal.Journal._append = counting

async def main():
    ledger = Ledger(sys.argv[1])
    change = await ledger.record(Origin("s"), "/w/a", Text.of("a"), Text.of("b"))
    ledger.set_status(change.id, "applied")
    hunk = ReviewHunk(change.id, 0, 0, 1, 0, 1, None)
    one = ReviewRecord(Text.of("a"), Text.of("b"), base_exists=True, hunks=(hunk,))
    ledger.set_review("/w/a", one)
    two = ReviewRecord(Text.of("a"), Text.of("bx"), base_exists=True, hunks=(hunk,))
    ledger.set_review("/w/a", two)
    ledger.mark_on_disk([change.id])
    ledger.decide(change.id, {0: "kept"})
    ledger.set_status(change.id, "kept")
    ledger.set_review("/w/a", None)
    await ledger.review_of("/w/a")
    ledger.close()
    print("all")

asyncio.run(main())
"""

# What the journal says after so many lines: status, decided, on disk, the text under review.
_AFTER_LINES: list[object] = [
    None,
    ("unknown", {}, False, None),
    ("applied", {}, False, None),
    ("applied", {}, False, "b"),
    ("applied", {}, False, "bx"),
    ("applied", {}, True, "bx"),
    ("applied", {0: "kept"}, True, "bx"),
    ("kept", {0: "kept"}, True, "bx"),
    ("kept", {0: "kept"}, True, None),
]


@pytest.mark.parametrize("lines", range(len(_AFTER_LINES)))
def test_a_kill_between_two_lines_loses_no_line_before_it(tmp_path: Path, lines: int) -> None:
    folder = str(tmp_path / "l")
    program = [sys.executable, "-c", _KILLED, folder, str(lines)]
    ended = subprocess.run(program, check=False, timeout=30, capture_output=True, text=True)
    if lines < len(_AFTER_LINES) - 1:
        assert (ended.returncode, ended.stdout) == (-9, "")
    else:
        assert (ended.returncode, ended.stdout) == (0, "all\n"), ended.stderr

    async def found() -> list[object]:
        ledger = Ledger(folder)
        try:
            review = await ledger.review_of("/w/a")
            seen: list[object] = []
            for change in ledger.changes():
                whole = await ledger.loaded(change.id)
                assert (whole.before, whole.after) == (Text.of("a"), Text.of("b"))
                text = review.text.content if review else None
                seen.append((change.status, dict(change.decided), change.on_disk, text))
            return seen
        finally:
            ledger.close()

    expected = _AFTER_LINES[lines]
    assert asyncio.run(found()) == ([expected] if expected else [])


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "place", [(0, 9, 0, 1), (0, 1, 0, 9), (1, 0, 0, 1), (-1, 1, 0, 1)], ids=str
)
@pytest.mark.parametrize("is_beside", [False, True])
async def test_a_review_that_does_not_fit_its_texts_is_given_up_and_named(
    tmp_path: Path, place: tuple[int, int, int, int], is_beside: bool
) -> None:
    first = Ledger(str(tmp_path / "l"))
    change = await first.record(ORIGIN, "/w/a", BEFORE, AFTER, "applied")
    for path, ranges in (("/w/a", place), ("/w/b", (0, 1, 0, 2))):
        hunk = ReviewHunk(change.id, 0, *ranges)
        record = ReviewRecord(BEFORE, AFTER, base_exists=True, hunks=(hunk,))
        if is_beside:
            record = ReviewRecord(BEFORE, AFTER, base_exists=True, hunks=(), beside=record)
        first.set_review(path, record)
    first.close()
    again = Ledger(str(tmp_path / "l"))
    assert await Reviews(again).book.restore() == ["/w/a"]
    assert again.reviews() == ["/w/b"]
    again.close()


@pytest.mark.asyncio
async def test_a_hunk_of_a_change_that_is_gone_is_nobodys_to_decide(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "l"))
    hunk = ReviewHunk("gone", 0, 0, 1, 0, 2)
    ledger.set_review("/w/a", ReviewRecord(BEFORE, AFTER, base_exists=True, hunks=(hunk,)))
    reviews = Reviews(ledger)
    assert await reviews.book.restore() == []
    assert reviews.current("/w/a", AFTER).hunks == ()
    ledger.close()
