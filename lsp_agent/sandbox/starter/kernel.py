"""The system calls of a hold: Landlock, seccomp, and what a process gives up for good.

Landlock: https://docs.kernel.org/userspace-api/landlock.html; seccomp(2), prctl(2), capset(2).
"""

import ctypes
import os
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

_libc = ctypes.CDLL(None, use_errno=True)


def machine() -> "syscalls.Machine | None":
    return syscalls.MACHINES.get(os.uname().machine)


def abi() -> int:
    """Landlock's version here, less than 1 where it is not there."""
    return int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1))


def new_ruleset(*, network: bool) -> int:
    """Nothing may be read, written or signalled yet, and without ``network`` no TCP be used.
    Running a program needs no reading right."""
    handled = struct.pack("=QQQ", READ_FILE | READ_DIR | WRITE, 0 if network else _TCP, _SCOPES)
    return _checked(_libc.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0))


def allow(ruleset: int, path: str, rights: int) -> None:
    """Of what is no folder, the rights that a file has. One that has gone is nothing to allow."""
    try:
        at = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if os.fstat(at).st_mode & _KIND != _FOLDER:
            rights &= _OF_FILES
        if rights:
            rule = struct.pack("=Qi", rights, at)
            _checked(_libc.syscall(_ADD_RULE, ruleset, 1, rule, 0))
    finally:
        os.close(at)


def give_up_rights(machine: "syscalls.Machine") -> None:
    """No capability, and none by a program that would give one."""
    _control(_PR_SET_NO_NEW_PRIVS, 1)
    head = struct.pack("=Ii", _CAPABILITIES_3, 0)
    _checked(_libc.syscall(machine.capset, head, bytes(24)))


def restrict(ruleset: int) -> None:
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0))


def filter_calls(machine: "syscalls.Machine", network: "syscalls.Network") -> int:
    """Returns the descriptor on which the starter is told of calls."""
    program = syscalls.program(machine, network)
    text = ctypes.create_string_buffer(program)
    head = struct.pack("@HP", len(program) // 8, ctypes.addressof(text))
    return _checked(_libc.syscall(machine.seccomp, 1, _NEW_LISTENER, head))


def descriptor_of(pid: int, number: int, flags: int = 0) -> int:
    """That of another process, as our own."""
    process = os.pidfd_open(pid, flags)
    try:
        return _checked(_libc.syscall(_PIDFD_GETFD, process, number, 0))
    finally:
        os.close(process)


def die_with_parent() -> None:
    _control(_PR_SET_PDEATHSIG, _SIGKILL)


def adopt_orphans() -> None:
    _control(_PR_SET_CHILD_SUBREAPER, 1)


def signals(*numbers: int) -> int:
    """A descriptor that these come by from now on."""
    mask = _mask(numbers)
    _checked(_libc.sigprocmask(_BLOCK, mask, None))
    return _checked(_libc.signalfd(-1, mask, _SIGNAL_FD_FLAGS))


def undo_signals(blocked: "tuple[int, ...]", ignored: "tuple[int, ...]") -> None:
    """As a program expects them that is started."""
    for number in ignored:
        _libc.signal(number, None)
    _checked(_libc.sigprocmask(_UNBLOCK, _mask(blocked), None))


def set_times(path: bytes, times: "bytes | None") -> None:
    """``times`` as utimensat(2) takes them."""
    _checked(_libc.utimensat(-100, path, times, 0))


def _mask(numbers: "tuple[int, ...]") -> bytes:
    return sum(1 << (number - 1) for number in numbers).to_bytes(128, "little")


def _control(option: int, value: int) -> None:
    _checked(_libc.prctl(option, *(ctypes.c_ulong(word) for word in (value, 0, 0, 0))))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
