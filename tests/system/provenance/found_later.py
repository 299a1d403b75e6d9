"""What 40,000 more runs have found, in the fewest steps."""

from provenance.hub import Json
from provenance.storm import Step

MENDED: dict[str, tuple[Json, list[Step]]] = {
    "a line that came back with a revert is written anew by an agent that was told less": (
        {},
        [
            ["write", "a1", 1, 0, [["add", 22], ["cut", 0], ["add", 5]]],
            ["write", "a1", 1, 0, [["line", 14]]],
            ["write", "a1", 1, 1, [["cut", 9]]],
            ["revert", 8, 1],
            ["write", "a1", 1, 2, [["line", 0]]],
        ],
    ),
    "a line is written as it once was, after a write that was proposed had cut it": (
        {},
        [
            ["write", "a1", 0, 0, [["add", 19]]],
            ["write", "a1", 0, 2, [["cut", 1], ["cut", 5]]],
            ["write", "a1", 0, 2, [["add", 13], ["cut", 15], ["swap", 1]]],
        ],
    ),
    "what an agent took out beside a line that it had put back is put back with more in it": (
        {"open": False},
        [
            ["write", "a1", 1, 2, [["cut", 17]]],
            ["write", "a1", 1, 1, [["cut", 1]]],
            ["write", "a1", 1, 2, [["add", 16]]],
            ["reject", 0, 3],
        ],
    ),
    "an agent puts back one of two lines that it had deleted, and the deletion is rejected": (
        {"lines": 6},
        [
            ["write", "a1", 0, 0, [["cut", 18], ["cut", 10]]],
            ["write", "a1", 0, 1, [["swap", 12]]],
            ["reject", 4, None],
        ],
    ),
}
