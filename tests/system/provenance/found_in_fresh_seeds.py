"""What seeds have found that no mend was made with before, in the fewest steps."""

from provenance.hub import Json
from provenance.storm import Step

MENDED: dict[str, tuple[Json, list[Step]]] = {
    "what was kept and undone in the editor is redone, after a revert that found it out": (
        {},
        [
            ["write", "a1", 0, 0, [["line", 25]]],
            ["keep", 16, 2],
            ["undo", 0],
            ["revert", 6, 1],
            ["redo", 1],
        ],
    ),
    "what was kept and undone in the editor is shown again with the disk, after a revert": (
        {"editor": "full"},
        [
            ["write", "a3", 1, 0, [["line", 3]]],
            ["keep", 18, 0],
            ["undo", 0],
            ["revert", 12, 0],
            ["close", 0, 1],
        ],
    ),
    "unsaved text of an earlier server is shown without what an agent wrote meanwhile": (
        {},
        [
            ["newline", 0, 25],
            ["restart", 1, 1],
            ["write", "a1", 0, 2, [["front", 21]]],
            ["open", 0],
            ["keep", 24, 2],
        ],
    ),
    "of two edits of a closed file one is rejected, and its unsaved text is shown again": (
        {},
        [
            ["delete", 1, 2],
            ["type", 0, 18, 0],
            ["write", "a2", 1, 0, [["line", 1]]],
            ["close", 1, 1],
            ["edit", "a1", 0, 2, ["swap", 11]],
            ["write", "a1", 0, 2, [["add", 0]]],
            ["reject", 16, 3],
            ["open", 0],
        ],
    ),
    "an edit of a closed file is rejected, another one made, and its unsaved text is shown again": (
        {},
        [
            ["edit", "a2", 0, 0, ["front", 27]],
            ["close", 1, 1],
            ["edit", "a3", 0, 1, ["front", 19]],
            ["reject", 20, 3],
            ["write", "a1", 0, 0, [["add", 3], ["swap", 1]]],
            ["open", 0],
        ],
    ),
    "lines that an agent had put back itself are put back by a revert, and kept on disk": (
        {"lines": 6},
        [
            ["write", "a1", 0, 0, [["front", 9]]],
            ["write", "a1", 0, 0, [["swap", 26]]],
            ["write", "a1", 0, 2, [["swap", 4]]],
            ["revert", 16, 1],
            ["type", 0, 11, 3],
            ["close", 0, 0],
            ["keep", 17, 1],
        ],
    ),
    "an agent heeds a note of two lines but for one, and changes the line beside them": (
        {},
        [
            ["write", "a1", 1, 2, [["front", 12], ["front", 13], ["front", 2]]],
            ["newline", 0, 21],
            ["newline", 0, 7],
            ["write", "a1", 1, 1, [["line", 17]]],
            ["type", 0, 6, 0],
            ["delete", 1, 21],
            ["write", "a1", 0, 0, [["cut", 21], ["add", 4]]],
        ],
    ),
    "two writes are undone in the editor, and the one that had put back a line is rejected": (
        {},
        [
            ["write", "a2", 0, 0, [["swap", 20]]],
            ["write", "a2", 1, 1, [["swap", 24]]],
            ["undo", 1],
            ["undo", 0],
            ["reject", 23, 3],
        ],
    ),
    "what was never saved had put back a line, and is reverted at the next server": (
        {"lines": 12},
        [
            ["edit", "a1", 1, 0, ["cut", 1]],
            ["write", "a1", 0, 0, [["cut", 25], ["cut", 1]]],
            ["write", "a1", 0, 1, [["cut", 13]]],
            ["newline", 0, 3],
            ["newline", 1, 14],
            ["close", 1, 0],
            ["restart", 1, 0],
        ],
    ),
    "deleted lines were kept and saved, and are reverted in a buffer that is not": (
        {"lines": 3, "editor": "full"},
        [
            ["write", "a1", 0, 0, [["cut", 19]]],
            ["delete", 1, 22],
            ["keep", 25, 1],
            ["revert", 12, 1],
            ["close", 1, 1],
        ],
    ),
    "an agent writes a closed file anew before a server has judged what the last one left": (
        {},
        [
            ["write", "a1", 0, 0, [["front", 7]]],
            ["save", 0],
            ["close", 1, 0],
            ["write", "a1", 0, 1, [["cut", 13]]],
            ["restart", 1, 1],
            ["write", "a1", 0, 0, [["add", 16], ["swap", 17]]],
        ],
    ),
    "one agent's words are reverted out of another's kept line, and the editor undoes it": (
        {},
        [
            ["edit", "a1", 1, 0, ["add", 20]],
            ["write", "a2", 1, 0, [["add", 20]]],
            ["revert", 26, 1],
            ["keep", 4, None],
            ["undo", 1],
        ],
    ),
    "typed lines that an agent deleted are given up with what another one wrote": (
        {},
        [
            ["newline", 0, 29],
            ["write", "a1", 0, 0, [["cut", 29]]],
            ["write", "a3", 1, 0, [["front", 15]]],
            ["close", 1, 0],
        ],
    ),
    "typed lines that an agent deleted are given up, and the edit is rejected": (
        {"lines": 6},
        [
            ["newline", 0, 14],
            ["write", "a1", 0, 0, [["cut", 14]]],
            ["delete", 1, 17],
            ["type", 0, 15, 1],
            ["close", 1, 0],
            ["reject", 6, None],
        ],
    ),
    "what was deleted beside an edit is back by the editor's undo, after that of its revert": (
        {"lines": 6},
        [
            ["write", "a2", 0, 0, [["front", 19], ["swap", 10], ["front", 9]]],
            ["delete", 1, 29],
            ["revert", 26, 1],
            ["undo", 0],
            ["undo", 0],
            ["reject", 4, 0],
        ],
    ),
    "an agent deletes its line where text that had it as well was given up with the editor": (
        {"mirror": [1]},
        [
            ["type", 1, 6, 3],
            ["write", "a1", 1, 0, [["add", 3]]],
            ["restart", 0, 0],
            ["restart", 0, 1],
            ["write", "a1", 0, 1, [["cut", 10], ["cut", 22]]],
        ],
    ),
    "what a write had taken over is back after a restart, where the write is out again": (
        {"lines": 6, "mirror": [2]},
        [
            ["write", "a2", 0, 0, [["swap", 16], ["front", 18], ["add", 27]]],
            ["delete", 1, 7],
            ["write", "a2", 0, 1, [["line", 28], ["line", 21]]],
            ["end", "a2"],
            ["edit", "a1", 0, 0, ["front", 14]],
            ["apply", 24, 2],
            ["restart", 0, 1],
        ],
    ),
}
