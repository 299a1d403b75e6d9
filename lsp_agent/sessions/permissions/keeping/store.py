"""A repository's own store, and whether a git that keeps there does nothing else."""

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lsp_agent.sessions.permissions.keeping import settings
from lsp_agent.sessions.permissions.secret_files import is_secret
from lsp_agent.workspace.disk.git_folders import is_git_folder

#: For all that git is asked about one line; the agent waits 3.5 s for the whole judgement.
_GIT_SECONDS = 2.5
_KINDS = ("heads", "tags", "remotes")
_SAMPLE = ".sample"


@dataclass(frozen=True, slots=True)
class Git:
    """The program, and what it is told by its environment; for the sake of one line."""

    program: str
    environment: Mapping[str, str]
    until: float = field(default_factory=lambda: time.monotonic() + _GIT_SECONDS)

    def says(self, top: Path, *words: str) -> str:
        """Raises OSError, ValueError, subprocess.SubprocessError."""
        done = subprocess.run(  # noqa: S603  of our own words
            [self.program, *words],
            cwd=top,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=max(0.0, self.until - time.monotonic()),
            check=True,
        )
        return os.fsdecode(done.stdout)


def is_plain(top: Path) -> bool:
    """Whether ``.git`` is a folder of its own, with no hooks that git would run. Raises OSError."""
    store = top / ".git"
    if store.is_symlink() or not store.is_dir() or not is_git_folder(store):
        return False
    if os.path.lexists(store / "commondir"):
        return False
    hooks = store / "hooks"
    return not os.path.lexists(hooks) or not any(
        os.access(each, os.X_OK) and each.suffix != _SAMPLE for each in hooks.iterdir()
    )


def settings_of(top: Path, git: Git) -> settings.Settings:
    """Raises as ``Git.says``."""
    return settings.read(git.says(top, "config", "--list", "--show-origin", "-z"))


def files_of(top: Path, known: settings.Settings) -> list[Path]:
    """That the settings are from, beside the repository's own."""
    places = [Path(os.path.realpath(top / file)) for file in known.files]
    return [place for place in places if not place.is_relative_to(top / ".git")]


@dataclass(frozen=True, slots=True)
class Tree:
    """The names of the files of a work tree that git knows, and those that it would take in; of
    a repository in it that is its own with a slash."""

    tracked: frozenset[str]
    new: frozenset[str]


def tree(top: Path, git: Git) -> Tree:
    """Raises as ``Git.says``."""
    said = git.says(top, "ls-files", "-t", "-c", "-o", "--exclude-standard", "-z")
    rows = [(row[:1], row[2:]) for row in said.split("\0") if row]
    return Tree(
        frozenset(name for tag, name in rows if tag != "?"),
        frozenset(name for tag, name in rows if tag == "?"),
    )


def has_others(top: Path, found: Tree) -> bool:
    """Whether there is a repository in it: once git knows of one, it runs what that names."""
    if any(name.endswith("/") for name in found.new):
        return True
    names = {*found.tracked, *found.new}
    for name in list(names):
        parent = name.rpartition("/")[0]
        while parent and parent not in names:
            names.add(parent)
            parent = parent.rpartition("/")[0]
    return any(os.path.lexists(os.path.join(top, name, ".git")) for name in names)  # noqa: PTH118


def new_secrets(top: Path, found: Tree) -> list[str]:
    """The paths of files for secrets that git would take in."""
    return [str(top / name) for name in found.new if is_secret(name)]


def is_free(top: Path, known: settings.Settings, ref: str) -> bool:
    """Whether that name means nothing yet, of a remote's neither: git would take the new one for
    it. Raises OSError."""
    if any(f"{ref}/".startswith(f"{remote}/") for remote in settings.remotes(known)):
        return False
    store = top / ".git"
    packed = store / "packed-refs"
    rows = packed.read_text(errors="replace").splitlines() if packed.exists() else []
    return not any(
        os.path.lexists(store / "refs" / kind / ref)
        or any(row.endswith(f" refs/{kind}/{ref}") for row in rows)
        for kind in _KINDS
    )
