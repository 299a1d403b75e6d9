"""Types in words, for messages and for the generated pages: ``"off", "after" or "before"``."""

import json
from collections.abc import Iterable
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import JsonValue
from pydantic.fields import FieldInfo

from lsp_agent.protocol.settings.hosts import Host

_WORDS: dict[object, str] = {
    str: "a string",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "a table",
    NoneType: "null",
}
_PLURALS: dict[object, str] = {
    str: "strings",
    int: "whole numbers",
    float: "numbers",
    JsonValue: "values as JSON has them",
    Host: "hosts",
}


def allowed_values(field: FieldInfo) -> str:
    """What ``field`` takes, such as ``a whole number of at least 1024``."""
    return type_in_words(field.annotation) + _limits(field.metadata)


def choices(annotation: object) -> tuple[str, ...]:
    """The members of a ``Literal`` of strings; none for any other type."""
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def type_in_words(annotation: Any) -> str:
    """``list[str]`` -> ``a list of strings``; raises KeyError for a type it has no words for."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return either(json.dumps(value) for value in arguments)
    if origin in (Union, UnionType):
        return either(type_in_words(member) for member in arguments)
    if origin is list:
        return f"a list of {_PLURALS[arguments[0]]}"
    if origin is dict:
        return f"a table of {_PLURALS[arguments[1]]}"
    return _WORDS[annotation]


def value_in_words(value: object) -> str:
    """What kind of value it is; never the value itself, which may be a secret."""
    return _WORDS.get(type(value), "a date or time")


def either(words: Iterable[str]) -> str:
    """``a, b or c``."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def _limits(metadata: Iterable[object]) -> str:
    said: list[str] = []
    for limit in metadata:
        match limit:
            case Gt(gt=bound):
                said.append(f"above {bound}")
            case Ge(ge=bound):
                said.append(f"of at least {bound}")
            case Le(le=bound):
                said.append(f"of at most {bound}")
            case MinLen(min_length=1):
                said.append("that is not empty")
            case _:
                pass
    return "".join(
        f" {words}" if not index else f" and {words}" for index, words in enumerate(said)
    )
