"""What the storms have found where a file has two texts, closed and opened again, in the fewest
steps; and what the editor's undo brings back."""

from provenance.hub import Json
from provenance.storm import Step

MENDED: dict[str, tuple[Json, list[Step]]] = {
    "a document is opened with what was unsaved, and its file was written meanwhile": (
        {},
        [
            ["edit", "a1", 0, 2, ["line", 2]],
            ["edit", "a1", 1, 1, ["cut", 6]],
            ["close", 1, 1],
            ["write", "a1", 0, 0, [["cut", 5]]],
            ["open", 1],
            ["undo", 0],
        ],
    ),
    "another agent writes the file of a closed document, in a line of what is unsaved": (
        {},
        [
            ["newline", 0, 22],
            ["write", "a2", 1, 0, [["front", 29]]],
            ["close", 1, 1],
            ["edit", "a1", 1, 1, ["add", 13]],
            ["open", 1],
        ],
    ),
    "another agent writes the file of a closed document, killed in between": (
        {},
        [
            ["write", "a2", 1, 0, [["add", 1]]],
            ["restart", 1, 1],
            ["edit", "a1", 1, 1, ["swap", 26]],
            ["open", 0],
        ],
    ),
    "another program writes beside an agent under what was unsaved in a closed document": (
        {},
        [
            ["delete", 0, 17],
            ["close", 0, 1],
            ["edit", "a2", 0, 0, ["line", 9]],
            ["other", 0, 28],
            ["keep", 21, None],
            ["open", 0],
        ],
    ),
    "a revert is given up by closing, with what was typed beside it": (
        {"lines": 6},
        [
            ["write", "a1", 0, 0, [["line", 17], ["front", 26]]],
            ["write", "a1", 0, 0, [["front", 5]]],
            ["save", 1],
            ["revert", 15, 1],
            ["type", 1, 28, 1],
            ["close", 1, 0],
        ],
    ),
    "a hunk of a kept change is rejected, and that is given up by closing": (
        {"lines": 6},
        [
            ["newline", 0, 20],
            ["write", "a1", 0, 0, [["cut", 11], ["front", 5]]],
            ["save", 0],
            ["type", 1, 3, 0],
            ["keep", 29, 3],
            ["reject", 23, 0],
            ["close", 1, 1],
        ],
    ),
    "what was kept right above an open hunk is reverted with it, and that is given up": (
        {"editor": "full"},
        [
            ["edit", "a1", 0, 0, ["line", 6]],
            ["keep", 0, 3],
            ["type", 1, 24, 0],
            ["write", "a1", 1, 0, [["line", 5]]],
            ["revert", 28, 1],
            ["close", 0, 1],
        ],
    ),
    "a kept deletion of what was never saved is given up by closing": (
        {"lines": 6},
        [
            ["newline", 0, 10],
            ["write", "a1", 0, 2, [["cut", 25], ["cut", 15]]],
            ["keep", 17, 3],
            ["close", 0, 0],
        ],
    ),
    "what another agent took out again was given up by closing": (
        {"lines": 12},
        [
            ["type", 0, 6, 1],
            ["write", "a1", 0, 0, [["line", 7]]],
            ["write", "a2", 1, 2, [["cut", 21]]],
            ["close", 1, 0],
        ],
    ),
    "what is unsaved is reverted while it is closed, and shown again after a restart": (
        {"lines": 6},
        [
            ["write", "a1", 0, 1, [["cut", 17], ["front", 9], ["front", 13]]],
            ["write", "a2", 0, 0, [["front", 3]]],
            ["write", "a2", 0, 0, [["line", 28]]],
            ["restart", 0, 1],
            ["revert", 9, 0],
            ["open", 1],
        ],
    ),
    "an agent writes a line that it was told of and a person has given up": (
        {"editor": "full"},
        [
            ["edit", "a1", 0, 0, ["front", 4]],
            ["type", 0, 20, 1],
            ["type", 1, 28, 2],
            ["write", "a1", 0, 2, [["line", 5]]],
            ["close", 0, 0],
            ["write", "a1", 1, 0, [["cut", 25]]],
        ],
    ),
    "an agent's edit shows it a line that a person had changed right below": (
        {"lines": 6},
        [
            ["edit", "a1", 0, 1, ["add", 19]],
            ["type", 0, 4, 0],
            ["delete", 0, 21],
            ["edit", "a1", 0, 0, ["line", 8]],
            ["write", "a1", 0, 0, [["swap", 0]]],
        ],
    ),
    "undo of a rejection after a restart": (
        {},
        [
            ["write", "a1", 0, 0, [["swap", 21]]],
            ["reject", 25, 3],
            ["restart", 0, 0],
            ["undo", 1],
        ],
    ),
    "undo of the rejection of a deletion above a changed line": (
        {},
        [
            ["edit", "a1", 0, 0, ["add", 1]],
            ["write", "a1", 0, 1, [["cut", 12]]],
            ["reject", 20, None],
            ["undo", 0],
        ],
    ),
    "undo and redo of a write that took several edits over": (
        {"lines": 12},
        [
            ["write", "a1", 1, 0, [["line", 4]]],
            ["read", "a1", 0],
            ["write", "a1", 0, 2, [["swap", 18]]],
            ["write", "a1", 1, 0, [["front", 16]]],
            ["write", "a1", 1, 2, [["swap", 19]]],
            ["undo", 0],
            ["redo", 1],
        ],
    ),
    "a person types beside a line that was there before another edit": (
        {"open": False},
        [
            ["edit", "a1", 1, 2, ["cut", 11]],
            ["write", "a1", 1, 2, [["swap", 17]]],
            ["write", "a1", 1, 0, [["line", 18]]],
            ["write", "a1", 1, 2, [["line", 14]]],
            ["open", 1],
            ["type", 1, 7, 1],
        ],
    ),
    "keeping what took another edit over after a restart": (
        {"editor": "full"},
        [
            ["edit", "a1", 0, 1, ["cut", 12]],
            ["write", "a1", 1, 1, [["front", 27]]],
            ["write", "a1", 0, 2, [["add", 28]]],
            ["edit", "a1", 1, 0, ["swap", 3]],
            ["restart", 0, 1],
            ["keep", 2, None],
        ],
    ),
    "a write puts back one of two deleted lines and changes what is below them": (
        {},
        [
            ["write", "a1", 1, 0, [["cut", 16]]],
            ["read", "a1", 0],
            ["write", "a1", 1, 0, [["cut", 18]]],
            ["write", "a1", 1, 2, [["line", 12], ["cut", 14]]],
        ],
    ),
    "a rejected deletion tells where a line belongs that comes back": (
        {"open": False},
        [
            ["write", "a2", 1, 2, [["line", 20], ["cut", 0]]],
            ["write", "a1", 1, 0, [["cut", 7]]],
            ["write", "a1", 1, 0, [["line", 14], ["line", 8], ["front", 12]]],
            ["write", "a1", 1, 0, [["swap", 10]]],
            ["reject", 1, None],
        ],
    ),
    "an unsaved edit is shown again with what the agent wrote twice meanwhile": (
        {},
        [
            ["write", "a2", 1, 0, [["add", 28], ["add", 24]]],
            ["close", 0, 1],
            ["write", "a2", 0, 0, [["line", 18]]],
            ["write", "a2", 0, 0, [["line", 9], ["cut", 26]]],
            ["open", 0],
        ],
    ),
    "an unsaved edit is shown again so, and all is reverted": (
        {"lines": 6},
        [
            ["type", 1, 18, 2],
            ["write", "a1", 0, 2, [["add", 20]]],
            ["close", 1, 1],
            ["edit", "a1", 0, 1, ["add", 21]],
            ["write", "a1", 1, 2, [["front", 8]]],
            ["open", 0],
        ],
    ),
    "an edit of a closed file is kept, and unsaved text without it shown again": (
        {},
        [
            ["type", 0, 2, 0],
            ["close", 1, 1],
            ["edit", "a1", 1, 0, ["front", 8]],
            ["keep", 23, 3],
            ["open", 0],
        ],
    ),
    "what is unsaved was kept, and is shown again without what the agent wrote meanwhile": (
        {"lines": 12},
        [
            ["write", "a1", 1, 0, [["line", 22], ["add", 7]]],
            ["keep", 22, None],
            ["close", 1, 1],
            ["write", "a1", 1, 0, [["cut", 10], ["swap", 18]]],
            ["write", "a1", 0, 0, [["cut", 19]]],
            ["open", 0],
            ["keep", 12, 0],
        ],
    ),
    "a typed line that an agent cut is back with a revert, where the next line changed since": (
        {},
        [
            ["newline", 0, 27],
            ["write", "a1", 0, 0, [["cut", 19]]],
            ["close", 0, 0],
            ["write", "a1", 0, 0, [["line", 20]]],
        ],
    ),
    "a revert of what was kept and saved is given up with the document, edited since": (
        {"editor": "full"},
        [
            ["write", "a2", 0, 1, [["front", 26]]],
            ["keep", 12, 1],
            ["type", 0, 20, 1],
            ["revert", 23, 1],
            ["edit", "a2", 1, 0, ["swap", 3]],
            ["edit", "a2", 0, 0, ["front", 20]],
            ["close", 0, 1],
        ],
    ),
}
