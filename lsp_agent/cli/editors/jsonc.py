"""One value into a JSON file as editors have them, with comments and trailing commas: all the rest
stays as it is written, which is proved by reading it again."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from lsp_agent.cli.editors.changes import CannotChange

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_OURS = "lsp-agent"
_PLAIN = re.compile(r"[-+.\w]+")


@dataclass(slots=True)
class _Node:
    """A value and where it is written; ``members`` of an object."""

    start: int
    end: int
    value: object
    members: dict[str, "_Node"] | None = field(default=None)


def with_value(text: str, keys: Sequence[str], value: object) -> str:
    """``text`` with ``value`` at ``keys``; what is there already is not replaced, unless the last
    key is our own name. Raises CannotChange."""
    text = text if text.strip() else "{}\n"
    node = root = _read(text)
    depth = 0
    while node.members is not None and depth < len(keys) and keys[depth] in node.members:
        node, depth = node.members[keys[depth]], depth + 1
    if depth < len(keys):
        if node.members is None:
            raise CannotChange(f"its {'.'.join(keys[:depth])} is no object")
        new = _inserted(text, node, keys[depth], _nested(keys[depth + 1 :], value), depth)
    elif node.value == value:
        return text
    elif keys[-1] == _OURS:
        new = text[: node.start] + _written(value, depth) + text[node.end :]
    else:
        raise CannotChange(f"it has another {'.'.join(keys)} already")
    after = _read(new).value
    if not (_holds(after, root.value) and _holds(after, _nested(keys, value))):
        raise CannotChange("it is written in a form that is not understood")
    return new


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _inserted(text: str, node: _Node, key: str, value: object, depth: int) -> str:
    indent = "  " * (depth + 1)
    member = f"\n{indent}{json.dumps(key)}: {_written(value, depth + 1)}"
    rest = text[node.start + 1 :]
    if node.members:
        return f"{text[: node.start + 1]}{member},{rest}"
    return f"{text[: node.start + 1]}{member}\n{'  ' * depth}{rest.lstrip(' ')}"


def _written(value: object, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * depth)


def _holds(whole: object, part: object) -> bool:
    if isinstance(whole, dict) and isinstance(part, dict):
        have, wanted = cast(dict[str, object], whole), cast(dict[str, object], part)
        return all(
            key in have and (key == _OURS or _holds(have[key], value))
            for key, value in wanted.items()
        )
    return whole == part


# -- reading


def _read(text: str) -> _Node:
    reader = _Reader(text)
    node = reader.value()
    reader.skip()
    if reader.place != len(text) or node.members is None:
        raise CannotChange("it is not one JSON object")
    return node


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.place = 1 if text.startswith("\ufeff") else 0

    def skip(self) -> None:
        blank = _BLANK.match(self._text, self.place)
        self.place = blank.end() if blank else self.place

    def value(self) -> _Node:
        self.skip()
        start = self.place
        match self._text[start : start + 1]:
            case "{":
                members = self._members()
                value: Mapping[str, object] = {name: node.value for name, node in members.items()}
                return _Node(start, self.place, value, members)
            case "[":
                return _Node(start, self._items_end(items := list[object]()), items)
            case _:
                return self._scalar()

    def _scalar(self) -> _Node:
        start = self.place
        found = _STRING.match(self._text, start) or _PLAIN.match(self._text, start)
        try:
            value: object = json.loads(found[0] if found else "")
        except ValueError:
            raise CannotChange(f"it is not JSON at {self._text[start : start + 20]!r}") from None
        assert found is not None  # nothing is no JSON
        self.place = found.end()
        return _Node(start, self.place, value)

    def _members(self) -> dict[str, _Node]:
        members: dict[str, _Node] = {}
        self.place += 1
        while not self._ends("}"):
            name = self._scalar().value
            self.skip()
            if not isinstance(name, str) or name in members or not self._takes(":"):
                raise CannotChange(f"it is not JSON at the member {name!r}")
            members[name] = self.value()
            self._next("}")
        return members

    def _items_end(self, items: list[object]) -> int:
        self.place += 1
        while not self._ends("]"):
            items.append(self.value().value)
            self._next("]")
        return self.place

    def _ends(self, bracket: str) -> bool:
        self.skip()
        return self._takes(bracket)

    def _next(self, bracket: str) -> None:
        """To behind the comma, or before the bracket."""
        self.skip()
        if not self._takes(",") and not self._text.startswith(bracket, self.place):
            raise CannotChange(f"it is not JSON: {bracket} is missing")

    def _takes(self, mark: str) -> bool:
        if self._text.startswith(mark, self.place):
            self.place += 1
            return True
        return False
