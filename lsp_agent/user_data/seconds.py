"""Times in files that may be damaged."""

from typing import TypeGuard

_YEAR_10000 = 253_402_300_800


def is_seconds(value: object) -> TypeGuard[float]:
    """Whether it can be shown, as a time since the epoch or as how long something took."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < _YEAR_10000  # no NaN is
