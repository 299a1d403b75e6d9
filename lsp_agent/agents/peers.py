"""Who is at the other end of a bridge's socket, and the processes behind it."""

import os
from asyncio import StreamWriter
from dataclasses import dataclass

from lsp_agent.processes.system import Peer, this_system


@dataclass(frozen=True, slots=True)
class Group:
    """A process group; ``start`` is its leader's, so that a later one of that number is not
    taken for it (None where the system does not say)."""

    number: int
    start: str | None

    def signal(self, number: int) -> bool:
        """False if it has ended; True also where nobody in it may be signalled, or on macOS not
        all: the next, stronger signal may reach one."""
        if this_system().start_of(self.number) != self.start:
            return False
        try:
            os.killpg(self.number, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True


def peer_of(stream: StreamWriter) -> Peer:
    return this_system().peer_of(stream.get_extra_info("socket"))


def group_of(pid: int) -> Group | None:
    """None if it has ended, or shares our own group, which must never be signalled."""
    try:
        number = os.getpgid(pid)
    except ProcessLookupError:
        return None
    return None if number == os.getpgrp() else Group(number, this_system().start_of(number))
