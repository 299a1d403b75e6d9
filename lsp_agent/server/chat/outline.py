"""A conversation by turns and calls: what its symbols and its folds are. Pure."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from lsp_agent.server.chat.grammar import Section, sections
from lsp_agent.server.client.titles import shortened
from lsp_agent.text.lines import split_lines

#: As ``words.py`` writes them.
_CALL = re.compile(r"- (`{1,99}+)(.+)\1")
_DETAIL = "  "
_DIFF, _FENCE = re.compile(r"(`{3,})diff\b"), re.compile(r"`{3,}")


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a person said, if anything, and what came of it, if anything did."""

    you: Section | None
    agent: Section | None = None

    @property
    def start(self) -> int:
        first = self.you or self.agent
        return first.start if first else 0

    @property
    def end(self) -> int:
        last = self.agent or self.you
        return last.end if last else 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A turn with its ``calls``, or a call: lines from ``first`` to before ``past``."""

    title: str
    first: int
    past: int
    calls: tuple["Entry", ...] = ()


@dataclass(frozen=True, slots=True)
class Fold:
    """``last`` is a line of it."""

    first: int
    last: int


def exchanges(text: str) -> list[Exchange]:
    """In their order; one that was cut in two by hand is two."""
    found: list[Exchange] = []
    for section in sections(text):
        if section.speaker == "you":
            found.append(Exchange(section))
        elif section.speaker == "agent":
            if found and found[-1].agent is None:
                found[-1] = replace(found[-1], agent=section)
            else:
                found.append(Exchange(None, section))
    return found


def earlier_prompts(text: str) -> list[Section]:
    """Those that something came of."""
    found = exchanges(text)
    return [one.you for one in found if one.you is not None and one.agent is not None]


def aligned(here: Sequence[str], kept: Sequence[str], index: int) -> int | None:
    """Which of the ``kept`` prompts the one at ``index`` is, also where its words were changed
    ``here``; None where that is not known for sure."""
    matcher = SequenceMatcher(None, here, kept, autojunk=False)
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        if not start <= index < end:
            continue
        count, others = end - start, other_end - other_start
        # What stands before the session began may be text of a file, which it knows nothing of.
        is_first = start == 0 and other_start == 0
        if kind == "equal" or count == others or (is_first and count > others):
            place = other_end - (end - index)
            return place if place >= other_start else None
    return None


def outline(text: str) -> list[Entry]:
    """A turn each; one in which nothing is said yet is none."""
    entries: list[Entry] = []
    for one in exchanges(text):
        words = text[one.you.body : one.you.end].strip() if one.you else ""
        if not words and one.agent is None:
            continue
        first = text.count("\n", 0, one.start)
        past = first + len(split_lines(text[one.start : one.end]))
        calls = tuple(_calls(text, one.agent)) if one.agent else ()
        entries.append(Entry(shortened(words) or "…", first, past, calls))
    return entries


def folds(text: str) -> list[Fold]:
    """Of turns, of answers in them, and there of calls in a row and of changes."""
    found: list[Fold] = []
    for one in exchanges(text):
        found += _fold(text, one.start, one.end)
        if one.agent is not None:
            if one.you is not None:
                found += _fold(text, one.agent.start, one.agent.end)
            found += _inner(text, one.agent)
    return found


def _calls(text: str, section: Section) -> Iterator[Entry]:
    lines = split_lines(text[section.start : section.end])
    first = text.count("\n", 0, section.start)
    for index, line in enumerate(lines):
        call = _CALL.fullmatch(line.rstrip())
        if call is not None:
            past = index + 1
            while past < len(lines) and lines[past].startswith(_DETAIL):
                past += 1
            yield Entry(shortened(call[2].strip()) or "…", first + index, first + past)


def _fold(text: str, start: int, end: int) -> Iterator[Fold]:
    """Without the empty lines at its end."""
    first = text.count("\n", 0, start)
    last = first + len(split_lines(text[start:end].rstrip())) - 1
    if last > first:
        yield Fold(first, last)


def _inner(text: str, section: Section) -> Iterator[Fold]:
    """Runs of lines that are calls or belong to one, and blocks with a diff."""
    first = text.count("\n", 0, section.start)
    begun: int | None = None
    fence = ""
    lines = [line.rstrip() for line in split_lines(text[section.start : section.end])]
    for index, line in enumerate([*lines, ""]):
        if fence:
            if line.startswith(fence) and _FENCE.fullmatch(line):
                yield Fold(first + (begun or 0), first + index)
                begun, fence = None, ""
            continue
        within = line.startswith(("- ", _DETAIL)) and line != ""
        if begun is None and within:
            begun = index
        elif begun is not None and not within:
            if index - 1 > begun:
                yield Fold(first + begun, first + index - 1)
            begun = None
        if opened := _DIFF.match(line):
            begun, fence = index, opened[1]
