"""lsprotocol's types for standard requests, and the way between them and plain values.

Importing it takes as long as the rest of the server together, so the dispatcher does that in a
thread, and not before somebody needs it.

Newer editors send enum values of a newer LSP: in a diagnostic's tags, a trigger's kind. Most are
none of our business, and none may cost the message.
"""

import re
from enum import Enum
from typing import Any

from cattrs import Converter, transform_error
from cattrs.errors import BaseValidationError
from lsprotocol import types
from pygls.protocol import default_converter

from lsp_agent.protocol.errors import BadParams


class Types:
    """The types of standard requests' params and results."""

    def __init__(self) -> None:
        self._converter = lenient_converter()

    def params(self, method: str, params: dict[str, Any]) -> Any:
        """The typed params of a standard ``method``. Raises ``BadParams``."""
        kind: Any = types.METHOD_TO_TYPES[method][2]
        try:
            return self._converter.structure(params, kind)
        except BaseValidationError as exc:
            message, _, path = transform_error(exc)[0].partition(" @ ")
            field = _wire_name(path.removeprefix("$").removeprefix("."))
            raise BadParams(field, message) from exc

    def plain(self, value: object) -> Any:
        """One of lsprotocol's objects as what JSON has; anything else as it is."""
        return self._converter.unstructure(value)


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


def _wire_name(path: str) -> str:
    """``text_document.uri`` -> ``textDocument.uri``."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), path)
