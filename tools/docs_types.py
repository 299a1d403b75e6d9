"""Python's types as TypeScript, which people who write clients read."""

import dataclasses
import inspect
import json
import re
from collections.abc import Iterator
from types import ModuleType, NoneType, UnionType
from typing import (
    Any,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from pydantic import BaseModel, JsonValue

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.protocol.events import (
    EditChanged,
    EditEventName,
    Event,
    StampedEvent,
    StopReason,
    UsageReported,
    camel,
    event_type,
    to_json,
)
from lsp_agent.protocol.messages import Block

_NAMES: dict[object, str] = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    object: "unknown",
    Any: "unknown",
    NoneType: "null",
}

#: Types that have a name of their own rather than being spelled out.
ALIASES: dict[Any, str] = {Block: "Block", EditStatus: "EditStatus", StopReason: "StopReason"}


def typescript_type(kind: Any) -> str:
    """``list[str] | None`` -> ``string[] | null``."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is JsonValue:
        return "unknown"
    for alias, name in ALIASES.items():
        if kind == alias:
            return name
    if origin in (Literal, Union, UnionType):
        return _alternatives(kind)
    if origin in (list, tuple):
        member = typescript_type(arguments[0])
        return f"({member})[]" if " | " in member else f"{member}[]"
    if origin is dict:
        return f"Record<string, {typescript_type(arguments[1])}>"
    return _NAMES.get(kind, kind.__name__)


def alias(kind: Any) -> str:
    """The definition of one of :data:`ALIASES`."""
    return f"type {ALIASES[kind]} = {_alternatives(kind)};"


def _alternatives(kind: Any) -> str:
    literal = get_origin(kind) is Literal
    words = (
        json.dumps(member) if literal else typescript_type(member) for member in get_args(kind)
    )
    return " | ".join(words)


def interface(kind: type[Any]) -> str:
    """The definition of a model or a TypedDict, its docstring above it."""
    lines = [f"  {member};" for member in _members(kind)]
    body = "{\n" + "\n".join(lines) + "\n}" if lines else "{}"
    return _comment(kind) + f"interface {kind.__name__} {body}"


def interfaces_of(module: ModuleType) -> list[type[Any]]:
    """The models and TypedDicts that ``module`` defines, in its order."""
    return [
        kind
        for kind in vars(module).values()
        if inspect.isclass(kind)
        and kind.__module__ == module.__name__
        and (issubclass(kind, BaseModel) or is_typeddict(kind))
    ]


def event_union() -> str:
    """All events, as one type."""
    head = "type Event = { sessionId: string; turnId?: string; seq: number; time: number } & ("
    kinds = get_args(Event)
    return "\n".join([head, *(line for kind in kinds for line in _event(kind)), ");"])


def table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def described(value: object) -> str:
    return json.dumps(value)


def _words(kind: type[Any]) -> str:
    """Its docstring in one line and in the wire's names, "" where it has none of its own."""
    own = kind.__doc__ or ""
    if own.startswith(f"{kind.__name__}(") or own == BaseModel.__doc__:
        return ""  # made by dataclass, or inherited
    named = re.sub(r"``(\w+)``", lambda match: f"`{camel(match[1])}`", " ".join(own.split()))
    return named.replace("``", "`").replace(" None ", " null ")


def _comment(kind: type[Any]) -> str:
    words = _words(kind)
    return f"/** {words} */\n" if words else ""


def _members(kind: type[Any]) -> Iterator[str]:
    if is_typeddict(kind):
        for name, hint in get_type_hints(kind, include_extras=True).items():
            needed = name in kind.__required_keys__
            inner = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
            yield f"{name}{'' if needed else '?'}: {typescript_type(inner)}"
        return
    for name, info in kind.model_fields.items():
        hint = _without_none(info.annotation) if info.default is None else info.annotation
        default = "" if info.is_required() or info.default in (None, []) else info.default
        note = f" /* {described(default)} if absent */" if default != "" else ""
        mark = "" if info.is_required() else "?"
        yield f"{info.alias or name}{mark}: {typescript_type(hint)}{note}"


def _without_none(hint: Any) -> Any:
    rest = [member for member in get_args(hint) if member is not NoneType]
    return Union[tuple(rest)]  # noqa: UP007  made at run time


def _event(kind: type[Any]) -> Iterator[str]:
    if kind is EditChanged:
        yield f"  | {{ type: {typescript_type(EditEventName)}; edit: Edit }}"
        return
    if kind is UsageReported:
        yield f"  // {_words(kind)}"
        yield f"  | ({{ type: {json.dumps(_type_name(kind))}; cumulative: Usage }} & Usage)"
    else:
        members = "; ".join([f"type: {json.dumps(_type_name(kind))}", *_event_members(kind)])
        if words := _words(kind):
            yield "  // " + (words.replace("is null", "is absent") if "?:" in members else words)
        yield f"  | {{ {members} }}"


def _type_name(kind: type[Any]) -> str:
    return event_type(object.__new__(kind))


def _event_members(kind: type[Any]) -> Iterator[str]:
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        hint, key = hints[field.name], camel(field.name)
        if NoneType not in get_args(hint) or _null_is_sent(kind, key):
            yield f"{key}: {typescript_type(hint)}"
        else:
            yield f"{key}?: {typescript_type(_without_none(hint))}"


def _null_is_sent(kind: type[Any], key: str) -> bool:
    """Whether an event with nothing there says null, rather than leaving the key out."""
    event = object.__new__(kind)
    for field in dataclasses.fields(kind):
        object.__setattr__(event, field.name, None)
    return key in to_json(StampedEvent("", None, 0, 0.0, event))
