"""Stands before a command that a person must decide on: exits 0 if it may run, else 126.

    gate ID || exit

Asks at the socket beside this file. Without a clear "allow" nothing runs.
"""

import _socket
import os
import sys

NOT_RUN = 126


def ask(socket: str, identifier: str) -> str:
    """Why the command must not run, "" if it may."""
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.connect(socket)
        connection.sendall(identifier.encode() + b"\n")
        answer = b""
        while not answer.endswith(b"\n"):
            piece = connection.recv(65536)
            if not piece:
                return "Not run: the editor's server ended before it answered."
            answer += piece
    except OSError as error:
        return f"Not run: the editor's server cannot be asked ({error.strerror})."
    verdict, _, text = answer[:-1].decode(errors="replace").partition(" ")
    return "" if verdict == "allow" else text or "Not run."


def main() -> int:
    beside = os.path.dirname(os.path.abspath(__file__))
    reason = ask(beside + "/gate.sock", sys.argv[1] if len(sys.argv) > 1 else "")
    if not reason:
        return 0
    os.write(1, reason.encode() + b"\n")
    return NOT_RUN


if __name__ == "__main__":
    sys.exit(main())
