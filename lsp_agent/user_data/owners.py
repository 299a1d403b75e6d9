"""Whose files above a workspace are: in a shared folder, as ``/tmp``, anyone may put a repository
or instructions there. As git's ``safe.directory`` tells it, but that what the person has opened
counts as theirs."""

import os
from pathlib import Path


class Owners:
    """Those whose files count in ``cwd`` and above: the person, the owner of ``cwd``, and root, who
    needs no such way. Raises OSError where ``cwd`` cannot be looked at."""

    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd
        self._uids = {0, os.geteuid(), cwd.stat().st_uid}

    def own(self, place: Path) -> bool:
        """Also what a link leads to; a link that leads nowhere is its own. Raises OSError."""
        if place.lstat().st_uid not in self._uids:
            return False
        return not place.exists() or place.stat().st_uid in self._uids

    def repository(self) -> Path | None:
        """The root of the nearest repository that is theirs; another's does not count. Raises
        OSError."""
        for folder in (self._cwd, *self._cwd.parents):
            git = folder / ".git"
            if git.exists() and self.own(git) and self.own(folder):
                return folder
        return None
