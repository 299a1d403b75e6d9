"""A connection's two ends: ``recv(n) -> bytes`` (b"" is the end) and ``send(view) -> sent``.

Both block. Imports nothing of weight: the first words are said on it before the rest is there.
"""

import logging
import os
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass

if sys.platform != "win32":
    import fcntl

Recv = Callable[[int], bytes]
Send = Callable[[memoryview], int]

#: What the system is asked to hold for a client, in bytes. Little: what was written cannot be
#: overtaken any more by what somebody waits for.
_SYSTEM_HOLDS = 16 * 1024

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Channel:
    """The two ends of a connection to one client."""

    recv: Recv
    send: Send

    def after(self, said: bytes) -> "Channel":
        """The same, with ``said``, which was read from it already, before what comes."""

        def recv(size: int) -> bytes:
            nonlocal said
            part, said = said[:size], said[size:]
            return part or self.recv(size)

        return Channel(recv, self.send)


def stdio() -> Channel:
    """The process's stdin and stdout, taken away from everything else in it.

    Descriptor 0 becomes the null device and 1 becomes stderr: no ``print`` breaks the wire, and
    no child process eats the client's bytes.
    """
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    hold_little(sink)
    return Channel(lambda n: os.read(source, n), lambda view: os.write(sink, view))


def hold_little(descriptor: int) -> None:
    """Has the system hold less for a client that does not read, where that can be told it."""
    mode = os.fstat(descriptor).st_mode
    try:
        if stat.S_ISSOCK(mode):
            import socket  # noqa: PLC0415  most clients come by a pipe

            with socket.socket(fileno=os.dup(descriptor)) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SYSTEM_HOLDS)
        elif stat.S_ISFIFO(mode) and sys.platform == "linux":
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _SYSTEM_HOLDS)
    except OSError as exc:
        log.debug("the system's buffer stays as it is: %s", exc)
