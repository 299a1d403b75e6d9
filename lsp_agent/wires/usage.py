"""Usage out of frames: each agent has names of its own for the same four counts of tokens."""

from typing import cast

from lsp_agent.protocol.events import WindowFilled
from lsp_agent.protocol.messages import Usage
from lsp_agent.toolset.loose_json import Frame, integer

_COUNTS = ("input", "output", "cacheRead", "cacheWrite")


def token_counts(source: Frame, names: tuple[str, str, str, str]) -> Usage:
    """``names`` are the agent's, for input, output, and what was read from and written to the
    cache."""
    found = {
        count: tokens
        for count, name in zip(_COUNTS, names, strict=True)
        if (tokens := integer(source, name)) is not None
    }
    return cast(Usage, found)


def added(one: Usage, other: Usage) -> Usage:
    """What either has, added up."""
    sums = {key: one.get(key, 0) + other.get(key, 0) for key in (*one, *other)}
    return cast(Usage, sums)


def beyond(known: Usage, now: Usage) -> Usage:
    """The tokens that ``now`` has more than ``known``."""
    more = {count: now.get(count, 0) - known.get(count, 0) for count in _COUNTS}
    return cast(Usage, {count: tokens for count, tokens in more.items() if tokens > 0})


def filled(step: Usage) -> WindowFilled:
    """By one model call: what it read, cached or not, and what it wrote is in the window now."""
    return WindowFilled(sum(step.get(count, 0) for count in _COUNTS))
