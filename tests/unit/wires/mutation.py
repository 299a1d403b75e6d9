"""Frames of a recording, damaged at random places, as a broken or a newer agent might send them."""

import copy
import random
from collections.abc import Iterator, Sequence
from typing import Any

Json = dict[str, Any]

JUNK: tuple[Any, ...] = (None, True, 0, -1, 10**20, 0.5, "", "é\ud800", [], {}, [[]], {"type": 1})


def mutated(entries: Sequence[Json], seed: int, times: int) -> list[Json]:
    """``times`` changes of what the agent sent, its end among them."""
    chance = random.Random(seed)
    result = copy.deepcopy(list(entries))
    for _ in range(times):
        places = [at for at, entry in enumerate(result) if entry["dir"] == "out"]
        if places:
            _mutate(result, chance.choice(places), chance)
    return result


def _mutate(entries: list[Json], at: int, chance: random.Random) -> None:
    match chance.choice(("drop", "repeat", "later", "cut", "field", "field", "field", "field")):
        case "drop":
            del entries[at]
        case "repeat":
            entries.insert(chance.randint(at, len(entries)), copy.deepcopy(entries[at]))
        case "later":
            entries.insert(chance.randint(at, len(entries) - 1), entries.pop(at))
        case "cut":
            del entries[at:]
        case _:
            _change(entries[at], chance)


def _change(entry: Json, chance: random.Random) -> None:
    """One value in the frame, or the frame itself, is gone, is junk or is another one's."""
    places = list(_places(entry))
    container, key = chance.choice(places)
    match chance.choice(("drop", "junk", "junk", "other")):
        case "drop" if container is not entry:
            del container[key]
        case "other":
            elsewhere, other = chance.choice(places)
            container[key] = copy.deepcopy(elsewhere[other])
        case _:
            container[key] = copy.deepcopy(chance.choice(JUNK))


def _places(entry: Json) -> Iterator[tuple[Any, Any]]:
    yield entry, "line"
    waiting: list[Any] = [entry.get("line")]
    while waiting:
        container = waiting.pop()
        if isinstance(container, dict | list):
            keys = list(container) if isinstance(container, dict) else range(len(container))
            for key in keys:
                yield container, key
                waiting.append(container[key])
