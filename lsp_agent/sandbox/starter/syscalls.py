"""The filter of system calls (seccomp(2)) for what Landlock has no word for.

Sockets: Landlock knows of TCP alone, and of no socket that has a path. Changes of modes and times
are told to the starter, which knows the paths (``attributes``). All else that is named here is
refused: owners, extended attributes and those of one file system, the person's keyrings, memory and
queues that processes share by name, others' limits, and io_uring, which makes calls that no filter
sees.
"""

import errno
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    #: None, all, or TCP where the starter connects it to.
    Network = Literal["none", "all", "told"]

AF_INET, AF_INET6, AF_NETLINK = 2, 10, 16
SOCK_STREAM, SOCK_SEQPACKET = 1, 5
_KINDS = 0xF

_ALLOW, _TELL, _FAIL = 0x7FFF0000, 0x7FC00000, 0x00050000
_REFUSE = _FAIL | errno.ENETUNREACH
_LOAD, _AND, _RETURN, _EQUAL, _AT_LEAST, _ANY = 0x20, 0x54, 0x06, 0x15, 0x35, 0x45
#: Where these lie in what a filter sees: seccomp_data of linux/seccomp.h. Of an argument the lower
#: half, which is all that the kernel reads of the ones that are looked at.
_NUMBER, _ARCHITECTURE = 0, 4
#: Above it, the calls of x86-64 with addresses of 32 bits.
_X32 = 0x40000000
#: Of sendto and its like: it connects as well.
_FASTOPEN = 0x20000000
_TCP = 6
#: The letter of an ioctl's family (linux/ioctl.h): ``f``, ``X``, ``v`` (linux/fs.h, ext4, XFS) and
#: that of btrfs.
_KIND_OF_IOCTL = 0xFF00
_OF_FILE_SYSTEMS = (0x6600, 0x5800, 0x7600, 0x9400)


FCHMODAT2 = 452
_IO_URING_SETUP = 425
_SETXATTRAT, _REMOVEXATTRAT, _FILE_SETATTR = 463, 466, 469


class Machine:
    """The numbers of one architecture, of its asm/unistd.h; None is a call that it has not."""

    name: int
    seccomp: int
    capset: int
    socket: int
    socketpair: int
    prlimit: int
    connect: int
    listen: int
    ioctl: int
    #: With the number of the argument that its flags are.
    sending: "tuple[tuple[int, int], ...]"
    chmod: "int | None"
    fchmod: int
    fchmodat: int
    utimensat: int
    xattr: "tuple[int, ...]"
    refused: "tuple[int, ...]"


class X86(Machine):
    name = 0xC000003E
    seccomp = 317
    capset = 126
    socket = 41
    socketpair = 53
    prlimit = 302
    connect = 42
    listen = 50
    ioctl = 16
    sending = ((44, 3), (46, 2), (307, 3))  # sendto, sendmsg, sendmmsg
    chmod = 90
    fchmod = 91
    fchmodat = 268
    utimensat = 280
    xattr = (188, 189, 190, 197, 198, 199, _SETXATTRAT, _REMOVEXATTRAT)
    refused = (
        *(92, 93, 94, 260),  # chown, fchown, lchown, fchownat
        *(132, 235, 261),  # utime, utimes, futimesat
        *(29, 30, 31, *range(64, 72), 220),  # shmget … shmctl, semget … msgctl, semtimedop
        *range(240, 246),  # mq_open … mq_getsetattr
        *range(248, 251),  # add_key, request_key, keyctl
        _FILE_SETATTR,
    )


class Arm(Machine):
    name = 0xC00000B7
    seccomp = 277
    capset = 91
    socket = 198
    socketpair = 199
    prlimit = 261
    connect = 203
    listen = 201
    ioctl = 29
    sending = ((206, 3), (211, 2), (269, 3))  # as above
    chmod = None
    fchmod = 52
    fchmodat = 53
    utimensat = 88
    xattr = (5, 6, 7, 14, 15, 16, _SETXATTRAT, _REMOVEXATTRAT)
    refused = (
        *(54, 55),  # fchownat, fchown
        *range(180, 198),  # mq_open … shmdt
        *range(217, 220),  # add_key, request_key, keyctl
        _FILE_SETATTR,
    )


MACHINES: "dict[str, Machine]" = {"x86_64": X86(), "aarch64": Arm()}


def told(machine: Machine, network: "Network") -> "list[int]":
    """The calls that the starter decides on."""
    calls = [machine.chmod, machine.fchmod, machine.fchmodat, FCHMODAT2, machine.utimensat]
    calls += [machine.connect] if network == "told" else []
    return [call for call in calls if call is not None]


def program(machine: Machine, network: "Network") -> bytes:
    """The filter, as struct sock_filter of linux/filter.h."""
    internet = _end(_ALLOW if network == "all" else _REFUSE)
    ours = _one_kind_of_tcp() if network == "told" else internet
    families = [*_if(AF_INET, ours), *_if(AF_INET6, internet)]
    # Its first protocol tells of this machine's addresses; with others, programs talk.
    netlink = [_argument(2), *_if(0, _end(_ALLOW)), *_end(_FAIL | errno.EACCES)]
    # One for datagrams could be connected to a path later (unix(7)).
    kinds = [*_if(SOCK_STREAM, _end(_ALLOW)), *_if(SOCK_SEQPACKET, _end(_ALLOW))]
    steps = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, machine.name, 1, 0),
        *_end(_FAIL | errno.ENOSYS),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32, 0, 1),
        *_end(_FAIL | errno.ENOSYS),
        *_if(
            machine.socket,
            [_argument(0), *families, *_if(AF_NETLINK, netlink), *_end(_FAIL | errno.EACCES)],
        ),
        *_if(
            machine.socketpair,
            [_argument(1), _step(_AND, _KINDS), *kinds, *_end(_FAIL | errno.EACCES)],
        ),
        *_if(
            machine.prlimit,
            [_argument(0), *_if(0, _end(_ALLOW)), *_end(_FAIL | errno.EPERM)],
        ),
        *_if(_IO_URING_SETUP, _end(_FAIL | errno.ENOSYS)),
        *_if(machine.ioctl, _no_attributes()),
        *(step for call in told(machine, network) for step in _if(call, _end(_TELL))),
        *(_without_other_ways(machine) if network == "told" else []),
        # As a file system without them says: programs that copy files go on then.
        *(step for call in machine.xattr for step in _if(call, _end(_FAIL | errno.EOPNOTSUPP))),
        *(step for call in machine.refused for step in _if(call, _end(_FAIL | errno.EPERM))),
        *_end(_ALLOW),
    ]
    return b"".join(steps)


def _one_kind_of_tcp() -> "list[bytes]":
    """No MPTCP, which Landlock takes for something else."""
    tcp = [_argument(2), *_if(0, _end(_ALLOW)), *_if(_TCP, _end(_ALLOW))]
    kind = [_argument(1), _step(_AND, _KINDS), *_if(SOCK_STREAM, [*tcp, *_end(_REFUSE)])]
    return [*kind, *_end(_REFUSE)]


def _no_attributes() -> "list[bytes]":
    """Landlock asks for rights to a device's ioctls alone. Those of file systems change a file
    that is open for reading only, or make volumes; programs that copy files do without."""
    refused = (_if(kind, _end(_FAIL | errno.EOPNOTSUPP)) for kind in _OF_FILE_SYSTEMS)
    kinds = [step for steps in refused for step in steps]
    return [_argument(1), _step(_AND, _KIND_OF_IOCTL), *kinds, *_end(_ALLOW)]


def _without_other_ways(machine: Machine) -> "list[bytes]":
    """Neither in nor out, but by a call that the starter is told of."""
    steps = _if(machine.listen, _end(_FAIL | errno.EACCES))
    for call, flags in machine.sending:
        connects = [_argument(flags), _step(_ANY, _FASTOPEN, 0, 1), *_end(_REFUSE)]
        steps += _if(call, [*connects, *_end(_ALLOW)])
    return steps


def _step(code: int, value: int, matches: int = 0, others: int = 0) -> bytes:
    return struct.pack("=HBBI", code, matches, others, value)


def _end(value: int) -> "list[bytes]":
    return [_step(_RETURN, value)]


def _if(value: int, steps: "list[bytes]") -> "list[bytes]":
    """``steps``, which end in a return, where what was loaded is ``value``."""
    return [_step(_EQUAL, value, 0, len(steps)), *steps]


def _argument(index: int) -> bytes:
    return _step(_LOAD, 16 + 8 * index)
