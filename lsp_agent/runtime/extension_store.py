"""Installs and removes the person's own extensions; nothing outside their folder is touched.

Blocking.
"""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from lsp_agent.protocol.errors import UsageError
from lsp_agent.protocol.git_environment import git_environment, unread
from lsp_agent.user_data.extension_folders import (
    MANIFEST,
    OWN_PROGRAM,
    ExtensionProblem,
    Manifest,
    change_fields,
    extensions_in,
    is_name,
    own_folder,
)
from lsp_agent.user_data.private_files import make_private

_GIT_ADDRESS = re.compile(r"\w[\w+.-]*://.+|[\w.-]+@[\w.-]+:.+|.+\.git/?")
_CLONE_SECONDS = 300.0


def install(source: str) -> Manifest:
    """From a folder, or from an address that git can clone. What is no extension, or one of a
    name that is there already, leaves nothing behind.

    Raises UsageError for a source that is neither, ExtensionProblem.
    """
    folder = Path(source).expanduser()
    is_folder = folder.is_dir()
    if not is_folder and not _GIT_ADDRESS.fullmatch(source):
        raise UsageError(f"{source!r} is neither a folder nor an address that git can clone")
    with _new_folder() as new:
        if is_folder:
            _copy(folder, new)
        else:
            _clone(source, new)
        try:
            manifest = Manifest.read(str(new))
        except ExtensionProblem as problem:
            reason = str(problem).replace(str(new), source.rstrip("/"))
            raise ExtensionProblem(f"nothing was installed: {reason}") from None
        target = own_folder() / manifest.name
        if target.exists() or target.is_symlink():
            raise ExtensionProblem(
                f"{manifest.name} is installed already; first say: lsp-agent ext remove"
                f" {manifest.name}"
            )
        new.rename(target)
    return Manifest.read(str(target))


def installed() -> list[Path]:
    """The folders of the person's own extensions."""
    return extensions_in(own_folder())


def remove(name: str) -> None:
    """Raises ExtensionProblem, UsageError."""
    folder = folder_of(name)
    try:
        if folder.is_symlink():
            folder.unlink()
            return
        gone = Path(tempfile.mkdtemp(prefix=".removed-", dir=own_folder()))
        folder.rename(gone / "it")
        shutil.rmtree(gone)
    except OSError as error:
        raise ExtensionProblem(f"{folder} cannot be removed: {error.strerror}") from None


def change(name: str, **values: object) -> None:
    """Sets fields of its manifest. Raises ExtensionProblem, UsageError."""
    change_fields(folder_of(name) / MANIFEST, **values)


def folder_of(name: str) -> Path:
    """Where the extension ``name`` is installed. Raises ExtensionProblem, UsageError."""
    if not is_name(name):
        raise UsageError(f"{name!r} is no name of an extension")
    for folder in installed():
        with suppress(ExtensionProblem):
            if Manifest.read(str(folder)).name == name:
                return folder
    folder = own_folder() / name
    if not (folder / MANIFEST).exists():
        raise ExtensionProblem(f"no extension {name} is installed; see: lsp-agent ext list")
    return folder


def why_not_startable(manifest: Manifest) -> str | None:
    """What is wrong with the program that it runs; one that is compiled may have to be built."""
    program = manifest.argv[0]
    if program == OWN_PROGRAM or shutil.which(program) is not None:
        return None
    if Path(program).is_file():
        return f"{program} is not executable; say: chmod +x {shlex.quote(program)}"
    return f"there is no {program}; build or install it"


@contextmanager
def _new_folder() -> Generator[Path]:
    """A folder beside the extensions, which is gone at the end unless it was moved."""
    try:
        make_private(own_folder())
        outer = tempfile.mkdtemp(prefix=".installing-", dir=own_folder())
    except OSError as error:
        raise ExtensionProblem(f"{own_folder()} cannot be used: {error.strerror}") from None
    try:
        yield Path(outer) / "it"
    finally:
        shutil.rmtree(outer, ignore_errors=True)


def _copy(source: Path, new: Path) -> None:
    if own_folder().resolve().is_relative_to(source.resolve()):
        raise ExtensionProblem(f"{source} holds the folder of all extensions; name one of them")
    try:
        shutil.copytree(source, new, symlinks=True)
    except shutil.Error as error:  # a list of from, to and why
        path, _, why = error.args[0][0]
        why = why.replace(str(new), str(source))
        raise ExtensionProblem(f"{path} cannot be copied: {why}") from None
    except OSError as error:
        raise ExtensionProblem(f"{source} cannot be copied: {error.strerror}") from None


def _clone(address: str, new: Path) -> None:
    command = ["git", "clone", "--quiet", "--depth", "1", "--", address, str(new)]
    environment = {**os.environ, **git_environment(os.environ), "GIT_TERMINAL_PROMPT": "0"}
    environment |= [unread(environment)]
    try:
        ended = subprocess.run(  # noqa: S603  the person's own words
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_CLONE_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise ExtensionProblem("git is not on PATH; install it, or name a folder") from None
    except subprocess.TimeoutExpired:
        raise ExtensionProblem(f"git took longer than {_CLONE_SECONDS:g} s for {address}") from None
    if ended.returncode != 0:
        said = ended.stderr.decode(errors="replace").strip()
        raise ExtensionProblem(f"git could not clone {address}: {said}")
