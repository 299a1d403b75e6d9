"""What completes in a prompt: ``/command`` where it begins, ``@file`` and ``@symbol`` anywhere.

Of files only names are looked at, of what lies in the workspace, and no symlink is followed.
"""

import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from lsp_agent.server.chat.grammar import sections
from lsp_agent.text.lines import split_lines
from lsp_agent.workspace.disk.paths import Confinement, OutsideWorkspace

#: Of files; where there are more, those that lie deeper are left out until more is typed.
MOST_NAMES = 500
#: Of those that are looked at for them.
_MOST_LOOKS = 20_000
_FILE = re.compile(r"(?:^|[\s(\"'`])@([^\s@\"'`]*)$")
_COMMAND = re.compile(r"\s*/(\S*)$")
#: Made by programs, and large.
_LEFT_OUT = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Begun:
    """What is to be completed; ``typed`` of it stands there, up to the cursor."""

    kind: Literal["file", "command"]
    typed: str


@dataclass(frozen=True, slots=True)
class Names:
    names: list[str]
    more: bool


def begun_at(text: str, line: int, column: int) -> Begun | None:
    """None in what the agent said, and where nothing is begun."""
    lines = split_lines(text)[: line + 1]
    if len(lines) <= line:
        lines.append("")
    start = sum(map(len, lines[:line]))
    before, cursor = lines[line][:column], start + column
    section = next(each for each in reversed(sections(text)) if each.start <= cursor)
    if section.speaker != "you" or cursor < section.body:
        return None
    if found := _FILE.search(before):
        return Begun("file", found[1])
    if found := _COMMAND.fullmatch(text[section.body : cursor]):
        return Begun("command", found[1])
    return None


def names_of(typed: str, folder: str, confinement: Confinement) -> Names:
    """The files at and below what is ``typed``, from ``folder`` on, the nearest first. Blocking."""
    inside, _, beginning = typed.rpartition("/")
    try:
        root = confinement.confine(inside or ".", folder, write=False).path
    except OutsideWorkspace:
        return Names([], more=False)
    shown = f"{inside}/" if inside else ""
    names: list[str] = []
    for name in _walk(root, hidden=beginning.startswith(".")):
        if len(names) == MOST_NAMES:
            return Names(names, more=True)
        if fits(beginning, name):
            names.append(shown + name)
    return Names(names, more=False)


def _walk(root: str, *, hidden: bool) -> Iterator[str]:
    """Relative to ``root``, level by level; ``hidden`` are looked for right in it alone."""
    folders, looks = deque([""]), 0
    while folders:
        at = folders.popleft()
        try:
            with os.scandir(os.path.join(root, at)) as found:  # noqa: PTH118
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue  # what the person cannot list either
        for entry in entries:
            looks += 1
            if looks > _MOST_LOOKS:
                return
            is_hidden = entry.name.startswith(".")
            if entry.name in _LEFT_OUT or (is_hidden and (at or not hidden)):
                continue
            if not entry.name.isprintable():
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{at}{entry.name}/")
            else:
                yield at + entry.name


def fits(typed: str, name: str) -> bool:
    """As a subsequence: editors find those as well."""
    rest = iter(name.lower())
    return all(char in rest for char in typed.lower())
