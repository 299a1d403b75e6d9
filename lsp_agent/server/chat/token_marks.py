"""What of a conversation's text says who speaks, what is called or asked, and how it stands: words
that an editor colours. Pure.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lsp_agent.server.chat.grammar import HEADINGS, MARKERS, YOU
from lsp_agent.text.lines import body_length, split_lines
from lsp_agent.text.positions import Encoding, to_units

#: As ``words.py`` writes them. Each gives up in one go: a line may be as long as an agent likes.
_CALL = re.compile(r"- (`{1,99}+) ?([^:`]++)(: )?(.*?) ?\1$")
_DETAIL = re.compile(r"  - (?>(`{1,99}+).+?\1: )?(?:(failed)\b.*|(\S.*:\d++))$")
_CHANGE = re.compile(r"- .+: (a change is proposed|a change is not in|it is not known whether .*)$")
_QUESTION = re.compile(r"> (\*\*The agent asks:\*\* .*)$")
_ANSWER = re.compile(r"> ([^:]+): ")
_STATE = re.compile(r"\*\(.+\)\*$")
_FENCE = re.compile(r"`{3,}|~{3,}")


@dataclass(frozen=True, slots=True)
class Mark:
    """In ``line``, columns ``start`` to ``end``; ``type`` is one of LSP's for semantic tokens."""

    line: int
    start: int
    end: int
    type: str


def marks(text: str) -> list[Mark]:
    return [*_marks(split_lines(text))]


def _marks(lines: list[str]) -> Iterator[Mark]:
    agents, asked, fence = False, 0, ""
    for number, whole in enumerate(lines):
        line = whole[: body_length(whole)].rstrip()
        if line in HEADINGS:
            agents, asked, fence = line != YOU, 0, ""
            yield Mark(number, 0, len(line), "namespace" if agents else "keyword")
        elif not agents or not line:
            continue
        elif fence:
            if line.startswith(fence) and not line.strip(fence[0]):
                fence = ""
        elif found := _FENCE.match(line):
            fence = found[0]
        elif line.startswith("> "):
            if found := _QUESTION.match(line):
                asked += 1
                yield Mark(number, 2, len(line), "event")
            elif asked and (found := _ANSWER.match(line)):
                asked -= 1
                yield Mark(number, *found.span(1), "enumMember")
        elif line.startswith(("- ", "  - ", "*(", "<!--")):
            yield from _in_list(number, line)


def _in_list(number: int, line: str) -> Iterator[Mark]:
    if found := _CALL.match(line):
        yield Mark(number, *found.span(2), "function")
        if found[4]:
            yield Mark(number, *found.span(4), "parameter")
    elif found := _DETAIL.match(line):
        group = 2 if found[2] else 3
        yield Mark(number, *found.span(group), "macro" if group == 2 else "property")
    elif found := _CHANGE.match(line):
        yield Mark(number, *found.span(1), "macro")
    elif _STATE.match(line):
        yield Mark(number, 0, len(line), "macro")
    elif found := MARKERS.match(line):
        yield Mark(number, *found.span(), "comment")


def encoded(
    found: Sequence[Mark], lines: Sequence[str], types: Sequence[str], encoding: Encoding
) -> list[int]:
    """As LSP has them: five numbers each, from the one before on."""
    numbers = {name: number for number, name in enumerate(types)}
    data: list[int] = []
    line = column = 0
    for mark in found:
        start = to_units(lines[mark.line], mark.start, encoding)
        length = to_units(lines[mark.line], mark.end, encoding) - start
        before = column if mark.line == line else 0
        data += (mark.line - line, start - before, length, numbers[mark.type], 0)
        line, column = mark.line, start
    return data


def difference(before: Sequence[int], after: Sequence[int]) -> tuple[int, int, list[int]]:
    """Where the one differs, how many numbers go there, and which come."""
    most = min(len(before), len(after))
    start = next((at for at in range(most) if before[at] != after[at]), most)
    tail = 0
    while tail < most - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return start, len(before) - tail - start, [*after[start : len(after) - tail]]
