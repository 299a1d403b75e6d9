"""``sed`` with scripts that are plainly understood: none that writes, reads a file or runs one.

A script is read from left to right, as a ``sed`` does it. Where seds read one differently, as with
a bracket that holds the separator, nothing is understood.
"""

import re

from lsp_agent.sessions.permissions.reading.catalogue import options
from lsp_agent.sessions.permissions.reading.options import Taken, take
from lsp_agent.sessions.permissions.shell.line import Command

_OPTIONS = options("nEruz", names="quiet silent regexp-extended null-data", texts=1)
_SEPARATORS = "/|,#:@!"


def _regex(end: str) -> str:
    """Up to ``end``, which is in no bracket."""
    sign = rf"[^\\\[\n{re.escape(end)}]|\\[^\n]"
    bracket = rf"\[\^?(?:\[:[a-z]+:\]|[^\[\]\\\n{re.escape(end)}])+\]"
    return rf"(?:{sign}|{bracket})*{re.escape(end)}"


def _substitution(end: str) -> str:
    new = rf"(?:[^\\\n{re.escape(end)}]|\\[^\n])*{re.escape(end)}"
    return rf"s{re.escape(end)}{_regex(end)}{new}[gpiI0-9]*"


_ADDRESS = rf"(?:\d+(?:~\d+)?|\$|/{_regex('/')}I?)"
#: No ``D``, which begins anew without a next line: with ``G`` before it, for ever.
_VERB = "|".join(["[pdgGhHxnN=]", r"[qQ]\d*", *map(_substitution, _SEPARATORS)])
_STEP = re.compile(
    rf"[ ;\n]*+(?:{_ADDRESS}(?:,(?:{_ADDRESS}|[+~]\d+))?)? *+!? *+(?:{_VERB})"
    r" *+(?:[;\n][ ;\n]*+|\Z)"
)


def sed(command: Command) -> Taken | None:
    taken = take(command, 1, _OPTIONS)
    is_plain = taken is not None and len(taken.texts) == 1 and _only_edits(taken.texts[0])
    return taken if is_plain else None


def _only_edits(script: str) -> bool:
    """Whether each of its steps is known, and prints or changes lines on their way."""
    place = 0
    while place < len(script):
        step = _STEP.match(script, place)
        if step is None:
            return False
        place = step.end()
    return True
