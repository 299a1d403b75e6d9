"""The repository that a git of an agent's finds, and whether a reading one runs nothing of it."""

import re
from collections.abc import Mapping
from pathlib import Path

from lsp_agent.sessions.permissions.reading import git_configuration
from lsp_agent.workspace.disk.git_folders import is_git_folder, is_git_name

_NAMES_FOLDER = re.compile(r"gitdir: ([^\n]+)\n?")
#: The mode of an entry that is a repository of its own: git looks into it by its configuration.
_INNER = b"\0\0\xe0\0"
#: In bytes; of what is larger nothing is known.
_LONGEST_CONFIGURATION = 1 << 16
_LONGEST_INDEX = 1 << 25
#: What git is told by the environment and changes nothing of what it reads and runs meanwhile.
_HARMLESS = re.compile(
    r"GIT_(?:CONFIG_(?:COUNT|(?:KEY|VALUE)_\d+|GLOBAL|SYSTEM|NOSYSTEM)|PAGER|EDITOR|OPTIONAL_LOCKS"
    r"|SEQUENCE_EDITOR|ASKPASS|TERMINAL_PROMPT|SSH|SSH_COMMAND|SSL_\w+|(?:AUTHOR|COMMITTER)_\w+)"
)


def is_led_elsewhere(environment: Mapping[str, str]) -> bool:
    """Whether a variable names another repository, or a program."""
    return any(name.startswith("GIT_") and not _HARMLESS.fullmatch(name) for name in environment)


def found_from(folder: Path) -> Path | None:
    """The place with a ``.git`` that a git in ``folder`` takes.

    Raises OSError; UnclearRepositoryError for a bare one on the way to it, which older gits take
    whatever they are told.
    """
    for place in (folder, *folder.parents):
        if (place / ".git").is_symlink() or (place / ".git").exists():
            return place
        if is_git_folder(place):
            raise UnclearRepositoryError
    return None


def runs_nothing(place: Path) -> bool:
    """Whether a git that only reads runs no program that the repository at ``place`` names, and
    looks for nothing elsewhere. Raises OSError, UnclearRepositoryError."""
    own = _git_folder(place / ".git")
    if not is_git_folder(own):  # git looks on above it
        raise UnclearRepositoryError
    if not own.is_relative_to(place.resolve()) and not _is_work_tree(own, place):
        return False
    common = _common_folder(own)
    configurations = (common / "config", own / "config.worktree")
    indexes = (own / "index", *own.glob("sharedindex.*"))
    return all(
        git_configuration.is_plain(_read(each, _LONGEST_CONFIGURATION).decode())
        for each in configurations
    ) and not any(_INNER in _read(each, _LONGEST_INDEX) for each in indexes)


def _is_work_tree(own: Path, place: Path) -> bool:
    """Whether git itself made it one of the repository's: that names it, too."""
    named = _read(own / "gitdir", _LONGEST_CONFIGURATION).decode().removesuffix("\n")
    return bool(named) and (own / named).resolve() == (place / ".git").resolve()


def named_by_file(place: Path) -> list[str]:
    """Where a ``.git`` at ``place`` that is a file leads, whatever that is called, and what it
    shares with other work trees. Raises OSError, UnclearRepositoryError."""
    git = place / ".git"
    if git.is_symlink() or not git.is_file():
        return []
    own = _named_folder(git)
    return [str(own), str(_common_folder(own))]


class UnclearRepositoryError(Exception):
    """Which repository it is, or what it says, cannot be told."""


def _git_folder(git: Path) -> Path:
    if git.is_symlink():
        raise UnclearRepositoryError
    if git.is_dir():
        return git
    folder = _named_folder(git)
    # An agent's file tools write in any other.
    if not any(map(is_git_name, folder.parts)):
        raise UnclearRepositoryError
    return folder


def _named_folder(git: Path) -> Path:
    named = _NAMES_FOLDER.fullmatch(_read(git, _LONGEST_CONFIGURATION).decode())
    if named is None:
        raise UnclearRepositoryError
    return (git.parent / named[1]).resolve()


def _common_folder(own: Path) -> Path:
    """What work trees share."""
    named = _read(own / "commondir", _LONGEST_CONFIGURATION).decode().removesuffix("\n")
    return (own / named).resolve() if named else own


def _read(path: Path, most: int) -> bytes:
    """Empty where there is no such file."""
    if not path.exists():
        return b""
    if not path.is_file():  # a pipe would hold everything up
        raise UnclearRepositoryError
    with path.open("rb") as file:
        text = file.read(most + 1)
    if len(text) > most:
        raise UnclearRepositoryError
    return text
