"""Reading frames: an agent's may hold anything, so what is not as it should be counts as absent."""

from collections.abc import Mapping
from typing import cast

Frame = Mapping[str, object]


def frame(value: object) -> Frame:
    """``value`` if it is an object, else an empty one."""
    return cast(Frame, value) if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """``value`` if it is a list, else an empty one."""
    return cast(list[object], value) if isinstance(value, list) else []


def frames(value: object) -> list[Frame]:
    """The objects of a list, without the empty ones."""
    return [found for item in items(value) if (found := frame(item))]


def string(source: Frame, key: str) -> str:
    """The text at ``key``, empty if there is none."""
    value = source.get(key)
    return value if isinstance(value, str) else ""


def integer(source: Frame, key: str) -> int | None:
    value = source.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(source: Frame, key: str) -> float | None:
    value = source.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
