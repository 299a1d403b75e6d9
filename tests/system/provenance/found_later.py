"""What later runs have found, in the fewest steps."""

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
    "a hunk that had taken another one over is rejected, and then the turn is reverted": (
        {},
        [
            ["write", "a1", 1, 0, [["swap", 4], ["swap", 18]]],
            ["write", "a1", 0, 2, [["cut", 2], ["line", 0]]],
            ["reject", 21, 0],
        ],
    ),
    "another program writes between an agent's lines, and the server is started anew": (
        {"open": False},
        [
            ["write", "a1", 0, 1, [["line", 15], ["front", 10], ["front", 28]]],
            ["write", "a1", 0, 0, [["add", 16]]],
            ["other", 1, 17],
            ["restart", 0, 0],
        ],
    ),
    "a kept hunk is undone and redone in unsaved text, and that is given up by closing": (
        {},
        [
            ["type", 1, 28, 2],
            ["close", 1, 1],
            ["write", "a1", 1, 2, [["line", 26]]],
            ["keep", 12, 3],
            ["open", 1],
            ["undo", 0],
            ["redo", 0],
            ["close", 1, 0],
        ],
    ),
    "an agent takes back what waits in a proposal, where the person has typed beside it": (
        {"lines": 6, "mirror": [1]},
        [
            ["write", "a1", 0, 1, [["line", 14]]],
            ["type", 1, 26, 0],
            ["newline", 1, 3],
            ["write", "a1", 1, 0, [["cut", 17]]],
        ],
    ),
    "another program writes what a proposal is for, and the unsaved text is given up": (
        {"mirror": [2]},
        [
            ["type", 0, 24, 1],
            ["write", "a2", 0, 0, [["swap", 12]]],
            ["other", 0, 29],
            ["restart", 0, 0],
            ["close", 1, 1],
        ],
    ),
    "a line that a rejected hunk brought back is written with more in it, beside another": (
        {},
        [
            ["edit", "a1", 1, 0, ["swap", 12]],
            ["write", "a1", 0, 0, [["cut", 7]]],
            ["type", 0, 1, 1],
            ["reject", 17, None],
            ["write", "a1", 1, 2, [["add", 25]]],
        ],
    ),
    "two lines that a rejected hunk brought back are one that an agent writes with more in it": (
        {},
        [
            ["write", "a2", 0, 0, [["add", 26], ["cut", 19]]],
            ["write", "a1", 0, 0, [["cut", 29]]],
            ["reject", 9, 0],
            ["type", 0, 12, 3],
            ["write", "a1", 0, 1, [["add", 28], ["front", 21]]],
        ],
    ),
    "a line that closing brought back is written with more in it": (
        {},
        [
            ["edit", "a1", 0, 0, ["line", 17]],
            ["write", "a1", 0, 2, [["cut", 18]]],
            ["close", 0, 0],
            ["write", "a1", 0, 1, [["cut", 17], ["line", 0], ["front", 14]]],
        ],
    ),
    "undo brings back what a kept edit had taken over, and that goes over what was kept with it": (
        {"lines": 6},
        [
            ["write", "a1", 0, 0, [["add", 12], ["front", 3]]],
            ["reject", 9, 1],
            ["write", "a1", 0, 2, [["add", 18]]],
            ["write", "a1", 1, 2, [["front", 16]]],
            ["keep", 23, None],
            ["undo", 1],
            ["edit", "a1", 1, 2, ["swap", 0]],
            ["reject", 17, 2],
        ],
    ),
}
