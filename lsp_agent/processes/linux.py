"""Linux: ``/proc``, prctl(2) and SO_PEERCRED (unix(7))."""

import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from lsp_agent.processes.system import Peer, Process

_PR_SET_CHILD_SUBREAPER = 36
_ESTABLISHED = "01"


class Linux:
    """Fulfils ``System``."""

    adopts_orphans = True

    def adopt_orphans(self) -> None:
        import ctypes  # noqa: PLC0415 - slow to import, and only needed once something is run

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def processes(self) -> Sequence[Process]:
        with os.scandir("/proc") as entries:
            names = [entry.name for entry in entries if entry.name.isdigit()]
        return [found for name in names if (found := _process(int(name))) is not None]

    def start_of(self, pid: int) -> str | None:
        found = _process(pid)
        return None if found is None else found.start

    def command_line(self, pid: int) -> bytes:
        return _contents(pid, "cmdline")

    def environment(self, pid: int) -> bytes:
        return _contents(pid, "environ")

    def peer_of(self, connection: socket.socket) -> Peer:
        size = struct.calcsize("3i")
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        pid, uid, _ = struct.unpack("3i", credentials)
        return Peer(pid, uid)

    def uid_at_port(self, connection: socket.socket) -> int | None:
        try:
            here, there = connection.getsockname()[:2], connection.getpeername()[:2]
        except OSError:
            return None
        wanted = (_normal(*there), _normal(*here))  # as the peer sees it
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            try:
                rows = Path(table).read_text(encoding="ascii").splitlines()[1:]
            except OSError:
                continue
            for row in rows:
                _, local, remote, state, _, _, _, uid, *_ = row.split()
                if state == _ESTABLISHED and (_listed(local), _listed(remote)) == wanted:
                    return int(uid)
        return None


def _process(pid: int) -> Process | None:
    stat = _contents(pid, "stat")
    if not stat:
        return None
    # The name, in brackets, may contain anything.
    named, _, rest = stat.rpartition(b")")
    fields = rest.split()
    parent, group, session = map(int, fields[1:4])
    # Only the first thread of a process may have ended: it still runs.
    ended = fields[0] in b"ZX" and int(fields[17]) <= 1
    name = named.partition(b"(")[2].decode(errors="replace")
    return Process(pid, name, parent, group, session, fields[19].decode(), ended)


def _contents(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""  # it ended, or it is another user's


def _normal(host: str, port: int) -> tuple[bytes, int]:
    return _packed(ipaddress.ip_address(host.partition("%")[0])), port


def _listed(address: str) -> tuple[bytes, int]:
    """Of one as the kernel lists it: words of the host's byte order, in hexadecimal."""
    host, _, port = address.partition(":")
    words = bytes.fromhex(host)
    if sys.byteorder == "little":
        words = b"".join(words[at : at + 4][::-1] for at in range(0, len(words), 4))
    return _packed(ipaddress.ip_address(words)), int(port, 16)


def _packed(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bytes:
    """An IPv4 address is one, also where an IPv6 socket has it."""
    return (getattr(address, "ipv4_mapped", None) or address).packed
