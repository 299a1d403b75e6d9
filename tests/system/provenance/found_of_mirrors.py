"""What the storms have found of mirror agents, which write the disk themselves, in the fewest
steps."""

from provenance.hub import Json
from provenance.storm import Step

MENDED: dict[str, tuple[Json, list[Step]]] = {
    "a file is read again and again before it is known what the agent wrote": (
        {"lines": 6, "mirror": [1], "editor": "prompt"},
        [
            ["edit", "a1", 0, 0, ["cut", 5]],
            *[["wait"]] * 5,
            ["edit", "a1", 0, 0, ["line", 2]],
            ["other", 0, 4],
            *[["wait"]] * 5,
            ["write", "a1", 0, 1, [["line", 0]]],
            ["undo", 0],
            ["save", 0],
            ["write", "a1", 0, 0, [["cut", 1], ["line", 2], ["add", 1]]],
            *[["wait"]] * 5,
        ],
    ),
    "what waits as a proposal is on disk when the document is closed": (
        {"mirror": [1]},
        [
            ["write", "a1", 1, 0, [["front", 2]]],
            ["newline", 0, 26],
            ["end", "a1"],
            ["close", 0, 1],
        ],
    ),
    "what was reverted in the document is on disk after a restart": (
        {"lines": 6, "mirror": [1]},
        [
            ["write", "a1", 1, 2, [["swap", 4]]],
            ["revert", 3, 0],
            ["restart", 0, 1],
        ],
    ),
    "another program writes over what was not looked at, and the editor reads that": (
        {"mirror": [1]},
        [
            ["write", "a1", 1, 0, [["front", 29], ["cut", 0]]],
            ["other", 0, 4],
        ],
    ),
    "an editor that nothing had looked at has read what another program wrote": (
        {"mirror": [1]},
        [
            ["other", 0, 22],
            ["delete", 0, 5],
            ["write", "a1", 0, 2, [["front", 1]]],
        ],
    ),
    "the lines of a change that waits as a proposal are written anew": (
        {"mirror": [2]},
        [
            ["newline", 0, 14],
            ["write", "a2", 0, 0, [["cut", 20]]],
            ["edit", "a1", 0, 0, ["add", 15]],
            ["write", "a2", 0, 1, [["line", 2], ["cut", 9]]],
        ],
    ),
    "a change elsewhere comes after one that waits as a proposal, and then one beside it": (
        {"lines": 6, "mirror": [1]},
        [
            ["write", "a1", 0, 2, [["swap", 28]]],
            ["type", 0, 22, 1],
            ["write", "a1", 0, 0, [["line", 7]]],
            ["write", "a1", 0, 0, [["swap", 3]]],
            ["type", 0, 1, 0],
        ],
    ),
    "a document is closed before its editor has read the change, and another agent edits it": (
        {"mirror": [1]},
        [
            ["write", "a1", 0, 1, [["front", 10]]],
            ["close", 0, 0],
            ["edit", "a2", 0, 0, ["add", 22]],
        ],
    ),
    "three changes come before the editor is asked to read them": (
        {"mirror": [1], "editor": "full"},
        [
            ["edit", "a1", 0, 0, ["front", 12]],
            ["write", "a1", 0, 0, [["add", 26]]],
            ["write", "a1", 0, 0, [["swap", 11]]],
        ],
    ),
    "another program writes over two changes, and the editor reads that before they are in": (
        {"mirror": [1]},
        [
            ["edit", "a1", 0, 2, ["front", 6]],
            ["write", "a1", 0, 2, [["swap", 26]]],
            ["write", "a1", 0, 1, [["add", 28]]],
            ["other", 0, 24],
            ["newline", 0, 23],
        ],
    ),
    "what the editor has read of two changes is saved with what was deleted": (
        {"mirror": [1]},
        [
            ["edit", "a1", 0, 0, ["front", 24]],
            ["edit", "a1", 0, 2, ["add", 28]],
            ["other", 0, 0],
            ["delete", 0, 7],
            ["save", 0],
        ],
    ),
    "an agent drops what another program wrote, which the editor has read": (
        {"mirror": [1]},
        [
            ["edit", "a1", 0, 0, ["cut", 7]],
            ["write", "a1", 0, 0, [["swap", 11]]],
            ["write", "a1", 0, 0, [["swap", 24]]],
            ["other", 0, 24],
            ["write", "a1", 0, 0, [["add", 8]]],
        ],
    ),
    "another program writes under what is unsaved, and the agent's change is reverted": (
        {"mirror": [1]},
        [
            ["type", 0, 19, 2],
            ["other", 0, 7],
            ["edit", "a1", 0, 0, ["line", 22]],
            ["end", "a1"],
            ["close", 0, 1],
        ],
    ),
    "an agent writes from what it knew what was deleted and saved since": (
        {"lines": 6, "mirror": [1], "editor": "full"},
        [
            ["write", "a1", 0, 0, [["front", 24]]],
            ["end", "a1"],
            ["delete", 0, 18],
            ["save", 0],
            ["write", "a1", 0, 2, [["add", 1]]],
        ],
    ),
    "a write takes out two changes of another agent, which were looked at in between": (
        {"lines": 6, "mirror": [2], "open": False},
        [
            ["edit", "a2", 0, 2, ["add", 7]],
            ["write", "a1", 0, 1, [["line", 0]]],
            ["edit", "a1", 1, 0, ["swap", 7]],
            ["write", "a2", 1, 0, [["swap", 29]]],
        ],
    ),
    "a write takes back an edit of its own and a deletion of another agent's": (
        {"lines": 12, "mirror": [2], "editor": "full"},
        [
            ["edit", "a2", 1, 0, ["line", 18]],
            ["revert", 11, 0],
            ["newline", 1, 6],
            ["undo", 1],
            ["edit", "a2", 0, 0, ["line", 26]],
            ["write", "a1", 0, 0, [["cut", 2]]],
            ["close", 1, 0],
            ["write", "a2", 0, 1, [["swap", 28]]],
        ],
    ),
    "a document with unsaved text is opened and typed in, and what it has not got yet is kept": (
        {"mirror": [1]},
        [
            ["type", 1, 23, 0],
            ["close", 1, 1],
            ["edit", "a1", 0, 1, ["swap", 24]],
            ["open", 1],
            ["delete", 0, 0],
            ["type", 0, 0, 1],
            ["keep", 16, 2],
        ],
    ),
    "what was typed beside an agent's word is known after a restart": (
        {"mirror": [1]},
        [
            ["write", "a1", 1, 0, [["add", 16]]],
            ["other", 0, 15],
            ["type", 1, 1, 1],
            ["type", 1, 13, 3],
            ["restart", 0, 0],
        ],
    ),
    "an agent's line is kept as another agent made it, closed with that unsaved and opened": (
        {"mirror": [3]},
        [
            ["edit", "a3", 0, 0, ["cut", 0]],
            ["write", "a2", 1, 2, [["cut", 17]]],
            ["write", "a2", 1, 2, [["swap", 24]]],
            ["keep", 11, 0],
            ["close", 1, 1],
            ["open", 0],
        ],
    ),
    "two mirror agents' changes of one line come with a reload that has another program's too": (
        {"mirror": [1, 2]},
        [
            ["edit", "a2", 1, 2, ["add", 23]],
            ["write", "a1", 0, 0, [["front", 14]]],
            ["other", 1, 10],
        ],
    ),
    "a document that was closed with a revert unsaved is opened as the disk has it, and more": (
        {"lines": 12, "mirror": [1]},
        [
            ["write", "a1", 1, 0, [["cut", 10]]],
            ["type", 1, 21, 0],
            ["revert", 21, 1],
            ["close", 0, 0],
            ["write", "a1", 0, 0, [["add", 5]]],
            ["other", 1, 20],
            ["open", 1],
        ],
    ),
    "a file that may be half written is closed, and a hosted agent writes it": (
        {"mirror": [3]},
        [
            ["write", "a3", 1, 0, [["cut", 2]]],
            ["close", 1, 1],
            ["edit", "a2", 0, 0, ["line", 16]],
        ],
    ),
    "a reload is undone before two changes that it had brought are looked at": (
        {"mirror": [1]},
        [
            ["edit", "a1", 0, 1, ["swap", 23]],
            ["write", "a1", 0, 1, [["add", 0]]],
            ["other", 0, 0],
            ["write", "a1", 1, 1, [["front", 3]]],
            ["undo", 0],
        ],
    ),
    "a reload with another program's line is undone, and the agent writes what it once knew": (
        {"lines": 12, "mirror": [1]},
        [
            ["write", "a1", 0, 0, [["front", 23]]],
            ["write", "a1", 0, 0, [["front", 25]]],
            ["other", 0, 18],
            ["undo", 1],
            ["write", "a1", 0, 2, [["front", 29]]],
        ],
    ),
    "an edit is kept while what took it out again is on its way into the document": (
        {"mirror": [1]},
        [
            ["write", "a1", 1, 2, [["swap", 15]]],
            ["end", "a1"],
            ["write", "a1", 0, 1, [["front", 17]]],
            ["keep", 11, 2],
        ],
    ),
    "an edit of a closed file is kept before the write that took it out is looked at": (
        {"mirror": [1], "open": False},
        [
            ["write", "a1", 0, 0, [["swap", 15]]],
            ["write", "a1", 0, 0, [["swap", 17], ["cut", 21]]],
            ["keep", 14, None],
        ],
    ),
    "a proposal of which one part was in is applied, and the document is closed unsaved": (
        {"mirror": [1]},
        [
            ["edit", "a2", 1, 2, ["cut", 20]],
            ["newline", 1, 2],
            ["write", "a1", 1, 0, [["add", 27], ["line", 13]]],
            ["reject", 5, 2],
            ["apply", 2, 1],
            ["close", 1, 1],
        ],
    ),
    "an editor reads what takes out again what another agent had put back, before it is known": (
        {"lines": 12, "mirror": [2], "editor": "full"},
        [
            ["write", "a2", 1, 0, [["cut", 2]]],
            ["edit", "a2", 0, 0, ["cut", 18]],
            ["write", "a1", 1, 0, [["line", 29]]],
            ["write", "a1", 1, 0, [["line", 26]]],
            ["write", "a1", 1, 2, [["front", 6]]],
            ["write", "a2", 1, 0, [["front", 26]]],
            ["type", 0, 9, 2],
        ],
    ),
    "a person saves over what an agent has taken back, before either is brought in": (
        {"files": 1, "lines": 3, "mirror": [1]},
        [
            ["edit", "a1", 0, 2, ["line", 29]],
            ["type", 0, 11, 3],
            ["write", "a1", 1, 2, [["cut", 11]]],
            ["save", 1],
        ],
    ),
}
