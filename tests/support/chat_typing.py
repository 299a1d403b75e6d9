"""A person types hundreds of lines into a conversation while a turn writes into it, in any editor:
the document, what the agent says and calls meanwhile, and what must be in at the end. Nothing of
ours is imported: the file as it was saved is the only witness.
"""

import re
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.sizes import size

Json = dict[str, Any]
Record = Callable[[str, object], None]

TITLE = "Lines typed into a conversation while a turn comes into it"
NAME = "long.chat.md"
PROMPT = "count the days"
#: The person writes in its first section, too: from its third line on.
TEXT = f"## You\n\nEarlier?\n\n## Agent\n\nYes.\n\n## You\n\n{PROMPT}\n"
EARLY_LINE = 3

#: Behind so many lines in the last section is one in the first.
BURST = 40
#: At least so many before the agent has ended.
BESIDE = 100

_STEPS, _WORDS, _PACE = 18, 40, 50
_READ = "notes.txt"
_AGENTS = [[f"a{_WORDS * step + n:04}" for n in range(_WORDS)] for step in range(_STEPS)]
END = "Counted."


def _step(words: list[str]) -> Json:
    calls = [{"name": "read", "args": {"path": _READ}}]
    return {"text": " ".join(words), "calls": calls, "pace_ms": _PACE}


#: The agent's steps: words, and behind each lot of them a call.
_STEPS_TOLD = [_step(words) for words in _AGENTS]
SCRIPT: list[Json] = [{"match": "^count"} | _STEPS_TOLD[0], *_STEPS_TOLD[1:], {"text": END}]

#: Of the person's lines, where they are sent after a kill.
GOES_ON = "I go on."
SCRIPT_ON: list[Json] = [*SCRIPT, {"match": "^k0", "text": GOES_ON}]

ANSWER = "\n\n".join([*(f"{' '.join(words)}\n\n- `read: {_READ}`" for words in _AGENTS), END])


class Typist(ABC):
    """Somebody at an editor that shows the conversation."""

    editor: str
    #: In the last section.
    lines = size(400, 1000)

    @abstractmethod
    def to_early(self) -> None:
        """The next lines are typed above the third one."""

    @abstractmethod
    def to_last(self) -> None:
        """The next lines are typed at the end."""

    @abstractmethod
    def type(self, line: str) -> None: ...

    @abstractmethod
    def leave(self) -> None:
        """No more is typed here."""

    @abstractmethod
    def save(self) -> None: ...


def late(number: int) -> str:
    return f"k{number:04}"


def early(number: int) -> str:
    return f"e{number:04}"


#: Has the turn's id in hexadecimal, which may look like a word of the agent's.
MARKER = re.compile("<!-- the agent is at work: .* -->")


def in_order(text: str, kind: str) -> int:
    """How many words of a kind there are: the first ones, each once and in order."""
    found = re.findall(rf"{kind}(\d{{4}})", MARKER.sub("", text))
    assert [int(number) for number in found] == [*range(len(found))]
    return len(found)


def wrong(saved: str, lines_typed: int) -> list[str]:
    """What must not be in a document as it was saved: a line of the person's that is lost, doubled
    or out of order, a word of the agent's, or anything else."""
    lates = [late(number) for number in range(lines_typed)]
    earlies = [early(number) for number in range(-(-lines_typed // BURST))]
    agents = [word for words in _AGENTS for word in words]
    found: list[str] = []
    for wanted in (lates, earlies, agents):
        counts = Counter(re.findall(rf"{wanted[0][0]}\d{{4}}", saved))
        found += [f"{word}: {counts[word]} times" for word in wanted if counts.pop(word, 0) != 1]
        found += [f"{word} was never said" for word in counts]
    lines = [line for line in saved.splitlines() if line]
    mine = [*reversed(earlies), "Earlier?", "## Agent", "Yes.", "## You", PROMPT, "## Agent"]
    answer = [line for line in ANSWER.splitlines() if line]
    wanted = ["## You", *mine, *answer, "## You", *lates]
    differing = [pair for pair in zip(lines, wanted, strict=False) if pair[0] != pair[1]]
    found += [f"{is_there!r} in place of {meant!r}" for is_there, meant in differing[:1]]
    if len(lines) != len(wanted):
        found.append(f"{len(lines)} lines, not {len(wanted)}")
    return found


class Sitting:
    """One person, from the first key to the last; the half of it is saved when it is typed."""

    def __init__(self, typist: Typist, file: Path, has_ended: Callable[[], bool]) -> None:
        self._typist = typist
        self._file = file
        self._has_ended = has_ended
        self._beside = self._said_by_half = 0
        begun = time.monotonic()
        self._type_all()
        self._seconds = time.monotonic() - begun

    def _type_all(self) -> None:
        lines = self._typist.lines
        for first in range(0, lines, BURST):
            past = min(first + BURST, lines)
            self._typist.to_last()
            for number in range(first, past):
                self._typist.type(late(number))
            self._typist.leave()
            self._typist.to_early()
            self._typist.type(early(first // BURST))
            self._typist.leave()
            if not self._has_ended():
                self._beside = past
            if first < lines // 2 <= past:
                self._said_by_half = len(re.findall(r"\ba\d{4}\b", self.saved(late(past - 1))))

    def saved(self, shown: str, *, ended: bool = False) -> str:
        """The document with this in it, as the person saves it; once the turn has ``ended``, all
        is in its place: an editor that checks no versions may show words a line off for a moment,
        behind the marker."""
        deadline = time.monotonic() + 90
        while shown not in (text := self._saved()) or (ended and MARKER.search(text)):
            assert time.monotonic() < deadline, f"{shown} is not in\n{text}"
        return text

    def _saved(self) -> str:
        self._typist.save()
        time.sleep(0.2)
        return self._file.read_text() if self._file.exists() else ""  # as between two steps of it

    def check(self, record: Record) -> None:
        """Once the agent has ended. Adds a row to what the run prints."""
        lines = self._typist.lines
        found = wrong(self.saved(END, ended=True), lines)
        cells: Json = {"editor": self._typist.editor, "lines": lines, "beside": self._beside}
        cells |= {"earlier": -(-lines // BURST), "words": _STEPS * _WORDS}
        cells |= {"in by half": self._said_by_half, "calls": _STEPS}
        cells |= {"seconds": round(self._seconds), "wrong": len(found)}
        widths = {name: max(len(name), 7) for name in cells}
        head = " | ".join(f"{name:>{widths[name]}}" for name in cells)
        row = " | ".join(f"{cell!s:>{widths[name]}}" for name, cell in cells.items())
        record("table", (TITLE, head, row))
        assert not found, found
        assert self._beside >= BESIDE
        assert self._said_by_half > 0
