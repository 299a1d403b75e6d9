"""The commands that a person has allowed for good: in one project, or everywhere.

One file for all servers, read anew for each judgement, so that what is taken back is asked about
again at once.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.user_data.data_folder import data_folder
from lsp_agent.user_data.private_files import make_private, why_not_private, write_private
from lsp_agent.user_data.seconds import is_seconds

_FORMAT = 1

GrantKind = Literal["pattern", "command"]


@dataclass(frozen=True, slots=True)
class KeptGrant:
    """``command`` is a pattern (``pytest*``) or a whole line, ``folder`` the real path of the
    project, None for everywhere; ``since`` in seconds since the epoch."""

    kind: GrantKind
    command: str
    folder: str | None
    since: float

    @property
    def id(self) -> str:
        """Of what is allowed: allowing it again changes nothing."""
        allowed = json.dumps([self.kind, self.command, self.folder])
        return "p-" + hashlib.sha256(allowed.encode()).hexdigest()[:12]


class GrantsProblem(LspAgentError):
    """What was allowed for good cannot be read or written."""


def grants_file() -> Path:
    """Not made here."""
    return data_folder() / "permissions.json"


def read_grants() -> list[KeptGrant]:
    """The oldest first.

    :raises GrantsProblem: they cannot be read, or may be what another user wrote
    """
    path = grants_file()
    try:
        why = why_not_private(path.parent) or why_not_private(path)
        if why is None:
            return _parsed(path.read_bytes())
    except FileNotFoundError:
        return []
    except OSError as error:
        why = error.strerror or str(error)
    except (ValueError, TypeError, KeyError, RecursionError):
        why = "it is damaged"
    raise GrantsProblem(
        f"what you have allowed for good cannot be read from {path} ({why}): mend or delete it"
    )


def keep_grant(grant: KeptGrant) -> None:
    """:raises GrantsProblem: it is not kept"""
    with _changing():
        grants = read_grants()
        if all(each.id != grant.id for each in grants):
            _write([*grants, grant])


def remove_grants(ids: Collection[str]) -> list[KeptGrant]:
    """Those that were there.

    :raises GrantsProblem: none is removed
    """
    with _changing():
        grants = read_grants()
        removed = [each for each in grants if each.id in ids]
        if removed:
            _write([each for each in grants if each.id not in ids])
        return removed


def _parsed(data: bytes) -> list[KeptGrant]:
    whole = cast(dict[str, Any], json.loads(data))
    if whole["format"] != _FORMAT:
        raise ValueError(whole["format"])
    return [_grant(each) for each in whole["grants"]]


def _grant(each: dict[str, Any]) -> KeptGrant:
    kind, command, folder, since = (each[key] for key in ("kind", "command", "folder", "since"))
    if kind not in ("pattern", "command") or not isinstance(command, str):
        raise ValueError(kind)
    if not isinstance(folder, str | None) or not is_seconds(since):
        raise TypeError(folder)
    return KeptGrant(kind, command, folder, since)


def _write(grants: Sequence[KeptGrant]) -> None:
    whole = {"format": _FORMAT, "grants": [asdict(each) for each in grants]}
    write_private(grants_file(), json.dumps(whole, indent=1).encode() + b"\n")


@contextmanager
def _changing() -> Generator[None]:
    """Keeps other servers from changing the file meanwhile."""
    path = grants_file()
    try:
        make_private(path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(path.with_suffix(".lock"), flags, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)
    except OSError as error:
        raise GrantsProblem(
            f"what you allow for good cannot be kept in {path} ({error.strerror or error}):"
            " make room there, or make it writable"
        ) from error
