"""Keys into a TOML file, all else as it is written: what comes out is read again and compared."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, cast

from lsp_agent.cli.editors.changes import CannotChange

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_SERVERS = re.compile(r"^([ \t]*language-servers\s*=\s*\[)([^\]]*)\]", re.MULTILINE)

Toml = dict[str, Any]
Scalar = str | bool | Mapping[str, str]


def read(text: str) -> Toml:
    """Raises CannotChange."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise CannotChange(f"it is not TOML: {error}") from None


def with_keys(text: str, table: Sequence[str], values: Mapping[str, Scalar]) -> str:
    """``text`` with these keys in ``table``, () for the file's own. Raises CannotChange."""
    wanted = read(text)
    place = wanted
    for name in table:
        inner: object = place.setdefault(name, Toml())
        if not isinstance(inner, dict):
            raise CannotChange(f"its {'.'.join(table)} is no table")
        place = cast(Toml, inner)
    for key, value in values.items():
        place[key] = dict(value) if isinstance(value, Mapping) else value
        text = _with_key(text, table, f"{key} = {_written(value)}", key)
    if read(text) != wanted:
        raise CannotChange("it is written in a form that is not understood")
    return text


def with_language_server(text: str, server: str, defaults: Mapping[str, Sequence[str]]) -> str:
    """A ``languages.toml`` of Helix with ``server`` behind those that each language has: where the
    person lists them there, else in a table of its own. Raises CannotChange."""
    wanted = read(text)
    languages: list[Toml] = wanted.setdefault("language", [])
    for language in languages:
        listed = language.get("language-servers")
        if listed is not None and server not in listed:
            listed.append(server)
    text = _SERVERS.sub(lambda found: _with_item(found, server), text)
    there = {language.get("name") for language in languages}
    for name, servers in defaults.items():
        if name not in there:
            language = {"name": name, "language-servers": [*servers, server]}
            if name == "text":
                language |= {"scope": "text.plain", "file-types": ["txt"]}
            languages.append(language)
            text += "\n[[language]]\n" + "".join(
                f"{key} = {json.dumps(value)}\n" for key, value in language.items()
            )
    if read(text) != wanted:
        raise CannotChange("it is written in a form that is not understood")
    return text


def _with_item(found: re.Match[str], server: str) -> str:
    items = found[2].rstrip()
    if json.dumps(server) in items:
        return found[0]
    comma = "" if not items or items.endswith(",") else ","
    return f"{found[1]}{items}{comma} {json.dumps(server)}]".replace("[ ", "[")


def _with_key(text: str, table: Sequence[str], line: str, key: str) -> str:
    start, end = _region(text, table)
    if start is None:
        gap = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{gap}\n[{'.'.join(table)}]\n{line}\n".lstrip("\n")
    written = re.compile(rf"^[ \t]*{re.escape(key)}\s*=[^\n]*$", re.MULTILINE)
    there = written.search(text, start, end)
    if there is not None:
        return text[: there.start()] + line + text[there.end() :]
    return f"{text[:start]}{line}\n{text[start:]}"


def _region(text: str, table: Sequence[str]) -> tuple[int | None, int]:
    """Where a table's own lines begin and end; None where it has no header."""
    start: int | None = 0
    if table:
        header = re.compile(rf"^\[\s*{re.escape('.'.join(table))}\s*\][^\n]*\n", re.MULTILINE)
        found = header.search(text)
        if found is None:
            return None, len(text)
        start = found.end()
    following = _HEADER.search(text, start)
    return start, following.start() if following else len(text)


def _written(value: Scalar) -> str:
    if isinstance(value, Mapping):
        members = ", ".join(f"{key} = {json.dumps(each)}" for key, each in value.items())
        return f"{{ {members} }}"
    return json.dumps(value)
