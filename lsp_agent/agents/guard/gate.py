"""Stands before a command that a person must decide on: exits 0 if it may run, else 126.

    gate ID || exit

Asks at the socket beside this file. Without a clear "allow" nothing runs. An agent whose shell
names a pipe is told when the asking begins, and how it ends.
"""

import _socket
import os
import sys

NOT_RUN = 126
#: ``GATE_VARIABLE`` of ``protocol/environment.py``: this file stands alone.
PIPE = "LSP_AGENT_GATE"


def ask(socket: str, identifier: str) -> tuple[bool, str]:
    """Whether the command may run, and what is to be said first.

    The answer is ``allow`` or ``deny`` and a line end, then lines of text, to the end of file.
    """
    try:
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        connection.connect(socket)
        connection.sendall(identifier.encode() + b"\n")
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    except OSError as error:
        return False, f"Not run: the editor's server cannot be asked ({error.strerror}).\n"
    if not answer.endswith(b"\n"):
        return False, "Not run: the editor's server ended before it answered.\n"
    verdict, _, text = answer.decode(errors="replace").partition("\n")
    return verdict == "allow", text


def listener() -> int | None:
    """The agent's pipe. It stays open from the first word to the last, so that an agent that has
    heard of the asking hears of its end."""
    try:
        return os.open(os.environ.get(PIPE, ""), os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None  # nobody listens: the agent counts the waiting as well


def tell(pipe: int | None, word: bytes) -> None:
    try:
        if pipe is not None:
            os.write(pipe, word + b"\n")
    except OSError:
        pass  # the agent has ended


def main() -> int:
    beside = os.path.dirname(os.path.abspath(__file__))
    pipe = listener()
    tell(pipe, b"asks")
    may, text = ask(beside + "/gate.sock", sys.argv[1] if len(sys.argv) > 1 else "")
    tell(pipe, b"allow" if may else b"deny")
    if text:
        os.write(1, text.encode())
    return 0 if may else NOT_RUN


if __name__ == "__main__":
    sys.exit(main())
