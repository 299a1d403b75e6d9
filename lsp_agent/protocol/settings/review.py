"""What each value of the setting ``edits.review`` means: the one place that compares them."""

from dataclasses import dataclass
from typing import assert_never

from lsp_agent.protocol.settings.settings import Review


@dataclass(frozen=True, slots=True)
class Propose:
    """The change is recorded, and made once a person accepts it."""


@dataclass(frozen=True, slots=True)
class Make:
    """The change is made at once; ``kept``: nobody is to review it."""

    kept: bool


def plan(review: Review) -> Propose | Make:
    """For a change that an agent asks us to make."""
    match review:
        case "off":
            return Make(kept=True)
        case "after":
            return Make(kept=False)
        case "before":
            return Propose()
        case _:
            assert_never(review)


def made_without_us(review: Review) -> Make:
    """For what an agent or a command wrote to the disk itself, which no proposal can hold back."""
    planned = plan(review)
    return planned if isinstance(planned, Make) else Make(kept=False)


def asks_first(review: Review) -> bool:
    """Whether a person is asked before an agent writes a file itself, since that cannot be
    proposed."""
    return isinstance(plan(review), Propose)
