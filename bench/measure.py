"""Figures beside their floors, taken in turns."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Limit:
    """What a figure may be: so many times its floor, or so much above it; either will do."""

    times: float | None = None
    added: float | None = None

    def allows(self, floor: float, ours: float) -> bool:
        return (self.times is not None and ours <= floor * self.times) or (
            self.added is not None and ours <= floor + self.added
        )

    def text(self, unit: str) -> str:
        parts: list[str] = []
        if self.times is not None:
            parts.append(f"{self.times:g} x")
        if self.added is not None:
            parts.append(f"+ {self.added:g} {unit}")
        return " or ".join(parts)


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: ``floor`` and ``ours`` in ``unit``, medians over the rounds."""

    name: str
    what: str
    unit: str
    floor: float
    ours: float
    limit: Limit

    @property
    def ratio(self) -> float:
        return self.ours / self.floor

    @property
    def under(self) -> bool:
        return self.limit.allows(self.floor, self.ours)


def in_turns(
    rounds: int, floor: Callable[[], float], ours: Callable[[], float]
) -> tuple[float, float]:
    """The medians of both, each measured ``rounds`` times; who goes first changes each time, so
    that neither always meets what the other left behind."""
    floors: list[float] = []
    figures: list[float] = []
    pair = [(floor, floors), (ours, figures)]
    for _ in range(rounds):
        for measure, taken in pair:
            taken.append(measure())
        pair.reverse()
    return median(floors), median(figures)


def resident(pid: int, field: str = "VmRSS:") -> float:
    """The resident set of a process in MB, now or (``VmHWM:``) at its largest (Linux)."""
    words = Path("/proc", str(pid), "status").read_text(encoding="ascii").split()
    return int(words[words.index(field) + 1]) / 1024
