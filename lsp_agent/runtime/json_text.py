"""Reading JSON as leniently as Go's decoder does, with its words for what cannot be read."""

import orjson

from lsp_agent.text.surrogates import whole

#: Levels of the frames and messages that a call's arguments are told and kept in, and some more.
_ROUND_ARGUMENTS = 32


class NotJson(Exception):
    """The message is what Go's decoder would say."""


def loads(data: bytes) -> object:
    """Stray bytes and halves of surrogate pairs become U+FFFD. Raises NotJson."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _leniently(data.decode(errors="replace"))


def arguments(text: str) -> object:
    """A call's, as a model wrote them. None if they were cut, or are nested so deeply that they
    could not be told on inside of other frames: orjson reads deeper ones than it writes."""
    try:
        value = told = orjson.loads(text or "{}")
        for _ in range(_ROUND_ARGUMENTS):
            told = [told]
        orjson.dumps(told)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        return None
    return value


def _leniently(text: str) -> object:
    import json  # noqa: PLC0415  only for lines that are not as they should be

    try:
        value = json.dumps(json.loads(text), ensure_ascii=False, allow_nan=False)
        return orjson.loads(whole(value))
    except json.JSONDecodeError as error:
        if error.pos >= len(text) or error.msg.startswith("Unterminated"):
            raise NotJson("unexpected end of JSON input") from None
        character = _QUOTED.get(text[error.pos], f"'{text[error.pos]}'")
        raise NotJson(f"invalid character {character} {_place(error.msg)}") from None
    except (RecursionError, ValueError):
        raise NotJson("exceeded max depth, or a number out of range") from None


_QUOTED = {"'": r"'\''", '"': "'\"'"}
_PLACES = {
    "Expecting property name": "looking for beginning of object key string",
    "Extra data": "after top-level value",
    "Expecting ',' delimiter": "after object key:value pair or array element",
    "Expecting ':' delimiter": "after object key",
    "Invalid control character": "in string literal",
    "Invalid \\": "in string escape code",
}


def _place(fault: str) -> str:
    """Where Go says it is, by how Python calls the fault."""
    places = (words for start, words in _PLACES.items() if fault.startswith(start))
    return next(places, "looking for beginning of value")
