"""What a program takes the words for that it is given, by a table of its options."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lsp_agent.sessions.permissions.shell.line import Command

#: What an option takes: nothing, what is attached, a value, the next word as one, a text that may
#: be made at run time, a file's name, or the pattern that else stands before the files.
Takes = Literal["nothing", "attached", "value", "next", "text", "file", "pattern"]
#: What of a place is opened: itself, with a folder what lies right in it, what a search shows
#: of all below it, or all of that.
Reach = Literal["itself", "listed", "shown", "below"]
#: What the other words are.
Operands = Literal["files", "texts", "none"]

_GLOB = re.compile(r"[*?\[]")
_NUMBER = re.compile(r"-\d+")


@dataclass(frozen=True, slots=True)
class Options:
    """Of one program. ``texts`` of its operands stand before the files, ``most`` are all that it
    may have. ``numbers``: a number may be an option, as in ``head -5``. ``reach`` is what it opens
    of a folder, all below it with one of the options ``deep``."""

    letters: Mapping[str, Takes] = field(default_factory=dict[str, Takes])
    names: Mapping[str, Takes] = field(default_factory=dict[str, Takes])
    operands: Operands = "files"
    texts: int = 0
    most: int | None = None
    numbers: bool = False
    reach: Reach = "itself"
    deep: frozenset[str] = frozenset()
    #: With one of these no text stands before the files.
    textless: frozenset[str] = frozenset()


@dataclass(slots=True)
class Taken:
    """The words that name files, the others that are no options, and what is opened; ``operands``
    are all that are no options, ``seen`` the options."""

    files: list[str] = field(default_factory=list[str])
    texts: list[str] = field(default_factory=list[str])
    reach: Reach = "itself"
    operands: list[str] = field(default_factory=list[str])
    seen: set[str] = field(default_factory=set[str])


def take(command: Command, first: int, options: Options) -> Taken | None:
    """What the words from number ``first`` are; None where one may be more than the table says."""
    taking = _Taking(command, first, options)
    while taking.number < len(command.words):
        if not taking.next():
            return None
    return taking.taken() if not taking.wanted else None


class _Taking:
    def __init__(self, command: Command, first: int, options: Options) -> None:
        self.number = first
        #: What the option before takes from the next word.
        self.wanted: Takes | Literal[""] = ""
        self._command = command
        self._options = options
        self._operands: list[tuple[str, bool]] = []
        self._files: list[str] = []
        self._texts = options.texts
        self._reach: Reach = options.reach
        self._ended = False
        self._seen: set[str] = set()

    def next(self) -> bool:
        number = self.number
        word, is_glob = self._command.words[number], number in self._command.globs
        self.number += 1
        if word is None:
            is_text = self.wanted == "text" and number in self._command.whole
            self.wanted = ""
            return is_text
        if self.wanted:
            self._files += [word] if self._operands else []
            return not is_glob and self._value(word)
        if self._ended or word == "-" or not word.startswith("-"):
            self._operands.append((word, is_glob))
            return True
        # Some systems take no option behind an operand, and this and its value for files' names.
        if self._operands:
            if self._options.most is not None:
                return False
            self._files.append(word)
        if word == "--":
            self._ended = True
            return True
        # A glob behind the equals sign makes no other option of it.
        return not (is_glob and _GLOB.search(word.partition("=")[0])) and self._option(word)

    def taken(self) -> Taken | None:
        texts, files = self._operands[: self._texts], self._operands[self._texts :]
        most = self._options.most
        if self._options.operands == "none":
            most = 0
        if any(is_glob for _, is_glob in texts) or (most is not None and len(files) > most):
            return None
        if most is not None and any(is_glob for _, is_glob in files):
            return None
        words = [word for word, _ in files]
        plain = [word for word, _ in texts]
        if self._options.operands == "texts":  # but a shell looks for files by a glob
            found = [word for word, is_glob in files if is_glob]
            return Taken([*self._files, *found], plain + words)
        operands = [word for word, _ in self._operands]
        return Taken(self._files + words, plain, self._reach, operands, self._seen)

    def _option(self, word: str) -> bool:
        if self._options.numbers and _NUMBER.fullmatch(word):
            return True
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            return self._takes(name, self._options.names.get(name), value if equals else None)
        for place, letter in enumerate(word[1:], 2):
            takes = self._options.letters.get(letter)
            if takes != "nothing":
                return self._takes(letter, takes, word[place:] or None)
            self._see(letter)
        return True

    def _takes(self, option: str, takes: Takes | None, value: str | None) -> bool:
        self._see(option)
        match takes:
            case None:
                return False
            case "nothing":
                return value is None
            case "attached":
                return True
            case "next" if value is not None:  # to it these are further options
                return False
            case _:
                self.wanted = takes
                return value is None or self._value(value)

    def _value(self, value: str) -> bool:
        if self.wanted in ("file", "pattern"):
            self._texts = 0
        if self.wanted == "file":
            self._files.append(value)
        self.wanted = ""
        return True

    def _see(self, option: str) -> None:
        self._seen.add(option)
        if option in self._options.deep:
            self._reach = "below"
        if option in self._options.textless:
            self._texts = 0
