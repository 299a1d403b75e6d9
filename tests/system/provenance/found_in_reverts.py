"""What reverts did wrong, and what was wrong after them, in the fewest steps."""

from provenance.hub import Json
from provenance.storm import Step

#: By name: what differs from one open file of three lines in a plain editor, and the steps.
MENDED: dict[str, tuple[Json, list[Step]]] = {
    "a reverted edit of a closed file is applied after a restart": (
        {"lines": 6, "open": False},
        [
            ["write", "a1", 0, 0, [["add", 4]]],
            ["end", "a1"],
            ["revert", 0, 0],
            ["restart", 0, 0],
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
    "a revert of two hunks is undone in the editor, and then typed in": (
        {},
        [
            ["write", "a1", 0, 0, [["line", 11], ["front", 18]]],
            ["revert", 0, 0],
            ["undo", 0],
            ["type", 0, 14, 0],
        ],
    ),
    "a revert of what was kept is undone in the editor": (
        {},
        [
            ["write", "a1", 0, 0, [["add", 1]]],
            ["keep", 0, None],
            ["revert", 0, 0],
            ["undo", 0],
        ],
    ),
    "a revert of a line that two changes made is undone in the editor": (
        {},
        [
            ["write", "a1", 0, 0, [["add", 7]]],
            ["write", "a1", 0, 0, [["add", 28]]],
            ["revert", 0, 0],
            ["undo", 1],
            ["edit", "a1", 0, 0, ["front", 15]],
            ["type", 1, 12, 1],
        ],
    ),
    "a revert that was not saved is given up by closing": (
        {"editor": "full"},
        [
            ["write", "a1", 0, 0, [["front", 6]]],
            ["type", 0, 15, 1],
            ["revert", 0, 0],
            ["close", 0, 1],
        ],
    ),
    "a revert writes what was never saved": (
        {"lines": 6},
        [
            ["newline", 0, 15],
            ["write", "a1", 0, 0, [["line", 13], ["cut", 17]]],
            ["close", 1, 0],
        ],
    ),
    "an edit that was never saved is reverted while its document is closed": (
        {},
        [
            ["write", "a2", 0, 0, [["front", 3]]],
            ["restart", 0, 1],
            ["revert", 9, 0],
            ["open", 1],
        ],
    ),
    "a turn that changed nothing is reverted after a restart": (
        {},
        [
            ["read", "a1", 1],
            ["revert", 25, 1],
            ["write", "a1", 1, 2, [["front", 6]]],
            ["restart", 0, 0],
        ],
    ),
    "a revert of what was kept and of a line below is undone in the editor": (
        {},
        [
            ["write", "a1", 1, 1, [["front", 13]]],
            ["keep", 29, 0],
            ["read", "a1", 0],
            ["write", "a1", 0, 1, [["line", 19]]],
            ["revert", 20, 1],
            ["undo", 1],
        ],
    ),
    "a word of an agent's two lines is deleted, and another of its lines is above": (
        {"lines": 6},
        [
            ["write", "a1", 0, 0, [["line", 8], ["front", 23]]],
            ["edit", "a1", 1, 2, ["line", 29]],
            ["type", 0, 6, 1],
            ["delete", 0, 24],
        ],
    ),
    "a line that one agent deleted and another put back is reverted by both": (
        {"lines": 12, "open": False},
        [
            ["write", "a2", 0, 0, [["add", 20]]],
            ["write", "a1", 1, 1, [["cut", 2]]],
            ["read", "a2", 0],
            ["write", "a2", 0, 1, [["add", 18]]],
        ],
    ),
    "a line that one agent replaced and another put back is reverted by both": (
        {"lines": 12},
        [
            ["edit", "a1", 0, 0, ["swap", 4]],
            ["write", "a2", 0, 0, [["swap", 27]]],
            ["read", "a1", 0],
            ["write", "a1", 0, 1, [["add", 9]]],
        ],
    ),
    "a deletion that was reverted and made again is put back by another session": (
        {"lines": 6},
        [
            ["write", "a1", 1, 0, [["cut", 0]]],
            ["revert", 25, 0],
            ["restart", 1, 1],
            ["write", "a1", 1, 0, [["cut", 10], ["cut", 19]]],
            ["unrevert", 10],
            ["write", "a1", 1, 0, [["cut", 8]]],
            ["write", "a1", 1, 2, [["line", 22]]],
        ],
    ),
    "a line of an agent that another one took out is reverted first": (
        {"open": False},
        [
            ["edit", "a1", 1, 0, ["cut", 0]],
            ["edit", "a1", 1, 0, ["line", 27]],
            ["write", "a2", 1, 0, [["cut", 1]]],
        ],
    ),
    "a word that one agent put in and another took out is reverted by both": (
        {"lines": 12, "open": False},
        [
            ["write", "a2", 0, 1, [["line", 10]]],
            ["edit", "a1", 1, 0, ["front", 27]],
            ["read", "a2", 0],
            ["write", "a2", 1, 1, [["line", 19]]],
            ["write", "a1", 0, 1, [["add", 7]]],
        ],
    ),
    "a line between two deleted ones gets two words": (
        {"open": False},
        [
            ["write", "a1", 1, 0, [["cut", 10]]],
            ["write", "a2", 1, 0, [["cut", 20], ["add", 27], ["add", 28]]],
        ],
    ),
    "a line is deleted between two that other agents changed": (
        {},
        [
            ["write", "a1", 0, 0, [["swap", 27]]],
            ["edit", "a3", 0, 0, ["line", 16]],
            ["type", 1, 11, 2],
            ["write", "a2", 0, 0, [["cut", 29]]],
        ],
    ),
    "a line is deleted between two that the agent had put there": (
        {"lines": 12},
        [
            ["write", "a1", 1, 1, [["swap", 19], ["line", 8]]],
            ["restart", 1, 0],
            ["write", "a1", 0, 0, [["cut", 21]]],
        ],
    ),
    "what was typed in front of a line that went where another one was": (
        {"lines": 6},
        [
            ["write", "a3", 0, 0, [["cut", 29], ["line", 13], ["front", 29]]],
            ["delete", 0, 10],
            ["undo", 0],
            ["type", 0, 17, 0],
        ],
    ),
    "a line that was put back by the agent itself is rejected and reverted": (
        {"lines": 12, "open": False},
        [
            ["write", "a1", 0, 0, [["swap", 17]]],
            ["edit", "a1", 0, 1, ["line", 18]],
            ["write", "a1", 0, 2, [["cut", 6]]],
            ["write", "a1", 1, 2, [["front", 26]]],
            ["reject", 18, None],
        ],
    ),
    "a line is typed in that the agent had deleted and put back": (
        {"open": False},
        [
            ["write", "a1", 1, 2, [["cut", 12]]],
            ["write", "a1", 0, 1, [["add", 7]]],
            ["open", 0],
            ["type", 0, 15, 3],
        ],
    ),
    "a word that the person deleted and an agent put in again is reverted": (
        {"lines": 12},
        [
            ["write", "a1", 1, 0, [["line", 7]]],
            ["newline", 0, 29],
            ["type", 1, 20, 3],
            ["edit", "a1", 1, 1, ["line", 0]],
            ["delete", 1, 26],
            ["write", "a1", 0, 1, [["line", 11]]],
            ["type", 0, 7, 2],
        ],
    ),
    "a revert in a line that two agents wrote is undone in the editor": (
        {},
        [
            ["edit", "a2", 1, 0, ["add", 15]],
            ["write", "a1", 1, 1, [["add", 15]]],
            ["revert", 22, 1],
            ["undo", 1],
        ],
    ),
    "a turn that changed nothing is reverted, and the one after it was cut off by a kill": (
        {},
        [
            ["fail", "a2", 0],
            ["end", "a2"],
            ["edit", "a2", 1, 1, ["line", 10]],
            ["restart", 1, 0],
        ],
    ),
    "a line that was put back and never saved is reverted": (
        {"lines": 12},
        [
            ["write", "a1", 1, 2, [["line", 24]]],
            ["write", "a1", 1, 1, [["cut", 9]]],
            ["save", 0],
            ["write", "a1", 1, 2, [["front", 27]]],
            ["close", 0, 1],
        ],
    ),
    "an edit that the agent had written over is brought back by the editor's undo": (
        {"open": False},
        [
            ["open", 0],
            ["edit", "a1", 0, 0, ["add", 6]],
            ["write", "a1", 1, 1, [["front", 16]]],
            ["keep", 29, 3],
            ["undo", 1],
        ],
    ),
    "a line is deleted between two of which the person and a reject changed both": (
        {},
        [
            ["edit", "a2", 0, 0, ["cut", 2]],
            ["edit", "a2", 1, 1, ["add", 28]],
            ["write", "a1", 0, 0, [["cut", 28]]],
            ["reject", 18, 1],
            ["delete", 1, 29],
            ["write", "a2", 1, 0, [["line", 17]]],
        ],
    ),
    "a revert is taken back, that is taken back, and the person undoes it in the editor": (
        {},
        [
            ["write", "a2", 0, 0, [["line", 21]]],
            ["revert", 12, 0],
            ["unrevert", 20],
            ["unrevert", 3],
            ["undo", 1],
        ],
    ),
    "an agent changes a line that an earlier turn, reverted since, had deleted and put back": (
        {"lines": 12},
        [
            ["write", "a2", 1, 0, [["cut", 3]]],
            ["write", "a2", 1, 1, [["line", 18]]],
            ["revert", 10, 0],
            ["write", "a2", 0, 2, [["swap", 3]]],
        ],
    ),
    "a line of an agent that a person typed in is reverted, and then what had taken it out": (
        {"lines": 6},
        [
            ["write", "a1", 1, 0, [["line", 21], ["line", 2]]],
            ["type", 0, 27, 2],
            ["write", "a2", 1, 0, [["cut", 3]]],
        ],
    ),
    "of two edits that are back by undo, the second had put back what the first had cut": (
        {"lines": 12},
        [
            ["write", "a1", 0, 0, [["cut", 18]]],
            ["write", "a1", 1, 1, [["cut", 28]]],
            ["revert", 20, 0],
            ["undo", 1],
            ["write", "a1", 1, 1, [["line", 11]]],
            ["revert", 6, 1],
        ],
    ),
    "what an agent put in and took out again stays out, where the line above it changed": (
        {"files": 2},
        [
            ["write", "a2", 1, 2, [["front", 19]]],
            ["edit", "a1", 0, 0, ["line", 18]],
            ["write", "a2", 0, 1, [["swap", 20]]],
            ["write", "a1", 0, 0, [["cut", 13]]],
            ["newline", 0, 28],
        ],
    ),
    "two edits of one line, rejected and reverted, are back by the editor's undo": (
        {},
        [
            ["write", "a1", 0, 0, [["add", 6]]],
            ["edit", "a1", 1, 2, ["front", 18]],
            ["reject", 12, 0],
            ["revert", 24, 1],
            ["undo", 1],
        ],
    ),
    "a kept edit over another one is undone in the editor, and its line is written once more": (
        {},
        [
            ["edit", "a1", 1, 1, ["cut", 29]],
            ["write", "a1", 1, 1, [["swap", 7]]],
            ["keep", 18, None],
            ["undo", 1],
            ["edit", "a1", 1, 0, ["add", 1]],
            ["write", "a1", 1, 0, [["cut", 11]]],
            ["write", "a1", 1, 2, [["cut", 17]]],
        ],
    ),
}
