"""How deeply decoded JSON is nested. Found without recursion, since it may be anybody's."""

from typing import cast

Container = dict[str, object] | list[object]


def containers_at(value: object, level: int) -> list[Container]:
    """The objects and arrays that lie in ``level`` others; ``value`` itself lies in none."""
    found = _containers([value])
    for _ in range(level):
        found = [inner for outer in found for inner in _containers(_members(outer))]
    return found


def cut_at(value: object, level: int, mark: str) -> None:
    """Puts ``mark`` in place of what is in the objects and arrays that lie in ``level`` others."""
    for deep in containers_at(value, level):
        if isinstance(deep, dict):
            deep.update(dict.fromkeys(deep, mark))
        else:
            deep[:] = [mark]


def _members(container: Container) -> list[object]:
    return list(container.values()) if isinstance(container, dict) else container


def _containers(values: list[object]) -> list[Container]:
    return [cast(Container, value) for value in values if isinstance(value, dict | list)]
