"""A day's task with the agent, by keyboard in an editor that knows nothing of it: one conversation
as a document, from the first prompt to a fork. ``Day`` is the task, ``Person`` what someone at an
editor does for it. After each thing that is asked for, it is looked whether it is there.

A step is one intention: a prompt that is typed, a choice in a menu, a command by key.
"""

import json
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, NamedTuple

from plain_project import PlainProject
from plain_terminal import SECONDS, Terminal, until

TITLE = "A day's task in plain editors, by keyboard"
HEAD = f"{'in':<8} | {'what':<49} | steps | seconds"

#: By which an editor tells of a question, wherever the cursor is. Emacs, which shows the last
#: message alone, does so in its mode line.
_ASKED = (
    "Answer the agent by code action",
    "waits for your answer",
    "The agent asks:**",
    "Agent asks: C-c a a",
)

Record = Callable[[str, object], None]

CHAT = "day.chat.md"
FORK = "day-fork.chat.md"
MINE = "# mine, not saved"

ASK = "How does it work?"
STEER = "Name the arguments, test and push."
GO_ON = "What did we do?"
ONLY = "Only in cart.py."

FILES = {
    "shop.py": "def price(n):\n    return 2\n\n\ndef total(l):\n    return 0\n\n\n"
    'def label(n):\n    return ""\n',
    "cart.py": "def add(l):\n    pass\n\n\ndef first(l):\n    return 0\n",
    "till.py": "def shut(l):\n    pass\n\n\ndef ring(n):\n    pass\n",
}


class Hunk(NamedTuple):
    old: str
    new: str
    keep: bool


HUNKS = {
    "shop.py": (
        Hunk("price(n)", "price(net)", keep=True),
        Hunk("total(l)", "total(items)", keep=False),
        Hunk("label(n)", "label(net)", keep=True),
    ),
    "cart.py": (
        Hunk("add(l)", "add(items)", keep=True),
        Hunk("first(l)", "first(items)", keep=False),
    ),
    "till.py": (
        Hunk("shut(l)", "shut(items)", keep=False),
        Hunk("ring(n)", "ring(net)", keep=True),
    ),
}

#: Neither leaves anything in the project.
TEST, PUSH = "touch ../tested", "touch ../pushed"


def _edits(path: str) -> dict[str, Any]:
    edits = [{"oldText": old, "newText": new} for old, new, _ in HUNKS[path]]
    return {"name": "edit", "args": {"path": path, "edits": edits}}


def _command(command: str) -> dict[str, Any]:
    return {"name": "bash", "args": {"command": command}}


#: So long that a person has read some of it and has written the next prompt before its end.
_LINES = [" ".join(f"n{10 * line + n}" for n in range(1, 11)) for line in range(12)]

SCRIPT: list[dict[str, Any]] = [
    {"match": "^How", "text": "\n".join(_LINES), "pace_ms": 100},
    {"match": "Only in", "text": "I name them.", "calls": [_edits("cart.py")]},
    {"text": "Named in cart.py alone."},
    {"match": "^Name", "text": "I name them.", "calls": [_edits(path) for path in HUNKS]},
    {"text": "I test it.", "calls": [_command(TEST)]},
    {"text": "I push it.", "calls": [_command(PUSH)]},
    {"text": "Named and tested."},
    {"match": "^What", "text": "We have named things."},
]


class DayProject(PlainProject):
    def __init__(self, base: Path) -> None:
        super().__init__(base, SCRIPT)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)

    def text(self, name: str) -> str:
        """On disk; "" between two steps of a save."""
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def ran(self, command: str) -> bool:
        return (self.folder / command.split()[1]).exists()

    @property
    def sessions(self) -> list[str]:
        """The documents of those that the server has kept."""
        kept = self.home.glob(".local/share/lsp-agent/workspaces/*/sessions/*/about.json")
        return sorted(Path(json.loads(each.read_text())["document"]).name for each in kept)


class Person(ABC):
    """Each method is the steps that it says, one where it says nothing."""

    name: str
    #: The answer that lets a command run, while something is not saved.
    allow = "Allow"

    def __init__(self, project: PlainProject) -> None:
        self.project = project
        self.steps = 0

    @property
    @abstractmethod
    def editor(self) -> Terminal: ...

    @abstractmethod
    def begin(self, file: str) -> None:
        """Starts the editor, up to where the agent can be asked."""

    @abstractmethod
    def leave(self) -> None: ...

    @abstractmethod
    def open(self, file: str) -> None: ...

    @abstractmethod
    def note(self, line: str) -> None:
        """Types a line above the first."""

    @abstractmethod
    def write(self, words: str) -> None:
        """Types them behind the last line."""

    @abstractmethod
    def send(self) -> None: ...

    @abstractmethod
    def choose(self, title: str) -> None:
        """The code action with that title, where the cursor is."""

    @abstractmethod
    def next_change(self) -> None: ...

    def is_led_to(self, file: str) -> None:
        """By the server. No step where the editor shows it by itself."""
        self.sees(file)

    @abstractmethod
    def to_the_end(self) -> None:
        """The cursor goes there. No step."""

    def look(self, shown: str) -> None:
        """At the end of the conversation, where the text is to come: no editor follows it."""
        self.steps += 1
        deadline = time.monotonic() + SECONDS
        self.to_the_end()
        while not until(lambda: shown in self.editor.screen, 1):
            assert time.monotonic() < deadline, f"{shown} is not in\n{self.editor.screen}"
            self.to_the_end()

    @abstractmethod
    def look_for(self, words: str) -> None:
        """The cursor goes to them."""

    @abstractmethod
    def save(self) -> None:
        """All that is changed."""

    @abstractmethod
    def place(self) -> tuple[str, int] | None:
        """The file that is shown and the line of the cursor, from 1. No step."""

    def sees(self, shown: str | Callable[[str], object]) -> str:
        return self.editor.wait_for(shown)


class Day:
    """The task. Each method is a row of the film."""

    def __init__(self, person: Person, project: DayProject, record: Record) -> None:
        self._person = person
        self._project = project
        self._record = record
        self._begun = self._last = time.monotonic()
        self._steps = 0

    def do(self) -> None:
        self._begins()
        self._asks()
        self._steers()
        self._answers()
        self._decides()
        self._undoes_the_turn()
        self._goes_on()
        self._forks()
        self._row("all", self._person.steps, self._last - self._begun)

    def _begins(self) -> None:
        self._person.begin("shop.py")
        self._person.note(MINE)
        assert self._project.text("shop.py") == FILES["shop.py"]
        self._did("starts the editor, types a line, does not save")

    def _asks(self) -> None:
        person = self._person
        person.open(CHAT)
        person.write(ASK)
        person.send()
        screen = person.sees("n5 ")
        assert "n120" not in screen
        self._did("asks in a conversation, reads while it comes")

    def _steers(self) -> None:
        person = self._person
        person.write(STEER)
        person.send()
        person.sees(lambda screen: screen.count("the agent is at work") == 2)
        self._did("sends the next prompt while the agent works")

    def _answers(self) -> None:
        person, project = self._person, self._project
        for command, answer in ((TEST, person.allow), (PUSH, "Deny")):
            person.sees(lambda screen: any(each in screen for each in _ASKED))
            person.look(f"The agent asks:** bash: {command}")
            assert not project.ran(command)
            person.choose(f"Agent asks: bash: {command}: {answer}")
            person.look(f"> {answer}: bash: {command}")
        person.sees("Named and tested.")
        assert project.ran(TEST)
        assert not project.ran(PUSH)
        self._did("allows one command, denies another")

    def _decides(self) -> None:
        person = self._person
        left = {_place(path, hunk): hunk for path, hunks in HUNKS.items() for hunk in hunks}
        while left:
            person.next_change()
            place = self._led_to(left)
            hunk = left.pop(place)
            person.sees(hunk.new)
            verb = "Keep" if hunk.keep else "Undo"
            person.choose(f"{verb} the agent's change (line {place[1]})")
            person.sees(hunk.new if hunk.keep else hunk.old)
        person.save()
        for path in HUNKS:
            wanted = _after(path, lambda hunk: hunk.keep)
            assert until(lambda of=path, to=wanted: self._project.text(of) == to), path
        person.sees(lambda screen: "to review" not in screen)
        self._did("decides seven hunks in three files, saves")

    def _led_to(self, left: Collection[tuple[str, int]]) -> tuple[str, int]:
        """Looked at once: while Emacs draws another window, its cursor is there for a moment."""
        places: list[tuple[str, int] | None] = []
        there = until(lambda: places.append(self._person.place()) or places[-1] in left)
        assert there, self._person.editor.screen
        place = places[-1]
        assert place is not None
        return place

    def _undoes_the_turn(self) -> None:
        person = self._person
        person.open(CHAT)
        person.choose("Undo the agent's last turn")
        person.sees(re.compile(r"Taken back in (shop\.py, cart\.py, till\.py|3 files)\.").search)
        person.save()
        for path in HUNKS:
            wanted = _after(path, lambda _: False)
            assert until(lambda of=path, to=wanted: self._project.text(of) == to), path
        self._did("undoes the whole turn, saves")

    def _goes_on(self) -> None:
        person = self._person
        person.leave()
        person.begin(CHAT)
        person.write(GO_ON)
        person.send()
        person.look("We have named things.")
        assert self._project.sessions == [CHAT]
        self._did("starts the editor again, goes on with the session")

    def _forks(self) -> None:
        person, project = self._person, self._project
        person.look_for(STEER)
        person.choose(f"Fork here: {STEER}")
        person.is_led_to(FORK)
        assert until(lambda: project.text(FORK).endswith(f"## You\n\n{STEER}\n"))
        person.write(ONLY)
        person.choose(f"Send to the agent: {STEER}")
        person.look("Named in cart.py alone.")
        wanted = _after("cart.py", lambda _: True)
        assert until(lambda: project.text("cart.py") == wanted)
        assert project.text("till.py") == FILES["till.py"]
        assert ONLY not in project.text(CHAT)
        assert project.sessions == [FORK, CHAT]
        self._did("forks at the second prompt, sends it changed")

    def _did(self, what: str) -> None:
        now = time.monotonic()
        self._row(what, self._person.steps - self._steps, now - self._last)
        self._last, self._steps = now, self._person.steps

    def _row(self, what: str, steps: int, seconds: float) -> None:
        row = f"{self._person.name:<8} | {what:<49} | {steps:>5} | {seconds:7.1f}"
        self._record("table", (TITLE, HEAD, row))


def _place(path: str, hunk: Hunk) -> tuple[str, int]:
    """Where the hunk is."""
    lines = _after(path, lambda _: False).splitlines()
    return path, next(n for n, line in enumerate(lines, 1) if hunk.old in line)


def _after(path: str, is_in: Callable[[Hunk], bool]) -> str:
    """What the file is with some of its hunks."""
    text = FILES[path] if path != "shop.py" else f"{MINE}\n{FILES[path]}"
    for hunk in filter(is_in, HUNKS[path]):
        text = text.replace(hunk.old, hunk.new)
    return text


def place_in(row: str, pattern: re.Pattern[str]) -> tuple[str, int] | None:
    """By the groups ``file`` and ``line``."""
    found = pattern.search(row)
    return (found["file"], int(found["line"])) if found else None
