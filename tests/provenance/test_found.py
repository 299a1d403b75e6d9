"""What the storms have found, in the fewest steps. Those that are still open are expected to fail,
and fail here once they no longer do: then their mark goes."""

import pytest

from provenance.hub import Json
from provenance.storm import Step, replay, run_on
from provenance.virtual import VirtualDesks

#: By name: what differs from one open file of three lines in a plain editor, and the steps.
MENDED: dict[str, tuple[Json, list[Step]]] = {
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
    "a reverted edit of a closed file is applied after a restart": (
        {"lines": 6, "open": False},
        [
            ["write", "a1", 0, 0, [["add", 4]]],
            ["end", "a1"],
            ["revert", 0, 0],
            ["restart", 0, 0],
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
    "a revert is unchanged where the person typed in the agent's line": (
        {},
        [
            ["edit", "a1", 1, 0, ["line", 11]],
            ["type", 0, 11, 1],
        ],
    ),
    "a revert is unchanged where another agent changed the line": (
        {"lines": 12},
        [
            ["write", "a2", 1, 0, [["line", 0]]],
            ["edit", "a1", 1, 1, ["cut", 27]],
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
}
OPEN: dict[str, tuple[Json, list[Step]]] = {
    "a revert writes what was never saved": (
        {"lines": 6},
        [
            ["newline", 0, 15],
            ["write", "a1", 0, 0, [["line", 13], ["cut", 17]]],
            ["close", 1, 0],
        ],
    ),
}
_open = pytest.mark.xfail(strict=True, reason="found and not mended yet")
CASES = [
    *(pytest.param(*MENDED[name], id=name) for name in MENDED),
    *(pytest.param(*OPEN[name], id=name, marks=_open) for name in OPEN),
]


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
