"""The hunks of a review, and what becomes of them.

Lines are 0-based, ranges half-open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lsp_agent.text.lines import Text
from lsp_agent.text.traces import Key, Lines

#: How many hunks that it took over a hunk remembers, since a record is written of it each time.
MAX_OVER = 256
#: Likewise of the lines in which a person had typed what cannot be told from what agents wrote.
MAX_REPLACED = 256


@dataclass(frozen=True, slots=True)
class ReviewHunk:
    """Lines ``base_start`` to ``base_end`` of the base stand as ``start`` to ``end`` in the text.

    ``left`` is what the agents left there, once a person has changed it; None while the text's
    lines still are that. ``mixed``: an agent has since changed the person's lines in a way that
    cannot be told apart any more, so that only the person can undo it. ``over``: the hunks that
    it took over, so that it is known whose it is should its own change be taken out.
    ``replaced``: lines that a person had changed and agents took out. They are not in the base,
    since agents' words are in them as well and cannot be told apart.
    ``by``: the agent's hunk that had taken it out, all of it, until it came back.
    """

    change_id: str
    index: int
    base_start: int
    base_end: int
    start: int
    end: int
    left: Lines | None = None
    mixed: bool = False
    over: tuple[Key, ...] = ()
    replaced: Lines = ()
    by: Key | None = None

    @property
    def key(self) -> Key:
        return self.change_id, self.index

    @property
    def range(self) -> tuple[int, int]:
        return self.start, self.end

    @property
    def touched(self) -> bool:
        """Whether a person has changed what the agent left."""
        return self.left is not None


@dataclass(frozen=True, slots=True)
class Turned:
    """A hunk that is no longer open: a later change took it over (``superseded``), or the person
    brought back what was there before (``rejected``). Or one that was out is open again
    (``applied``), since its lines are back."""

    key: Key
    status: Literal["superseded", "rejected", "applied"]


@dataclass(frozen=True, slots=True)
class Undo:
    """``text`` is the review's without the hunks ``undone``; those ``clashing`` stay as they are,
    since the person's lines in them cannot be told from the agent's."""

    text: Text
    undone: tuple[Key, ...]
    clashing: tuple[Key, ...]


def agents_lines(text: Text, start: int, end: int, hunks: Sequence[ReviewHunk]) -> Lines:
    """Lines ``start`` to ``end`` of ``text`` without what a person changed in these hunks there."""
    lines: list[str] = []
    at = start
    for hunk in hunks:
        lines += text.lines[at : hunk.start]
        lines += text.lines[hunk.start : hunk.end] if hunk.left is None else hunk.left
        at = hunk.end
    return (*lines, *text.lines[at:end])


def taken_over(hunks: Sequence[ReviewHunk], owner: Key) -> tuple[Key, ...]:
    """What the owner of these has taken over: of each hunk its own name and what that had."""
    keys = dict.fromkeys(key for hunk in hunks for key in (hunk.key, *hunk.over))
    return tuple(key for key in keys if key != owner)[:MAX_OVER]
