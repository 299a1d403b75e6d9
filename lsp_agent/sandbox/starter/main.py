"""Runs one command in a hold, and ends with it and all that it has started.

    main([write=FOLDER, keep=PATH, hide=FOLDER, close=PATH, open=PATH, network, tidy, in=FOLDER,
          door=SOCKET, ticket=WORD, ..., "--", PROGRAM, ARG...])

``write`` is a folder that may be written but for each ``keep``; of ``hide`` neither names nor
contents are seen, of ``close`` no contents; ``open`` is seen though it lies in one of these, as a
folder to write is. A folder above one that is hidden cannot be listed either. ``door`` and
``ticket`` lead to some hosts, where there is no ``network`` (``network.hand_over``). ``tidy`` takes
away first what starters have left that were killed.
"""

import errno
import posix
import select
import struct
import time

from lsp_agent.sandbox.starter import kernel, reach, syscalls, temporary

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: That the starter fails, as env(1) has it.
CANNOT_HOLD = 125
_NOT_FOUND = 127
_DEVICES = ("null", "zero", "full", "random", "urandom")
_SIGKILL, _SIGPIPE, _SIGCHLD, _SIGXFSZ = 9, 13, 17, 25
#: HUP, INT, TERM.
_ENDING = (1, 2, 15)
_HEARD = (*_ENDING, _SIGCHLD)
_SIGNAL_SIZE = 128
_MOST_ROUNDS = 1000


def main(words: "list[str]") -> None:
    """Ends the process."""
    end = words.index("--")
    command = words[end + 1 :]
    own, code = None, CANNOT_HOLD
    try:
        if "tidy" in words[:end]:
            temporary.remove_abandoned()
        own = temporary.new()
        code = _Starter(words[:end], own).run(command)
    except OSError as error:
        posix.write(2, f"The command cannot be held: {error}\n".encode(errors="replace"))
    if own is not None:
        temporary.remove(own)
    posix._exit(code)  # pyright: ignore[reportPrivateUsage]


class _Starter:
    def __init__(self, words: "list[str]", own: str) -> None:
        machine = kernel.machine()
        if machine is None or kernel.abi() < kernel.LEAST_ABI:
            raise OSError("this kernel has no Landlock that could")
        self._machine = machine
        self._network: syscalls.Network = "all" if "network" in words else "none"
        self._cwd = _named("in", words)[0]
        self._environment = temporary.environment(own, [self._cwd, *_named("write", words)])
        self._port, self._connection = None, None
        if doors := _named("door", words):
            from lsp_agent.sandbox.starter import network  # noqa: PLC0415  few commands need it

            connected = network.hand_over(doors[0], _named("ticket", words)[0])
            self._connection, self._port, led = connected
            self._environment |= led
            self._network = "told"
        rights, self._writable = rules(words, own)
        kernel.give_up_rights(machine)
        self._ruleset = kernel.new_ruleset(network=self._network == "all")
        for path, right in rights.items():
            kernel.allow(self._ruleset, path, right)

    def run(self, command: "list[str]") -> int:
        """What it ended with, as a shell says it."""
        kernel.adopt_orphans()
        signals = kernel.signals(*_HEARD)
        told, tell = posix.pipe()
        leave, give_leave = posix.pipe()
        child = posix.fork()
        if child == 0:
            self._become(command, tell, leave)
        posix.close(tell)
        number = posix.read(told, 16)
        if not number:  # it has said why
            return posix.waitstatus_to_exitcode(posix.waitpid(child, 0)[1])
        listener = kernel.descriptor_of(child, int(number))
        posix.write(give_leave, b".")
        return _watch(child, signals, listener, self._answers(listener))

    def _answers(self, listener: int) -> "Callable[[], None]":
        """Answers the next of the calls that the starter is told of."""
        calls = None

        def answer_next() -> None:
            nonlocal calls
            if calls is None:
                from lsp_agent.sandbox.starter.attributes import Attributes  # noqa: PLC0415  as above

                calls = Attributes(self._machine, listener, self._writable, self._port)
            calls.answer_next()

        return answer_next

    def _become(self, command: "list[str]", tell: int, leave: int) -> None:
        """The command, in the child, once the starter has what it is told of calls by."""
        try:
            posix.setsid()
            kernel.die_with_parent()
            for name, value in self._environment.items():
                posix.putenv(name, value)
            posix.chdir(self._cwd)
            kernel.restrict(self._ruleset)
            listener = kernel.filter_calls(self._machine, self._network)
            posix.write(tell, str(listener).encode())
            posix.read(leave, 1)
            posix.closerange(3, 1 << 20)
            kernel.undo_signals(_HEARD, (_SIGPIPE, _SIGXFSZ))
            _execute(command)
        except OSError as error:
            posix.write(2, f"{command[0]}: {error.strerror}\n".encode(errors="replace"))
        posix._exit(_NOT_FOUND)  # pyright: ignore[reportPrivateUsage]


def rules(words: "list[str]", own: str) -> "tuple[dict[str, int], list[str]]":
    """What is allowed by each path, and where modes and times may be changed."""
    hidden, closed, folders = _named("hide", words), _named("close", words), _named("write", words)
    rights: dict[str, int] = {}
    for right, left_out in (
        (kernel.READ_DIR, hidden),
        (kernel.READ_FILE, [*hidden, *closed]),
    ):
        for root in ("/", *folders, *_named("open", words)):
            beside = [path for path in left_out if path != root or path in hidden]
            for path in reach.parts(root, beside):
                rights[path] = rights.get(path, 0) | right
    kept = [*_named("keep", words), *hidden, *closed]
    writable = [own]
    for root in folders:
        writable += reach.parts(root, [path for path in kept if path != root or path in hidden])
    for path in writable:
        rights[path] = rights.get(path, 0) | kernel.WRITE
    for name in _DEVICES:
        rights["/dev/" + name] = kernel.READ_FILE | kernel.WRITE_FILE
    rights[own] = kernel.WRITE | kernel.READ_FILE | kernel.READ_DIR
    return rights, writable


def _named(name: str, words: "list[str]") -> "list[str]":
    return [word[len(name) + 1 :] for word in words if word.startswith(name + "=")]


def _execute(command: "list[str]") -> None:
    """As execvp(3). Raises OSError."""
    name, fault = command[0], OSError(errno.ENOENT, posix.strerror(errno.ENOENT))
    path = posix.environ.get(b"PATH", b"/bin:/usr/bin").decode(errors="surrogateescape")
    for place in [name] if "/" in name else [f"{each or '.'}/{name}" for each in path.split(":")]:
        try:
            posix.execv(place, command)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            fault = error
    raise fault


def _watch(child: int, signals: int, listener: int, answer_next: "Callable[[], None]") -> int:
    """Until the child ends or a signal does; nothing that it started is left then."""
    poll = select.poll()
    poll.register(signals, select.POLLIN)
    poll.register(listener, select.POLLIN)
    code = None
    while code is None:
        for ready, event in poll.poll():
            if ready == listener:
                if event & select.POLLIN:
                    answer_next()
                else:
                    poll.unregister(listener)
            elif (
                number := struct.unpack_from("=I", posix.read(signals, _SIGNAL_SIZE))[0]
            ) in _ENDING:
                code = 128 + number
            else:
                code = _reaped(child)
    _kill_all()
    return code


def _reaped(child: int) -> "int | None":
    """What the child ended with, if it has; of all that ended nothing is left behind."""
    code = None
    try:
        while True:
            pid, status = posix.waitpid(-1, posix.WNOHANG)
            if not pid:
                return code
            if pid == child:
                code = posix.waitstatus_to_exitcode(status)
                code = 128 - code if code < 0 else code
    except ChildProcessError:
        return code


def _kill_all() -> None:
    """What a killed process had started becomes ours."""
    for _ in range(_MOST_ROUNDS):
        with open(f"/proc/self/task/{posix.getpid()}/children", "rb") as file:
            children = file.read().split()
        if not children:
            return
        for pid in children:
            posix.kill(int(pid), _SIGKILL)
        _reaped(0)
        time.sleep(0.0005)
