"""JSON at the border: orjson's speed, json's tolerance.

orjson refuses half a surrogate pair (which JavaScript may send: it slices strings anywhere) in
both directions, and integers over 64 bits on the way out. Neither may cost a ``didChange``, so
what orjson refuses is tried once more with the standard library.
"""

import json
from collections.abc import Callable
from typing import Any

import orjson


def decode(body: bytes) -> Any:
    """The value of a JSON text. Raises ``ValueError`` where it is none."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            return json.loads(body)
        except RecursionError as exc:
            raise ValueError("nested too deeply") from exc


def encode(value: object, default: Callable[[Any], Any] | None = None) -> bytes:
    """The JSON text of ``value``; ``default`` turns an object that is not plain into one that is.

    Raises ``TypeError`` or ``ValueError`` for what has no JSON form.
    """
    try:
        return orjson.dumps(value, default)
    except TypeError:
        return json.dumps(value, default=default, separators=(",", ":")).encode()
