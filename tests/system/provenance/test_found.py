"""What the storms have found, in the fewest steps."""

import pytest

from provenance import (
    found_in_closed,
    found_in_fresh_seeds,
    found_in_many,
    found_in_reverts,
    found_later,
    found_of_mirrors,
)
from provenance.hub import Json
from provenance.storm import Step, replay, run_on
from provenance.virtual import VirtualDesks

#: By name: what differs from one open file of three lines in a plain editor, and the steps.
MENDED: dict[str, tuple[Json, list[Step]]] = {
    **found_in_reverts.MENDED,
    **found_in_closed.MENDED,
    **found_in_many.MENDED,
    **found_of_mirrors.MENDED,
    **found_later.MENDED,
    **found_in_fresh_seeds.MENDED,
    "a second write takes out what was typed": (
        {"lines": 12},
        [
            ["read", "a1", 0],
            ["type", 0, 0, 0],
            ["write", "a1", 0, 0, [["add", 4]]],
            ["write", "a1", 0, 0, [["add", 8]]],
        ],
    ),
    "a write brings back what the person deleted": (
        {},
        [
            ["edit", "a1", 0, 0, ["add", 29]],
            ["delete", 1, 22],
            ["edit", "a1", 1, 1, ["add", 7]],
            ["write", "a1", 1, 2, [["line", 3]]],
        ],
    ),
    "undo after reject": (
        {"open": False},
        [
            ["write", "a1", 1, 0, [["cut", 18]]],
            ["open", 0],
            ["reject", 7, 2],
            ["undo", 0],
        ],
    ),
    "a deletion that the editor undid is taken back once more": (
        {"lines": 6},
        [
            ["other", 1, 25],
            ["write", "a2", 0, 0, [["cut", 12]]],
            ["write", "a2", 0, 0, [["cut", 20]]],
            ["undo", 1],
            ["type", 0, 7, 0],
        ],
    ),
    "kept, and then opened without it": (
        {"lines": 6},
        [
            ["type", 0, 2, 1],
            ["read", "a1", 0],
            ["close", 0, 1],
            ["wait"],
            ["write", "a1", 0, 0, [["add", 4]]],
            ["keep", 0, None],
            ["open", 0],
        ],
    ),
    "a deletion that was never saved is taken back on disk": (
        {},
        [
            ["edit", "a2", 0, 2, ["front", 17]],
            ["write", "a2", 1, 1, [["cut", 16]]],
            ["close", 0, 0],
        ],
    ),
    "undo of what took another edit's place": (
        {},
        [
            ["edit", "a1", 1, 0, ["swap", 19]],
            ["write", "a1", 0, 1, [["cut", 10]]],
            ["undo", 0],
        ],
    ),
    "an agent that does as the note says doubles the line": (
        {"lines": 12},
        [
            ["read", "a1", 0],
            ["newline", 0, 1],
            ["write", "a1", 0, 0, [["add", 9]]],
            ["write", "a1", 0, 0, [["add", 0]]],
        ],
    ),
    "undo of what took another session's place": (
        {},
        [
            ["edit", "a2", 0, 0, ["swap", 6]],
            ["write", "a1", 0, 0, [["cut", 24]]],
            ["undo", 1],
        ],
    ),
    "reject doubles a line that was never saved away": (
        {"lines": 12},
        [
            ["write", "a2", 1, 0, [["front", 10]]],
            ["write", "a2", 0, 0, [["cut", 21]]],
            ["close", 1, 0],
            ["reject", 25, None],
        ],
    ),
    "a write brings back what was given up by closing": (
        {},
        [
            ["read", "a1", 0],
            ["newline", 0, 25],
            ["edit", "a1", 1, 0, ["line", 23]],
            ["close", 0, 0],
            ["write", "a1", 1, 0, [["add", 26]]],
        ],
    ),
    "no hunk shows a typed word that went with an agent's line": (
        {},
        [
            ["edit", "a1", 1, 0, ["front", 14]],
            ["type", 1, 14, 3],
            ["write", "a1", 0, 0, [["cut", 22]]],
            ["write", "a2", 1, 0, [["line", 24], ["swap", 14]]],
        ],
    ),
    "no hunk shows a line that was typed into and then replaced by another agent": (
        {},
        [
            ["write", "a2", 0, 0, [["line", 1]]],
            ["type", 0, 2, 2],
            ["edit", "a3", 0, 0, ["swap", 2]],
        ],
    ),
    "an edit is kept that a closed editor has unsaved": (
        {},
        [
            ["type", 0, 19, 2],
            ["edit", "a1", 1, 0, ["swap", 7]],
            ["close", 1, 1],
            ["keep", 0, None],
        ],
    ),
    "an edit of another edit's line is undone and redone in the editor": (
        {},
        [
            ["write", "a3", 0, 0, [["line", 27]]],
            ["edit", "a3", 0, 0, ["add", 1]],
            ["undo", 0],
            ["redo", 0],
        ],
    ),
    "a write that took out other edits, and one of those, are undone in the editor": (
        {"lines": 12},
        [
            ["edit", "a2", 0, 2, ["add", 6]],
            ["write", "a2", 0, 0, [["front", 21]]],
            ["write", "a2", 0, 2, [["add", 13]]],
            ["undo", 0],
            ["undo", 0],
        ],
    ),
    "a line that was put where another edit had deleted one is undone and redone": (
        {"lines": 6},
        [
            ["write", "a1", 0, 0, [["cut", 3]]],
            ["write", "a1", 0, 0, [["line", 2]]],
            ["undo", 0],
            ["redo", 0],
        ],
    ),
    "a line is typed in twice, and given up by closing": (
        {},
        [
            ["type", 0, 13, 0],
            ["edit", "a1", 0, 1, ["line", 27]],
            ["type", 0, 28, 3],
            ["delete", 0, 6],
            ["undo", 1],
            ["type", 1, 25, 0],
            ["write", "a1", 1, 1, [["front", 22]]],
            ["delete", 1, 13],
            ["read", "a1", 1],
            ["write", "a1", 1, 1, [["cut", 12]]],
            ["close", 0, 1],
        ],
    ),
    "a line is deleted, put back by a stale write and written behind": (
        {"lines": 12},
        [
            ["write", "a1", 1, 1, [["cut", 3], ["cut", 17]]],
            ["write", "a3", 0, 2, [["cut", 20]]],
            ["edit", "a3", 0, 0, ["swap", 22]],
            ["write", "a3", 0, 0, [["line", 11]]],
            ["write", "a1", 1, 1, [["add", 26]]],
            ["edit", "a3", 0, 2, ["line", 18]],
            ["edit", "a3", 1, 0, ["line", 8]],
        ],
    ),
    "neighbouring lines are deleted by two agents": (
        {"open": False},
        [
            ["write", "a1", 1, 0, [["cut", 10]]],
            ["write", "a2", 1, 0, [["cut", 20], ["add", 27]]],
        ],
    ),
    "a hunk that holds lines of an earlier edit is kept": (
        {"lines": 6},
        [
            ["write", "a1", 1, 0, [["swap", 24]]],
            ["write", "a1", 1, 2, [["front", 14], ["front", 13], ["line", 27]]],
            ["write", "a1", 0, 0, [["cut", 2]]],
            ["keep", 20, None],
        ],
    ),
    "a hunk that holds another one of its own edit is kept": (
        {},
        [
            ["write", "a1", 0, 0, [["swap", 26], ["front", 10], ["front", 21]]],
            ["edit", "a1", 1, 0, ["line", 5]],
            ["write", "a1", 1, 1, [["swap", 26], ["cut", 15]]],
            ["keep", 24, 3],
        ],
    ),
    "the first of two lines of an edit is deleted, and that is undone in the editor": (
        {"lines": 6},
        [
            ["write", "a2", 1, 0, [["line", 12], ["swap", 0]]],
            ["write", "a2", 0, 0, [["cut", 28], ["front", 5]]],
            ["undo", 0],
        ],
    ),
    "an agent's line that was typed in is reviewed after a restart": (
        {"lines": 12},
        [
            ["write", "a2", 1, 0, [["line", 0]]],
            ["edit", "a2", 1, 2, ["cut", 9]],
            ["type", 1, 14, 1],
            ["restart", 0, 0],
        ],
    ),
    "an edit that a closed editor has unsaved and typed in is rejected": (
        {"open": False},
        [
            ["write", "a2", 1, 2, [["line", 2]]],
            ["open", 0],
            ["type", 1, 7, 2],
            ["close", 0, 1],
            ["reject", 26, None],
            ["open", 0],
        ],
    ),
    "what was kept is undone in the editor, and what it had taken over is rejected": (
        {"lines": 12},
        [
            ["write", "a2", 0, 1, [["front", 7]]],
            ["write", "a2", 1, 0, [["cut", 23], ["front", 18]]],
            ["keep", 21, 2],
            ["undo", 1],
            ["reject", 18, 1],
        ],
    ),
    "another program writes between an agent's lines before a restart": (
        {"open": False},
        [
            ["edit", "a2", 0, 0, ["line", 6]],
            ["write", "a1", 1, 2, [["line", 3], ["swap", 8]]],
            ["other", 0, 10],
            ["restart", 1, 1],
        ],
    ),
    "an edit of which newer work took one line is found again after a restart": (
        {},
        [
            ["restart", 1, 1],
            ["write", "a2", 1, 1, [["cut", 4]]],
            ["write", "a1", 1, 0, [["line", 21]]],
            ["write", "a1", 0, 1, [["add", 26]]],
            ["write", "a1", 0, 0, [["line", 21]]],
            ["edit", "a1", 1, 1, ["line", 6]],
            ["restart", 0, 1],
        ],
    ),
    "edits in each other's lines are reviewed after a restart": (
        {"lines": 6},
        [
            ["restart", 1, 1],
            ["write", "a2", 1, 1, [["cut", 4]]],
            ["write", "a1", 1, 0, [["swap", 22]]],
            ["write", "a1", 0, 1, [["add", 26]]],
            ["write", "a1", 0, 0, [["line", 21], ["swap", 29]]],
            ["edit", "a1", 1, 1, ["line", 6]],
            ["restart", 0, 1],
        ],
    ),
    "what was kept is reverted, and that is given up by closing": (
        {"editor": "full"},
        [
            ["edit", "a1", 1, 2, ["add", 28]],
            ["newline", 1, 24],
            ["keep", 28, 1],
            ["edit", "a1", 1, 0, ["swap", 0]],
            ["revert", 29, 1],
            ["close", 1, 0],
        ],
    ),
    "what was kept beside an open hunk is reverted, and that is given up by closing": (
        {"editor": "full"},
        [
            ["edit", "a1", 1, 2, ["add", 28]],
            ["newline", 1, 24],
            ["keep", 28, 1],
            ["edit", "a1", 1, 0, ["swap", 0]],
            ["write", "a1", 1, 0, [["cut", 21]]],
            ["revert", 29, 1],
            ["close", 1, 0],
        ],
    ),
}
CASES = [pytest.param(*case, id=name) for name, case in MENDED.items()]


def _whole(setup: Json) -> Json:
    return {"files": 1, "lines": 3, "mirror": [], "editor": "plain", "open": True} | setup


@pytest.mark.parametrize(("setup", "steps"), CASES)
def test_it_goes_well_in_virtual_time(setup: Json, steps: list[Step]) -> None:
    desks = VirtualDesks()
    outcome = run_on(desks, _whole(setup), steps)
    desks.close()
    print("\n".join(outcome.log))
    assert outcome.wrongs == []


@pytest.mark.slow
@pytest.mark.parametrize(("setup", "steps"), CASES)
def test_it_goes_well_at_a_real_server(setup: Json, steps: list[Step]) -> None:
    outcome = replay(_whole(setup), steps)
    print("\n".join(outcome.log))
    assert outcome.wrongs == []
