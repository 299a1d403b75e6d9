"""The one connection that a command may make under Landlock: to the socket that leads to hosts.

Landlock knows ports, and no addresses. So the command connects nowhere; the starter, which is told
of the call, connects the very socket to the one address that there is.
"""

import _socket
import errno
import os
import struct

from lsp_agent.sandbox.starter import kernel

_LOOPBACK = bytes((127, 0, 0, 1))
#: pidfd_open(2): also of a thread.
_THREAD = os.O_EXCL
#: In case that nobody accepts: struct timeval.
_PATIENCE, _FOREVER = struct.pack("@ll", 5, 0), bytes(16)


def connect(thread: int, descriptor: int, address: bytes, port: "int | None") -> int:
    """``address`` is as the thread gave it. The error's number, or 0."""
    if len(address) < 8:
        return errno.EINVAL
    family, wanted = struct.unpack_from("=H", address)[0], struct.unpack_from("!H", address, 2)[0]
    if family != _socket.AF_INET:
        return errno.ENETUNREACH if family == _socket.AF_INET6 else errno.EACCES
    if (wanted, address[4:8]) != (port, _LOOPBACK):
        return errno.ENETUNREACH
    own = kernel.descriptor_of(thread, descriptor, _THREAD)
    try:
        connection = _socket.socket(fileno=own)
    except OSError as error:
        os.close(own)
        return error.errno or errno.ENOTSOCK
    try:
        if connection.family != _socket.AF_INET:
            return errno.EAFNOSUPPORT
        connection.setsockopt(_socket.SOL_SOCKET, _socket.SO_SNDTIMEO, _PATIENCE)
        code = connection.connect_ex(("127.0.0.1", port))
        connection.setsockopt(_socket.SOL_SOCKET, _socket.SO_SNDTIMEO, _FOREVER)
        return code
    finally:
        connection.close()
