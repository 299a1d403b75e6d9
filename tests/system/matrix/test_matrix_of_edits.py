"""Every state of a file, by every action, hosted and mirror, under every review: the texts of
buffer and disk and the ledger are what a model of lists of lines says. What is open also in other
clients than the plainest."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from matrix_bench import Bench
from matrix_clients import CLIENTS, Client
from matrix_model import Cell, Expected, cells, expected, expected_in, impossible
from support.scripted_editor import VirtualClock, run
from support.storm_world import without_threads

CELLS = [cell for cell in cells() if impossible(cell) is None]
IN_CLIENTS = [
    (client, cell)
    for client in CLIENTS[1:]
    for cell in CELLS
    if cell.state.startswith("open") and (cell.way == "mirror" or not client.only_mirror)
]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_a_cell_comes_to_what_the_model_says(
    tmp_path: Path, cell: Cell, record_property: Callable[[str, object], None]
) -> None:
    record_property("cell", (cell.state, cell.action, cell.way, cell.review))
    comes_to(tmp_path, CLIENTS[0], cell, expected(cell))


@pytest.mark.parametrize(("client", "cell"), IN_CLIENTS, ids=str)
def test_a_cell_comes_to_the_same_in_other_clients(
    tmp_path: Path, client: Client, cell: Cell, record_property: Callable[[str, object], None]
) -> None:
    record_property("cell in a client", str(client))
    want = expected_in(
        cell,
        proposes=client.policy.traits.holds_back,
        saves_when_asked=client.policy.traits.can_save,
        saves_by_itself=client.saves is not None,
    )
    comes_to(tmp_path, client, cell, want)


def comes_to(folder: Path, client: Client, cell: Cell, want: Expected) -> None:
    async def main(clock: VirtualClock) -> None:
        async with anyio.create_task_group() as tasks:
            bench = Bench(folder, cell, clock, tasks, client)
            try:
                await check(bench, want)
            finally:
                bench.ledger.close()
                tasks.cancel_scope.cancel()

    with without_threads():
        run(main)


async def check(bench: Bench, want: Expected) -> None:
    if bench.cell.way == "mirror":
        told = await bench.on_disk()
    else:
        told = await bench.hosted() or await bench.decide()
    assert await bench.found() == (want.buffer, want.disk, want.ledger)
    assert (told is None) == (want.refused is None), told
    assert (want.refused or "") in (told or "")
