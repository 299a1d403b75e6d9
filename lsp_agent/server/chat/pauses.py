"""When a document in which an answer grows is left alone, so that its editor keeps what was typed
there. Pure.

An editor that keeps unsaved text only once nothing has changed in it for a while would keep none as
long as the answer comes, and the person's next prompt would go with a crash.
"""

import math

#: Beyond what the editor needs, which may be busy.
_SLACK_SECONDS = 1.0
#: So long without a key somebody has stopped typing; before, nothing would be kept anyway.
_SILENT_SECONDS = 0.5
#: Is written at least between two pauses.
_WRITTEN_SECONDS = 5.0


class Pauses:
    """Those in the writing of one document. ``keeps_after``: seconds without a change after which
    the editor keeps a text; 0 where that does not matter."""

    def __init__(self, keeps_after: float) -> None:
        self._seconds = keeps_after + _SLACK_SECONDS if keeps_after else 0.0
        self._written_at = self._kept_at = self._begun_at = -math.inf

    def before_a_write(self, typed_at: float, now: float) -> float:
        """For how many seconds nothing is to be written now."""
        if now - self._written_at >= self._seconds:
            self._begun_at = now
            if now - typed_at >= self._seconds:
                self._kept_at = now
        is_kept = typed_at <= self._kept_at
        is_silent = now - typed_at >= _SILENT_SECONDS
        is_due = now - self._begun_at >= _WRITTEN_SECONDS
        return self._seconds if not is_kept and is_silent and is_due else 0.0

    def written(self, now: float) -> None:
        self._written_at = now
