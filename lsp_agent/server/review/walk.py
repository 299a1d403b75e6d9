"""The way from one open hunk to the next: round all files, and through each before the next. Pure.

A place is where a hunk is shown, which is a line of the text: what went from its end is shown at
the last one, since editors refuse a cursor behind it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from lsp_agent.protocol.edits import Position

Place = tuple[str, int, int]
"""A real path, a 0-based line and a character in the negotiated encoding."""
HunkKey = tuple[str, str]
"""The ids of an edit and of a hunk in it."""


@dataclass(slots=True)
class Walk:
    """``at`` is where it led last, and which way; ``shown`` are the hunks of that file that it led
    to."""

    at: Place | None = None
    previous: bool = False
    shown: set[HunkKey] = field(default_factory=set[HunkKey])

    def turns(self, start: Place | None, *, previous: bool) -> bool:
        """Whether it goes back where it came from."""
        return start is not None and start == self.at and previous != self.previous

    def led_to(self, place: Place, hunk: HunkKey, *, previous: bool) -> None:
        if self.at is None or self.at[0] != place[0]:
            self.shown.clear()
        self.at, self.previous = place, previous
        self.shown.add(hunk)


def shown_at(start: Position, lines: Sequence[str]) -> Position:
    """The place at which a hunk that begins at ``start`` is shown in a text of these lines."""
    if start.line < len(lines) or not lines:
        return start
    return Position(line=len(lines) - 1, character=0)


def following(
    places: Sequence[Place],
    start: Place | None,
    *,
    previous: bool,
    unseen: Collection[Place] = (),
) -> Place | None:
    """Of ascending ``places`` the first behind ``start``, or with ``previous`` the last before
    it; past the end the search goes on at the other one. A file is left only once none of its
    places is ``unseen``. None if there is no place."""
    if not places:
        return None
    way = places[::-1] if previous else places
    ahead = next((p for p in way if start and (p < start if previous else p > start)), None)
    if start is not None and (ahead is None or ahead[0] != start[0]):
        left_over = (p for p in way if p[0] == start[0] and p != start and p in unseen)
        ahead = next(left_over, ahead)
    return ahead or way[0]
