"""What a held command wanted and did not get, by its own words."""

import re
from collections.abc import Iterable, Iterator, Sequence

_NO_PLACE = "it does not see that place"
_NO_NETWORK = "it has no network"
#: In a program's words and in the names of errors: errno(3), curl's, git's and Node's own. Git
#: names no error where it makes the folders of a branch.
_SIGNS = {
    "it may not write there": (
        r"read-only file system|\bEROFS\b|cannot lock ref .*unable to create directory"
    ),
    "it has a folder of its own there": r"(?<!\S)['\"]?/(var/)?tmp/.*(no such file|nonexistent)",
    "it reaches no socket there": r"docker daemon|\bsocket\b.*/run/|/run/\S*sock",
}
#: Also those of getaddrinfo(3), and of a machine of its own on which nothing listens.
_OF_NETWORK = {
    _NO_NETWORK: (
        r"network is unreachable|name resolution|temporary failure resolving"
        r"|name or service not known|could ?n[o']t resolve|unable to resolve|unknown ?host"
        r"|failed host lookup|failed to lookup|connection refused"
        r"|\b(ENETUNREACH|ENOTFOUND|EAI_AGAIN|ECONNREFUSED)\b"
    ),
}
#: The exit codes by which these tell that they reached nobody, also where they were to be quiet.
_REACHED_NOBODY = {"curl": (6, 7), "wget": (4,)}
_BY_RIGHTS = {"it may not do that": r"permission denied|not permitted|\b(EACCES|EPERM)\b"}
#: What programs say that do not find their keys in a hidden place at home, which they do not name.
_WITHOUT = {
    ".aws": r"unable to locate credentials",
    ".config/gcloud": r"could not load the default credentials|gcloud auth",
    ".config/gh": r"gh auth login",
    ".config/git/credentials": r"could not read (username|password)",
    ".git-credentials": r"could not read (username|password)",
    ".gnupg": r"no secret key",
    ".npmrc": r"\bENEEDAUTH\b",
    ".ssh": r"permission denied \(publickey",
}


def refused(
    said: str,
    hidden: Iterable[str],
    home: str,
    *,
    by_rights: bool = False,
    network: bool = False,
    hosts: Sequence[str] = (),
    ended: tuple[str, int] = ("", 0),
) -> tuple[str, str] | None:
    """Why the sandbox let a command fail, and the last line that tells so; ``hidden`` are paths
    that it does not see, ``by_rights`` is its holder's, it had the ``network``, and ``hosts`` are
    those that it wanted and may not reach. ``ended`` are its line and the exit code. None where it
    has failed by itself, as far as can be told."""
    if hosts:
        told = said.strip().rpartition("\n")[2]
        return f"it wanted to reach {', '.join(hosts)}", told.strip()
    signs = [
        *_SIGNS.items(),
        *({} if network else _OF_NETWORK).items(),
        *_of_hidden(hidden, home),
        *(_BY_RIGHTS if by_rights else {}).items(),
    ]
    for line in reversed(said.splitlines()):
        for reason, sign in signs:
            if re.search(sign, line, re.IGNORECASE):
                return reason, line.strip()
    return None if network else _reached_nobody(*ended)


def _reached_nobody(command: str, code: int) -> tuple[str, str] | None:
    for program, codes in _REACHED_NOBODY.items():
        if code in codes and re.search(rf"\b{program}\b", command):
            return _NO_NETWORK, f"{program} ended with {code}"
    return None


def _of_hidden(hidden: Iterable[str], home: str) -> Iterator[tuple[str, str]]:
    """By the place's path, however it is written, and by what is said where it is missed."""
    for path in hidden:
        yield _NO_PLACE, re.escape(path)
        at_home = path.removeprefix(f"{home}/")
        if at_home != path:
            yield _NO_PLACE, rf"(?<![^\s~/'\"`:(])(~/)?{re.escape(at_home)}(?![\w.-])"
        if at_home in _WITHOUT:
            yield f"it does not see ~/{at_home}", _WITHOUT[at_home]
