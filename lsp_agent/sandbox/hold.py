"""What is let through to a held command, and what each way of holding one does."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal, Protocol

from lsp_agent.protocol.errors import LspAgentError


class CannotHold(LspAgentError):
    """Nothing here can hold a command. The message says what would help."""


@dataclass(frozen=True, slots=True)
class Place:
    """An absolute path without symlinks, and what is there now."""

    path: str
    kind: Literal["folder", "file", "missing"]


@dataclass(frozen=True, slots=True)
class Way:
    """To the hosts that the person named, without ``network``: where a command's socket is handed
    over, once, for this ticket (``network/door.py``)."""

    door: str
    ticket: str


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of git's; of ``spared`` in it nothing is written, as far as the holder can take a
    part of a folder out."""

    path: str
    spared: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """All may be read but what is ``hidden``; nothing may be written but below ``folders``, and
    there nothing of ``read_only``, which need not exist yet; with a ``store`` that alone."""

    folders: tuple[str, ...]
    read_only: tuple[Place, ...]
    hidden: tuple[Place, ...]
    network: bool
    way: Way | None = None
    store: Store | None = None

    @property
    def written(self) -> tuple[str, ...]:
        """The folders that may be written."""
        return (self.store.path,) if self.store else self.folders


def lies_in(path: str, folders: Iterable[str]) -> bool:
    """Whether it is one of the folders or lies in one."""
    return any(PurePath(path).is_relative_to(folder) for folder in folders)


class Holder(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def has_way(self) -> bool:
        """Whether it can let a command reach hosts by a ``Way``, and nothing else."""
        ...

    @property
    def leads_agents(self) -> bool:
        """Whether a whole agent, which also listens and has sockets with a path, can live with a
        ``Way`` alone."""
        ...

    @property
    def by_rights(self) -> bool:
        """Whether what it refuses looks as if a right were missing (EACCES, EPERM)."""
        ...

    def words(self, hold: Hold, cwd: str) -> list[str]:
        """What goes before the command, in an environment without ``starting.unset(hold)``."""
        ...

    def mount_points(self, hold: Hold) -> list[str]:
        """What the holder makes and leaves behind, empty."""
        ...
