"""Who is at the other end of a local socket, and the processes behind it."""

import os
import socket
import struct
import sys
from asyncio import StreamWriter
from dataclasses import dataclass
from pathlib import Path

_SOL_LOCAL = 0
_LOCAL_PEERCRED = 1
_LOCAL_PEERPID = 2


@dataclass(frozen=True, slots=True)
class Peer:
    pid: int
    uid: int


@dataclass(frozen=True, slots=True)
class Group:
    """A process group; ``start`` is its leader's, so that a later one of that number is not
    taken for it (None where the system does not say)."""

    number: int
    start: str | None

    def signal(self, number: int) -> bool:
        """False if it has ended; True also where nobody in it may be signalled, or on macOS not
        all: the next, stronger signal may reach one."""
        if start_of(self.number) != self.start:
            return False
        try:
            os.killpg(self.number, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True


def peer_of(stream: StreamWriter) -> Peer:
    connection: socket.socket = stream.get_extra_info("socket")
    if sys.platform == "darwin":
        pid = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
        _, uid = struct.unpack("II", connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 8))
        return Peer(pid, uid)
    size = struct.calcsize("3i")
    pid, uid, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    )
    return Peer(pid, uid)


def group_of(pid: int) -> Group | None:
    """None if it has ended, or shares our own group, which must never be signalled."""
    try:
        number = os.getpgid(pid)
    except ProcessLookupError:
        return None
    return None if number == os.getpgrp() else Group(number, start_of(number))


def start_of(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return stat.rpartition(b")")[2].split()[19].decode()
