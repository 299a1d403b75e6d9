"""A day's task, the same in each editor: the files, what the agent does, and a film of the person's
steps, which the run prints as a table."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Json = dict[str, Any]
Record = Callable[[str, object], None]

TITLE = "A day's task, by keyboard alone"
HEAD = f"{'in':<16} | {'part':<34} | steps | seconds"

PRICES = "apples 1\nbread 2\ncheese 3\ndates 4\neggs 5\nfigs 6\ngrapes 7\n"
STOCK = "apples ten\nbread ten\ncheese ten\ndates ten\neggs ten\n"
NOTES = "open at nine\nclosed on sundays\nno dogs\nring twice\nthank you\n"
FILES = {"notes.txt": NOTES, "prices.txt": PRICES, "stock.txt": STOCK}

#: Seven hunks: of each file what becomes what, and whether the person keeps it.
HUNKS = {
    "notes.txt": [("sundays", "mondays", True), ("twice", "once", False)],
    "prices.txt": [
        ("bread 2", "bread 20", True),
        ("dates 4", "dates 40", False),
        ("figs 6", "figs 60", True),
    ],
    "stock.txt": [("bread ten", "bread two", False), ("dates ten", "dates two", True)],
}
#: What the person says of two changes, and what becomes of these.
COMMENTS = {
    "notes.txt": ("NOTES", "Say whose.", "OUR NOTES"),
    "prices.txt": ("PRICES", "Not so loud.", "Prices"),
}

#: The commands that the agent asks for: the first is let run, and runs until ``GO`` is there.
GO = "go"
ALLOWED = f"touch begun; until test -e {GO}; do sleep 0.05; done"
DENIED = "touch denied"

ASK, STEER, CHANGE = "Check the shop.", "Keep the names.", "Change the shop."
TITLES, IN_PLACE, AGAIN, OTHERWISE = "Add titles.", "None left.", "Still there?", "One thing only."


def decided(name: str) -> str:
    """The file after the person's seven decisions."""
    text = FILES[name]
    for old, new, kept in HUNKS[name]:
        text = text.replace(old, new) if kept else text
    return text


def commented(name: str) -> str:
    """The file after the round of comments as well."""
    return f"{COMMENTS[name][2]}\n{decided(name)}" if name in COMMENTS else decided(name)


def edit(name: str, *changes: tuple[str, str]) -> Json:
    pairs = [{"oldText": old, "newText": new} for old, new in changes]
    return {"name": "edit", "args": {"path": name, "edits": pairs}}


def bash(command: str) -> Json:
    return {"name": "bash", "args": {"command": command}}


def turn(match: str, said: str, *calls: Json) -> list[Json]:
    acts = [{"match": match, "text": "I do so. ", "calls": list(calls)}]
    return [*acts, {"text": said}] if calls else [{"match": match, "text": said}]


def script() -> list[Json]:
    """The last prompts first: where the conversation is told again, earlier ones are found too."""
    changes = [edit(name, *(pair[:2] for pair in HUNKS[name])) for name in HUNKS]
    tops = {name: FILES[name].partition("\n")[0] for name in COMMENTS}
    titles = [edit(name, (top, f"{COMMENTS[name][0]}\n{top}")) for name, top in tops.items()]
    answers = [edit(name, (old, new)) for name, (old, _, new) in COMMENTS.items()]
    beyond = edit("stock.txt", ("eggs ten", "eggs none"))
    return [
        *turn(OTHERWISE, "One thing is done.", edit("prices.txt", ("grapes 7", "grapes 70"))),
        *turn(AGAIN.replace("?", r"\?"), "Here I am."),
        *turn(IN_PLACE, "So it is.", edit("stock.txt", ("cheese ten", "cheese none")), beyond),
        *turn("comments from my review", "Both are answered.", *answers),
        *turn(TITLES, "They have titles.", *titles),
        *turn(CHANGE, "The shop is changed.", *changes),
        *turn(STEER, "It is checked.", bash(DENIED)),
        *turn(ASK, "Nobody told me more.", bash(ALLOWED)),
    ]


class Day:
    """A step is one intention of the person's: a command, a key, a text that is typed and sent."""

    def __init__(self, place: str, record: Record, most: int) -> None:
        self._place = place
        self._record = record
        self._most = most
        self._steps = 0
        self._begun = time.monotonic()

    def step(self) -> None:
        self._steps += 1

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Ends once what was asked for is there."""
        steps, begun = self._steps, time.monotonic()
        yield
        self._row(name, self._steps - steps, begun)

    def ends(self) -> None:
        self._row("all", self._steps, self._begun)
        assert self._steps <= self._most

    def _row(self, part: str, steps: int, begun: float) -> None:
        row = f"{self._place:<16} | {part:<34} | {steps:5} | {time.monotonic() - begun:7.1f}"
        self._record("table", (TITLE, HEAD, row))
