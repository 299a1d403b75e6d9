"""The edit rule's decisions about one edit on its way into one open document.

Answers of editors are not reliable, so an edit counts as in only when the document's own
states show it. Pure: fed with what was sent, what changed, what was answered and what time it
is, it says what to do; ``proof.py`` does the waiting.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lsp_agent.text.lines import Text, is_long
from lsp_agent.text.merge import merge3_fine
from lsp_agent.text.positions import Encoding
from lsp_agent.workspace.documents.open_document import ContentChange
from lsp_agent.workspace.placing.repair import Splice, splice_between, splice_of
from lsp_agent.workspace.placing.strays import (
    Attempt,
    Track,
    as_sent,
    before_insertions,
    before_moved_lines,
)

How = Literal["same", "state", "merge", "repaired", "words", "nearer"]
"""What proved an edit: the text was so already; a state passed through; the merge of the edit
into the present text changes nothing; it was put right after landing on another text; its words
are in the text once and were not before; the text is clearly nearer to what was meant than to
what it was made from."""


@dataclass(frozen=True, slots=True)
class Timings:
    """All in seconds."""

    tick: float = 0.05
    #: Typing younger than this is waited for, at most ``align_wait``: the gap that follows a
    #: change is the longest.
    align_within: float = 0.25
    align_wait: float = 0.3
    #: In a client that holds back what is typed: after so long without a change the person has
    #: paused. That is waited for, at most ``late``.
    pause: float = 0.7
    #: How long a client may take to tell of what it held back, once an edit makes it.
    told: float = 0.3
    #: Between two looks for that change in a client that holds it back.
    align_poll: float = 0.008
    #: Silence after an answer that says nothing more is coming.
    quiet: float = 0.4
    #: How long a client may take to tell of an edit that it has answered and that changes nothing.
    heard: float = 2.0
    #: From the first send on: the agent is told that it is not known.
    unknown: float = 5.0
    #: How long an unknown edit is still looked for.
    late: float = 60.0


#: How often an edit that is refused without any change of the text is sent again.
MAX_REFUSALS = 3
#: Changes that a client may tell one edit in.
_STATES = 16


@dataclass(frozen=True, slots=True)
class Landed:
    """It is in."""

    how: How
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Strayed:
    """It was applied to ``before``, for which it was not made, and gave ``after``. ``typed`` is
    what made ``before`` of the attempt's base; ``since`` is the mark of what followed ``after``
    (``Flight.typed_since``)."""

    attempt: Attempt
    before: Text
    after: Text
    typed: tuple[Splice, ...]
    since: int


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


def _was_there(attempt: Attempt, before: Text, without: Text) -> bool:
    """Whether words of the edits that are not in the one text were in the one before it."""
    words = [edit.new_text for edit in attempt.edits]
    return any(before.content.count(each) > without.content.count(each) for each in words)


def first_in(attempts: Sequence[Attempt], text: Text) -> Attempt | None:
    """The first of the attempts whose merge into ``text`` changes nothing."""
    return next((a for a in attempts if merged(a.base, a.meant, text) == text), None)


class Flight:
    """What is known of one edit since it was first sent. Times are seconds of one clock.

    ``checked``: the client refuses edits on a text that it no longer shows, so that what looks
    like an edit gone astray is the person's; not once it opens the document anew, with versions
    that begin again. ``selects_line_ends``: as in ``EditorTraits``. ``on_disk``: the file holds the
    edit already, so that a reload shows what is meant while the edit is still on its way, and would
    be in twice.
    """

    def __init__(
        self,
        *,
        checked: bool,
        encoding: Encoding,
        timings: Timings,
        selects_line_ends: bool = False,
        on_disk: bool = False,
    ) -> None:
        self.checked = checked
        self._selects_line_ends = selects_line_ends
        self._on_disk = on_disk
        self._reopened = False
        self._reloaded: Landed | None = None
        self._encoding: Encoding = encoding
        self._timings = timings
        self._attempts: list[Attempt] = []
        self._tracks: list[Track] = []
        self._typed: list[Splice] = []
        #: Texts before the last changes, with their marks: on one an edit may have gone astray.
        self._states: deque[tuple[Text, int]] = deque(maxlen=_STATES)
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

    @property
    def accepted(self) -> bool:
        """Whether the client said that it took the last send."""
        return self._answer is True

    @property
    def refused(self) -> bool:
        """Whether the last send was refused and is not in all the same."""
        return self._answer is False and self._landed is None and self._strayed is None

    @property
    def strayed(self) -> Strayed | None:
        """Where it went that it was not made for, until ``repair``."""
        return self._strayed

    @property
    def mark(self) -> int:
        """The present text's, for ``typed_since``."""
        return len(self._typed)

    def typed_since(self, mark: int, end: int | None = None) -> list[Splice]:
        """What changed the text, up to the mark ``end``; only kept for a client that is not
        ``checked``."""
        return self._typed[mark:end]

    def sent(self, attempt: Attempt, now: float) -> None:
        if self._first_sent is None:
            self._first_sent = now
        self._attempts.append(attempt)
        if not self.checked or self._on_disk:
            self._tracks.append(Track(attempt, self.mark, self._encoding))
        self._answer = None
        self._changed_before = self._changed_after = False
        self._last_heard = now
        self._looked_at = attempt.base

    def resumed(self) -> None:
        """The next send is the first of a new try."""
        self._first_sent = None
        self._refusals = 0

    def repair(self) -> None:
        """What strayed is dealt with: from here on only what is sent next counts, and it has its
        own time."""
        self.resumed()
        self._attempts.clear()
        self._tracks.clear()
        self._strayed = self._reloaded = None

    def changed(self, change: ContentChange, now: float) -> int:
        """One content change; call it for each, in order. How many of the last ones, this one
        among them, are our edit; 0 where it is not, or not whole yet."""
        self._hear(now)
        if self._landed is not None:
            return 0
        self._reopened = self._reopened or change.span is None
        if not self.checked or self._on_disk:
            self._states.append((change.before, self.mark))
            self._typed.append(splice_of(change, self._encoding))
        if self._strayed is not None:
            return 0
        ours: list[Attempt] = []
        for track in self._tracks:
            before = track.follow(change)
            if before is not None and before == track.attempt.base:
                ours.append(track.attempt)
            elif before is not None and self._may_stray:
                self._stray(track, before, change)
                return len(track.attempt.edits)
        # First, since an edit that replaces what was typed in its place gives what was meant.
        if self._may_stray and not ours and (strayed := self._strayed_otherwise(change)):
            return strayed
        if self._may_stray and not ours and self._strayed_behind_typing(change):
            return 0
        for attempt in self._attempts:
            if change.after == attempt.meant:
                landed = Landed("state", attempt)
                if self._on_disk and self._may_stray and attempt not in ours:
                    self._reloaded = landed
                else:
                    self._landed = landed
                return 1 if change.span is None else len(attempt.edits)
        return 0

    def _hear(self, now: float) -> None:
        self._last_heard = now
        if self._answer is None:
            self._changed_before = True
        else:
            self._changed_after = True

    def _strayed_otherwise(self, change: ContentChange) -> int:
        """As ``Track``, which is surer, for a client that tells of an edit in pieces, in another
        order, or as one. In a long text that would hold up the next key, but in Kakoune, which
        hands on its text at an edit or a rest."""
        if is_long(change.after.lines) and not self._selects_line_ends:
            return 0
        for track in self._tracks:
            attempt = track.attempt
            for before, mark in self._states:
                if mark < track.sent_at:
                    continue
                if change.after != before and self._makes(attempt, before, change.after):
                    if before == attempt.base:
                        break  # not astray: it is in
                    typed = tuple(self._typed[track.sent_at : mark])
                    self._strayed = Strayed(attempt, before, change.after, typed, self.mark)
                    return self.mark - mark
        return 0

    def _strayed_behind_typing(self, change: ContentChange) -> bool:
        """For a client that tells of what was typed and of the edit behind it as one change."""
        for track in self._tracks:
            attempt = track.attempt
            before = self._before_typing(attempt, change)
            if before is None:
                continue
            if merged(attempt.base, attempt.meant, before) == change.after:
                return False  # not astray: it is in
            typed = (*self._typed[track.sent_at : -1], splice_between(change.before, before))
            self._strayed = Strayed(attempt, before, change.after, typed, self.mark)
            return True
        return False

    def _before_typing(self, attempt: Attempt, change: ContentChange) -> Text | None:
        """On what the edit was made, where that is not what was told before."""
        before = before_insertions(attempt, change.after, self._encoding)
        if before == change.before:
            return None
        if before is not None and not _was_there(attempt, change.before, before):
            return before
        # Only who tells of an edit and of what was typed in one whole text leaves that open.
        if not self._selects_line_ends or first_in((attempt,), change.after) is not None:
            return None
        told, after = change.before, change.after
        ways = (
            before_moved_lines(attempt, told, after, known, self._encoding)
            for known in self._known_to_client(attempt, told)
        )
        return next((before for before in ways if before is not None), None)

    def _makes(self, attempt: Attempt, before: Text, after: Text) -> bool:
        if not self._selects_line_ends:
            return as_sent(attempt, before, self._encoding) == after
        return any(
            as_sent(attempt, before, self._encoding, selected_as=known) == after
            for known in self._known_to_client(attempt, before)
        )

    def _known_to_client(self, attempt: Attempt, told: Text) -> tuple[Text, ...]:
        """The texts by which a Kakoune's client may have taken the edit: it had told of ``told``
        already, or not yet."""
        return (told,) if told == attempt.base else (told, attempt.base)

    def replied(self, applied: bool | None, now: float) -> None:
        """The client's answer; None if none came, which proves nothing."""
        self._answer = applied
        self._last_heard = now

    def landed(self, text: Text) -> Landed | None:
        """Whether it is in, ``text`` being the present text."""
        if attempts := self.to_be_compared(text):
            self.compared(text, first_in(attempts, text))
        return self._landed

    def to_be_compared(self, text: Text) -> tuple[Attempt, ...]:
        """The attempts that have not been looked for in ``text``, for ``first_in``; it may be
        called in a thread, and ``compared`` after it."""
        if self._landed or self._strayed or self._reloaded or text is self._looked_at:
            return ()
        return tuple(self._attempts)

    def compared(self, text: Text, found: Attempt | None) -> None:
        self._looked_at = text
        if found is not None and self._landed is None and self._strayed is None:
            self._landed = Landed("merge", found)

    def decide(self, text: Text, now: float) -> Decision | None:
        """What to do now; None is to wait. To be asked after each event and each tick."""
        if (landed := self.landed(text)) is not None:
            return landed
        if self._strayed is not None:
            return self._strayed
        if self._reloaded is not None:
            quiet = self.answered and now - self._last_heard >= self._timings.quiet
            if quiet or self._answer is False or self.is_too_long(now):
                self.trust_reload()
            return self._landed
        if self._is_not_in(now):
            return Again()
        return Unknown() if self.is_too_long(now) else None

    def trust_reload(self) -> None:
        """Nobody waits any more for what may come on top of a reload."""
        self._landed = self._landed or self._reloaded

    @property
    def _may_stray(self) -> bool:
        return not self.checked or (self._on_disk and self._reopened)

    def is_too_long(self, now: float) -> bool:
        """Whether it is time to say what is known."""
        return self._first_sent is not None and now - self._first_sent >= self._timings.unknown

    def _stray(self, track: Track, before: Text, change: ContentChange) -> None:
        typed = tuple(self._typed[track.sent_at : self.mark - len(track.attempt.edits)])
        self._strayed = Strayed(track.attempt, before, change.after, typed, self.mark)

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
