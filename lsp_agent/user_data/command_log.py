"""What was decided on each command of an agent's, and how the command ended: for a person to read.

One file for all servers, in the log folder; never a command's environment or output.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from lsp_agent.user_data.data_folder import log_folder
from lsp_agent.user_data.private_log import PrivateLog, put_aside
from lsp_agent.user_data.seconds import is_seconds

#: Of a command, in characters.
_LONGEST = 8192

Verdict = Literal["allowed", "denied"]
#: Who or what decided: the settings' policy or a pattern of theirs; the catalogue of commands that
#: only read; what a person allowed for the session, in the project or always; a person; the
#: sandbox, which holds it, or the catalogue of what git keeps, which is held as well; a turn that
#: was stopped, or a question without an answer.
DecidedBy = Literal[
    "settings",
    "pattern",
    "reading",
    "session",
    "project",
    "always",
    "person",
    "sandbox",
    "keeping",
    "stop",
    "nobody",
]


@dataclass(frozen=True, slots=True)
class Decided:
    """``at`` in seconds since the epoch; ``call`` is the id of the agent's call, None where it is
    not known; ``background``: it goes on beyond its call."""

    at: float
    session: str
    agent: str
    call: str | None
    command: str
    folder: str
    verdict: Verdict
    by: DecidedBy
    background: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """``exit`` is the command's, None where the agent told none."""

    session: str
    call: str
    exit: int | None
    failed: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Entry:
    """``ended`` is None while a command runs, and of one that did not."""

    decided: Decided
    ended: Ended | None


def command_log() -> Path:
    """Not made here."""
    return log_folder() / "commands.log"


def append(record: Decided | Ended) -> None:
    """Blocks. Raises OSError."""
    fields = asdict(record)
    if isinstance(record, Decided) and len(record.command) > _LONGEST:
        fields["command"] = record.command[:_LONGEST] + "…"
    with closing(PrivateLog(command_log())) as log:
        log.write(json.dumps(fields).encode() + b"\n")


def read_entries() -> list[Entry]:
    """The oldest first. Lines that are damaged are passed over. Raises OSError."""
    records = list(_records())
    ended = {(each.session, each.call): each for each in records if isinstance(each, Ended)}
    return [
        Entry(each, ended.get((each.session, each.call or "")))
        for each in records
        if isinstance(each, Decided)
    ]


def _records() -> Iterator[Decided | Ended]:
    path = command_log()
    for each in (put_aside(path), path):
        try:
            lines = each.read_bytes().splitlines()
        except FileNotFoundError:
            continue
        for line in lines:
            try:
                yield _record(json.loads(line))
            except (ValueError, TypeError, RecursionError):
                continue


def _record(fields: Any) -> Decided | Ended:
    """Raises ValueError or TypeError where a field is missing, odd or too many."""
    match fields:
        case {
            "at": at,
            "session": str(),
            "agent": str(),
            "call": str() | None,
            "command": str(),
            "folder": str(),
            "verdict": verdict,
            "by": by,
        } if is_seconds(at) and verdict in get_args(Verdict) and by in get_args(DecidedBy):
            if not isinstance(fields.get("background", False), bool):
                raise TypeError("background")
            return Decided(**fields)
        case {
            "session": str(),
            "call": str(),
            "exit": int() | None,
            "failed": bool(),
            "seconds": seconds,
        } if is_seconds(seconds):
            return Ended(**fields)
        case _:
            raise ValueError("no record")
