"""zot's own tools in words: arguments, results and errors of read, write, edit and bash.

A model that was told of zot's tools reads the same texts whether zot, the embedded agent or the
editor behind the bridge did the work. Pure: whoever does the work brings bytes and texts.

Deliberately better than zot: an edit leaves the line ends outside of what it replaces alone,
and matches text that was copied with its ``\\r\\n`` out of a file that has such line ends.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from lsp_agent.text.lines import Text, replace_span
from lsp_agent.wires.zot_diff import edit_result

__all__ = [
    "COMMAND_REQUIRED",
    "EDIT_REQUIRED",
    "EMPTY_FILE",
    "MAX_BYTES",
    "MAX_LINES",
    "NO_CHANGE",
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
    "read_text",
    "unknown_tool",
    "with_line_ends_of",
]

#: The caps on what a read or a command's output shows of itself.
MAX_LINES = 2000
MAX_BYTES = 51200

PATH_REQUIRED = "path is required"
COMMAND_REQUIRED = "command is required"
EDIT_REQUIRED = "at least one edit is required"
#: For answers through an extension, where zot would turn an empty text into
#: "(extension returned no content)".
EMPTY_FILE = "(the file is empty)"
NO_CHANGE = "(nothing changed)"


class ToolFailure(Exception):
    """A tool call that failed; ``text`` is what the model reads."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


# -- arguments


@dataclass(frozen=True, slots=True)
class ReadArgs:
    """``offset`` is the first line, 1-based; of both numbers, 0 and below mean none."""

    path: str
    offset: int = 0
    limit: int = 0


@dataclass(frozen=True, slots=True)
class WriteArgs:
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Replacement:
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class EditArgs:
    path: str
    edits: tuple[Replacement, ...]


@dataclass(frozen=True, slots=True)
class BashArgs:
    """``timeout`` in seconds; 0 and below mean none."""

    command: str
    timeout: int = 0


def parse_read(args: object) -> ReadArgs:
    """Raises ToolFailure, as all four do."""
    given = _Arguments(args, "readArgs", ("path", "offset", "limit"))
    result = ReadArgs(given.string("path"), given.integer("offset"), given.integer("limit"))
    given.check("path", PATH_REQUIRED)
    return result


def parse_write(args: object) -> WriteArgs:
    given = _Arguments(args, "writeArgs", ("path", "content"))
    result = WriteArgs(given.string("path"), given.string("content"))
    given.check("path", PATH_REQUIRED)
    return result


def parse_edit(args: object) -> EditArgs:
    given = _Arguments(args, "editArgs", ("path", "edits"))
    result = EditArgs(given.string("path"), given.replacements("edits"))
    given.check("path", PATH_REQUIRED)
    return result


def parse_bash(args: object) -> BashArgs:
    given = _Arguments(args, "bashArgs", ("command", "timeout"))
    result = BashArgs(given.string("command"), given.integer("timeout"))
    given.check("command", COMMAND_REQUIRED)
    return result


class _Arguments:
    """The fields of a call's arguments, in the words of Go's JSON decoder.

    Names match without case, a later one wins, null is as good as absent, others are ignored.
    The fault that is reported is the first in the order of the arguments.
    """

    def __init__(self, args: object, struct: str, fields: tuple[str, ...]) -> None:
        if args is None:
            raise ToolFailure("invalid args: unexpected end of JSON input")
        if not isinstance(args, Mapping):
            raise ToolFailure(
                f"invalid args: json: cannot unmarshal {_kind(args)} into Go value of type"
                f" tools.{struct}"
            )
        self._struct = struct
        self._values: dict[str, object] = {}
        self._faults: dict[int, str] = {}
        self._places: dict[str, int] = {}
        names = {field.casefold(): field for field in fields}
        for place, (key, value) in enumerate(cast(Mapping[str, object], args).items()):
            name = names.get(key.casefold())
            if name is not None and value is not None:
                self._values[name] = value
                self._places[name] = place

    def string(self, name: str) -> str:
        value = self._values.get(name, "")
        if isinstance(value, str):
            return _unicode(value)
        self._fault(name, _kind(value), self._struct, name, "string")
        return ""

    def integer(self, name: str) -> int:
        value = self._values.get(name, 0)
        if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
            return value
        kind = _kind(value)
        shown = f"number {value!r}" if kind == "number" else kind
        self._fault(name, shown, self._struct, name, "int")
        return 0

    def replacements(self, name: str) -> tuple[Replacement, ...]:
        value = self._values.get(name, [])
        if not isinstance(value, (list, tuple)):
            self._fault(name, _kind(value), self._struct, name, "[]tools.editOp")
            return ()
        return tuple(self._replacement(name, item) for item in cast(list[object], value))

    def _replacement(self, name: str, item: object) -> Replacement:
        result = Replacement("", "")
        if not isinstance(item, Mapping):
            if item is not None:
                self._fault(name, _kind(item), self._struct, name, "tools.editOp")
            return result
        for key, value in cast(Mapping[str, object], item).items():
            field = {"oldtext": "oldText", "newtext": "newText"}.get(key.casefold())
            if field is None or value is None:
                continue
            if not isinstance(value, str):
                self._fault(name, _kind(value), "editOp", f"{name}.{field}", "string")
            elif field == "oldText":
                result = replace(result, old=_unicode(value))
            else:
                result = replace(result, new=_unicode(value))
        return result

    def check(self, required: str, message: str) -> None:
        """Raises the first fault, or ``message`` if the required field is absent or empty."""
        if self._faults:
            raise ToolFailure(f"invalid args: json: {self._faults[min(self._faults)]}")
        if not self._values.get(required):
            raise ToolFailure(message)

    def _fault(self, name: str, kind: str, struct: str, field: str, wanted: str) -> None:
        self._faults.setdefault(
            self._places[name],
            f"cannot unmarshal {kind} into Go struct field {struct}.{field} of type {wanted}",
        )


def _kind(value: object) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
        case _:
            return "object"


def _unicode(text: str) -> str:
    """``text`` with U+FFFD for halves of surrogate pairs, which no file can hold."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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


def image_type(path: str) -> str | None:
    """The MIME type that ``read`` answers with for an image, told by the name; else None."""
    name = path.rsplit("/", 1)[-1]
    return _IMAGES.get(name.rpartition(".")[2].lower()) if "." in name else None


def read_text(path: str, data: bytes, offset: int = 0, limit: int = 0) -> str:
    """What ``read`` shows of a file's ``data``; ``path`` as the model gave it.

    Nothing beyond the first MAX_BYTES can be read. Raises ToolFailure for a binary file.
    """
    shown = data[:MAX_BYTES]
    if b"\0" in shown[:_BINARY_PROBE]:
        raise ToolFailure(f"{path} looks binary; refusing to read as text")
    lines = shown.split(b"\n")
    if not lines[-1]:
        lines.pop()
    start = min(offset - 1, len(lines)) if offset > 0 else 0
    end = min(start + limit, len(lines)) if limit > 0 else len(lines)
    selected = lines[start:end]
    text = decode(b"".join(line + b"\n" for line in selected[:MAX_LINES]))
    return text + _cut_notes(lines=len(selected) > MAX_LINES, size=len(data) > MAX_BYTES)


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
    crlf = "\r\n" in content
    body = content.replace("\r\n", "\n") if crlf else content
    spans = sorted(
        (_found(number, edit, body, crlf, path) for number, edit in enumerate(edits, 1)),
        key=lambda span: span.start,
    )
    if any(one.end > following.start for one, following in pairwise(spans)):
        raise ToolFailure("edits overlap; merge them into one edit")
    if not crlf:
        for span in reversed(spans):
            text = replace_span(text, span.start, span.end, span.new)
        return text
    ends = _LineEnds(content)
    for span in reversed([_trimmed(span, body) for span in spans]):
        start, end = ends.offset(span.start), ends.offset(span.end)
        new = span.new.replace("\n", "\r\n") if ends.is_crlf_at(span.start) else span.new
        text = replace_span(text, start, end, new)
    return text


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
        raise ToolFailure(f"edit {number}: oldText not found in {path}")
    if body.find(old, start + len(old)) >= 0:
        count = body.count(old)
        raise ToolFailure(
            f"edit {number}: oldText matches {count} times (must be unique) in {path}"
        )
    return _Span(start, start + len(old), new)


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

    def __init__(self, content: str) -> None:
        self._content = content
        self._crlf = [m.start() - i for i, m in enumerate(re.finditer("\r\n", content))]

    def offset(self, place: int) -> int:
        """The offset in the text itself."""
        return place + bisect_left(self._crlf, place)

    def is_crlf_at(self, place: int) -> bool:
        """Whether the line at ``place`` ends in ``\\r\\n``; the last line, if it has no end, goes
        by the line before it."""
        start = self.offset(place)
        end = self._content.find("\n", start)
        if end < 0:
            end = self._content.rfind("\n", 0, start)
        return end > 0 and self._content[end - 1] == "\r"


# -- bash


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """What is shown of a command's output; ``full_path`` names a file with all of it, if it was
    cut and there is one."""

    text: str = ""
    cut_lines: bool = False
    cut_bytes: bool = False
    full_path: str | None = None


def bash_result(command: str, output: CommandOutput, exit_code: int, seconds: float) -> str:
    """What ``bash`` answers with; ``exit_code`` is -1 for a command that was ended."""
    text = f"$ {command}\n"
    if output.text:
        text += f"\n{output.text}" + ("" if output.text.endswith("\n") else "\n")
    text += _cut_notes(lines=output.cut_lines, size=output.cut_bytes)
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
