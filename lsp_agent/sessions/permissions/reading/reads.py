"""Whether one command only reads, and nothing that lies elsewhere."""

from typing import Protocol

from lsp_agent.sessions.permissions.reading.builtins import BUILTINS, OTHERS
from lsp_agent.sessions.permissions.reading.catalogue import PROGRAMS, VERSIONED
from lsp_agent.sessions.permissions.reading.find import find
from lsp_agent.sessions.permissions.reading.git import git
from lsp_agent.sessions.permissions.reading.options import Reach, Taken, take
from lsp_agent.sessions.permissions.shell.line import Command, Way


class Surroundings(Protocol):
    """What is on the disk, for commands that run in a folder that ``way`` leads to."""

    def may_read(self, way: Way, word: str, reach: Reach) -> bool:
        """All that the word may stand for."""
        ...

    def is_known(self, program: str, *, builtin: bool) -> bool:
        """Whether a shell runs by this name what everybody does."""
        ...

    def is_own_repository(self, way: Way) -> bool:
        """Whether a git there takes the repository that it takes where the line begins, and that
        lies in the workspace."""
        ...

    def has_repository(self) -> bool:
        """Whether git finds any where the line begins."""
        ...


def reads(command: Command, around: Surroundings) -> bool:
    found = _taken(command)
    if found is None or command.writes:
        return False
    command, taken = found
    name = command.words[0] or ""
    if not around.is_known(name, builtin=name in BUILTINS):
        return False
    if name == "git" and not all(map(around.is_own_repository, command.ways)):
        return False
    # Without one it compares whatever is named, folders with all that lies in them.
    compares = name == "git" and "diff" in command.words and taken.files
    if compares and not around.has_repository():
        return False
    files = [*command.reads, *taken.files]
    if taken.reach in ("shown", "below") and not taken.files:
        files.append(".")
    return all(
        file is not None and around.may_read(way, file, taken.reach)
        for way in command.ways
        for file in files
    )


def _taken(command: Command) -> tuple[Command, Taken] | None:
    """The command and what its words are; None for one that is not in the tables."""
    name = command.words[0]
    if name is None or 0 in command.globs:
        return None
    if name in VERSIONED and command.words[1:] == ("--version",):
        return command, Taken()
    if name == "git":
        return git(command)
    special = BUILTINS.get(name) or OTHERS.get(name) or (find if name == "find" else None)
    table = PROGRAMS.get(name)
    if special is not None:
        taken = special(command)
    else:
        taken = None if table is None else take(command, 1, table)
    return None if taken is None else (command, taken)
