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

    def is_led_out(self, program: str, way: Way, word: str) -> bool:
        """Whether the program, which searches all below the word, follows a link that leads out of
        the workspace."""
        ...

    def is_own_repository(self, way: Way) -> bool:
        """Whether a git there takes the repository that it takes where the line begins, and that
        lies in the workspace."""
        ...

    def is_in_repository(self, way: Way, word: str) -> bool:
        """Whether git finds any where the line begins, and takes the word for a place in that."""
        ...


def reads(command: Command, around: Surroundings) -> bool:
    found = _taken(command)
    if found is None or command.writes:
        return False
    opened = [(way, file) for way in command.ways for file in command.reads]
    command, taken = found
    name = command.words[0] or ""
    if not around.is_known(name, builtin=name in BUILTINS):
        return False
    if name == "git" and not all(map(around.is_own_repository, command.ways)):
        return False
    # Without one, and of what lies outside of it, it compares whatever is named, folders with all
    # that lies in them.
    compared = taken.files if name == "git" and "diff" in command.words else ()
    if not all(around.is_in_repository(way, file) for way in command.ways for file in compared):
        return False
    files = list(taken.files)
    if taken.reach in ("shown", "below") and not files:
        files.append(".")
    places = [(way, file) for way in command.ways for file in files]
    if not all(
        file is not None and around.may_read(way, file, taken.reach)
        for way, file in [*opened, *places]
    ):
        return False
    in_work_tree = "grep" in command.words and "--cached" not in command.words
    searches = in_work_tree if name == "git" else taken.reach == "below"
    return not (searches and any(around.is_led_out(name, way, file) for way, file in places))


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
