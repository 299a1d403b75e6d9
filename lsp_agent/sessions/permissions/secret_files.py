"""Files that are made for secrets, by their names; those that a search leaves out unless told."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from lsp_agent.toolset.known_secrets import is_env_file

_NAME = re.compile(r"\.(?:netrc|npmrc|pypirc|pgpass|htpasswd|git-credentials)", re.IGNORECASE)
_OF_GIT = re.compile(r"(?:.*/)?\.git/(?:.*/)?config(?:\.worktree)?", re.IGNORECASE | re.DOTALL)

#: What an address has in it, and settings of git's that are sent along.
_PASSWORD = re.compile(rb"://[^/\s]*@|extraheader|authorization|passw|token", re.IGNORECASE)


def is_secret(path: str) -> bool:
    """Of a path, or of one in a revision, as ``HEAD:.env``. git's own file has addresses with
    passwords in them."""
    name = re.split("[/:]", path)[-1]
    return (
        is_env_file(name)
        or _NAME.fullmatch(name) is not None
        or _OF_GIT.fullmatch(path) is not None
    )


def may_hold_secrets(folder: str, most: int) -> bool:
    """Whether such a file lies below ``folder``, or more than ``most`` files do. Raises OSError."""
    left = [folder]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                most -= 1
                if most < 0 or is_secret(entry.path):
                    return True
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != ".git":
                        left.append(entry.path)
                    elif any(map(_has_password, _configurations(Path(entry.path)))):
                        return True
    return False


def _configurations(git: Path) -> Iterator[Path]:
    """Those of a repository, of its work trees and of its submodules, whose names may have
    slashes."""
    yield from (git / "config", git / "config.worktree")
    yield from git.glob("worktrees/*/config.worktree")
    folders = [git / "modules"]
    while folders:
        for inner in folders.pop().glob("*/"):
            if (inner / "HEAD").is_file():
                yield from _configurations(inner)
            elif not inner.is_symlink():
                folders.append(inner)


def _has_password(configuration: Path) -> bool:
    return configuration.is_file() and bool(_PASSWORD.search(configuration.read_bytes()))
