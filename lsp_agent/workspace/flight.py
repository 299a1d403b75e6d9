"""The edit rule's decisions about one edit on its way into one open document.

Answers of editors are not reliable, so an edit counts as in only when the document's own
states show it. Pure: fed with what was sent, what changed, what was answered and what time it
is, it says what to do; ``proof.py`` does the waiting.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lsp_agent.text.edits import TextEdit
from lsp_agent.text.lines import Text
from lsp_agent.text.merge import merge3_fine
from lsp_agent.workspace.documents import ContentChange

How = Literal["same", "state", "merge", "repaired", "words"]
"""What proved an edit: the text was so already; a state passed through; the merge of the edit
into the present text changes nothing; it was put right after landing on another text; its words
are in the text once and were not before."""


@dataclass(frozen=True, slots=True)
class Timings:
    """All in seconds."""

    tick: float = 0.05
    #: Typing younger than this is waited for, at most ``align_wait``: the gap that follows a
    #: change is the longest.
    align_within: float = 0.25
    align_wait: float = 0.3
    #: Silence after an answer that says nothing more is coming.
    quiet: float = 0.4
    #: From the first send on: the agent is told that it is not known.
    unknown: float = 5.0
    #: How long an unknown edit is still looked for.
    late: float = 60.0


#: How often an edit that is refused without any change of the text is sent again.
MAX_REFUSALS = 3


@dataclass(frozen=True, slots=True)
class Attempt:
    """One send: ``edits`` make ``base`` into ``meant``."""

    base: Text
    meant: Text
    edits: tuple[TextEdit, ...]


@dataclass(frozen=True, slots=True)
class Landed:
    """It is in."""

    how: How
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Strayed:
    """It was applied to ``before``, for which it was not made, and gave ``after``."""

    attempt: Attempt
    before: Text
    after: Text


@dataclass(frozen=True, slots=True)
class Again:
    """It is not in: make it anew on the present text and send that."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Too long without proof either way."""


Decision = Landed | Strayed | Again | Unknown


def merged(base: Text, ours: Text, theirs: Text) -> Text | None:
    """Both sides' changes of ``base``; None where they clash."""
    merge = merge3_fine(base, ours, theirs)
    return merge.text if merge.clean else None


class Flight:
    """What is known of one edit since it was first sent. Times are seconds of one clock.

    ``checked``: the client refuses edits on a text that it no longer shows.
    """

    def __init__(self, *, checked: bool, timings: Timings) -> None:
        self._checked = checked
        self._timings = timings
        self._attempts: list[Attempt] = []
        self._tracks: list[_Track] = []
        self._landed: Landed | None = None
        self._strayed: Strayed | None = None
        self._looked_at: Text | None = None
        self._first_sent: float | None = None
        self._refusals = 0
        self._answer: bool | None = None
        self._changed_before = self._changed_after = False
        self._last_heard = 0.0

    @property
    def answered(self) -> bool:
        """Whether the last send was answered."""
        return self._answer is not None

    def sent(self, attempt: Attempt, now: float) -> None:
        if self._first_sent is None:
            self._first_sent = now
        self._attempts.append(attempt)
        if not (self._checked and _could_be_typed(attempt.edits)):
            self._tracks.append(_Track(attempt))
        self._answer = None
        self._changed_before = self._changed_after = False
        self._last_heard = now
        self._looked_at = attempt.base

    def repair(self) -> None:
        """What strayed is dealt with: from here on only what is sent next counts."""
        self._attempts.clear()
        self._tracks.clear()
        self._strayed = None

    def changed(self, change: ContentChange, now: float) -> bool:
        """One content change; call it for each, in order. True if it is our edit."""
        self._last_heard = now
        if self._answer is None:
            self._changed_before = True
        else:
            self._changed_after = True
        if self._landed is not None:
            return False
        for attempt in self._attempts:
            if change.after == attempt.meant:
                self._landed = Landed("state", attempt)
                return True
        for track in self._tracks:
            if self._strayed is None and (before := track.follow(change)) is not None:
                self._strayed = Strayed(track.attempt, before, change.after)
        return False

    def replied(self, applied: bool | None, now: float) -> None:
        """The client's answer; None if none came, which proves nothing."""
        self._answer = applied
        self._last_heard = now

    def landed(self, text: Text) -> Landed | None:
        """Whether it is in, ``text`` being the present text."""
        if self._landed is None and text is not self._looked_at:
            self._looked_at = text
            for attempt in self._attempts:
                if merged(attempt.base, attempt.meant, text) == text:
                    self._landed = Landed("merge", attempt)
                    break
        return self._landed

    def decide(self, text: Text, now: float) -> Decision | None:
        """What to do now; None is to wait. To be asked after each event and each tick."""
        if (landed := self.landed(text)) is not None:
            return landed
        if self._strayed is not None:
            return self._strayed
        if self._is_not_in(now):
            return Again()
        if self._first_sent is not None and now - self._first_sent >= self._timings.unknown:
            return Unknown()
        return None

    def _is_not_in(self, now: float) -> bool:
        if self._answer is None:
            return False
        quiet = now - self._last_heard >= self._timings.quiet
        if self._changed_after:
            return True  # it came after the answer, so it would hold our edit
        if self._changed_before:
            return quiet or not self._answer
        if quiet and not self._answer and self._refusals < MAX_REFUSALS:
            # Not at once: the change that explains the refusal is on its way.
            self._refusals += 1
            return True
        return False


class _Track:
    """Looks for an attempt's edits among the changes, on a text that they were not made for.

    Editors apply the last edit first, so that each range is as it was sent.
    """

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self._left: list[TextEdit] = []
        self._before: Text | None = None
        self._reached: Text | None = None

    def follow(self, change: ContentChange) -> Text | None:
        """The text before the first of the edits, when ``change`` is the last of them."""
        if self._before is None or self._reached is not change.before:
            self._left = list(self.attempt.edits)
            self._before = change.before
        if not self._left or not _is(change, self._left[-1]):
            self._before = None
            return None
        self._left.pop()
        self._reached = change.after
        return None if self._left else self._before


def _is(change: ContentChange, edit: TextEdit) -> bool:
    span = (edit.start_line, edit.start_column, edit.end_line, edit.end_column)
    return change.span == span and change.text == edit.new_text


def _could_be_typed(edits: Sequence[TextEdit]) -> bool:
    """Whether a single key could make the same change."""
    if len(edits) != 1:
        return False
    edit = edits[0]
    if edit.start_line != edit.end_line:
        return False
    return len(edit.new_text) + edit.end_column - edit.start_column <= 1
