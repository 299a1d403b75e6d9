"""How much a long test does."""

import os


def size(in_whole_runs: int, of_its_own: int) -> int:
    """The first in each run of all tests, which has half an hour; the second, for who has longer,
    with ``LSP_AGENT_LONG=1``."""
    return of_its_own if os.environ.get("LSP_AGENT_LONG") == "1" else in_whole_runs
