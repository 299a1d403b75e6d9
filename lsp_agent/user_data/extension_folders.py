"""Extensions on disk: their manifests, the folders where they lie, and who may run.

The person's own extensions always run. Those of a repository (``.zot/extensions`` in the folder
that an agent works in) are programs that whoever wrote the repository chose: they run only after
the person has trusted them, as they are now. Any change below that folder ends the trust.

Blocking.
"""

import json
import os
import re
import shlex
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.user_data.data_folder import data_folder
from lsp_agent.user_data.private_files import (
    make_private,
    why_not_ours,
    why_not_private,
    write_private,
)

MANIFEST = "extension.json"
#: An extension whose program this is runs with the Python that runs lsp-agent itself.
OWN_PROGRAM = "lsp-agent"
#: Where a repository keeps its extensions, as zot has it.
REPOSITORY_FOLDER = Path(".zot") / "extensions"
#: What can be trusted as a whole; more is to be installed instead.
MOST_TRUSTED_FILES = 20_000
MOST_TRUSTED_BYTES = 64 << 20
_MANIFEST_BYTES = 256 * 1024
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


class ExtensionProblem(LspAgentError):
    """An extension that cannot be used; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """``extension.json``. ``folder`` is where it lies, and the extension's cwd. ``required``:
    what it would have been asked about is refused where it does not answer. ``reloads``: it is
    ended and started anew with the others by ``/reload-ext``."""

    name: str
    version: str
    description: str
    argv: tuple[str, ...]
    enabled: bool
    required: bool
    reloads: bool
    folder: str

    @classmethod
    def read(cls, folder: str) -> "Manifest":
        """Raises ExtensionProblem."""
        path = Path(folder) / MANIFEST
        fields = read_fields(path)
        name, command = fields.get("name"), fields.get("exec")
        args = cast(object, fields.get("args") or [])
        if not isinstance(name, str) or not is_name(name):
            raise ExtensionProblem(
                f"{path}: name must be at most 64 letters, digits, dots and dashes"
            )
        if not isinstance(command, str) or not command:
            raise ExtensionProblem(f"{path}: exec must name the program to run")
        if not isinstance(args, list) or not all(
            isinstance(arg, str) for arg in cast(list[object], args)
        ):
            raise ExtensionProblem(f"{path}: args must be a list of strings")
        if "/" in command and not command.startswith("/"):
            command = str(Path(folder) / command)
        return cls(
            name=name,
            version=str(fields.get("version") or ""),
            description=str(fields.get("description") or ""),
            argv=(command, *cast(list[str], args)),
            enabled=fields.get("enabled") is not False,
            required=fields.get("required") is True,
            reloads=fields.get("reload") is not False,
            folder=folder,
        )


def is_name(name: str) -> bool:
    """Whether an extension may be called so; such a name is also safe as one of a file."""
    return _NAME.fullmatch(name) is not None


def read_fields(path: Path) -> dict[str, object]:
    """The manifest at ``path`` as it stands there. Raises ExtensionProblem."""
    try:
        if not path.is_file():  # a pipe, say, would never end
            raise ExtensionProblem(f"{path} cannot be read: No such file or directory")
        with path.open("rb") as file:
            data = json.loads(file.read(_MANIFEST_BYTES))
    except OSError as error:
        raise ExtensionProblem(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise ExtensionProblem(f"{path} is not JSON: {error}") from None
    return cast(dict[str, object], data) if isinstance(data, dict) else {}


def change_fields(path: Path, **values: object) -> None:
    """Writes ``values`` into the manifest at ``path``. Raises ExtensionProblem."""
    text = json.dumps(read_fields(path) | values, indent=2, ensure_ascii=False) + "\n"
    try:
        write_private(path, text.encode())
    except OSError as error:
        raise ExtensionProblem(f"{path} cannot be written: {error.strerror}") from None


# -- where they lie


def own_folder() -> Path:
    """Where ``lsp-agent ext`` keeps the extensions of the embedded agent."""
    return data_folder() / "extensions"


def zot_folder(environment: Mapping[str, str]) -> Path:
    """Where zot keeps the extensions of its user."""
    home = environment.get("ZOT_HOME")
    if home:
        return Path(home) / "extensions"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "zot" / "extensions"
    state = environment.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "zot" / "extensions"


def persons_folders(environment: Mapping[str, str]) -> list[Path]:
    """Where the extensions of the embedded agent's user lie; of several of one name the first
    counts."""
    return [own_folder(), zot_folder(environment)]


@dataclass(frozen=True, slots=True)
class Found:
    """``folders`` of the extensions to run, a repository's first; of several of one name the
    first. ``problems`` are for the person to read."""

    folders: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Search:
    names: set[str]
    folders: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])

    @property
    def found(self) -> Found:
        return Found(tuple(self.folders), tuple(self.problems))

    def look(self, folder: Path) -> None:
        for each in extensions_in(folder):
            try:
                manifest = Manifest.read(str(each))
            except ExtensionProblem as problem:
                self.problems.append(str(problem))
                continue
            if manifest.name not in self.names:
                self.names.add(manifest.name)
                if manifest.enabled:
                    self.folders.append(str(each))


def find(cwd: str, persons: Sequence[Path], taken: frozenset[str] = frozenset()) -> Found:
    """The extensions of an agent that works in ``cwd``: the repository's if they are trusted, and
    those in the ``persons`` folders; none whose name is ``taken``."""
    search = _Search(set(taken))
    repository = Path(cwd) / REPOSITORY_FOLDER
    if extensions_in(repository):
        distrust = why_not_trusted(cwd)
        if distrust is None:
            search.look(repository)
        else:
            search.problems.append(distrust)
    for folder in persons:
        if (problem := _why_not_run(folder)) is not None:
            search.problems.append(problem)
        else:
            search.look(folder)
    return search.found


def _why_not_run(persons: Path) -> str | None:
    """Why what lies in a person's folder of extensions may be another user's programs."""
    with suppress(OSError):  # there is none, or it cannot be read
        found = {persons: why_not_private(persons)} | {
            each: why_not_ours(each) for each in extensions_in(persons)
        }
        for folder, why in found.items():
            if why is not None:
                return (
                    f"Your extensions are not run: {folder}: {why}. Remove from {persons} what is"
                    f" not yours, then say: chmod go-w {shlex.quote(str(persons))}"
                )
    return None


def extensions_in(folder: Path) -> list[Path]:
    """The folders in ``folder`` that have a manifest, by name."""
    with suppress(OSError):
        if not folder.is_dir():
            return []
        return sorted(each for each in folder.iterdir() if (each / MANIFEST).exists())
    return []


# -- trust


def why_not_trusted(cwd: str) -> str | None:
    """Why the extensions in ``cwd`` may not run, with the remedy; None if they may."""
    disbelief = _why_not_believed()
    known = None if disbelief else trusted_folders().get(os.path.realpath(cwd))
    if known is None:
        return (
            f"Extensions in {Path(cwd) / REPOSITORY_FOLDER} are not run: they are programs of the"
            f" repository's. Look at them, then say: lsp-agent ext trust {shlex.quote(cwd)}"
            f"{disbelief or ''}"
        )
    try:
        if fingerprint(cwd) == known:
            return None
    except ExtensionProblem as problem:
        return f"{problem} They are not run."
    return (
        f"Extensions in {Path(cwd) / REPOSITORY_FOLDER} have changed since they were trusted and"
        f" are not run. Look at them, then say: lsp-agent ext trust {shlex.quote(cwd)}"
    )


def trusted_folders() -> Mapping[str, str]:
    """The fingerprint of what is trusted, by the repository's real path; none where the record
    cannot be read, or may be another user's words."""
    if _why_not_believed() is not None:
        return {}
    try:
        with _trust_record().open(encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(data, dict):
        return {}
    entries = cast(dict[str, object], data).items()
    return {folder: mark for folder, mark in entries if isinstance(mark, str)}


def _why_not_believed() -> str | None:
    """A sentence; None if the record of trust is believed, or there is none."""
    record = _trust_record()
    for path in (record.parent, record):
        with suppress(OSError):
            if (why := why_not_private(path)) is not None:
                return f" (What was trusted before is not: {path}: {why}. Trusting mends that.)"
    return None


def trust(cwd: str) -> None:
    """Lets the extensions in ``cwd`` run as they are now. Raises ExtensionProblem."""
    _record({**trusted_folders(), os.path.realpath(cwd): fingerprint(cwd)})


def distrust(cwd: str) -> bool:
    """Takes that back; whether there was any. Raises ExtensionProblem."""
    known = dict(trusted_folders())
    was = known.pop(os.path.realpath(cwd), None) is not None
    if was:
        _record(known)
    return was


def fingerprint(cwd: str) -> str:
    """Of all that lies below the extensions' folder in ``cwd``: names, modes, contents.

    Raises ExtensionProblem for what cannot be trusted as a whole: a symbolic link that leads out
    of it, a pipe, too much of it, or nothing at all.
    """
    root = Path(os.path.realpath(cwd)) / REPOSITORY_FOLDER
    if os.path.realpath(root) != str(root):
        raise ExtensionProblem(f"{root} is reached by a symbolic link and cannot be trusted.")
    from hashlib import blake2b  # noqa: PLC0415  only where a repository has extensions

    total, digest = 0, blake2b(digest_size=20)
    try:
        for number, path in enumerate(_walk(root)):
            name = os.fsencode(path.relative_to(root))
            entry = _entry(path, root, MOST_TRUSTED_BYTES - total)
            total += len(entry)
            if number >= MOST_TRUSTED_FILES or total > MOST_TRUSTED_BYTES:
                raise ExtensionProblem(
                    f"{root} is too large to be trusted as a whole; install what you want of it:"
                    " lsp-agent ext install FOLDER"
                )
            for part in (name, entry):
                digest.update(len(part).to_bytes(8, "big"))
                digest.update(part)
    except OSError as error:
        raise ExtensionProblem(f"{root} cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def _walk(root: Path) -> Iterator[Path]:
    """All that is no folder, in a fixed order. Raises OSError."""
    for entry in sorted(os.scandir(root), key=lambda each: each.name):
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))
        else:
            yield Path(entry.path)


def _entry(path: Path, root: Path, most: int) -> bytes:
    """What is at ``path``: its kind, and its content or the link's. Raises OSError."""
    if path.is_symlink():
        if not Path(os.path.realpath(path)).is_relative_to(root):
            raise ExtensionProblem(f"{path} is a symbolic link out of {root}.")
        return b"link " + os.fsencode(os.readlink(path))  # noqa: PTH115  as it stands
    flags = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags), "rb") as file:  # noqa: PTH123  by descriptor
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise ExtensionProblem(f"{path} is no regular file.")
        kind = b"program " if mode & stat.S_IXUSR else b"file "
        return kind + file.read(most + 1)


def _trust_record() -> Path:
    return data_folder() / "trusted-extensions.json"


def _record(known: Mapping[str, str]) -> None:
    path = _trust_record()
    try:
        make_private(path.parent)
        write_private(path, f"{json.dumps(known, indent=2)}\n".encode())
    except OSError as error:
        raise ExtensionProblem(f"{path} cannot be written: {error.strerror}") from None
