"""The system calls of a hold: Landlock, seccomp, and what a process gives up for good.

Landlock: https://docs.kernel.org/userspace-api/landlock.html; seccomp(2), prctl(2), capset(2).
"""

import _ctypes
import posix
import struct

from lsp_agent.sandbox.starter import syscalls

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _PIDFD_GETFD = 444, 445, 446, 438
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_SIGKILL = 9
_NEW_LISTENER = 8
_CAPABILITIES_3 = 0x20080522
_BLOCK, _UNBLOCK = 0, 1
_KIND, _FOLDER = 0o170000, 0o040000
_SIGNAL_FD_FLAGS = 0o2000000
_POINTER = 8

#: The first that keeps signals inside: Linux 6.12.
LEAST_ABI = 6

WRITE_FILE, READ_FILE, READ_DIR = 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
#: From removing a folder to moving and linking between folders.
_ENTRIES = ((1 << 14) - 1) & ~((1 << 4) - 1)
WRITE = WRITE_FILE | _ENTRIES | _TRUNCATE | _IOCTL_DEV
_OF_FILES = WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
#: Abstract sockets and signals.
_SCOPES = 3
#: Binding and connecting.
_TCP = 3


class _Word(_ctypes._SimpleCData):  # pyright: ignore[reportPrivateUsage, reportMissingTypeArgument]
    _type_ = "l"


class _Text(_ctypes._SimpleCData):  # pyright: ignore[reportPrivateUsage, reportMissingTypeArgument]
    """A pointer to bytes that somebody else keeps."""

    _type_ = "z"


class _Function(_ctypes.CFuncPtr):
    """Of the C library, which this program is linked to. It returns an int."""

    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO


_LIBRARY = _ctypes.dlopen(None, posix.RTLD_NOW)  # pyright: ignore[reportArgumentType]


def _function(name: str) -> _Function:
    return _Function(_ctypes.dlsym(_LIBRARY, name))


_syscall, _prctl = _function("syscall"), _function("prctl")


def machine() -> "syscalls.Machine | None":
    return syscalls.MACHINES.get(posix.uname().machine)


def abi() -> int:
    """Landlock's version here, less than 1 where it is not there."""
    return int(_syscall(_CREATE_RULESET, None, _Word(0), 1))


def new_ruleset(*, network: bool) -> int:
    """Nothing may be read, written or signalled yet, and without ``network`` no TCP be used.
    Running a program needs no reading right."""
    handled = struct.pack("=QQQ", READ_FILE | READ_DIR | WRITE, 0 if network else _TCP, _SCOPES)
    return _checked(_syscall(_CREATE_RULESET, handled, _Word(len(handled)), 0))


def allow(ruleset: int, path: str, rights: int) -> None:
    """Of what is no folder, the rights that a file has. One that has gone is nothing to allow."""
    try:
        at = posix.open(path, posix.O_PATH | posix.O_NOFOLLOW | posix.O_CLOEXEC)
    except OSError:
        return
    try:
        if posix.fstat(at).st_mode & _KIND != _FOLDER:
            rights &= _OF_FILES
        if rights:
            rule = struct.pack("=Qi", rights, at)
            _checked(_syscall(_ADD_RULE, ruleset, 1, rule, 0))
    finally:
        posix.close(at)


def give_up_rights(machine: "syscalls.Machine") -> None:
    """No capability, and none by a program that would give one."""
    _control(_PR_SET_NO_NEW_PRIVS, 1)
    head = struct.pack("=Ii", _CAPABILITIES_3, 0)
    _checked(_syscall(machine.capset, head, bytes(24)))


def restrict(ruleset: int) -> None:
    _checked(_syscall(_RESTRICT_SELF, ruleset, 0))


def filter_calls(machine: "syscalls.Machine", network: "syscalls.Network") -> int:
    """Returns the descriptor on which the starter is told of calls."""
    program = syscalls.program(machine, network)
    head = struct.pack("@HP", len(program) // 8, 0)[:-_POINTER] + bytes(_Text(program))
    return _checked(_syscall(machine.seccomp, 1, _NEW_LISTENER, head))


def descriptor_of(pid: int, number: int, flags: int = 0) -> int:
    """That of another process, as our own."""
    process = posix.pidfd_open(pid, flags)
    try:
        return _checked(_syscall(_PIDFD_GETFD, process, number, 0))
    finally:
        posix.close(process)


def die_with_parent() -> None:
    _control(_PR_SET_PDEATHSIG, _SIGKILL)


def adopt_orphans() -> None:
    _control(_PR_SET_CHILD_SUBREAPER, 1)


def signals(*numbers: int) -> int:
    """A descriptor that these come by from now on."""
    mask = _mask(numbers)
    _checked(_function("sigprocmask")(_BLOCK, mask, None))
    return _checked(_function("signalfd")(-1, mask, _SIGNAL_FD_FLAGS))


def undo_signals(blocked: "tuple[int, ...]", ignored: "tuple[int, ...]") -> None:
    """As a program expects them that is started."""
    for number in ignored:
        _function("signal")(number, None)
    _checked(_function("sigprocmask")(_UNBLOCK, _mask(blocked), None))


def set_times(path: bytes, times: "bytes | None") -> None:
    """``times`` as utimensat(2) takes them."""
    _checked(_function("utimensat")(-100, path, times, 0))


def _mask(numbers: "tuple[int, ...]") -> bytes:
    return sum(1 << (number - 1) for number in numbers).to_bytes(128, "little")


def _control(option: int, value: int) -> None:
    _checked(_prctl(option, *(_Word(word) for word in (value, 0, 0, 0))))


def _checked(result: int) -> int:
    if result < 0:
        number = _ctypes.get_errno()
        raise OSError(number, posix.strerror(number))
    return result
