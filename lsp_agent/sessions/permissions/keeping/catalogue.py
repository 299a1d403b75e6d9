"""Git's commands that keep what is there: they add to its store and write its index, and nothing of
what was kept before is lost.

What is missing is missed on purpose: what opens an editor (``commit`` without a message), passes
over checks (``--no-verify``), changes what was kept (``--amend``, ``-f``, ``-d``), signs, takes
what is ignored (``add -f``), or writes files of the work tree (``stash``, ``switch`` to another
branch).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lsp_agent.sessions.permissions.reading.catalogue import options
from lsp_agent.sessions.permissions.reading.options import Options, take
from lsp_agent.sessions.permissions.shell.line import Command

#: No shell, and no other program, takes more of it than its letters.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*(?:/[A-Za-z0-9][A-Za-z0-9._+-]*)*")
#: What git takes for something else: its own heads, an object, a full name.
_TAKEN = re.compile(r"[A-Z_]+|[0-9a-fA-F]{4,40}|(?:refs|heads|tags|remotes)/.*")
#: Git looks for fitting files itself.
_MAGIC = re.compile(r"[*?\[\\]")

_COMMANDS: Mapping[str, Options] = {
    "add": options("Anuv", names="all no-all update dry-run verbose"),
    "commit": options(
        "aqs",
        texts_of="m",
        files="F",
        names="all message= quiet signoff author= date= allow-empty",
    ),
    "restore": options("Sq", names="staged quiet"),
}
_NEEDED: Mapping[str, frozenset[str]] = {
    "add": frozenset(),
    "commit": frozenset({"m", "message", "F"}),
    "restore": frozenset({"S", "staged"}),
}


@dataclass(frozen=True, slots=True)
class Kept:
    """What one command keeps: ``files`` are all that it names, ``added`` those that it takes new
    ones from (a folder, or all of the repository for None), ``ref`` is a name that it makes."""

    files: tuple[str, ...] = ()
    added: tuple[str | None, ...] = ()
    ref: str = ""


def kept(command: Command) -> Kept | None:
    """None for one that is not known to only keep."""
    if command.words[:1] != ("git",) or command.writes or len(command.words) < 2:
        return None
    if ref := _made(command):
        return Kept(ref=ref)
    name = command.words[1] or ""
    table = _COMMANDS.get(name)
    taken = take(command, 2, table) if table else None
    if taken is None or (_NEEDED[name] and not _NEEDED[name] & taken.seen):
        return None
    operands = tuple(taken.operands)
    if any(word.startswith(":") for word in operands) or (name == "restore" and not operands):
        return None
    added: tuple[str | None, ...] = ()
    if name == "add" and not taken.seen & {"u", "update"}:
        everything = taken.seen & {"A", "all"} and not operands
        added = (None,) if everything else tuple(map(_added, operands))
    return Kept(tuple(taken.files), added)


def _added(word: str) -> str | None:
    return None if _MAGIC.search(word) else word


def _made(command: Command) -> str | None:
    """The name of what it makes, for a new branch or tag of where one is."""
    words = command.words[1:]
    if command.globs:
        return None
    match words:
        case ("branch" | "tag", str(name)):
            pass
        case ("switch", "-c" | "--create", str(name)) | ("checkout", "-b", str(name)):
            pass
        case ("tag", "-a", str(name), "-m", text) | ("tag", "-a", "-m", text, str(name)):
            if text is None and words.index(None) + 1 not in command.whole:
                return None
        case _:
            return None
    return name if _NAME.fullmatch(name) and not _TAKEN.fullmatch(name) else None
