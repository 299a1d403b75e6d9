"""zot's own tools in words: arguments, results and errors of read, write, edit and bash.

A model that was told of zot's tools reads the same texts whether zot, the embedded agent or the
editor behind the bridge did the work. Pure: whoever does the work brings bytes and texts.

Deliberately better than zot: an edit leaves the line ends outside of what it replaces alone,
and matches text that was copied with its ``\\r\\n`` out of a file that has such line ends. A read
gets to every line of a long file, and says where to go on.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from lsp_agent.text.edits import replace_spans
from lsp_agent.text.lines import Text
from lsp_agent.wires.zot_arguments import (
    COMMAND_REQUIRED,
    PATH_REQUIRED,
    BashArgs,
    EditArgs,
    ReadArgs,
    Replacement,
    ToolFailure,
    WriteArgs,
    parse_bash,
    parse_edit,
    parse_read,
    parse_write,
)
from lsp_agent.wires.zot_diff import edit_result

__all__ = [
    "COMMAND_REQUIRED",
    "EDIT_REQUIRED",
    "EMPTY_FILE",
    "MAX_BYTES",
    "MAX_LINES",
    "NO_CHANGE",
    "NO_SUCH_LINES",
    "PATH_REQUIRED",
    "BashArgs",
    "CommandOutput",
    "EditArgs",
    "ReadArgs",
    "Replacement",
    "ToolFailure",
    "WriteArgs",
    "bash_result",
    "decode",
    "edit_result",
    "edit_text",
    "image_type",
    "is_directory",
    "missing_open",
    "missing_stat",
    "not_a_directory",
    "open_directory",
    "parse_bash",
    "parse_edit",
    "parse_read",
    "parse_write",
    "read_directory",
    "read_lines",
    "unknown_tool",
    "with_line_ends_of",
]

#: The caps on what a read or a command's output shows of itself.
MAX_LINES = 2000
MAX_BYTES = 51200

EDIT_REQUIRED = "at least one edit is required"
#: For answers through an extension, where zot would turn an empty text into
#: "(extension returned no content)".
EMPTY_FILE = "(the file is empty)"
NO_SUCH_LINES = "(the file ends before these lines)"
NO_CHANGE = "(nothing changed)"


# -- errors


def unknown_tool(name: str) -> str:
    return f'unknown tool "{name}"'


def missing_stat(path: str) -> str:
    """For ``read``; ``path`` is absolute, as in all of these."""
    return f"stat {path}: no such file or directory"


def missing_open(path: str) -> str:
    """For ``edit``."""
    return f"open {path}: no such file or directory"


def is_directory(path: str) -> str:
    """For ``read``."""
    return f"{path} is a directory"


def read_directory(path: str) -> str:
    """For ``edit``."""
    return f"read {path}: is a directory"


def open_directory(path: str) -> str:
    """For ``write``."""
    return f"open {path}: is a directory"


def not_a_directory(operation: str, path: str) -> str:
    """A file stands where a folder is needed; ``operation`` is ``stat``, ``open`` or ``mkdir``."""
    return f"{operation} {path}: not a directory"


# -- read

_IMAGES: Mapping[str, str] = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
}
_BINARY_PROBE = 8192
#: Of what an edit's ``oldText`` matches.
_MOST_PLACES = 8
#: Characters of a file that is searched once more for what was nearly meant.
_MOST_SEARCHED = 1 << 20


def image_type(path: str) -> str | None:
    """The MIME type that ``read`` answers with for an image, told by the name; else None."""
    name = path.rsplit("/", 1)[-1]
    return _IMAGES.get(name.rpartition(".")[2].lower()) if "." in name else None


@dataclass(frozen=True, slots=True)
class ShownLines:
    """``text`` is what a ``read`` answers; ``start`` to ``end`` (0-based, half-open, by ``\\n``)
    are the file's lines that are whole in it."""

    text: str
    start: int
    end: int


def read_lines(path: str, data: bytes, offset: int = 0, limit: int = 0) -> ShownLines:
    """What ``read`` shows of a file's ``data``; ``path`` as the model gave it.

    At most MAX_LINES and MAX_BYTES, in whole lines unless the first alone is longer. Raises
    ToolFailure for a binary file.
    """
    if b"\0" in data[:_BINARY_PROBE]:
        raise ToolFailure(f"{path} looks binary; refusing to read as text")
    before = max(offset - 1, 0)
    rest = data.split(b"\n", before)[before:]
    head = rest[0][: MAX_BYTES + 1] if rest else b""
    lines = head.split(b"\n")
    too_large = len(head) > MAX_BYTES
    is_cut = too_large and len(lines) == 1
    if too_large:
        lines = lines[:-1] or [lines[0][:MAX_BYTES]]
    elif not lines[-1]:
        lines.pop()
    selected = lines[:limit] if limit > 0 else lines
    shown = selected[:MAX_LINES]
    text = decode(b"".join(line + b"\n" for line in shown))
    end = before + (0 if is_cut else len(shown))
    if len(selected) > MAX_LINES:
        most = f"{MAX_LINES} lines"
    elif too_large and not 0 < limit <= len(lines):
        most = f"{MAX_BYTES} bytes"
    else:
        return ShownLines(text, before, end)
    notice = f"... [truncated at {most}; go on with offset {before + len(shown) + 1}]\n"
    return ShownLines(text + notice, before, end)


def decode(data: bytes) -> str:
    """UTF-8 with one U+FFFD for each byte that is none, as zot's JSON has it."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return re.sub("[\udc80-\udcff]", "\ufffd", data.decode(errors="surrogateescape"))


def _cut_notes(*, lines: bool, size: bool) -> str:
    return (f"... [truncated at {MAX_LINES} lines]\n" if lines else "") + (
        f"... [truncated at {MAX_BYTES} bytes]\n" if size else ""
    )


# -- write


def with_line_ends_of(content: str, now: Text) -> Text:
    """The whole text of a ``write`` in place of ``now``: its encoding, its BOM, and, where a
    model wrote plain ``\\n`` for a file that only has ``\\r\\n``, its line ends."""
    old = now.content
    if "\r" not in content and "\r\n" in old and old.count("\n") == old.count("\r\n"):
        content = content.replace("\n", "\r\n")
    return Text.of(content.removeprefix("\ufeff") if now.bom else content, like=now)


# -- edit


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of the LF-normalised text and what goes there."""

    start: int
    end: int
    new: str


def edit_text(path: str, text: Text, edits: tuple[Replacement, ...]) -> Text:
    """``text`` after ``edits``, all of which are looked for in ``text`` itself.

    Matching reads ``\\r\\n`` as ``\\n``. Everything outside of what changes keeps its line
    ends; new lines get those of the place that they go to. Raises ToolFailure if an edit is
    empty, changes nothing, is not found or is found twice, or if two overlap.
    """
    if not edits:
        raise ToolFailure(EDIT_REQUIRED)
    content = text.content
    # A single character is looked for many times as fast as two.
    crlf = "\r" in content and "\r\n" in content
    body = content.replace("\r\n", "\n") if crlf else content
    spans = sorted(
        (_found(number, edit, body, crlf, path) for number, edit in enumerate(edits, 1)),
        key=lambda span: span.start,
    )
    if any(one.end > following.start for one, following in pairwise(spans)):
        raise ToolFailure("edits overlap; merge them into one edit")
    if not crlf:
        return replace_spans(text, [(span.start, span.end, span.new) for span in spans])
    ends = _LineEnds(content, body)
    return replace_spans(text, [ends.restored(_trimmed(span, body)) for span in spans])


def _found(number: int, edit: Replacement, body: str, crlf: bool, path: str) -> _Span:
    old, new = edit.old, edit.new
    if crlf:
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not old:
        raise ToolFailure(f"edit {number}: oldText must not be empty")
    if old == new:
        raise ToolFailure(f"edit {number}: oldText equals newText")
    start = body.find(old)
    if start < 0:
        raise ToolFailure(f"edit {number}: oldText not found in {path}{_near(body, old)}")
    if body.find(old, start + len(old)) >= 0:
        count = body.count(old)
        raise ToolFailure(
            f"edit {number}: oldText matches {count} times (must be unique) in {path}"
            f" (at lines {_lines(body, old)})"
        )
    return _Span(start, start + len(old), new)


def _lines(body: str, old: str) -> str:
    """Where ``old`` begins, at most _MOST_PLACES."""
    places: list[str] = []
    start = body.find(old)
    while start >= 0 and len(places) < _MOST_PLACES:
        places.append(str(body.count("\n", 0, start) + 1))
        start = body.find(old, start + len(old))
    return ", ".join(places) + (", …" if start >= 0 else "")


def _near(body: str, old: str) -> str:
    """Where the file has ``old`` but for the white space at the ends of its lines."""
    wanted = [line.strip() for line in old.strip().split("\n")]
    if not wanted[0] or len(body) > _MOST_SEARCHED:
        return ""
    lines = [line.strip() for line in body.split("\n")]
    for place, line in enumerate(lines):
        if line == wanted[0] and lines[place : place + len(wanted)] == wanted:
            return f"; line {place + 1} differs from it in white space only"
    return ""


def _trimmed(span: _Span, body: str) -> _Span:
    """Without what old and new begin and end with alike, so that its line ends stay too."""
    old, new = body[span.start : span.end], span.new
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    most -= head
    tail = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    return _Span(span.start + head, span.end - tail, new[head : len(new) - tail])


class _LineEnds:
    """Where the ``\\r\\n`` of a text are, by their places in the text with ``\\n`` for them."""

    def __init__(self, content: str, body: str) -> None:
        self._content = content
        self._body = body
        self._mixed: list[int] | None = None
        if content.count("\r\n") != content.count("\n"):
            self._mixed = [m.start() - i for i, m in enumerate(re.finditer("\r\n", content))]

    def restored(self, span: _Span) -> tuple[int, int, str]:
        """``span`` in the text itself."""
        new = span.new.replace("\n", "\r\n") if self._is_crlf_at(span.start) else span.new
        return self._offset(span.start), self._offset(span.end), new

    def _offset(self, place: int) -> int:
        """The offset in the text itself."""
        if self._mixed is None:
            return place + self._body.count("\n", 0, place)
        return place + bisect_left(self._mixed, place)

    def _is_crlf_at(self, place: int) -> bool:
        """Whether the line at ``place`` ends in ``\\r\\n``; the last line, if it has no end, goes
        by the line before it."""
        start = self._offset(place)
        end = self._content.find("\n", start)
        if end < 0:
            end = self._content.rfind("\n", 0, start)
        return end > 0 and self._content[end - 1] == "\r"


# -- bash


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """What is shown of a command's output; ``full_path`` names a file with all of it, if it was
    cut and there is one. ``more`` comes after the notes of where it was cut: "" or whole lines."""

    text: str = ""
    cut_lines: bool = False
    cut_bytes: bool = False
    full_path: str | None = None
    more: str = ""


def bash_result(command: str, output: CommandOutput, exit_code: int, seconds: float) -> str:
    """What ``bash`` answers with; ``exit_code`` is -1 for a command that was ended."""
    text = f"$ {command}\n"
    if output.text:
        text += f"\n{output.text}" + ("" if output.text.endswith("\n") else "\n")
    text += _cut_notes(lines=output.cut_lines, size=output.cut_bytes)
    text += output.more
    text += f"\n[exit {exit_code}]"
    if output.full_path is not None:
        text += f" (full output: {output.full_path})"
    return f"{text}  Took {_duration(seconds)}"


def _duration(seconds: float) -> str:
    """``0.3s``, ``1m11s``, ``1h2m``."""
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest}s"
    return f"{minutes // 60}h{minutes % 60}m"
