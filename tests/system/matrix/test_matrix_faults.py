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
from matrix_bench import Bench
from matrix_clients import Client
from matrix_model import Cell, agents_bytes, expected, start, typed
from support.scripted_editor import POLICIES, Point, ScriptedEditor, VirtualClock, run
from support.storm_world import without_threads

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.workspace.disk import files
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed

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
def test_a_fault_loses_nothing_and_is_told(
    tmp_path: Path, fault: str, cell: Cell, record_property: Callable[[str, object], None]
) -> None:
    record_property("fault point", fault)
    client = Client(dataclasses.replace(POLICIES[0], lie=cast(Any, LIES.get(fault, ""))))

    async def main(clock: VirtualClock) -> None:
        async with anyio.create_task_group() as tasks:
            bench = Bench(tmp_path, cell, clock, tasks, client)
            bench.wanted = fault != "the turn is stopped"
            try:
                with FAULTS[fault][1]():
                    told = await bench.hosted()
                buffer, disk, ledger = await bench.found()
            finally:
                bench.ledger.close()
                tasks.cancel_scope.cancel()
        if fault == "the editor never answers":  # it may still come, so it is no failure
            assert ledger == ("unknown",)
            assert told is None
            assert "it may be in or not. Read it again" in bench.answered
        elif fault == "the editor refuses":
            assert ledger == ("conflict",)  # which the person can still apply
            assert "was not changed: the editor refused the edit: E21" in (told or "")
        else:
            assert told is not None
        assert (buffer, disk) == (typed(cell.state), start(cell.state))
        assert not {"applied", "kept"} & set(ledger)

    with without_threads():
        run(main)


# The edit is on its way to the editor.

Way = Callable[[Bench, ScriptedEditor, anyio.CancelScope], None]


def closes_without_it(bench: Bench, editor: ScriptedEditor, _: anyio.CancelScope) -> None:
    bench.documents.close(editor.uri)
    bench.desk.shown = None
    editor.buffer.version = -1  # so it is refused


def saves_it_and_closes(bench: Bench, editor: ScriptedEditor, _: anyio.CancelScope) -> None:
    bench.file.write_bytes(editor.buffer.text.encode())
    closes_with_it(bench, editor, _)


def closes_with_it(bench: Bench, editor: ScriptedEditor, _: anyio.CancelScope) -> None:
    def close() -> None:
        bench.documents.close(editor.uri)
        bench.desk.shown = None

    editor._send(close)  # behind the didChange


def stays_away(_: Bench, editor: ScriptedEditor, caller: anyio.CancelScope) -> None:
    editor.buffer.version = -1
    caller.cancel()


def comes_all_the_same(_: Bench, __: ScriptedEditor, caller: anyio.CancelScope) -> None:
    caller.cancel()


def fails(*_: object) -> None:
    raise LspAgentError("the editor failed")


#: At which point what happens, what the caller is told, and whether the edit is in at the end.
FLIGHTS: dict[str, tuple[Point, Way, list[str | None], bool]] = {
    "closed before the edit is there": ("before apply", closes_without_it, [None], True),
    "saved with the edit and closed": ("unanswered", saves_it_and_closes, [None], True),
    "closed, the edit thrown away": ("unanswered", closes_with_it, [None], False),
    "the editor fails before it": ("before apply", fails, ["the editor failed"], False),
    "the editor fails after it": ("unanswered", fails, ["the editor failed"], True),
    "cancelled, the edit never comes": ("before apply", stays_away, [], False),
    "cancelled, the edit comes": ("before apply", comes_all_the_same, [], True),
}
IN_FLIGHT = [
    (flight, Cell(state, action, "hosted", review))
    for flight in FLIGHTS
    for state in ("open clean", "open unsaved apart")
    for action in ("edit", "write")
    for review in ("off", "after", "before: accepted")
]


@pytest.mark.parametrize(("flight", "cell"), IN_FLIGHT, ids=str)
def test_what_comes_of_an_edit_on_its_way_is_told_as_it_is(
    tmp_path: Path, flight: str, cell: Cell, record_property: Callable[[str, object], None]
) -> None:
    record_property("fault point", flight)
    at, happens, wanted, is_in = FLIGHTS[flight]

    async def main(clock: VirtualClock) -> None:
        async with anyio.create_task_group() as tasks:
            bench = Bench(tmp_path, cell, clock, tasks)
            tasks.start_soon(bench.host.put_right_late)
            told: list[str | None] = []
            try:
                with anyio.CancelScope() as caller:
                    bench.keys = lambda editor, point, send: (
                        happens(bench, editor, caller) if (point, send) == (at, 1) else None
                    )
                    told.append(await made(bench))
                if wanted != [None]:  # it may still come
                    assert [change.status for change in bench.ledger.changes()] == ["unknown"]
                await anyio.sleep(90)
                await bench.edits.find()  # as a client lists them, which looks at the text
                found = await bench.found()
            finally:
                bench.ledger.close()
                tasks.cancel_scope.cancel()
        assert told == wanted
        with_it = expected(dataclasses.replace(cell, review="off")).buffer
        assert with_it is not None
        # What the agent asked for stays unknown; a person's acceptance ends as if it had not been.
        unproved = "proposed" if cell.review.startswith("before") else "unknown"
        status = ("kept" if cell.review == "off" else "applied") if is_in else unproved
        if happens is closes_with_it:  # the person took it back so; without review nobody looks
            status = "kept" if cell.review == "off" else "rejected"
            assert found == (None, start(cell.state), (status,))
        elif bench.desk.shown is None:
            saved = with_it.encode() if happens is saves_it_and_closes else agents_bytes(cell.state)
            assert found == (None, saved, (status,))
        else:
            buffer = with_it if is_in else typed(cell.state)
            assert found == (buffer, start(cell.state), (status,))

    with without_threads():
        run(main)


async def made(bench: Bench) -> str | None:
    """What is told if the edit, or its proposal's acceptance, fails."""
    told = await bench.hosted()
    if not bench.cell.review.startswith("before"):
        return told
    assert told is None
    try:
        return await bench.decide()
    except LspAgentError as error:
        return str(error)
