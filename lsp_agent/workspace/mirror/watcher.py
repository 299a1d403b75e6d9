"""A session at work, as the mirror that sessions share sees it."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from lsp_agent.workspace.disk.look import Seen
from lsp_agent.workspace.mirror.disk_change import DiskChange


class Known:
    """What one session knows of the disk: the files as they were at its last look, by real path.
    ``at`` says when each was looked at, in the mirror's own count."""

    def __init__(self) -> None:
        self.seen: dict[str, Seen] = {}
        self.at: dict[str, int] = {}

    def keep_only(self, paths: Collection[str]) -> None:
        for path in self.seen.keys() - set(paths):
            del self.seen[path], self.at[path]

    def update(self, seen: Mapping[str, Seen], at: int) -> None:
        self.seen.update(seen)
        self.at.update(dict.fromkeys(seen, at))


class Watcher(Protocol):
    """A session at work. Where another one looks, and stands for nothing of what it finds, that
    is from now on what the other one begins with; so this one is told of it at once."""

    known: Known

    def claims(self, path: str) -> bool:
        """Whether what is new at ``path`` is its doing."""
        ...

    def named(self) -> Collection[str]:
        """The paths that its calls at work name."""
        ...

    def found(self, changes: Sequence[DiskChange]) -> None:
        """To be taken by it; it may not look meanwhile."""
        ...
