"""What differs between systems in what we do with processes and sockets.

A port to another system is one more module here, and ``agents/guard/supervise.py``, which holds an
agent's processes without any module of ours.
"""

import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lsp_agent.protocol.errors import UsageError


@dataclass(frozen=True, slots=True)
class Process:
    """A row of the process table. ``start`` tells two processes of one pid apart; ``ended``: it is
    a zombie, only its exit status is still there. ``session`` is 0 and ``name`` "" where the system
    does not say."""

    pid: int
    name: str
    parent: int
    group: int
    session: int
    start: str
    ended: bool

    @property
    def key(self) -> tuple[int, str]:
        return self.pid, self.start


@dataclass(frozen=True, slots=True)
class Peer:
    """Who is at the other end of a local socket."""

    pid: int
    uid: int


class System(Protocol):
    @property
    def adopts_orphans(self) -> bool:
        """Whether it has ``adopt_orphans``; elsewhere what left its process group is missed."""
        ...

    def adopt_orphans(self) -> None:
        """From now on this process becomes the parent of what its descendants leave behind;
        harmless twice."""
        ...

    def processes(self) -> Sequence[Process]:
        """All that can be seen now."""
        ...

    def start_of(self, pid: int) -> str | None:
        """As in ``Process.start``; None where the process has ended or the system does not say."""
        ...

    def command_line(self, pid: int) -> bytes:
        """Its arguments, each with a NUL behind it; nothing where it has ended, is another user's
        or the system does not say."""
        ...

    def environment(self, pid: int) -> bytes:
        """What it was started with, as ``command_line``."""
        ...

    def peer_of(self, connection: socket.socket) -> Peer:
        """Of a Unix socket. Raises OSError where the other end is gone."""
        ...

    def uid_at_port(self, connection: socket.socket) -> int | None:
        """Whose the other end of a loopback connection is; None where the system does not tell."""
        ...


def this_system() -> System:
    """Raises UsageError for a system that nobody has written a module for."""
    if sys.platform.startswith("linux"):
        from lsp_agent.processes.linux import Linux  # noqa: PLC0415 - each on its own system alone

        return Linux()
    if sys.platform == "darwin":
        from lsp_agent.processes.macos import MacOS  # noqa: PLC0415

        return MacOS()
    raise UsageError(
        f"lsp-agent cannot hold an agent's processes on {sys.platform}: use Linux, macOS, or the"
        " Windows Subsystem for Linux."
    )
