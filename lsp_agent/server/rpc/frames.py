"""Frames of the LSP wire: headers with a Content-Length, a blank line, a body."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

#: The largest body taken from a client, in bytes.
BODY_LIMIT = 256 * 1024 * 1024

_HEADER_LIMIT = 64 * 1024
_LENGTH = re.compile(rb"^content-length[ \t]*:[ \t]*(\d{1,18})[ \t]*$", re.I | re.M)


class BadFrame(Exception):
    """The stream cannot be followed any further: no usable Content-Length."""


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Stands for a body over the limit; its bytes are skipped."""

    length: int
    limit: int


class Frames:
    """Cuts a stream of bytes into message bodies. Headers in any case and order."""

    def __init__(self, limit: int = BODY_LIMIT) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._length: int | None = None  # of the body that is awaited; None in the headers
        self._skip = 0  # bytes of an oversized body still to come

    def feed(self, chunk: bytes) -> Iterator[bytes | TooLarge]:
        """The bodies that ``chunk`` completes. Raises ``BadFrame``."""
        buffer = self._buffer
        buffer += chunk
        while (length := self._next_length()) is not None:
            if length > self._limit:
                self._length, self._skip = None, length
                yield TooLarge(length, self._limit)
            elif len(buffer) >= length:
                body = bytes(memoryview(buffer)[:length])
                del buffer[:length]
                self._length = None
                yield body
            else:
                return

    def _next_length(self) -> int | None:
        """The length of the body that comes next; None when the headers are not whole yet."""
        if self._length is not None:
            return self._length
        skipped = min(self._skip, len(self._buffer))
        del self._buffer[:skipped]
        self._skip -= skipped
        end = self._buffer.find(b"\r\n\r\n", 0, _HEADER_LIMIT)
        if end < 0:
            if len(self._buffer) >= _HEADER_LIMIT:
                raise BadFrame(f"no end of headers in {_HEADER_LIMIT} bytes")
            return None
        headers = bytes(self._buffer[:end]).replace(b"\r\n", b"\n")
        del self._buffer[: end + 4]
        lengths = set(_LENGTH.findall(headers))
        if len(lengths) != 1:
            raise BadFrame(f"headers without one usable Content-Length: {headers[:200]!r}")
        self._length = int(lengths.pop())
        return self._length


def frame(body: bytes) -> bytes:
    """``body`` with its header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
