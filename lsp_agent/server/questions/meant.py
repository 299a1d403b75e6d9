"""Which answers a person can have meant: none that comes as the question comes up.

Keys that are typed as a menu or a message opens go into it. Nobody has read it by then.
"""

import time

#: Seconds.
REST = 0.3


def is_read(since: float) -> bool:
    """Whether what came up then has stood long enough for an answer to be meant for it."""
    return time.monotonic() - since >= REST


class Shown:
    """When questions were last put before the person, by a notice or in a menu."""

    def __init__(self) -> None:
        self._at: dict[str, float] = {}

    def now(self, question_id: str) -> None:
        """It is put before them now."""
        self._at = {name: at for name, at in self._at.items() if not is_read(at)}
        self._at[question_id] = time.monotonic()

    def is_read(self, question_id: str) -> bool:
        return is_read(self._at.get(question_id, 0.0))
