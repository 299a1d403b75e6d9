"""lsprotocol's converter, made to take enum values that it does not know.

Newer editors send values of a newer LSP: in their capabilities, a diagnostic's tags, a trigger's
kind. Most are none of our business, and none may cost the message.
"""

from enum import Enum
from typing import Any

from cattrs import Converter
from lsprotocol import types
from pygls.protocol import default_converter


def lenient_converter() -> Converter:
    converter = default_converter()
    # One by one: the converter takes their base types' hooks before any rule for all enums.
    for kind in vars(types).values():
        if isinstance(kind, type) and issubclass(kind, Enum) and issubclass(kind, (int, str)):
            converter.register_structure_hook(kind, _member)
    return converter


def _member(value: Any, kind: Any) -> Any:
    """The member of that value; for one that is not known a member that only this message has.

    Raises ``ValueError`` for what is not even of the enum's type.
    """
    try:
        return kind(value)
    except ValueError:
        base: Any = int if issubclass(kind, int) else str
        if type(value) is not base:
            raise
    made = base.__new__(kind, value)
    made._name_ = f"unknown_{value}"
    made._value_ = value
    return made
