"""What 80,000 runs with seeds of their own have found, in the fewest steps."""

from provenance.hub import Json
from provenance.storm import Step

MENDED: dict[str, tuple[Json, list[Step]]] = {
    "what another program wrote under unsaved text comes in with a mirror agent's change": (
        {"mirror": [1], "editor": "full"},
        [
            ["type", 1, 17, 3],
            ["other", 1, 2],
            ["undo", 1],
            ["write", "a1", 1, 2, [["add", 3]]],
        ],
    ),
    "a line that a note told of is written with more in it, beside another that changed": (
        {"lines": 6},
        [
            ["newline", 0, 22],
            ["write", "a1", 1, 0, [["line", 23]]],
            ["newline", 0, 28],
            ["edit", "a1", 1, 0, ["cut", 27]],
            ["type", 1, 11, 1],
            ["write", "a1", 1, 0, [["add", 1], ["front", 27]]],
        ],
    ),
    "a line that a note told of stands above one of which it told as well, and is stale": (
        {"lines": 6},
        [
            ["write", "a3", 1, 1, [["swap", 1]]],
            ["newline", 0, 12],
            ["write", "a3", 0, 2, [["cut", 25], ["add", 24]]],
            ["reject", 18, None],
            ["edit", "a3", 0, 1, ["cut", 28]],
            ["write", "a3", 1, 2, [["line", 27]]],
        ],
    ),
    "a revert is taken back, and the turn reverted again": (
        {},
        [
            ["edit", "a1", 1, 0, ["add", 5]],
            ["revert", 13, 0],
            ["unrevert", 3],
            ["revert", 14, 1],
        ],
    ),
    "a revert of what was never saved is taken back once the document is closed": (
        {},
        [
            ["edit", "a2", 1, 0, ["line", 6]],
            ["revert", 14, 0],
            ["close", 0, 0],
            ["edit", "a3", 1, 0, ["swap", 10]],
            ["unrevert", 28],
        ],
    ),
    "a hunk of two lines is kept, reverted, and back by the editor's undo": (
        {},
        [
            ["write", "a1", 1, 1, [["front", 15], ["swap", 28]]],
            ["keep", 28, 3],
            ["revert", 1, 0],
            ["undo", 0],
        ],
    ),
    "an edit took over a hunk and a line below, and is undone in the editor": (
        {"open": False},
        [
            ["open", 1],
            ["edit", "a1", 1, 0, ["add", 27]],
            ["write", "a1", 0, 0, [["cut", 26]]],
            ["edit", "a1", 0, 0, ["swap", 16]],
            ["write", "a1", 1, 0, [["cut", 29], ["front", 13]]],
            ["undo", 0],
            ["undo", 0],
            ["reject", 16, 2],
        ],
    ),
    "an edit took over two hunks, and is undone in the editor": (
        {"open": False},
        [
            ["open", 1],
            ["write", "a1", 1, 0, [["add", 1]]],
            ["edit", "a1", 1, 0, ["add", 27]],
            ["write", "a1", 0, 0, [["cut", 26]]],
            ["edit", "a1", 0, 0, ["swap", 16]],
            ["write", "a1", 1, 0, [["cut", 29], ["front", 13]]],
            ["undo", 0],
            ["undo", 0],
            ["reject", 16, 2],
        ],
    ),
    "a deleted line is put in again among others, and the edit rejected": (
        {},
        [
            ["write", "a2", 1, 0, [["cut", 29]]],
            ["write", "a2", 1, 1, [["add", 25], ["line", 17]]],
            ["reject", 22, None],
        ],
    ),
    "what an agent brought back of a deleted line is changed, and then another's turn reverted": (
        {"lines": 6},
        [
            ["write", "a2", 0, 2, [["line", 13]]],
            ["write", "a1", 1, 0, [["line", 27]]],
            ["write", "a2", 1, 2, [["cut", 22]]],
            ["edit", "a1", 1, 0, ["front", 18]],
            ["write", "a1", 1, 0, [["swap", 2]]],
        ],
    ),
    "a line waits as a proposal to be taken out of unsaved text, and the agent writes it again": (
        {"lines": 6, "mirror": [1]},
        [
            ["type", 0, 28, 2],
            ["edit", "a1", 0, 1, ["add", 2]],
            ["revert", 6, 0],
            ["write", "a1", 0, 0, [["cut", 21]]],
            ["type", 0, 3, 2],
            ["write", "a1", 0, 1, [["line", 25]]],
        ],
    ),
    "a line waits so, and is back beside another that was put in": (
        {"lines": 12, "mirror": [3]},
        [
            ["newline", 1, 24],
            ["write", "a1", 0, 1, [["add", 22]]],
            ["edit", "a3", 0, 0, ["line", 17]],
            ["write", "a3", 1, 0, [["cut", 24]]],
            ["write", "a3", 1, 2, [["add", 11]]],
        ],
    ),
    "two neighbouring lines are taken out by two agents, one rejected, the other reverted": (
        {"lines": 6},
        [
            ["write", "a1", 1, 0, [["cut", 14]]],
            ["write", "a2", 1, 0, [["cut", 26]]],
            ["type", 0, 24, 1],
            ["reject", 6, None],
        ],
    ),
    "two hunks wait so, and the agent writes one of them again": (
        {"lines": 6, "mirror": [1]},
        [
            ["type", 0, 8, 0],
            ["edit", "a1", 0, 0, ["front", 0]],
            ["write", "a1", 0, 1, [["cut", 8]]],
            ["write", "a1", 0, 2, [["add", 21]]],
            ["newline", 1, 23],
            ["type", 0, 1, 0],
            ["delete", 0, 17],
        ],
    ),
    "what a turn deleted and brought back, another changed: the first is reverted first": (
        {"lines": 12},
        [
            ["write", "a2", 1, 0, [["cut", 25]]],
            ["write", "a2", 0, 1, [["front", 6]]],
            ["edit", "a1", 1, 0, ["cut", 1]],
        ],
    ),
    "the same in an editor that saves, across a restart": (
        {"lines": 6, "editor": "full"},
        [
            ["write", "a1", 0, 0, [["swap", 26]]],
            ["write", "a1", 0, 1, [["cut", 25]]],
            ["restart", 1, 1],
            ["write", "a1", 0, 0, [["swap", 6]]],
        ],
    ),
    "an edit is kept, undone in the editor, and what it had taken over rejected": (
        {},
        [
            ["write", "a1", 1, 0, [["swap", 21]]],
            ["write", "a1", 1, 1, [["add", 15]]],
            ["keep", 8, None],
            ["undo", 1],
            ["reject", 5, 3],
        ],
    ),
    "the same where it had taken a line out": (
        {},
        [
            ["write", "a1", 0, 0, [["line", 0]]],
            ["write", "a1", 0, 1, [["front", 24]]],
            ["keep", 8, 0],
            ["undo", 0],
            ["reject", 29, 2],
        ],
    ),
    "a note tells of a line that moved up, and the agent writes what it knew before": (
        {},
        [
            ["type", 0, 21, 2],
            ["edit", "a2", 0, 2, ["front", 16]],
            ["undo", 0],
            ["write", "a1", 0, 0, [["cut", 3], ["line", 28]]],
            ["write", "a2", 0, 0, [["front", 28]]],
            ["write", "a2", 1, 1, [["swap", 27]]],
        ],
    ),
    "an agent writes a line again that an undo brought back, and the one above is changed": (
        {"lines": 12},
        [
            ["read", "a1", 1],
            ["delete", 0, 28],
            ["write", "a1", 1, 0, [["cut", 4]]],
            ["undo", 1],
            ["delete", 1, 28],
            ["write", "a1", 1, 2, [["cut", 17]]],
        ],
    ),
    "a mirror agent brings back what another deleted, whose turn is reverted": (
        {"mirror": [2]},
        [
            ["read", "a2", 0],
            ["write", "a1", 0, 0, [["cut", 13]]],
            ["save", 0],
            ["write", "a1", 0, 0, [["add", 6]]],
            ["write", "a2", 1, 0, [["line", 27]]],
            ["revert", 11, 0],
        ],
    ),
    "a hunk is kept that took over two which had gone in beside each other": (
        {},
        [
            ["write", "a1", 1, 0, [["front", 14], ["swap", 12], ["swap", 19]]],
            ["write", "a1", 1, 0, [["front", 3], ["line", 1]]],
            ["edit", "a1", 0, 0, ["cut", 1]],
            ["keep", 16, 2],
        ],
    ),
    "a kept hunk that was typed in between is reverted, and the editor undoes that": (
        {},
        [
            ["write", "a1", 1, 1, [["front", 15], ["swap", 28]]],
            ["newline", 0, 5],
            ["keep", 28, 3],
            ["revert", 1, 0],
            ["undo", 0],
        ],
    ),
    "a kept line that was typed in is reverted, and what is unsaved given up": (
        {"editor": "full"},
        [
            ["write", "a2", 1, 0, [["swap", 5]]],
            ["type", 1, 11, 0],
            ["keep", 29, 1],
            ["revert", 1, 0],
            ["close", 1, 0],
        ],
    ),
    "what took out a line of the agent's own is reverted, that undone, and the rest kept": (
        {"lines": 6},
        [
            ["write", "a1", 0, 1, [["cut", 24]]],
            ["write", "a1", 1, 0, [["cut", 25]]],
            ["edit", "a1", 0, 1, ["cut", 8]],
            ["write", "a1", 0, 0, [["line", 16]]],
            ["write", "a1", 1, 2, [["cut", 2]]],
            ["keep", 20, 1],
            ["revert", 2, 0],
            ["undo", 1],
            ["keep", 11, 3],
        ],
    ),
    "the editor's undo brings back an agent's word that the person took out beside others": (
        {},
        [
            ["write", "a1", 1, 1, [["line", 24]]],
            ["edit", "a1", 1, 1, ["add", 27]],
            ["delete", 0, 8],
            ["type", 0, 8, 0],
            ["delete", 0, 21],
            ["edit", "a1", 1, 0, ["add", 5]],
            ["undo", 0],
            ["undo", 0],
        ],
    ),
    "it brings back such a word after a revert that found nothing of the edit": (
        {"lines": 6},
        [
            ["edit", "a1", 1, 0, ["add", 6]],
            ["type", 0, 14, 0],
            ["type", 1, 24, 1],
            ["delete", 1, 18],
            ["revert", 19, 0],
            ["undo", 1],
        ],
    ),
    "a line goes and comes back while a turn's edits are taken out one by one": (
        {},
        [
            ["write", "a1", 1, 2, [["cut", 26]]],
            ["edit", "a1", 1, 0, ["line", 10]],
            ["write", "a1", 1, 0, [["cut", 13]]],
            ["close", 1, 1],
            ["write", "a1", 1, 1, [["cut", 5]]],
        ],
    ),
    "a line comes back beside one with another word in it than every earlier text has": (
        {"lines": 6},
        [
            ["write", "a1", 1, 1, [["cut", 15]]],
            ["edit", "a2", 0, 0, ["front", 18]],
            ["write", "a2", 1, 0, [["cut", 17]]],
            ["write", "a3", 1, 0, [["cut", 14]]],
            ["edit", "a3", 0, 0, ["line", 7]],
        ],
    ),
    "one hunk of an edit is rejected, and what had taken it over reverted": (
        {"lines": 6},
        [
            ["write", "a1", 1, 0, [["swap", 18], ["add", 2]]],
            ["write", "a1", 1, 1, [["swap", 27]]],
            ["edit", "a1", 1, 0, ["front", 15]],
            ["keep", 6, 1],
            ["undo", 1],
            ["undo", 1],
            ["reject", 10, 1],
        ],
    ),
    "an agent writes a line of one word that is there again, and lines around it have changed": (
        {"lines": 6, "open": False},
        [
            ["open", 0],
            ["other", 0, 8],
            ["write", "a2", 0, 0, [["cut", 1]]],
            ["type", 0, 25, 1],
            ["revert", 19, 1],
            ["write", "a2", 0, 1, [["cut", 19], ["front", 6]]],
        ],
    ),
    "a person took a word out of an agent's line, another agent the rest: both are reverted": (
        {},
        [
            ["edit", "a1", 0, 0, ["line", 4]],
            ["delete", 0, 5],
            ["write", "a3", 0, 0, [["cut", 2]]],
            ["type", 0, 21, 2],
            ["undo", 1],
        ],
    ),
    "a turn takes a reverted line out, puts it in again with others, and is reverted": (
        {"open": False},
        [
            ["edit", "a1", 1, 2, ["line", 24]],
            ["write", "a2", 0, 0, [["cut", 1]]],
            ["revert", 2, 1],
            ["edit", "a2", 0, 0, ["cut", 21]],
            ["write", "a2", 0, 2, [["front", 28]]],
        ],
    ),
    "a revert puts a line back beside what is left of a hunk, and that is rejected": (
        {},
        [
            ["write", "a1", 1, 0, [["line", 0], ["front", 2]]],
            ["edit", "a1", 1, 0, ["cut", 10]],
            ["end", "a1"],
            ["write", "a1", 1, 0, [["cut", 2]]],
            ["revert", 21, 0],
            ["reject", 16, None],
        ],
    ),
    "the editor's redo of an edit that had taken over a line that was deleted": (
        {"lines": 6},
        [
            ["write", "a2", 0, 1, [["cut", 8], ["line", 2]]],
            ["save", 0],
            ["write", "a1", 0, 2, [["cut", 1], ["add", 16]]],
            ["undo", 0],
            ["redo", 0],
        ],
    ),
    "after a restart a closed file is changed, and opened with what was unsaved before": (
        {"lines": 6},
        [
            ["type", 0, 23, 3],
            ["write", "a1", 1, 0, [["cut", 0]]],
            ["revert", 1, 1],
            ["edit", "a1", 1, 0, ["add", 14]],
            ["restart", 0, 1],
            ["write", "a1", 0, 0, [["front", 14]]],
            ["open", 1],
            ["write", "a1", 1, 0, [["cut", 8]]],
            ["write", "a1", 0, 0, [["add", 17]]],
        ],
    ),
    "an agent writes a line of one word that is there again, as another beside it is changed": (
        {"lines": 6},
        [
            ["other", 1, 17],
            ["write", "a3", 1, 1, [["add", 11], ["cut", 10]]],
            ["close", 0, 1],
            ["write", "a1", 0, 0, [["front", 19]]],
            ["write", "a3", 1, 1, [["swap", 23]]],
        ],
    ),
    "a turn takes a line of the one before out and puts it in again, and is reverted": (
        {"open": False},
        [
            ["edit", "a1", 1, 0, ["line", 20]],
            ["end", "a1"],
            ["write", "a1", 1, 0, [["cut", 15]]],
            ["write", "a1", 0, 1, [["swap", 22]]],
            ["revert", 23, 1],
        ],
    ),
    "a deleted line comes back where lines were put in, behind one that was changed": (
        {"editor": "full"},
        [
            ["write", "a2", 0, 2, [["cut", 1]]],
            ["other", 0, 22],
            ["type", 1, 12, 1],
            ["type", 1, 20, 1],
            ["undo", 0],
            ["reject", 17, None],
            ["undo", 0],
        ],
    ),
    "a mirror agent's proposal took the place of an older one, and both are reverted": (
        {"mirror": [2]},
        [
            ["delete", 0, 10],
            ["write", "a2", 1, 0, [["line", 16], ["cut", 28]]],
            ["write", "a2", 0, 0, [["add", 5]]],
            ["newline", 0, 8],
            ["delete", 0, 27],
            ["type", 1, 18, 3],
            ["type", 0, 9, 0],
            ["edit", "a1", 0, 1, ["swap", 9]],
        ],
    ),
}
