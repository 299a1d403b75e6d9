"""The ledger: recorded before made, there again after a crash, bounded, owned by one."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lsp_agent.text.lines import Text
from lsp_agent.workspace.ledger.change import Change, Origin
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed
from lsp_agent.workspace.ledger.records import replayed

ORIGIN = Origin("s1", "t1", "c1", "agent: edit a.py")
BEFORE, AFTER = Text.of("a\r\n\ud83d\u2028", Text((), "utf-16-le", bom=True)), Text.of("b\n")


def lines(ledger: Ledger) -> list[str]:
    return (Path(ledger.folder) / "journal.jsonl").read_text().splitlines()


def texts(ledger: Ledger) -> list[Path]:
    return list((Path(ledger.folder) / "texts").glob("*/*"))


def test_the_ledgers_folder_is_private(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "data/ledger"))
    assert stat.S_IMODE(Path(ledger.folder).stat().st_mode) == 0o700
    ledger.close()


@pytest.mark.asyncio
async def test_a_change_is_on_disk_before_record_returns(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "data/ledger"))
    change = await ledger.record(ORIGIN, "/w/a", BEFORE, AFTER)
    assert change.id in lines(ledger)[-1]
    assert change.status == "pending"
    assert ledger.get(change.id) is change
    ledger.close()


@pytest.mark.asyncio
async def test_changes_are_there_again_with_their_texts(tmp_path: Path) -> None:
    first = Ledger(str(tmp_path / "l"))
    applied = await first.record(ORIGIN, "/w/\udcff", BEFORE, AFTER)
    first.set_status(applied.id, "applied")
    new = await first.record(ORIGIN, "/w/new", None, AFTER, "proposed")
    decided = await first.record(ORIGIN, "/w/a", AFTER, BEFORE)
    first.set_status(decided.id, "kept")
    first.close()

    again = Ledger(str(tmp_path / "l"))
    assert [(c.id, c.status, c.cold) for c in again.changes()] == [
        (applied.id, "applied", True),
        (new.id, "proposed", False),
        (decided.id, "kept", True),
    ]
    found = [await again.loaded(c.id) for c in again.changes()]
    assert [(c.before, c.after) for c in found] == [(BEFORE, AFTER), (None, AFTER), (AFTER, BEFORE)]
    assert found[0].before is not None
    assert (found[0].before.encoding, found[0].before.bom) == ("utf-16-le", True)
    assert found[0].path == "/w/\udcff"
    assert len(texts(again)) == 2
    again.close()


@pytest.mark.asyncio
async def test_a_change_found_pending_is_unknown(tmp_path: Path) -> None:
    first = Ledger(str(tmp_path / "l"))
    change = await first.record(ORIGIN, "/w/a", BEFORE, AFTER)
    first.close()
    again = Ledger(str(tmp_path / "l"))
    found = again.get(change.id)
    assert found is not None
    assert found.status == "unknown"
    again.close()


def odd(**fields: object) -> str:
    """The line of a change, sound but for these fields."""
    line = {"id": "odd", "session_id": "s", "turn_id": None, "tool_call_id": None}
    line |= {"path": "/w/a", "status": "applied", "time": 1, "before": None, "after": None}
    return json.dumps(line | fields) + "\n"


def test_the_odd_lines_are_sound_but_for_what_is_odd() -> None:
    assert list(replayed([odd().encode()]).changes) == ["odd"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "torn",
    [
        '{"id": "x", "pa',
        "null\n",
        "\n",
        '{"id": "gone", "status": "kept"}\n',
        '{"review": "/w/a", "base": {}}\n',
        '{"on_disk": 3}\n',
        '{"review": 3}\n',
        "[" * 5000 + "\n",
        odd(path=3),
        odd(path="relative"),
        odd(path="/w/a\0"),
        odd(time="then"),
        odd(turn_id=3),
        odd(before={"sha256": 3, "size": 1, "encoding": "utf-8", "bom": False}),
        odd(before={"sha256": "../../a", "size": 1, "encoding": "utf-8", "bom": False}),
        odd(before={"sha256": "0" * 64, "size": 1, "encoding": "no-such", "bom": False}),
    ],
)
async def test_a_torn_or_strange_line_is_left_out(tmp_path: Path, torn: str) -> None:
    first = Ledger(str(tmp_path / "l"))
    change = await first.record(ORIGIN, "/w/a", BEFORE, AFTER)
    first.set_status(change.id, "applied")
    first.close()
    with (tmp_path / "l/journal.jsonl").open("a") as journal:
        journal.write(torn)
    again = Ledger(str(tmp_path / "l"))
    assert [c.status for c in again.changes()] == ["applied"]
    later = await again.record(ORIGIN, "/w/b", BEFORE, AFTER)
    again.close()
    third = Ledger(str(tmp_path / "l"))
    assert {c.id for c in third.changes()} == {change.id, later.id}
    third.close()


@pytest.mark.asyncio
async def test_a_change_whose_text_is_gone_is_left_out(tmp_path: Path) -> None:
    first = Ledger(str(tmp_path / "l"))
    await first.record(ORIGIN, "/w/a", BEFORE, AFTER)
    first.close()
    for text in texts(first):
        text.unlink()
    again = Ledger(str(tmp_path / "l"))
    assert again.changes() == []
    again.close()


@pytest.mark.asyncio
async def test_a_withdrawn_change_never_was(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "l"))
    kept = await ledger.record(ORIGIN, "/w/a", None, AFTER, "proposed")
    change = await ledger.record(ORIGIN, "/w/a", BEFORE, AFTER)
    ledger.withdraw(change.id)
    ledger.close()
    assert len(texts(ledger)) == 1
    again = Ledger(str(tmp_path / "l"))
    assert [c.id for c in again.changes()] == [kept.id]
    again.close()


@pytest.mark.asyncio
async def test_an_amended_change_keeps_its_new_texts(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "l"))
    change = await ledger.record(ORIGIN, "/w/a", BEFORE, AFTER)
    ledger.amend(change.id, Text.of("typed\n"), AFTER)
    ledger.set_status(change.id, "applied")
    ledger.close()
    again = Ledger(str(tmp_path / "l"))
    found = await again.loaded(change.id)
    assert (found.before, found.after, found.status) == (Text.of("typed\n"), AFTER, "applied")
    again.close()


@pytest.mark.asyncio
async def test_a_second_server_has_a_folder_of_its_own(tmp_path: Path) -> None:
    first, second = Ledger(str(tmp_path / "l")), Ledger(str(tmp_path / "l"))
    change = await first.record(ORIGIN, "/w/a", BEFORE, AFTER, "proposed")
    assert second.folder != first.folder
    assert second.changes() == []
    first.close()
    third = Ledger(str(tmp_path / "l"))
    assert [c.id for c in third.changes()] == [change.id]
    second.close()
    third.close()


def test_a_change_survives_the_kill_of_its_server(tmp_path: Path) -> None:
    program = (
        "import asyncio, os, signal, sys\n"
        "from lsp_agent.text.lines import Text\n"
        "from lsp_agent.workspace.ledger.ledger import Ledger, Origin\n"
        "async def main():\n"
        "    ledger = Ledger(sys.argv[1])\n"
        "    await ledger.record(Origin('s'), '/w/a', None, Text.of('x'))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    folder = str(tmp_path / "l")
    ended = subprocess.run([sys.executable, "-c", program, folder], check=False, timeout=30)
    assert ended.returncode == -9
    ledger = Ledger(folder)
    assert [(c.status, c.after) for c in ledger.changes()] == [("unknown", Text.of("x"))]
    ledger.close()


@pytest.mark.asyncio
async def test_the_oldest_decided_changes_go_first_when_room_is_needed(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "l"), max_bytes=100)
    made: list[Change] = []
    for number in range(4):
        text = Text.of(f"{number}" * 30)
        made.append(await ledger.record(ORIGIN, "/w/a", None, text, "proposed"))
        if number == 0:
            ledger.set_status(made[0].id, "applied")
        if number == 1:
            ledger.set_status(made[1].id, "kept")
    assert [c.id for c in ledger.changes()] == [made[0].id, made[2].id, made[3].id]
    await ledger.record(ORIGIN, "/w/a", None, Text.of("x" * 90), "proposed")
    assert [c.status for c in ledger.changes()] == ["proposed"] * 3
    ledger.close()
    assert len(texts(ledger)) == 3


@pytest.mark.asyncio
async def test_changes_are_found_by_session_path_and_status(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "l"))
    one = await ledger.record(ORIGIN, "/w/a", None, AFTER, "proposed")
    two = await ledger.record(Origin("s2"), "/w/a", None, AFTER, "conflict")
    assert ledger.changes(session_id="s1") == [one]
    assert ledger.changes(path="/w/a") == [one, two]
    assert ledger.changes(path="/w/a", status="conflict") == [two]
    assert ledger.changes(session_id="s1", status="conflict") == []
    ledger.close()


@pytest.mark.asyncio
async def test_listeners_hear_of_every_status_but_pending(tmp_path: Path) -> None:
    ledger = Ledger(str(tmp_path / "l"))
    heard: list[str] = []

    def failing(_: Change) -> None:
        raise ValueError

    ledger.subscribe(failing)
    end = ledger.subscribe(lambda change: heard.append(change.status))
    change = await ledger.record(ORIGIN, "/w/a", None, AFTER)
    ledger.set_status(change.id, "applied")
    ledger.set_status(change.id, "applied")
    ledger.set_status(change.id, "kept")
    end()
    ledger.set_status(change.id, "rejected")
    assert heard == ["applied", "kept"]
    ledger.close()


@pytest.mark.asyncio
async def test_a_change_that_cannot_be_recorded_is_an_error_and_spoils_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(str(tmp_path / "l"))
    kept = await ledger.record(ORIGIN, "/w/a", None, AFTER, "proposed")
    with monkeypatch.context() as patch:
        write = os.write

        def full(file: int, data: memoryview) -> int:
            write(file, bytes(data[:5]))
            raise OSError(28, "No space left on device")

        patch.setattr("lsp_agent.workspace.ledger.journal.os.write", full)
        with pytest.raises(LedgerFailed, match="free some space"):
            await ledger.record(ORIGIN, "/w/b", None, AFTER)
    later = await ledger.record(ORIGIN, "/w/b", None, AFTER, "proposed")
    ledger.close()
    again = Ledger(str(tmp_path / "l"))
    assert [c.id for c in again.changes()] == [kept.id, later.id]
    again.close()
