"""macOS: ``ps`` and LOCAL_PEERCRED (its unix(4)).

Written from its documentation; nobody has tried it. It has no subreaper: what left an agent's
process tree before it was looked at is missed.
"""

import socket
import struct
import subprocess
from collections.abc import Sequence

from lsp_agent.processes.system import Peer, Process

_SOL_LOCAL = 0
_LOCAL_PEERCRED = 1
_LOCAL_PEERPID = 2


class MacOS:
    """Fulfils ``System``."""

    adopts_orphans = False

    def adopt_orphans(self) -> None:
        return

    def processes(self) -> Sequence[Process]:
        rows = subprocess.run(
            ["/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        ).stdout.splitlines()
        table: list[Process] = []
        for row in rows:
            pid, parent, group, state, start = row.split(None, 4)
            ended = state.startswith("Z")
            table.append(Process(int(pid), "", int(parent), int(group), 0, start, ended))
        return table

    def start_of(self, pid: int) -> str | None:  # noqa: ARG002
        return None

    def command_line(self, pid: int) -> bytes:  # noqa: ARG002
        return b""

    def environment(self, pid: int) -> bytes:  # noqa: ARG002
        return b""

    def peer_of(self, connection: socket.socket) -> Peer:
        pid = connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID)
        _, uid = struct.unpack("II", connection.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 8))
        return Peer(pid, uid)

    def uid_at_port(self, connection: socket.socket) -> int | None:  # noqa: ARG002
        return None
