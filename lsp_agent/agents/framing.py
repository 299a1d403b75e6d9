"""Frames of JSON as lines: written and read whatever is in them, and cut out of chunks, without
ever holding more than the limit."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from lsp_agent.protocol.nesting import cut_at
from lsp_agent.text.surrogates import whole

_SAMPLE = 200
#: Levels of a frame that are read, so that whoever is told of it (we, an editor) can take it.
_LEVELS = 200
_CUT = "… (nested too deeply)"


def encoded(frame: Mapping[str, object]) -> bytes:
    """``frame`` as one line. What orjson refuses (integers over 64 bits, deep nesting, half a
    surrogate pair) costs nobody a session; of the last an agent gets U+FFFD, since not each of
    their parsers takes it escaped."""
    try:
        return orjson.dumps(frame, option=orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:
        text = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
        return whole(text).encode() + b"\n"


def decoded(line: bytes) -> object:
    """What is nested more deeply than 200 levels is left out, and says so. Half a surrogate pair,
    which an agent in JavaScript writes where it has cut a string, is U+FFFD.

    :raises orjson.JSONDecodeError:
    """
    try:
        frame = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        frame = _mended(line, error)
    if len(line) > 2 * _LEVELS and line.count(b"{") + line.count(b"[") > _LEVELS:
        cut_at(frame, _LEVELS, _CUT)
    return frame


def _mended(line: bytes, error: orjson.JSONDecodeError) -> object:
    try:
        value = json.loads(line.decode())
        return orjson.loads(whole(json.dumps(value, ensure_ascii=False)))
    except (ValueError, RecursionError):
        raise error from None


@dataclass(frozen=True, slots=True)
class TooLong:
    """In place of a line over the limit; ``head`` is how it began."""

    head: bytes


class LineSplitter:
    """Cuts a byte stream at ``\\n``.

    ``limit`` is in bytes, the line end not counted. A longer line is told once, as soon as it is
    over; the rest of it is dropped.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._held = 0
        self._dropping = False

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """The lines that ``chunk`` ends, in order, blank ones included."""
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes | TooLong] = []
        # Behind the first line end, none can be over a limit that the whole chunk keeps.
        looked_at = 1 if len(chunk) <= self._limit else len(ended)
        for piece in ended[:looked_at]:
            self._add(piece, lines)
            if not self._dropping:
                lines.append(b"".join(self._parts))
            self._parts, self._held, self._dropping = [], 0, False
        lines += ended[looked_at:]
        self._add(rest, lines)
        return lines

    def end(self) -> list[bytes]:
        """What the stream ended with, if that was no line end."""
        rest, self._parts, self._held = b"".join(self._parts), [], 0
        return [rest] if rest else []

    def _add(self, piece: bytes, lines: list[bytes | TooLong]) -> None:
        if self._dropping or not piece:
            return
        self._parts.append(piece)
        self._held += len(piece)
        if self._held > self._limit:
            lines.append(TooLong(b"".join(self._parts)[:_SAMPLE]))
            self._parts, self._dropping = [], True
