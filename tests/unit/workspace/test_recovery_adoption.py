"""What a second server of a workspace leaves is found by the next start."""

from pathlib import Path

import pytest

from lsp_agent.text.lines import Text
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.other_servers import adopt

ONE, TWO = Text.of("1\n"), Text.of("2\n")


async def made(ledger: Ledger, name: str, status: str, *, on_disk: bool = False) -> str:
    change = await ledger.record(Origin("s", "t", "c"), f"/w/{name}", ONE, TWO)
    if on_disk:
        ledger.mark_on_disk([change.id])
    if status != "pending":
        ledger.set_status(change.id, status)  # type: ignore[arg-type]
    return change.id


def told(ledger: Ledger) -> list[tuple[str, str, bool]]:
    return [(Path(c.path).name, c.status, c.on_disk) for c in ledger.changes()]


@pytest.mark.asyncio
async def test_changes_of_an_ended_second_server_are_taken_over(tmp_path: Path) -> None:
    folder = str(tmp_path / "ledger")
    first, second = Ledger(folder), Ledger(folder)
    await made(second, "pending", "pending")
    await made(second, "applied", "applied", on_disk=True)
    await made(second, "kept", "kept", on_disk=True)
    await made(second, "unsaved", "kept")
    await made(second, "rejected", "rejected")
    hunk = await made(second, "proposed", "proposed")
    second.decide(hunk, {0: "rejected"})
    first.close()
    second.close()
    alone = Ledger(folder)
    await adopt(alone, folder)
    assert told(alone) == [
        ("pending", "unknown", False),
        ("applied", "applied", True),
        ("unsaved", "kept", False),
        ("proposed", "proposed", False),
    ]
    (proposed,) = alone.changes(status="proposed")
    assert (dict(proposed.decided), proposed.before, proposed.after) == ({0: "rejected"}, ONE, TWO)
    assert (proposed.session_id, proposed.turn_id, proposed.tool_call_id) == ("s", "t", "c")
    alone.close()
    emptied = Ledger(second.folder)
    assert emptied.changes() == []
    emptied.close()


@pytest.mark.parametrize(("taken_out", "revert"), [("applied", "pending"), ("rejected", "kept")])
@pytest.mark.asyncio
async def test_a_revert_that_is_taken_over_names_what_it_takes_out(
    tmp_path: Path, taken_out: str, revert: str
) -> None:
    folder = str(tmp_path / "ledger")
    first, second = Ledger(folder), Ledger(folder)
    change_id = await made(second, "a", taken_out)
    await made(second, "b", "rejected")
    origin = Origin("s", "r-1", takes_out={change_id: (0,), "forgotten": (1,)})
    reverts = await second.record(origin, "/w/a", TWO, ONE)
    if revert != "pending":
        second.set_status(reverts.id, "kept")
    first.close()
    second.close()
    alone = Ledger(folder)
    await adopt(alone, folder)
    change, taken = alone.changes()
    assert (change.status, dict(taken.takes_out)) == (taken_out, {change.id: (0,)})
    alone.close()


@pytest.mark.asyncio
async def test_a_living_servers_changes_are_its_own(tmp_path: Path) -> None:
    folder = str(tmp_path / "ledger")
    first, second, third = Ledger(folder), Ledger(folder), Ledger(folder)
    await made(second, "a", "applied")
    await made(third, "b", "applied")
    first.close()
    third.close()
    again = Ledger(folder)
    await adopt(again, folder)
    assert told(again) == [("b", "applied", False)]
    await adopt(second, folder)  # it is not the first one
    assert told(second) == [("a", "applied", False)]
    again.close()
    second.close()
