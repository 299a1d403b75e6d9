"""Changes of a person's files: shown as diffs, written whole or not at all, and taken back.

What was there before is kept in the person's data folder, one folder a subject ("helix"), until it
is taken back. What the person changed in the file since stays then.
"""

import json
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.lines import Text
from lsp_agent.text.merge import merge3_beside
from lsp_agent.text.unified import unified_diff
from lsp_agent.user_data.data_folder import data_folder
from lsp_agent.user_data.private_files import make_private, write_private

_RECORD = "record.json"


class CannotChange(LspAgentError):
    """A file stays as it is; the message says why. ``by_hand`` is the text that a person can put
    into it."""

    def __init__(self, message: str, by_hand: str = "") -> None:
        super().__init__(message)
        self.by_hand = by_hand


@dataclass(frozen=True, slots=True)
class Change:
    """None where there is no file. ``left_to_do`` is for the person to do in it."""

    path: Path
    before: str | None
    after: str | None
    left_to_do: str = ""

    @property
    def is_one(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        return unified_diff(Text.of(self.before or ""), Text.of(self.after or ""), self.path.name)


def read(path: Path) -> str | None:
    """None where there is none. Raises CannotChange."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotChange(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CannotChange(f"{path} is not UTF-8, so it is left alone") from None


def make(subject: str, changes: Sequence[Change]) -> Path:
    """Writes them, and keeps what takes them back; the folder of that. Raises CannotChange."""
    folder = _folder(subject)
    known = {change.path: change for change in made(subject)}
    for change in changes:
        known[change.path] = Change(change.path, _without_ours(known, change), change.after)
    _record(folder, list(known.values()))  # before the files, so that a crash loses nothing
    for change in changes:
        _write(change)
    return folder


def made(subject: str) -> list[Change]:
    """What ``make`` has done for it and nobody has taken back. Raises CannotChange where that
    cannot be known: without what was there before nothing more is written over it."""
    path = _folder(subject) / _RECORD
    text = read(path)
    try:
        return [] if text is None else [_read_change(each) for each in json.loads(text)["files"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise CannotChange(
            f"{path} is damaged, so nothing is changed: mend it; or put back by hand what was there"
            f" before, which lies beside it, move {path.parent} away and try again"
        ) from None


def take_back(change: Change) -> Change:
    """What undoes a change that was made, and leaves what the person has done since. Raises
    CannotChange where the two cannot be told apart."""
    now = read(change.path)
    if now is None or now == change.after:
        return Change(change.path, now, None if now is None else change.before)
    merge = merge3_beside(Text.of(change.after or ""), Text.of(now), Text.of(change.before or ""))
    if not merge.clean:
        raise CannotChange(
            f"{change.path} was changed since in the same lines, so it is left alone; as it was"
            f" before is in {_folder_of_backup(change)}"
        )
    left = merge.text.content
    return Change(change.path, now, None if change.before is None and not left.strip() else left)


def undo(subject: str, changes: Sequence[Change]) -> None:
    """Writes what ``take_back`` has found, and forgets the subject. Raises CannotChange."""
    for change in changes:
        _write(change)
    shutil.rmtree(_folder(subject), ignore_errors=True)


def _without_ours(known: dict[Path, Change], change: Change) -> str | None:
    """The file as it would be if nothing had ever been made in it."""
    before = known.get(change.path)
    if before is None:
        return change.before
    with suppress(CannotChange):
        return take_back(before).after
    return change.before


def _write(change: Change) -> None:
    if read(change.path) != change.before:
        raise CannotChange(f"{change.path} has changed meanwhile; try again")
    place = change.path.resolve()  # some people's settings are links into a folder of their own
    try:
        if change.after is None:
            place.unlink(missing_ok=True)
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        new = place.with_name(f".{place.name}-{os.getpid()}")
        new.write_bytes(change.after.encode())
        if place.exists():
            shutil.copymode(place, new)
        new.replace(place)
    except OSError as error:
        raise CannotChange(f"{place} cannot be written: {error.strerror}") from None


def _read_change(kept: Any) -> Change:
    """Raises ValueError."""
    match kept:
        case {"path": str(path), "before": str() | None as before, "after": str() | None as after}:
            if b"\0" in os.fsencode(path):
                raise ValueError(path)
            for text in (before, after):
                (text or "").encode()  # half a character could not be written
            return Change(Path(path), before, after)
        case _:
            raise ValueError(kept)


def _folder(subject: str) -> Path:
    return data_folder() / "setup" / subject


def _folder_of_backup(change: Change) -> Path:
    folders = (data_folder() / "setup").glob(f"*/{change.path.name}")
    return next(folders, data_folder() / "setup")


def _record(folder: Path, changes: Sequence[Change]) -> None:
    files = [
        {"path": str(each.path), "before": each.before, "after": each.after} for each in changes
    ]
    texts = {_RECORD: json.dumps({"version": 1, "files": files}, indent=2)}
    texts |= {each.path.name: each.before for each in changes if each.before is not None}
    try:
        make_private(folder)
        for name, text in texts.items():
            write_private(folder / name, text.encode())
    except OSError as error:
        raise CannotChange(f"{folder} cannot be written: {error.strerror}") from None
