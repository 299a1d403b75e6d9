"""The extension that an agent starts: its standard streams to and from the server's socket.

    python -I -S pipe.py SOCKET SECONDS

It is more than a pipe, because an agent goes on without a lost extension and then runs commands
that nobody gates (fails open):

- A question before a call (``event_intercept``) that the server leaves open for SECONDS is
  answered "block" here, before the agent's own patience ends.
- When the socket ends, the agent is stopped, all that it started is killed, then the agent.
- When the agent is gone and its supervisor too, what is left of their session is killed; where
  the supervisor is there, what is left below it, and it is woken: a command may have stopped it.

Lines from the agent are never held up by the server, so that each question is seen. Only C
modules are imported: the agent's start waits for this one. Without ``/proc`` the agent itself is
killed, what it started is not.
"""

import _socket
import _thread
import os
import sys
import time
from _collections_abc import Callable

ASK = b'{"type":"event_intercept","id":"'
ANSWER = b'{"type":"event_intercept_response","id":"'
LATE = b'","block":true,"reason":"Not run: the editor did not answer in time."}\n'
SHUTDOWN = b'{"type":"shutdown"'
LONGEST_HEAD = 512
MOST_ROUNDS = 500

SIGKILL = 9
SIGCONT, SIGSTOP = (18, 19) if sys.platform.startswith("linux") else (19, 17)


class Pipe:
    def __init__(self, connection: _socket.socket, seconds: float) -> None:
        self.connection = connection
        self.seconds = seconds
        self.agent = os.getppid()
        self.lock = _thread.allocate_lock()
        #: Open questions and when each is answered here; guarded by the lock, as is stdout.
        self.open: dict[bytes, float] = {}
        self.asked = _thread.allocate_lock()
        self.asked.acquire()
        self.outbox: list[bytes] = []
        self.mail = _thread.allocate_lock()
        self.mail.acquire()
        self.shut_down = False

    def run(self) -> None:
        for work in (self.read_agent, self.send_to_server, self.answer_late):
            _thread.start_new_thread(work, ())
        self.read_server()

    def read_agent(self) -> None:
        """stdin to the outbox, without ever waiting for the server."""
        head = b""
        while chunk := os.read(0, 1 << 16):
            first, *others = chunk.split(b"\n")
            head = self.note(head, first)
            for piece in others:
                head = self.note(b"", piece)
            self.post(chunk)
        self.post(b"")
        if not self.shut_down:
            self.clear_up_after_agent()

    def note(self, head: bytes, piece: bytes) -> bytes:
        """Looks at how a line begins; ``head`` is what was seen of it before."""
        if len(head) == LONGEST_HEAD:
            return head
        seen = (head + piece)[:LONGEST_HEAD]
        question = identifier(ASK, seen)
        if question and not identifier(ASK, head):
            with self.lock:
                self.open[question] = time.monotonic() + self.seconds
            release(self.asked)
        if seen.startswith(SHUTDOWN):
            self.shut_down = True
        return seen

    def post(self, chunk: bytes) -> None:
        with self.lock:
            self.outbox.append(chunk)
        release(self.mail)

    def send_to_server(self) -> None:
        while True:
            self.mail.acquire()
            with self.lock:
                chunks, self.outbox = self.outbox, []
            try:
                self.connection.sendall(b"".join(chunks))
                if b"" in chunks:
                    self.connection.shutdown(_socket.SHUT_WR)
                    return
            except OSError:
                return  # read_server sees the same end

    def answer_late(self) -> None:
        while True:
            self.asked.acquire()
            while self.open:
                time.sleep(min(0.1, self.seconds / 10))
                with self.lock:
                    now = time.monotonic()
                    for question in [key for key, end in self.open.items() if end <= now]:
                        del self.open[question]
                        write(ANSWER + question + LATE)

    def read_server(self) -> None:
        """The socket to stdout, line by line; ends the process."""
        parts: list[bytes] = []
        while chunk := self.receive():
            *ended, rest = chunk.split(b"\n")
            for piece in ended:
                self.deliver(b"".join((*parts, piece, b"\n")))
                parts = []
            parts.append(rest)
        if not self.shut_down:
            if os.getppid() == self.agent:
                kill_agent(self.agent)
            self.clear_up_after_agent()
        os._exit(0)

    def receive(self) -> bytes:
        try:
            return self.connection.recv(1 << 16)
        except OSError:
            return b""

    def deliver(self, line: bytes) -> None:
        answered = identifier(ANSWER, line)
        with self.lock:
            if answered and self.open.pop(answered, None) is None:
                return  # too late: it was answered here
            write(line)

    def clear_up_after_agent(self) -> None:
        """After an end without ``shutdown``: the agent died, perhaps with its supervisor, or that
        one cannot act, since a command stops it."""
        supervisor = os.environ.get("LSP_AGENT_GUARD", "")
        for _ in range(200):
            if os.getppid() != self.agent:
                break
            time.sleep(0.005)
        if supervisor and os.getppid() == int(supervisor):
            kill_until_none(lambda: descendants(int(supervisor)))
            kill(int(supervisor), SIGCONT)
        elif supervisor and os.getppid() != self.agent:
            mark = b"LSP_AGENT_GUARD=" + supervisor.encode()
            kill_until_none(lambda: left_behind(int(supervisor), mark))


def identifier(prefix: bytes, line: bytes) -> bytes:
    """The id of a line of that kind, b"" of any other or while its end is missing."""
    end = line.find(b'"', len(prefix)) if line.startswith(prefix) else -1
    return line[len(prefix) : end] if end > 0 else b""


def release(lock: _thread.LockType) -> None:
    if lock.locked():
        lock.release()


def write(data: bytes) -> None:
    try:
        while data:
            data = data[os.write(1, data) :]
    except OSError:
        pass  # the agent is gone: read_agent sees it


def kill_agent(agent: int) -> None:
    """The agent is stopped first, so that it starts nothing more. Nobody else is: where the agent
    has ended our parent is whoever takes in what is left, the server or the person's session."""
    if not is_ours(agent):
        return
    kill(agent, SIGSTOP)
    kill_until_none(lambda: descendants(agent))
    kill(agent, SIGKILL)


def is_ours(pid: int) -> bool:
    """Whether it is of the session that our supervisor began, or of our own."""
    try:
        session = os.getsid(pid)
    except OSError:
        return False
    return str(session) == os.environ.get("LSP_AGENT_GUARD") or session == os.getsid(0)


def kill_until_none(find: Callable[[], list[int]]) -> None:
    """Gives up in the end: one that became another user's cannot be killed."""
    for _ in range(MOST_ROUNDS):
        found = find()
        if not found:
            return
        for pid in found:
            kill(pid, SIGKILL)
        time.sleep(0.001)


def kill(pid: int, signal: int) -> None:
    try:  # noqa: SIM105 (contextlib takes long to import)
        os.kill(pid, signal)
    except OSError:
        pass  # it ended by itself


def processes() -> list[tuple[int, int, int]]:
    """pid, parent and session of each process that lives."""
    found: list[tuple[int, int, int]] = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        fields = contents("/proc/" + name + "/stat").rpartition(b")")[2].split()
        if name.isdigit() and fields and fields[0] not in (b"Z", b"X"):
            found.append((int(name), int(fields[1]), int(fields[3])))
    return found


def descendants(root: int) -> list[int]:
    """All below ``root`` but this process."""
    table = processes()
    below = {root}
    while True:
        more = {pid for pid, parent, _ in table if parent in below} - below
        if not more:
            return sorted(below - {root, os.getpid()})
        below |= more


def left_behind(session: int, mark: bytes) -> list[int]:
    """Those of that session, and those with the mark in their environment, but this process."""
    return [
        pid
        for pid, _, its_session in processes()
        if pid != os.getpid()
        and (
            its_session == session
            or mark in contents("/proc/" + str(pid) + "/environ").split(b"\0")
        )
    ]


def contents(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def main() -> None:
    agent = os.getppid()
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(sys.argv[1])
    except OSError:
        kill_agent(agent)  # without the server nothing would gate its commands
        sys.exit(1)
    Pipe(connection, float(sys.argv[2])).run()


if __name__ == "__main__":
    main()
