"""A person who types unique words beside an agent's marks, and what must be in at the end.

The model of truth: each typed word is in once unless the person undid it, each mark as often as
the agent's decided work says.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import quantiles
from typing import TypeVar

from support.typist import MARKS
from vscode_desk import Desk

T = TypeVar("T")

WORDS = re.compile(r"k\d{3}[qxz]")


def counted(text: str) -> Counter[str]:
    """How often each mark and each typed word is in."""
    return Counter(MARKS.findall(text)) + Counter(WORDS.findall(text))


@dataclass
class Typist:
    """Types at 15 keys a second in the shown document."""

    desk: Desk
    rng: random.Random
    words: list[str] = field(default_factory=list[str])
    undos: int = 0

    def type_at(self, mark: str, *, offsets: tuple[int, ...] = (0,), starts: str = "AAIoO") -> None:
        """Goes to a line near ``mark`` and types a word or a few: at the line's end (``A``), its
        start (``I``), in a new line below (``o``) or above (``O``), or before the mark (``i``)."""
        start = self.rng.choice(starts)
        self.desk.go_to(mark, self.rng.choice(offsets), at_mark=start == "i")
        keys = {"A": ["End", "Space"], "o": ["End", "Enter"], "O": ["Enter", "ArrowUp"]}
        for key in keys.get(start, []):
            self.desk.workbench.key(key)
        for number in range(self.rng.randint(1, 3)):
            if number:
                self.desk.workbench.key(self.rng.choice(("Space", "Enter")))
            self.word()
        self.desk.settle()

    def type_inside(self, mark: str) -> None:
        """A word in the middle of a mark, which is in no more."""
        self.desk.go_to(mark, at_mark=True)
        for _ in range(4):
            self.desk.workbench.key("ArrowRight")
        self.word()
        self.desk.settle()

    def word(self) -> str:
        """One word and a space, now and then with a slip that is taken back."""
        word = f"k{len(self.words):03}{self.rng.choice('qxz')}"
        self.words.append(word)
        for letter in word:
            if self.rng.random() < 0.05:
                self.desk.workbench.key("y")
                self.desk.workbench.key("Backspace")
            self.desk.workbench.key(letter)
        self.desk.workbench.key("Space")
        return word

    def beside(
        self, marks: Sequence[str], work: Callable[[], T], offsets: tuple[int, ...] = (-1, 1)
    ) -> T:
        """What ``work`` returns, done while the person types at ``offsets`` from the lines of
        some of ``marks``."""
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(work)
            while not result.done():
                self.type_at(self.rng.choice(marks), offsets=offsets)
            return result.result()

    def undo(self) -> None:
        self.desk.workbench.key("Control+z")
        self.desk.settle()
        self.undos += 1


@dataclass
class Row:
    """What a scene came to, in changes of the agent's (or hunks). ``wrong`` is what must not be."""

    scene: str
    changes: int = 0
    in_: int = 0
    sent_again: int = 0
    proposed: int = 0
    said: Counter[str] = field(default_factory=Counter[str])
    words: int = 0
    undos: int = 0
    lost: int = 0
    doubled: int = 0
    milliseconds: list[float] = field(default_factory=list[float])
    wrong: list[str] = field(default_factory=list[str])

    HEAD = (
        f"{'scene':32}{'changes':>8}{'in':>5}{'sent again':>11}{'proposed':>9}{'words':>6}"
        f"{'undos':>6}{'lost':>5}{'doubled':>8}  p50/p95/max ms, what else was said"
    )

    def compare(
        self, wanted: Counter[str], text: str, undone: list[dict[str, str]], when: str = ""
    ) -> None:
        """Counts what is lost and doubled in ``text``; ``wanted`` is what must be in where the
        person undid nothing."""
        wanted = wanted.copy()
        for entry in undone:
            before, after = counted(entry["before"]), counted(entry["after"])
            for mark in before.keys() | after.keys():
                if before[mark] != after[mark]:
                    wanted[mark] = after[mark]
        now = counted(text)
        for mark in sorted(wanted.keys() | now.keys()):
            if now[mark] != wanted[mark]:
                self.lost += now[mark] < wanted[mark]
                self.doubled += now[mark] > wanted[mark]
                self.wrong.append(f"{mark}: {now[mark]} times, not {wanted[mark]} {when}")

    def __str__(self) -> str:
        times = ""
        if len(self.milliseconds) > 1:
            cuts = quantiles(self.milliseconds, n=20, method="inclusive")
            times = f"{cuts[9]:.0f}/{cuts[18]:.0f}/{max(self.milliseconds):.0f}  "
        said = ", ".join(f"{count} {what}" for what, count in sorted(self.said.items()))
        return (
            f"{self.scene:32}{self.changes:8}{self.in_:5}{self.sent_again:11}{self.proposed:9}"
            f"{self.words:6}{self.undos:6}{self.lost:5}{self.doubled:8}  {times}{said}"
        )
