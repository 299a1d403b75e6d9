"""A fault at points of the way from the disk into the editor: the agent's version is on disk, the
person's text in the buffer, and the ledger says what became of it, then and at the next look."""

import asyncio
import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest import mock

import anyio
import pytest
from matrix_bench import Bench
from matrix_clients import CLIENTS, PLAIN, Client, ClientEditor
from matrix_model import TYPED, WORDS, Cell, Expected, agents_bytes, expected, typed
from support.scripted_editor import Point, VirtualClock, run
from support.storm_world import without_threads

from lsp_agent.workspace.disk import look as disk_look
from lsp_agent.workspace.disk.files import FileProblem
from lsp_agent.workspace.documents.editor import EditorTraits
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed

CLEAN, APART, OVERLAPPING, CLOSED = (
    "open clean",
    "open unsaved apart",
    "open unsaved overlapping",
    "not open",
)
LAST = ("nine", "NINE")
OPEN = (CLEAN, APART, OVERLAPPING)
ASKED = dataclasses.replace(PLAIN, traits=EditorTraits(can_save=True, can_reload=True))

Happens = Callable[[Bench], None]
Wanted = Callable[[Cell], Expected]


def status(cell: Cell) -> str:
    return "kept" if cell.review == "off" else "applied"


def only_on_disk(*ledger: str) -> Wanted:
    return lambda cell: Expected(typed(cell.state), agents_bytes(cell.state), ledger)


def recorded(cell: Cell) -> Expected:
    """As a change of a file that is not open."""
    return Expected(None, agents_bytes(cell.state), (status(cell),))


def gone(cell: Cell, *ledger: str) -> Expected:
    return dataclasses.replace(expected(cell), disk=None, ledger=expected(cell).ledger + ledger)


def gone_later(cell: Cell) -> Expected:
    return gone(cell, status(cell) if cell.state == CLOSED else "kept")


def typed_apart(cell: Cell) -> Expected:
    """The person's line as well."""
    want = expected(cell)
    ((line, new),) = TYPED[APART].items()
    return dataclasses.replace(want, buffer=want.buffer and want.buffer.replace(WORDS[line], new))


def twice(cell: Cell) -> Expected:
    """And the agent's last line, which came a moment later."""
    once = expected(cell)
    assert once.disk is not None
    return Expected(
        once.buffer and once.buffer.replace(*LAST),
        once.disk.decode().replace(*LAST).encode(),
        (*once.ledger, status(cell)),
    )


# What happens.


def nothing(_: Bench) -> None:
    pass


def soon(happens: Happens) -> Happens:
    """While the editor has its time to reload."""
    return lambda bench: cast(
        None, asyncio.get_running_loop().call_later(0.1, lambda: happens(bench))
    )


def at(point: Point, happens: Happens) -> Happens:
    """When the merge is on its way to the editor."""

    def set_keys(bench: Bench) -> None:
        bench.keys = lambda _, now, send: happens(bench) if (now, send) == (point, 1) else None

    return set_keys


def vanishes(bench: Bench) -> None:
    bench.file.unlink()


def comes_again(bench: Bench) -> None:
    bench.file.write_bytes(bench.file.read_bytes().decode().replace(*LAST).encode())


def closes(bench: Bench) -> None:
    editor = shown(bench)
    bench.documents.close(editor.uri)
    bench.desk.shown = None
    editor.buffer.version = -1  # what is on its way is refused


def closes_behind(bench: Bench) -> None:
    editor = shown(bench)

    def close() -> None:
        bench.documents.close(editor.uri)
        bench.desk.shown = None

    editor._send(close)


def types(bench: Bench) -> None:
    editor = shown(bench)
    ((line, new),) = TYPED[APART].items()
    position = editor.buffer.text.index(WORDS[line])
    editor.type(position + len(WORDS[line]), new.removeprefix(WORDS[line]))


def stops(bench: Bench) -> None:
    bench.wanted = False


def closes_the_session(bench: Bench) -> None:
    bench.caller.cancel()


def shown(bench: Bench) -> ClientEditor:
    assert bench.desk.shown is not None
    return bench.desk.shown


def patched(owner: object, name: str, **how: Any) -> Callable[[], AbstractContextManager[Any]]:
    return lambda: mock.patch.object(owner, name, **how)


def lying(lie: str) -> Client:
    return Client(dataclasses.replace(PLAIN, lie=cast(Any, lie), late=20.0))


@dataclass(frozen=True)
class Fault:
    """``what`` the mirror tells ("" for several), and ``wanted`` what is there then. ``happens`` is
    called before the agent's change of the disk is taken, ``during`` holds as long. ``later`` is
    what is there after another look, with all at rest."""

    states: tuple[str, ...]
    what: str
    wanted: Wanted
    later: Wanted
    happens: Happens = nothing
    during: Callable[[], AbstractContextManager[Any]] = nullcontext
    client: Client = CLIENTS[0]


FAULTS = {
    "the disk cannot be read": Fault(
        OPEN,
        "unreadable",
        only_on_disk(),
        expected,
        during=patched(disk_look, "read_bytes", side_effect=FileProblem("denied", "doc.txt")),
    ),
    "the file vanishes before it is merged": Fault(
        (*OPEN, CLOSED), "", gone, gone_later, happens=vanishes
    ),
    "the file changes again before it is merged": Fault(
        (CLEAN, APART, CLOSED),
        "",
        lambda cell: dataclasses.replace(
            twice(cell), buffer=expected(cell).buffer, ledger=(status(cell),)
        ),
        twice,
        happens=comes_again,
    ),
    "the editor refuses the merge": Fault(
        OPEN,
        "proposed",
        only_on_disk("superseded", "proposed"),
        only_on_disk("superseded", "proposed"),
        client=lying("refuses"),
    ),
    "the editor never answers": Fault(
        (CLEAN, APART),
        "merged",
        only_on_disk("unknown"),
        only_on_disk("unknown"),
        client=lying("silent, not done"),
    ),
    "the editor never answers, and it clashes": Fault(
        (OVERLAPPING,),
        "proposed",
        only_on_disk("unknown", "proposed"),
        only_on_disk("unknown", "proposed"),
        client=lying("silent, not done"),
    ),
    "the editor does it 20 s later": Fault(
        (CLEAN, APART), "merged", only_on_disk("unknown"), expected, client=lying("late")
    ),
    "the editor does not reload when asked": Fault(
        (CLEAN,),
        "merged",
        expected,
        expected,
        during=patched(ClientEditor, "reload", return_value=False),
        client=Client(ASKED),
    ),
    "the editor says that it reloaded and did not": Fault(
        (CLEAN,),
        "merged",
        expected,
        expected,
        during=patched(ClientEditor, "reload", return_value=True),
        client=Client(ASKED),
    ),
    "the journal fails": Fault(
        (*OPEN, CLOSED),
        "failed",
        only_on_disk(),
        only_on_disk(),
        during=patched(Ledger, "record", side_effect=LedgerFailed("the journal failed")),
    ),
    "closed while it may reload": Fault(
        (CLEAN,), "recorded", recorded, recorded, happens=soon(closes)
    ),
    "closed before the merge is there": Fault(
        OPEN, "recorded", recorded, recorded, happens=at("before apply", closes)
    ),
    "closed with the merge, thrown away": Fault(
        (CLEAN, APART), "merged", recorded, recorded, happens=at("unanswered", closes_behind)
    ),
    "typed while it may reload": Fault(
        (CLEAN,), "merged", typed_apart, typed_apart, happens=soon(types)
    ),
    "typed before the merge is there": Fault(
        (CLEAN, OVERLAPPING), "", typed_apart, typed_apart, happens=at("before apply", types)
    ),
    "the session is closed, the merge comes": Fault(
        (CLEAN, APART), "cancelled", expected, expected, at("before apply", closes_the_session)
    ),
    "the turn is stopped": Fault(
        OPEN, "proposed", only_on_disk("proposed"), only_on_disk("proposed"), happens=stops
    ),
    "the turn is stopped while it may reload": Fault(
        (CLEAN,), "proposed", only_on_disk("proposed"), only_on_disk("proposed"), soon(stops)
    ),
    "the turn is stopped before the merge is there": Fault(
        (CLEAN, APART), "merged", expected, expected, happens=at("before apply", stops)
    ),
}
POINTS = [
    (fault, Cell(state, action, "mirror", review))
    for fault, each in FAULTS.items()
    for state in each.states
    for action in ("edit", "write")
    for review in ("off", "after")
]


@pytest.mark.parametrize(("name", "cell"), POINTS, ids=str)
def test_a_fault_on_the_way_from_the_disk_loses_nothing_and_is_told(
    tmp_path: Path, name: str, cell: Cell, record_property: Callable[[str, object], None]
) -> None:
    record_property("mirror fault point", name)
    fault = FAULTS[name]

    async def main(clock: VirtualClock) -> None:
        async with anyio.create_task_group() as tasks:
            bench = Bench(tmp_path, cell, clock, tasks, fault.client)
            bench.before_take = lambda: fault.happens(bench)
            tasks.start_soon(bench.host.put_right_late)
            try:
                with bench.mirror.watching():
                    await bench.is_at_work()
                    with fault.during(), anyio.CancelScope() as bench.caller:
                        (brought,) = await bench.brings_in()
                        assert fault.what in ("", brought.what)
                    assert bench.caller.cancelled_caught == (fault.what == "cancelled")
                    found = await bench.found()
                    assert found == astuple(fault.wanted(cell))
                    await anyio.sleep(90)
                    bench.before_take = lambda: None
                    bench.wanted = True
                    await bench.brings_in()
                    assert await bench.found() == astuple(fault.later(cell))
            finally:
                bench.ledger.close()
                tasks.cancel_scope.cancel()

    with without_threads():
        run(main)


def astuple(want: Expected) -> tuple[str | None, bytes | None, tuple[str, ...]]:
    return want.buffer, want.disk, want.ledger
