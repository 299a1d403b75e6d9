"""The arguments of zot's own tools, and its words for wrong ones.

zot's decoder is Go's; a model that learned from its messages finds the same ones here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from lsp_agent.text.surrogates import whole

PATH_REQUIRED = "path is required"
COMMAND_REQUIRED = "command is required"


class ToolFailure(Exception):
    """A tool call that failed; ``text`` is what the model reads."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


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
    """``timeout`` in seconds; 0 and below mean none, and so does ``background``."""

    command: str
    timeout: int = 0
    background: bool = False


def parse_read(args: object) -> ReadArgs:
    """Raises ToolFailure, as all of these do."""
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
    given = _Arguments(args, "bashArgs", ("command", "timeout", "background"))
    background = given.boolean("background")
    result = BashArgs(given.string("command"), given.integer("timeout"), background)
    given.check("command", COMMAND_REQUIRED)
    return result


def wants_background(args: object) -> bool:
    """As ``parse_bash`` reads it; False of what it refuses."""
    try:
        return parse_bash(args).background
    except ToolFailure:
        return False


def parse_background_id(args: object) -> str:
    """Of ``bash_output`` and ``bash_kill``."""
    given = _Arguments(args, "backgroundArgs", ("id",))
    name = given.string("id")
    given.check("id", "id is required")
    return name


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
            return whole(value)
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

    def boolean(self, name: str) -> bool:
        value = self._values.get(name, False)
        if isinstance(value, bool):
            return value
        self._fault(name, _kind(value), self._struct, name, "bool")
        return False

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
                result = replace(result, old=whole(value))
            else:
                result = replace(result, new=whole(value))
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


def unknown_tool(name: str) -> str:
    return f'unknown tool "{name}"'


def not_a_directory(operation: str, path: str) -> str:
    """A file stands where a folder is needed; ``operation`` is ``stat``, ``open`` or ``mkdir``."""
    return f"{operation} {path}: not a directory"
