"""What a held command wanted and did not get, by its own words."""

import re
from collections.abc import Iterable, Sequence

#: In a program's words and in the names of errors: errno(3), getaddrinfo(3), and curl's, git's and
#: Node's own. Git names no error where it makes the folders of a branch.
_SIGNS = {
    "it may not write there": (
        r"read-only file system|\bEROFS\b|cannot lock ref .*unable to create directory"
    ),
    "it has no network": (
        r"network is unreachable|name resolution|name or service not known|could ?n[o']t resolve"
        r"|\b(ENETUNREACH|ENOTFOUND|EAI_AGAIN)\b"
    ),
}
_BY_RIGHTS = {"it may not do that": r"permission denied|not permitted|\b(EACCES|EPERM)\b"}


def refused(
    said: str, hidden: Iterable[str], by_rights: bool, hosts: Sequence[str] = ()
) -> tuple[str, str] | None:
    """Why the sandbox let a command fail, and the last line that tells so; ``hidden`` are paths
    that it does not see, ``by_rights`` is its holder's, and ``hosts`` are those that it wanted and
    may not reach. None where it has failed by itself, as far as can be told."""
    if hosts:
        told = said.strip().rpartition("\n")[2]
        return f"it wanted to reach {', '.join(hosts)}", told.strip()
    signs = _SIGNS
    if places := "|".join(map(re.escape, hidden)):
        signs = {**signs, "it does not see that place": places}
    if by_rights:
        signs = {**signs, **_BY_RIGHTS}
    for line in reversed(said.splitlines()):
        for reason, sign in signs.items():
            if re.search(sign, line, re.IGNORECASE):
                return reason, line.strip()
    return None
