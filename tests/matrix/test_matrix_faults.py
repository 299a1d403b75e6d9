"""A fault at points of a hosted edit's way: what the agent is told, the texts and the ledger say
the same, and nothing of the person's is lost."""

import dataclasses
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, cast
from unittest import mock

import anyio
import pytest
from matrix_model import Cell, start, typed
from scripted_editor import POLICIES, VirtualClock, run
from test_matrix_of_edits import Bench
from world import without_threads

from lsp_agent.workspace import files
from lsp_agent.workspace.ledger import Ledger, LedgerFailed

JOURNAL = mock.patch.object(Ledger, "record", side_effect=LedgerFailed("the journal failed"))
FULL = mock.patch.object(files, "_replace", side_effect=files.FileProblem("full", "doc.txt"))
CHANGED = mock.patch.object(files, "_replace", side_effect=files.ChangedOnDisk("doc.txt"))
FAULTS: dict[str, tuple[tuple[str, ...], Callable[[], Any]]] = {
    "the journal fails": (("open clean", "open unsaved apart", "not open"), lambda: JOURNAL),
    "the editor refuses": (("open clean", "open unsaved apart"), nullcontext),
    "the editor never answers": (("open clean", "open unsaved apart"), nullcontext),
    "the disk is full": (("not open", "CRLF", "BOM"), lambda: FULL),
    "the disk changes at the last check": (("not open", "CRLF", "BOM"), lambda: CHANGED),
    "the turn is stopped": (("open clean", "open unsaved apart", "not open"), nullcontext),
}
LIES = {"the editor refuses": "refuses", "the editor never answers": "silent, not done"}
POINTS = [
    (fault, Cell(state, action, "hosted", review))
    for fault, (states, _) in FAULTS.items()
    for state in states
    for action in ("edit", "write")
    for review in ("off", "after")
]


@pytest.mark.parametrize(("fault", "cell"), POINTS, ids=str)
def test_a_fault_loses_nothing_and_is_told(tmp_path: Path, fault: str, cell: Cell) -> None:
    policy = dataclasses.replace(POLICIES[0], lie=cast(Any, LIES.get(fault, "")))

    async def main(clock: VirtualClock) -> None:
        async with anyio.create_task_group() as tasks:
            bench = Bench(tmp_path, cell, clock, tasks, policy)
            bench.wanted = fault != "the turn is stopped"
            try:
                with FAULTS[fault][1]():
                    told = await bench.hosted()
                buffer, disk, ledger = await bench.found()
            finally:
                bench.ledger.close()
                tasks.cancel_scope.cancel()
        if fault in LIES:  # it may still come, so it is no failure
            assert ledger == ("unknown",), bench.answered
            assert "has not confirmed" in bench.answered
        else:
            assert told is not None
        assert (buffer, disk) == (typed(cell.state), start(cell.state))
        assert not {"applied", "kept"} & set(ledger)

    with without_threads():
        run(main)
