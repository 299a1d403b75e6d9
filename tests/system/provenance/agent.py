"""What an agent knows: the texts of the results that it has received, and nothing else.

It goes by its last knowledge or, on purpose, by an older one. A note on what changed is applied
to what it knows as a model would: by the numbers of the lines. Where that does not fit, it does
not know the file any more.
"""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from provenance.oracle import words

_NOTE = "\n[Note from the editor, not part of "
_PLACE = re.compile(r"@@ line ([0-9]+) @@")

#: One change that an agent makes of a text: what, and which line.
Work = tuple[str, int]


class DoesNotFit(Exception):
    """The rows of a note are not what the agent knows."""


@dataclass
class Mind:
    """``name`` is its words' beginning: ``a1``; ``turn`` counts its turns from 1."""

    name: str
    turn: int = 0
    #: By file, what it knew and knows of it, oldest first.
    texts: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    shown: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    #: Files that it must read again.
    unsure: set[str] = field(default_factory=set)
    misfits: int = 0
    _words: int = 0

    def forget(self) -> None:
        """A new conversation."""
        self.texts.clear()
        self.shown.clear()
        self.unsure.clear()

    def word(self) -> str:
        self._words += 1
        return f"{self.name}t{self.turn}n{self._words}"

    def known(self, file: str, age: int = 0) -> str | None:
        texts = self.texts[file]
        return texts[-1 - age % len(texts)] if texts else None

    def learns(self, file: str, text: str) -> None:
        """Its own text after a write or an edit, or what it has read."""
        self.texts[file].append(text)
        self.shown[file].update(words(text))

    def takes_note(self, result: str, files: dict[str, str]) -> str:
        """Applies the note in a result; ``files`` are names by path. The result without it."""
        answer, _, note = result.partition(_NOTE)
        about: str | None = None
        rows: defaultdict[str, list[str]] = defaultdict(list)
        for row in note.splitlines()[1:]:
            if row.endswith(" changed since you last saw it:"):
                about = files.get(row.removesuffix(" changed since you last saw it:"))
            elif about is not None and row and row[0] in "@+-.":
                rows[about].append(row)
        for file, of_file in rows.items():
            self._takes_rows(file, of_file)
        return answer

    def _takes_rows(self, file: str, rows: list[str]) -> None:
        for row in rows:
            if row[0] in "+-":
                self.shown[file].update(words(row[1:]))
        known = self.known(file)
        if known is None:
            return
        try:
            self.texts[file].append(patched(known, rows))
        except DoesNotFit:
            self.misfits += 1
            self.unsure.add(file)

    # -- what it does

    def worked(self, text: str, works: list[Work]) -> str:
        """``text`` after its work."""
        lines = text.splitlines(keepends=True)
        for what, place in works:
            at = place % max(1, len(lines))
            match what:
                case "add" if lines:
                    lines[at] = f"{lines[at].removesuffix(chr(10))} {self.word()}\n"
                case "front" if lines:
                    lines[at] = f" {self.word()}{lines[at]}"
                case "swap" if lines:
                    lines[at] = f" {self.word()}\n"
                case "cut" if len(lines) > 1:
                    del lines[at]
                case _:  # a line of its own
                    lines.insert(at + 1, f" {self.word()} {self.word()}\n")
        return "".join(lines)


def patched(text: str, rows: list[str]) -> str:
    """:raises DoesNotFit:"""
    lines = text.splitlines()
    at = 0
    for row in rows:
        if place := _PLACE.fullmatch(row):
            at = int(place[1]) - 1
        elif row[0] == "-":
            if at >= len(lines) or lines[at].rstrip() != row[1:]:
                raise DoesNotFit
            del lines[at]
        elif row[0] == "+":
            if at > len(lines):
                raise DoesNotFit
            lines.insert(at, row[1:])
            at += 1
        else:  # cut short
            raise DoesNotFit
    return "".join(line + "\n" for line in lines)
