"""The calls that the starter makes for a command: seccomp_unotify(2).

Of modes and times, which Landlock knows nothing of, and where hosts may be reached the connection
to the socket that leads there (``connecting``). The starter is told of each call and makes it
itself, on the very file or socket that it has looked at, so that nothing changes between the look
and the call. What it does not understand is refused.
"""

import errno
import fcntl
import os
import struct

from lsp_agent.sandbox.starter import connecting, kernel, reach, syscalls

_RECEIVE, _ANSWER, _IS_VALID = 0xC0502100, 0xC0182101, 0x40082102
_HERE = -100
_NO_FOLLOW, _EMPTY_PATH = 0x100, 0x1000
_LONGEST_PATH = 4096


class Call:
    """struct seccomp_notif of linux/seccomp.h."""

    def __init__(self, data: bytes) -> None:
        self.id, self.thread, _, self.number, _, _, *self.words = struct.unpack("=QIIiIQ6Q", data)

    def number_at(self, index: int) -> int:
        """As the kernel reads an int."""
        return (self.words[index] + (1 << 31)) % (1 << 32) - (1 << 31)


class Attributes:
    def __init__(
        self, machine: "syscalls.Machine", listener: int, writable: "list[str]", port: "int | None"
    ) -> None:
        """``port`` is that of the one socket that may be connected to."""
        self._machine = machine
        self._listener = listener
        self._writable = writable
        self._port = port

    def answer_next(self) -> None:
        data = bytearray(80)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, data)
        except OSError:
            return  # who called has ended
        call = Call(bytes(data))
        answer = struct.pack("=Qqii", call.id, 0, -self._made(call), 0)
        try:  # noqa: SIM105  contextlib takes long to import
            fcntl.ioctl(self._listener, _ANSWER, answer)
        except OSError:
            pass  # as above

    def _made(self, call: Call) -> int:
        """The error's number, or 0."""
        try:
            if call.number == self._machine.connect:
                return self._connected(call)
            at = self._opened(call)
            try:
                fcntl.ioctl(self._listener, _IS_VALID, struct.pack("=Q", call.id))
                path = os.readlink(f"/proc/self/fd/{at}")
                if not any(reach.is_in(path, place) for place in self._writable):
                    return errno.EROFS
                self._make(call, f"/proc/self/fd/{at}")
            finally:
                os.close(at)
        except OSError as error:
            return error.errno or errno.EPERM
        return 0

    def _connected(self, call: Call) -> int:
        address = _memory(call.thread, call.words[1], min(call.words[2] & 0xFFFFFFFF, 128))
        fcntl.ioctl(self._listener, _IS_VALID, struct.pack("=Q", call.id))
        return connecting.connect(call.thread, call.number_at(0), address, self._port)

    def _make(self, call: Call, path: str) -> None:
        machine = self._machine
        if call.number == machine.utimensat:
            kernel.set_times(path.encode(), _times(call.thread, call.words[2]))
        else:
            mode = call.words[1 if call.number in (machine.chmod, machine.fchmod) else 2]
            os.chmod(path, mode & 0o7777)

    def _opened(self, call: Call) -> int:
        machine = self._machine
        if call.number == machine.chmod:
            return _open(call.thread, _HERE, _text(call.thread, call.words[0]), 0)
        folder = call.number_at(0)
        if call.number == machine.fchmod or not call.words[1]:
            return _open(call.thread, folder, b"", _EMPTY_PATH)
        flags = 0 if call.number == machine.fchmodat else call.number_at(3)
        return _open(call.thread, folder, _text(call.thread, call.words[1]), flags)


def _open(thread: int, folder: int, path: bytes, flags: int) -> int:
    """What a thread means by a path, found by us."""
    own = f"/proc/{thread}/".encode()
    start = own + (b"cwd" if folder == _HERE else b"fd/%d" % folder)
    if not path:
        if not flags & _EMPTY_PATH:
            raise _error(errno.ENOENT)
        return os.open(start, os.O_PATH | os.O_CLOEXEC)
    if path.startswith(b"/proc/self/"):
        path = own + path.removeprefix(b"/proc/self/")
    follow = os.O_NOFOLLOW if flags & _NO_FOLLOW else 0
    return os.open(
        start + b"/" + path if path[:1] != b"/" else path, os.O_PATH | os.O_CLOEXEC | follow
    )


def _text(thread: int, address: int) -> bytes:
    text, end, _ = _memory(thread, address, _LONGEST_PATH).partition(b"\0")
    if not end:
        raise _error(errno.ENAMETOOLONG)
    return text


def _times(thread: int, address: int) -> "bytes | None":
    """Two of struct timespec; None is now."""
    if not address:
        return None
    times = _memory(thread, address, 32)
    if len(times) < 32:
        raise _error(errno.EFAULT)
    return times


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def _memory(thread: int, address: int, size: int) -> bytes:
    """Less where it ends there."""
    if address >> 63:
        raise _error(errno.EFAULT)
    memory = os.open(f"/proc/{thread}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(memory, size, address)
    finally:
        os.close(memory)
