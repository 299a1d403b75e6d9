"""Whether a line only reads and has git keep something, and where it does."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from lsp_agent.sessions.permissions.keeping import settings, store
from lsp_agent.sessions.permissions.keeping.catalogue import Kept, kept
from lsp_agent.sessions.permissions.reading.reads import Surroundings, reads
from lsp_agent.sessions.permissions.shell.line import Command, Line, Way


class Ground(Surroundings, Protocol):
    """What is on the disk, as far as a git that keeps is concerned."""

    def top(self) -> Path | None:
        """The workspace folder whose repository the line begins in."""
        ...

    def git(self) -> store.Git: ...

    def place(self, way: Way, word: str) -> str:
        """Where the word leads from there, its own link not followed."""
        ...

    def is_inside(self, place: Path) -> bool:
        """Of the workspace, where an agent writes."""
        ...

    def lies_elsewhere(self, program: str) -> bool:
        """Whether the first of its name lies outside of the workspace."""
        ...


def keeps(line: Line, ground: Ground) -> Path | None:
    """The store that it writes, as long as it is held; None for a line that does more, or less."""
    if line.unknown:
        return None
    known = [(each, kept(each)) for each in line.commands]
    keeping = [(each, found) for each, found in known if found is not None]
    others = [each for each, found in known if found is None]
    if not keeping or not all(_is_here(each, found, ground) for each, found in keeping):
        return None
    if not all(reads(each, ground) for each in others):
        return None
    top = ground.top()
    try:
        alone = top is not None and _does_nothing_else(top, keeping, ground)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return top / ".git" if top is not None and alone else None


def _is_here(command: Command, found: Kept, ground: Ground) -> bool:
    files = [*found.files, *command.reads]
    return ground.is_known("git", builtin=False) and all(
        ground.is_own_repository(way)
        and all(file is not None and ground.may_read(way, file, "itself") for file in files)
        for way in command.ways
    )


def _does_nothing_else(top: Path, keeping: Sequence[tuple[Command, Kept]], ground: Ground) -> bool:
    """Raises as ``store`` does."""
    git = ground.git()
    if not store.is_plain(top):
        return False
    known = store.settings_of(top, git)
    programs = settings.programs(known)
    if any(map(ground.is_inside, store.files_of(top, known))):
        return False
    if programs is None or not all(map(ground.lies_elsewhere, programs)):
        return False
    found = store.tree(top, git)
    if store.has_others(top, found):
        return False
    secrets = store.new_secrets(top, found)
    return all(
        (not own.ref or store.is_free(top, known, own.ref))
        and not (secrets and _takes(secrets, command, own, ground))
        for command, own in keeping
    )


def _takes(secrets: Sequence[str], command: Command, own: Kept, ground: Ground) -> bool:
    """Whether it takes one of them in."""
    if None in own.added:
        return True
    places = [ground.place(way, word or "") for way in command.ways for word in own.added]
    return any(
        secret == place or secret.startswith(place.rstrip(os.sep) + os.sep)
        for secret in secrets
        for place in places
    )
