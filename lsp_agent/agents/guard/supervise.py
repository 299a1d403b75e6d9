"""Runs one agent and sees to it that nothing of it is left behind.

    python -I -S supervise.py FD -- PROGRAM ARG...

The agent gets this process's standard streams untouched. FD is a stream socket whose other end
only the server holds; the agent does not inherit it. Lines on it:

    -> started PID | failed REASON   once, when the agent runs or could not be executed
    <- keep   -> ok N                the N present descendants of the agent are no commands, nor
                                     is what they will start
    <- work   -> ok N                they are no commands, but what they will start is: they are
                                     the agent's own workers
    <- kill   -> ok N                every other descendant was killed; they were N
    -> exited CODE                   the agent has ended, by signal S if CODE is -S
    <- end of file                   the server is gone or wants the end

After the agent's end or the socket's, every descendant is killed until none is left, but for
those that became another user's (``sudo``).

Linux: this process is a subreaper, so that also double-forked and ``setsid`` descendants stay
below it, the agent dies with it, and the server's end wakes it if it was stopped (PDEATHSIG).
Elsewhere the process table comes from ``ps``: a descendant whose parents ended before the walk is
missed, and so is all of it if this process is killed.
"""

# ruff: noqa: SIM105 (contextlib and typing would double the time that a start takes)

import os
import select
import signal
import sys
import time
from collections.abc import Callable, Sequence

LINUX = sys.platform.startswith("linux")

#: In the environment of the agent and what it starts: this process's pid.
MARK = "LSP_AGENT_GUARD"

#: This process's name on Linux: all that a process still says of itself when it has ended.
NAME = "lsp-agent-guard"

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_IGNORED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_PYTHON_CHANGES = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)
#: A process that sleeps in the kernel dies when it wakes; an answer does not wait for that.
_KILL_SECONDS = 1.0


class Process:
    """A row of the process table."""

    __slots__ = ("group", "name", "parent", "pid", "session", "start", "zombie")

    def __init__(
        self, pid: int, name: str, parent: int, group: int, session: int, start: str, zombie: bool
    ) -> None:
        self.pid = pid
        self.name = name
        self.parent = parent
        self.group = group
        self.session = session
        self.start = start
        self.zombie = zombie

    @property
    def key(self) -> tuple[int, str]:
        """Tells two processes of one pid apart."""
        return self.pid, self.start


def process_table() -> list[Process]:
    """All processes that can be seen now. As in ``processes/``, which is not to be had here."""
    return _from_proc() if LINUX else _from_ps()


def _from_proc() -> list[Process]:
    table: list[Process] = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The name, in brackets, may contain anything.
                named, _, rest = file.read().rpartition(b")")
        except OSError:
            continue  # it ended while we looked
        command = named.partition(b"(")[2].decode(errors="replace")
        fields = rest.split()
        parent, group, session = map(int, fields[1:4])
        # Only the first thread of a process may have ended: it still runs.
        zombie = fields[0] in b"ZX" and int(fields[17]) <= 1
        start = fields[19].decode()
        table.append(Process(int(name), command, parent, group, session, start, zombie))
    return table


def _from_ps() -> list[Process]:
    import subprocess  # noqa: PLC0415 (not needed on Linux, and slow to import)

    rows = subprocess.run(
        ["/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,stat=,lstart="],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout.splitlines()
    table: list[Process] = []
    for row in rows:
        pid, parent, group, state, start = row.split(None, 4)
        table.append(
            Process(int(pid), "", int(parent), int(group), 0, start, state.startswith("Z"))
        )
    return table


def kill_process(pid: int) -> bool:
    """False if it is another user's and cannot be killed."""
    return _kill(os.kill, pid)


def _kill(how: Callable[[int, int], None], number: int) -> bool:
    try:
        how(number, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it ended by itself
    except PermissionError:
        return False
    return True


class Supervisor:
    def __init__(self, control: int) -> None:
        self._control = control
        self._pid = os.getpid()
        self._agent = 0
        self._code: int | None = None
        self._kept: set[tuple[int, str]] = set()
        self._workers = False
        self._wake, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _wake_up)
        for number in _IGNORED:
            signal.signal(number, signal.SIG_IGN)
        self._prctl = _prctl()
        self._prctl(_PR_SET_CHILD_SUBREAPER, 1)
        # The end of the socket is not seen by who was stopped (a command may do that); the
        # server's own end wakes it, however that comes.
        self._prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)
        if LINUX:
            with open("/proc/self/comm", "w") as name:
                name.write(NAME)

    def run(self, command: Sequence[str]) -> int:
        """Returns the exit code for this process: the agent's, 128 + S after signal S."""
        os.environ[MARK] = str(self._pid)
        failure = self._start(command)
        if failure:
            self._tell(f"failed {failure}")
            return 127
        self._tell(f"started {self._agent}")
        while self._code is None and self._serve():
            self._reap()
        code = self._end_everything()
        return code if code >= 0 else 128 - code

    def _start(self, command: Sequence[str]) -> str:
        """Forks the agent; what kept it from being executed, else ""."""
        failed, report = os.pipe()
        self._agent = os.fork()
        if self._agent == 0:
            self._become(command, report)
        os.close(report)
        failure = os.read(failed, 4096).decode()  # ends when the agent is executed
        os.close(failed)
        # From here on only the agent holds its streams.
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.chdir("/")
        return failure

    def _become(self, command: Sequence[str], report: int) -> None:
        try:
            for number in (*_IGNORED, *_PYTHON_CHANGES):
                signal.signal(number, signal.SIG_DFL)
            os.setpgid(0, 0)
            self._prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == self._pid:
                os.execv(command[0], list(command))
        except OSError as error:
            os.write(report, (error.strerror or str(error)).encode())
        finally:
            os._exit(127)

    def _serve(self) -> bool:
        """Waits for a signal or a request; False at the end of the requests."""
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        poll.register(self._control, select.POLLIN)
        ready = {fd for fd, _ in poll.poll()}
        if self._wake in ready:
            os.read(self._wake, 4096)
        if self._control not in ready:
            return True
        try:
            requests = os.read(self._control, 4096)
        except ConnectionError:
            return False
        for request in requests.split():
            count = self._kill_commands() if request == b"kill" else self._keep(request == b"work")
            self._tell(f"ok {count}")
        return bool(requests)

    def _keep(self, workers: bool) -> int:
        self._workers = workers
        present = [process for process in self._descendants() if process.pid != self._agent]
        self._kept = {process.key for process in present}
        return len(present)

    def _kill_commands(self) -> int:
        spared = {self._agent, *(pid for pid, _ in self._kept)}

        def commands() -> list[Process]:
            found = self._descendants(below_kept=self._workers)
            return [process for process in found if process.pid not in spared]

        return self._kill_until_none(commands, spared, _KILL_SECONDS)

    def _end_everything(self) -> int:
        """Returns the agent's exit code."""
        self._kill_until_none(self._descendants, set(), float("inf"))
        while self._code is None:  # dead by now, but not yet reaped
            self._reaped(os.waitpid(-1, 0))
        self._reap()  # else whoever comes next as their parent has to
        return self._code

    def _kill_until_none(
        self, find: Callable[[], list[Process]], spared: set[int], seconds: float
    ) -> int:
        """``spared`` are the processes whose groups must live, beside our own."""
        killed: set[tuple[int, str]] = set()
        refused: set[tuple[int, str]] = set()
        deadline, pause = time.monotonic() + seconds, 0.001
        while time.monotonic() < deadline:
            found = [process for process in find() if process.key not in refused]
            if not found:
                break
            table = {process.pid: process for process in process_table()}
            groups = {table[pid].group for pid in spared | {self._pid} if pid in table}
            # A group is killed at one stroke, so that nothing escapes by forking meanwhile.
            for group in {process.group for process in found} - groups:
                _kill(os.killpg, group)
            for process in found:
                (killed if kill_process(process.pid) else refused).add(process.key)
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
            self._reap()
        return len(killed)

    def _descendants(self, *, below_kept: bool = True) -> list[Process]:
        """The living ones; without ``below_kept`` neither the kept ones nor what they started."""
        children: dict[int, list[Process]] = {}
        for process in process_table():
            children.setdefault(process.parent, []).append(process)
        found: list[Process] = []
        parents = [self._pid]
        while parents:
            for process in children.get(parents.pop(), ()):
                if not below_kept and process.key in self._kept:
                    continue
                parents.append(process.pid)
                if not process.zombie:
                    found.append(process)
        return found

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._reaped((pid, status))

    def _reaped(self, child: tuple[int, int]) -> None:
        pid, status = child
        if pid == self._agent:
            self._code = os.waitstatus_to_exitcode(status)
            self._tell(f"exited {self._code}")

    def _tell(self, line: str) -> None:
        try:
            os.write(self._control, line.encode() + b"\n")
        except ConnectionError:
            pass  # the server is gone: nobody to tell


def _wake_up(_number: int, _frame: object) -> None:
    """Only there so that the signal is told to the wake-up pipe."""


def _prctl() -> Callable[[int, int], None]:
    if not LINUX:
        return lambda _option, _value: None
    import ctypes  # noqa: PLC0415 (not needed elsewhere)

    function = ctypes.CDLL(None, use_errno=True).prctl

    def call(option: int, value: int) -> None:
        numbers = (ctypes.c_ulong(number) for number in (value, 0, 0, 0))
        if function(ctypes.c_int(option), *numbers) != 0:
            raise OSError(ctypes.get_errno(), "prctl failed")

    return call


def main(argv: Sequence[str]) -> int:
    control = int(argv[1])
    os.set_inheritable(control, False)
    return Supervisor(control).run(argv[3:])


if __name__ == "__main__":
    sys.exit(main(sys.argv))
