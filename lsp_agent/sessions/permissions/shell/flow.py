"""Where a part of a line may run: the folders before it, and after it by how it went."""

from collections.abc import Iterable
from dataclasses import dataclass

from lsp_agent.sessions.permissions.shell.line import Way, Word


@dataclass(frozen=True, slots=True)
class Flow:
    """The ways after a part that succeeded, and after one that failed."""

    well: frozenset[Way]
    ill: frozenset[Way]

    @property
    def either(self) -> frozenset[Way]:
        return self.well | self.ill

    def not_(self) -> "Flow":
        return Flow(self.ill, self.well)


def staying(ways: frozenset[Way]) -> Flow:
    return Flow(ways, ways)


def changing(ways: frozenset[Way], folder: str) -> Flow:
    return Flow(frozenset((*way, folder) for way in ways), ways)


def merged(flows: Iterable[Flow]) -> Flow:
    either = frozenset[Way]().union(*(flow.either for flow in flows))
    return staying(either)


def changed_to(words: tuple[Word, ...]) -> str | None:
    """The folder that a ``cd`` with these words leads to; None where that cannot be told: home,
    the folder before, an option."""
    match words:
        case ("cd", str(folder)) | ("cd", "--", str(folder)):
            plain = folder and folder[0] not in "-~+" and not set(folder) & set("*?[")
            return folder if plain else None
        case _:
            return None
