"""The lines that a person has confined a prompt's changes to (``range: "confined"``).

They move as the person types, and grow with what the agent puts in. What goes beyond them is not
made, and the agent reads why. A file that is not named is not changed at all.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lsp_agent.text.diff import Hunk, diff
from lsp_agent.text.lines import Text
from lsp_agent.text.live_hunks import place_after


@dataclass(slots=True)
class ConfinedLines:
    """Lines ``start`` to ``end`` (0-based, half-open) of ``text``, that of the file at the real
    ``path``, which the agent knows as ``shown``."""

    path: str
    shown: str
    text: Text
    start: int
    end: int

    def follow(self, now: Text) -> None:
        """Where they are after the person has made ``now`` of the text."""
        steps = diff(self.text.lines, now.lines)
        self.start, self.end, _ = place_after(self.start, self.end, steps)
        self.text = now

    def grow(self, after: Text) -> None:
        """Where they are after an agent's change within them has made ``after`` of the text."""
        self.end += len(after.lines) - len(self.text.lines)
        self.text = after

    def holds(self, step: Hunk) -> bool:
        return self.start <= step.old_start and step.old_end <= self.end

    def __str__(self) -> str:
        if self.start >= self.end:
            return f"the place above line {self.start + 1} of {self.shown}"
        return f"lines {self.start + 1}-{self.end} of {self.shown}"


class Confinement:
    """Of one turn."""

    def __init__(self, lines: Iterable[ConfinedLines]) -> None:
        self._lines = tuple(lines)

    @property
    def note(self) -> str:
        """What the agent is told with its prompt."""
        return (
            f"The person has confined your changes to {self._named()}. Any other change is refused,"
            " and so are commands that do more than read."
        )

    @property
    def no_command(self) -> str:
        return (
            f"Not run: the person has confined this prompt's changes to {self._named()}, so only"
            " commands that are known to read alone are run. Go on without it, or say in your"
            " answer what should be run."
        )

    @property
    def no_own_edit(self) -> str:
        return (
            f"Not run: the person has confined this prompt's changes to {self._named()}, which"
            " cannot be seen to here. Say in your answer what should be changed."
        )

    def refusal(self, path: str, shown: str, now: Text, after: Text) -> str | None:
        """Why ``after`` may not be made of what the file at ``path`` holds now; None if it may."""
        there = [each for each in self._lines if each.path == path]
        for each in there:
            each.follow(now)
        beyond = [
            step
            for step in diff(now.lines, after.lines)
            if not any(each.holds(step) for each in there)
        ]
        if there and not beyond:
            return None
        what = f"line {beyond[0].old_start + 1} of {shown}" if there else shown
        return (
            f"Not changed: the person has confined this prompt's changes to {self._named()}, and"
            f" this would change {what}. Make a change within these lines, or say in your answer"
            " what else is needed."
        )

    def changed(self, path: str, before: Text, after: Text) -> None:
        """An agent's change, which was within the lines, is in or proposed."""
        steps = diff(before.lines, after.lines)
        for each in self._lines:
            if each.path == path and each.text == before and all(map(each.holds, steps)):
                each.grow(after)

    def _named(self) -> str:
        return ", ".join(map(str, self._lines))
