"""JSON at the border: orjson's speed, json's tolerance.

orjson refuses half a surrogate pair (which JavaScript may send: it slices strings anywhere) in
both directions, and integers over 64 bits on the way out. Neither may cost a ``didChange``, so
what orjson refuses is tried once more with the standard library.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import orjson

_ID = re.compile(
    rb'\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"\s*,\s*){0,2}'
    rb'"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{0,200})")\s*[,}]'
)


def decode(body: bytes) -> Any:
    """The value of a JSON text. Raises ``ValueError`` where it is none."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        try:
            return json.loads(body)
        except RecursionError as exc:
            raise ValueError("nested too deeply") from exc


def request_id(body: bytes) -> str | int | None:
    """The ``id`` of a request whose body cannot be decoded, where it comes before anything that
    is not plain; so even that one is answered."""
    found = _ID.match(body)
    if found is None:
        return None
    return int(found[1]) if found[1] else found[2].decode(errors="replace")


def encode(value: object, default: Callable[[Any], Any] | None = None) -> bytes:
    """The JSON text of ``value``; ``default`` turns an object that is not plain into one that is.

    Raises ``TypeError`` or ``ValueError`` for what has no JSON form.
    """
    try:
        return orjson.dumps(value, default)
    except TypeError:
        try:
            return json.dumps(value, default=default, separators=(",", ":")).encode()
        except RecursionError as exc:
            raise ValueError("nested too deeply") from exc
