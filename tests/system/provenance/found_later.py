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
    "kept in unsaved text that a closed editor keeps, and reverted meanwhile": (
        {},
        [
            ["edit", "a1", 1, 2, ["cut", 26]],
            ["keep", 17, 1],
            ["close", 1, 1],
            ["revert", 1, 0],
            ["open", 0],
        ],
    ),
    "of two hunks in unsaved text one is kept, and that is reverted while the document is closed": (
        {},
        [
            ["type", 0, 18, 0],
            ["write", "a1", 1, 0, [["line", 23], ["swap", 0]]],
            ["keep", 5, 1],
            ["close", 1, 1],
            ["revert", 7, 1],
            ["open", 1],
        ],
    ),
    "kept in unsaved text, typed in, and reverted while that is closed: an agent writes there": (
        {},
        [
            ["edit", "a1", 0, 0, ["cut", 14]],
            ["type", 0, 8, 3],
            ["keep", 23, None],
            ["close", 1, 1],
            ["revert", 6, 0],
            ["open", 0],
            ["read", "a1", 1],
            ["write", "a1", 1, 1, [["front", 20]]],
        ],
    ),
    "kept on disk, and taken out with what came above it in unsaved text that is given up": (
        {"editor": "full"},
        [
            ["write", "a2", 1, 0, [["line", 13], ["front", 27]]],
            ["keep", 24, None],
            ["edit", "a2", 1, 0, ["line", 9]],
            ["type", 1, 7, 0],
            ["revert", 10, 0],
            ["close", 1, 0],
        ],
    ),
    "a closed file gets lines at the place where its unsaved text has some of a person's": (
        {"lines": 12},
        [
            ["edit", "a1", 1, 0, ["cut", 1]],
            ["type", 0, 1, 0],
            ["newline", 0, 25],
            ["write", "a1", 1, 2, [["front", 18]]],
            ["close", 0, 1],
            ["edit", "a1", 1, 0, ["front", 24]],
            ["edit", "a1", 1, 0, ["add", 11]],
            ["write", "a1", 0, 0, [["line", 11]]],
            ["open", 0],
        ],
    ),
    "a kept hunk is taken over again by the editor's undo, and that is rejected": (
        {},
        [
            ["write", "a3", 0, 0, [["front", 29]]],
            ["write", "a2", 0, 0, [["line", 9]]],
            ["edit", "a3", 0, 0, ["front", 8]],
            ["delete", 0, 6],
            ["keep", 4, 3],
            ["undo", 0],
            ["reject", 17, 2],
        ],
    ),
    "kept on disk in part, and taken over in unsaved text that a restart gives up": (
        {"lines": 12, "editor": "full"},
        [
            ["write", "a2", 0, 0, [["swap", 22], ["front", 16], ["line", 9]]],
            ["keep", 3, 2],
            ["newline", 0, 11],
            ["write", "a2", 0, 0, [["add", 9]]],
            ["write", "a2", 0, 0, [["add", 12], ["cut", 21]]],
            ["restart", 1, 1],
        ],
    ),
    "listed between a mirror agent's write of a closed file and the look that finds it": (
        {"lines": 6, "mirror": [1]},
        [
            ["write", "a1", 1, 0, [["add", 22]]],
            ["close", 1, 1],
            ["revert", 11, 0],
            ["write", "a1", 1, 0, [["cut", 20], ["add", 12]]],
            ["reject", 5, 2],
        ],
    ),
    "a mirror agent writes what was rejected into a closed file again, and more": (
        {"mirror": [2], "open": False},
        [
            ["edit", "a2", 0, 2, ["line", 4]],
            ["reject", 16, None],
            ["write", "a2", 1, 2, [["swap", 23]]],
            ["reject", 1, 1],
        ],
    ),
    "a revert is taken back in unsaved text of which a part is on disk, and that is given up": (
        {"lines": 6, "editor": "full"},
        [
            ["edit", "a2", 0, 1, ["line", 1]],
            ["type", 0, 5, 1],
            ["edit", "a2", 0, 0, ["cut", 14]],
            ["revert", 4, 1],
            ["unrevert", 0],
            ["close", 0, 0],
        ],
    ),
    "two kept hunks beside each other, one of them typed in, go with a revert that is given up": (
        {"lines": 12},
        [
            ["write", "a1", 0, 2, [["swap", 14]]],
            ["save", 0],
            ["type", 1, 14, 0],
            ["write", "a1", 0, 2, [["front", 3]]],
            ["keep", 10, None],
            ["revert", 13, 1],
            ["close", 1, 0],
        ],
    ),
    "a mirror agent's next write of a closed file is listed before the look that finds it": (
        {"mirror": [1], "open": False},
        [
            ["edit", "a1", 1, 0, ["add", 9]],
            ["write", "a1", 1, 0, [["cut", 6]]],
            ["end", "a1"],
            ["write", "a1", 1, 1, [["swap", 1]]],
            ["revert", 12, 1],
        ],
    ),
    "what was kept with a deletion taken back goes with a revert that a closed editor keeps": (
        {"lines": 6, "editor": "full"},
        [
            ["edit", "a1", 0, 0, ["front", 22]],
            ["write", "a1", 0, 0, [["cut", 20]]],
            ["delete", 0, 7],
            ["keep", 12, None],
            ["revert", 0, 0],
            ["close", 1, 1],
        ],
    ),
    "edits of unsaved text that is given up, one over the other, and the file is open again": (
        {"lines": 12},
        [
            ["edit", "a1", 1, 0, ["cut", 9]],
            ["delete", 0, 1],
            ["read", "a1", 0],
            ["write", "a1", 1, 2, [["add", 23]]],
            ["close", 1, 0],
            ["open", 0],
        ],
    ),
    "an agent takes out what it had put into unsaved text, and that is given up": (
        {},
        [
            ["write", "a3", 0, 0, [["cut", 0], ["line", 1], ["front", 21]]],
            ["write", "a1", 1, 0, [["cut", 4]]],
            ["write", "a3", 1, 0, [["cut", 29]]],
            ["close", 0, 0],
            ["open", 0],
        ],
    ),
    "what a revert takes out of a text was a deletion, which the text beside has not": (
        {},
        [
            ["type", 0, 26, 3],
            ["write", "a1", 0, 1, [["cut", 1]]],
            ["undo", 1],
            ["close", 0, 0],
            ["reject", 26, 2],
        ],
    ),
    "a document is closed with another edit on its way into it, and the disk has a proposal": (
        {"lines": 12, "mirror": [1]},
        [
            ["newline", 0, 24],
            ["edit", "a1", 0, 0, ["cut", 23]],
            ["end", "a1"],
            ["write", "a1", 0, 0, [["front", 15]]],
            ["other", 1, 9],
            ["close", 0, 1],
        ],
    ),
    "of a write under a text that was typed in one part goes in, and one is a proposal": (
        {"lines": 12, "mirror": [1]},
        [
            ["write", "a1", 1, 1, [["front", 11], ["cut", 9]]],
            ["newline", 0, 11],
            ["write", "a2", 0, 2, [["front", 19]]],
            ["close", 1, 0],
        ],
    ),
    "a document has read what an agent and others wrote, and is closed before it is known": (
        {"lines": 6, "mirror": [3]},
        [
            ["write", "a2", 0, 1, [["cut", 12]]],
            ["write", "a3", 1, 1, [["cut", 1], ["front", 20]]],
            ["undo", 0],
            ["other", 1, 1],
            ["close", 1, 1],
            ["write", "a2", 0, 0, [["cut", 7]]],
        ],
    ),
}
