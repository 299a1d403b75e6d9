"""Which of the ways of holding a command works on this machine."""

import sys

from lsp_agent.sandbox import bubblewrap, landlock, seatbelt
from lsp_agent.sandbox.hold import CannotHold, Holder


def working() -> Holder:
    """The one that holds more comes first. Raises CannotHold where none works."""
    if sys.platform == "darwin":
        return seatbelt.working()
    try:
        return bubblewrap.working()
    except CannotHold as error:
        reason = str(error)
    try:
        return landlock.working()
    except CannotHold as error:
        raise CannotHold(f"{reason}; without it, {error}") from error
