"""Lines from stdin to commands, with zot's words for what is wrong with them.

zot's decoder is Go's, and some of its messages name Go types; a client that matches on them finds
the same ones here.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from lsp_agent.runtime import json_text
from lsp_agent.runtime.json_text import NotJson

_HEADER = 'struct { Type string "json:\\"type\\""; ID string "json:\\"id,omitempty\\"" }'
_IMAGES = '[]struct { MimeType string "json:\\"mime_type\\""; Data []uint8 "json:\\"data\\"" }'
_IMAGE = 'struct { MimeType string "json:\\"mime_type\\""; Data []uint8 "json:\\"data\\"" }'


class Malformed(Exception):
    """No command could be read from the line; it is answered without an id."""


class BadField(Exception):
    """A command's own field is wrong; it is answered with its id."""


@dataclass(frozen=True, slots=True)
class Command:
    """``id`` is None where none was given; ``type`` is "" where none was given."""

    type: str
    id: str | None
    fields: Mapping[str, object] = field(default_factory=dict[str, object])

    def text(self, name: str) -> str:
        """A field's text, "" if it is absent. Raises BadField."""
        value = self.fields.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise BadField(_mistyped(value, f".{name}", "string"))
        return value

    def images(self) -> list[tuple[str, str]]:
        """MIME type and base64 data of each image. Raises BadField."""
        value = self.fields.get("images")
        if value is None:
            return []
        if not isinstance(value, list):
            raise BadField(_mistyped(value, ".images", _IMAGES))
        return [_image(item) for item in cast(list[object], value)]


def parse(line: bytes) -> Command:
    """Raises Malformed."""
    try:
        value = json_text.loads(line)
    except NotJson as fault:
        raise Malformed(f"malformed json: {fault}") from None
    if value is None:
        return Command("", None)
    if not isinstance(value, dict):
        kind = _kind(value)
        raise Malformed(
            f"malformed json: json: cannot unmarshal {kind} into Go value of type {_HEADER}"
        )
    fields = cast(dict[str, object], value)
    for name in ("type", "id"):
        if not isinstance(fields.get(name, ""), str | None):
            raise Malformed(f"malformed json: {_mistyped(fields[name], f'.{name}', 'string')}")
    return Command(str(fields.get("type") or ""), cast(str | None, fields.get("id")), fields)


def _image(item: object) -> tuple[str, str]:
    if not isinstance(item, dict):
        raise BadField(_mistyped(item, ".images", _IMAGE))
    image = cast(dict[str, object], item)
    mime_type, data = image.get("mime_type") or "", image.get("data") or ""
    if not isinstance(mime_type, str):
        raise BadField(_mistyped(mime_type, ".images.mime_type", "string"))
    if not isinstance(data, str):
        raise BadField(_mistyped(data, ".images.data", "[]uint8"))
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise BadField(f"illegal base64 data at input byte {_bad_base64(data)}") from None
    return mime_type, data


def _bad_base64(data: str) -> int:
    """The first place that cannot be right: another sign, padding too early, or the end."""
    good = re.match("[A-Za-z0-9+/]*", data)
    return min(good.end() if good else 0, len(data))


def _mistyped(value: object, name: str, wanted: str) -> str:
    return f"json: cannot unmarshal {_kind(value)} into Go struct field {name} of type {wanted}"


def _kind(value: object) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"
