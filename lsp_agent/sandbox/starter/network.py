"""Hands a socket over that a command will reach hosts by (``lsp_agent/sandbox/network/door.py``).

    main([DOOR, TICKET, PROGRAM, ARG...])

runs the program, in a network of its own, with the variables that lead it to the socket. Where
nobody takes it, the program has no network.
"""

import _socket
import os
import select
import struct

#: As ``main`` has it.
CANNOT_HOLD = 125
_LONGEST = 4096
_BACKLOG = 64


def main(words: "list[str]") -> None:
    """Becomes the program."""
    door, ticket, *command = words
    try:
        connection, _, environment = hand_over(door, ticket)
        os.environ.update(environment)
        _keep_open(connection)
        connection.close()
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"The command cannot be held: {error}\n".encode(errors="replace"))
    os._exit(CANNOT_HOLD)


def hand_over(door: str, ticket: str) -> "tuple[_socket.socket, int, dict[str, str]]":
    """The connection that is to be open as long as the command runs, the socket's port, and the
    variables that lead there. Raises OSError."""
    listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(_BACKLOG)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.connect(door)
    rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("i", listener.fileno()))
    connection.sendmsg([ticket.encode()], [rights])
    _, port = listener.getsockname()
    listener.close()
    told = b""
    while piece := connection.recv(_LONGEST):
        told += piece
    named = (line.partition("=") for line in told.decode().splitlines())
    return connection, port, {name: value for name, _, value in named}


def _keep_open(connection: "_socket.socket") -> None:
    """By a process that ends with all others of the sandbox, and is no child of the command."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork():
        os._exit(0)
    os.setsid()
    os.dup2(connection.fileno(), 0)
    os.closerange(1, 1 << 20)
    other_side = select.poll()
    other_side.register(0, 0)  # its end alone
    other_side.poll()
    os._exit(0)
