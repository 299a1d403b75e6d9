"""Keys into a TOML file, all else as it is written: what comes out is read again and compared."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from lsp_agent.cli.editors.changes import CannotChange

HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)

Toml = dict[str, Any]
Scalar = str | bool
#: None is a key that is to go; a mapping is joined with the table that is there.
Value = Scalar | Mapping[str, Scalar | None] | None


def read(text: str) -> Toml:
    """Raises CannotChange."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise CannotChange(f"it is not TOML: {error}") from None


def proved(text: str, wanted: Toml) -> str:
    """``text``, which we have written and which has to say ``wanted``. Raises CannotChange."""
    try:
        says_so = tomllib.loads(text) == wanted
    except (ValueError, RecursionError):
        says_so = False
    if not says_so:
        raise CannotChange("it is written in a form that is not understood")
    return text


def with_keys(text: str, table: Sequence[str], values: Mapping[str, Value]) -> str:
    """``text`` with these keys in ``table``, () for the file's own. Raises CannotChange."""
    wanted = read(text)
    place = wanted
    for depth, name in enumerate(table):
        place = _inner(place, name, table[: depth + 1])
    for key, value in values.items():
        if not isinstance(value, Mapping):
            _put(place, key, value)
            text = _with_key(text, table, key, value)
            continue
        members = _inner(place, key, [*table, key])
        for name, member in value.items():
            _put(members, name, member)
        if has_header := _region(text, [*table, key])[0] is not None:
            for name, member in value.items():
                text = _with_key(text, [*table, key], name, member)
        else:
            text = _with_key(text, table, key, members or None)
        if not members and not has_header:
            del place[key]
    return proved(text, wanted)


def lines(table: Sequence[str], values: Mapping[str, Value]) -> list[str]:
    """What a person would write in the file for it, each key with its whole name."""
    written: list[str] = []
    for key, value in values.items():
        if isinstance(value, Mapping):
            written += lines([*table, key], value)
            continue
        name = ".".join([*table, key])
        written.append(f"no {name}" if value is None else f"{name} = {_written(value)}")
    return written


def _inner(place: Toml, name: str, path: Sequence[str]) -> Toml:
    inner: object = place.setdefault(name, Toml())
    if not isinstance(inner, dict):
        raise CannotChange(f"its {'.'.join(path)} is no table")
    return cast(Toml, inner)


def _put(place: Toml, key: str, value: Scalar | None) -> None:
    if value is None:
        place.pop(key, None)
    else:
        place[key] = value


def _with_key(text: str, table: Sequence[str], key: str, value: Scalar | Toml | None) -> str:
    start, end = _region(text, table)
    there = None
    if start is not None:
        written = re.compile(rf"^[ \t]*{re.escape(key)}[ \t]*=[^\n]*(\n|\Z)", re.MULTILINE)
        there = written.search(text, start, end)
    if value is None:
        return text if there is None else text[: there.start()] + text[there.end() :]
    line = f"{key} = {_written(value)}\n"
    if there is not None:
        return text[: there.start()] + line + text[there.end() :]
    before = text if start is None else text[:start]
    gap = "" if not before or before.endswith("\n") else "\n"
    if start is None:
        return f"{text}{gap}\n[{'.'.join(table)}]\n{line}".lstrip("\n")
    return f"{before}{gap}{line}{text[start:]}"


def _region(text: str, table: Sequence[str]) -> tuple[int | None, int]:
    """Where a table's own lines begin and end; None where it has no header."""
    start: int | None = 0
    if table:
        name = r"[ \t]*\.[ \t]*".join(rf"[\"']?{re.escape(each)}[\"']?" for each in table)
        header = re.compile(rf"^[ \t]*\[[ \t]*{name}[ \t]*\][^\n]*(?:\n|\Z)", re.MULTILINE)
        found = header.search(text)
        if found is None:
            return None, len(text)
        start = found.end()
    following = HEADER.search(text, start)
    return start, following.start() if following else len(text)


def _written(value: Scalar | Toml) -> str:
    if isinstance(value, dict):
        members = ", ".join(f"{key} = {_written(each)}" for key, each in value.items())
        return f"{{ {members} }}"
    return json.dumps(value, ensure_ascii=False, default=str)  # a date would not be proved
