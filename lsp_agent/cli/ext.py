"""``lsp-agent ext``: the extensions of the embedded agent."""

import argparse
import os
import runpy
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from lsp_agent.protocol.errors import UsageError
from lsp_agent.text.plain import escaped_line, escaped_lines, is_seen
from lsp_agent.user_data.extension_folders import (
    REPOSITORY_FOLDER,
    ExtensionProblem,
    Manifest,
    distrust,
    extensions_in,
    is_name,
    trust,
    why_not_trusted,
    zot_folder,
)

_POLL_SECONDS = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def add(action: str, words: str) -> argparse.ArgumentParser:
        return actions.add_parser(action, help=words, description=f"{words[0].upper()}{words[1:]}.")

    add("list", "list the extensions and how they stand")
    install = add("install", "install an extension from a folder, or from git")
    install.add_argument("source", metavar="FOLDER|ADDRESS")
    for action, words in _OF_ONE.items():
        add(action, words).add_argument("name", metavar="NAME")
    require = add("require", "refuse what an extension would be asked about and does not answer")
    require.add_argument("name", metavar="NAME")
    require.add_argument("--no", action="store_true", help="no longer")
    logs = add("logs", "print what an extension wrote to stderr")
    logs.add_argument("name", metavar="NAME")
    logs.add_argument("-f", "--follow", action="store_true", help="and what it goes on to write")
    for action, words in _OF_A_REPOSITORY.items():
        add(action, words).add_argument("folder", metavar="DIR", nargs="?", default=".")
    run_one = add("run", "run an extension's Python file, with lsp_agent.ext; for manifests")
    run_one.add_argument("file", metavar="FILE")
    run_one.add_argument("arguments", metavar="ARGUMENT", nargs=argparse.REMAINDER)


_OF_ONE: Mapping[str, str] = {
    "remove": "delete an extension",
    "enable": "run an extension again",
    "disable": "keep an extension without running it",
}
_OF_A_REPOSITORY: Mapping[str, str] = {
    "trust": f"let the extensions in a repository's {REPOSITORY_FOLDER} run, as they are now",
    "distrust": "take that back",
}


def run(args: argparse.Namespace) -> int:
    _ACTIONS[args.action](args)
    return 0


def _list(_: argparse.Namespace) -> None:
    from lsp_agent.runtime import extension_store as store  # noqa: PLC0415  see ``_run``

    found = [_row(folder, "") for folder in store.installed()]
    repository = extensions_in(Path.cwd() / REPOSITORY_FOLDER)
    if repository:
        of = "this repository's" if why_not_trusted(str(Path.cwd())) is None else "not trusted"
        found += [_row(folder, f", {of}") for folder in repository]
    found += [_row(folder, ", zot's") for folder in extensions_in(zot_folder(os.environ))]
    if not found:
        print("No extensions; lsp-agent ext install FOLDER brings one.")
        return
    widths = [max(map(len, column)) for column in zip(*found, strict=True)]
    for row in found:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _row(folder: Path, whose: str) -> tuple[str, str, str, str]:
    """Name, version, state, description."""
    from lsp_agent.runtime import extension_store as store  # noqa: PLC0415  see ``_run``

    try:
        manifest = Manifest.read(str(folder))
    except ExtensionProblem as problem:
        return _printable(folder.name), "", f"broken{whose}", _printable(str(problem))
    state = "enabled" if manifest.enabled else "disabled"
    if manifest.required:
        state += ", required"
    if problem := store.why_not_startable(manifest):
        state += f", {_printable(problem)}"
    described = _printable(manifest.description)
    return manifest.name, _printable(manifest.version), state + whose, described


def _printable(text: str) -> str:
    """A manifest's own words must not steer a terminal."""
    return "".join(character if is_seen(character) else " " for character in text)


def _install(args: argparse.Namespace) -> None:
    from lsp_agent.runtime import extension_store as store  # noqa: PLC0415  see ``_run``

    manifest = store.install(args.source)
    folder = escaped_line(manifest.folder)
    print(f"Installed {manifest.name} in {folder}; it runs from the agent's next start.")
    if problem := store.why_not_startable(manifest):
        print(f"It cannot be started yet: {_printable(problem)}.")


def _remove(args: argparse.Namespace) -> None:
    from lsp_agent.runtime import extension_store as store  # noqa: PLC0415  see ``_run``

    store.remove(args.name)
    print(f"Removed {args.name}.")


def _enable(args: argparse.Namespace) -> None:
    _change(args.name, "runs", enabled=True)


def _disable(args: argparse.Namespace) -> None:
    _change(args.name, "does not run", enabled=False)


def _require(args: argparse.Namespace) -> None:
    required = not args.no
    _change(args.name, "is required" if required else "is not required", required=required)


def _change(name: str, how: str, **values: object) -> None:
    from lsp_agent.runtime import extension_store as store  # noqa: PLC0415  see ``_run``

    store.change(name, **values)
    print(f"{name} {how}, from the agent's next start on.")


def _logs(args: argparse.Namespace) -> None:
    from lsp_agent.runtime.extension_log import log_path  # noqa: PLC0415  see ``_run``

    if not is_name(args.name):
        raise UsageError(f"{args.name!r} is no name of an extension")
    path = log_path(args.name)
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise ExtensionProblem(f"{args.name} has written no log yet; it would be {path}") from None
    with ExitStack() as files:
        _print(files.enter_context(file))
        while args.follow:
            time.sleep(_POLL_SECONDS)
            _print(file)
            with suppress(FileNotFoundError):  # for a moment there is none
                if not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    _print(file)  # what came before it was put aside
                    files.close()
                    file = files.enter_context(path.open("rb"))
                    _print(file)


def _print(file: BinaryIO) -> None:
    """What is new. An extension writes there what others told it."""
    text = file.read().decode(errors="replace")
    sys.stdout.write(escaped_lines(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


def _trust(args: argparse.Namespace) -> None:
    folder = Path(args.folder).resolve()
    found = extensions_in(folder / REPOSITORY_FOLDER)
    if not found:
        raise ExtensionProblem(f"{folder} has no extensions in {REPOSITORY_FOLDER}")
    trust(str(folder))
    names = ", ".join(_printable(each.name) for each in found)
    print(f"Trusted in {escaped_line(str(folder))}, as long as they stay as they are: {names}.")


def _distrust(args: argparse.Namespace) -> None:
    folder = Path(args.folder).resolve()
    how = "is no longer" if distrust(str(folder)) else "was not"
    print(f"{escaped_line(str(folder))} {how} trusted.")


def _run(args: argparse.Namespace) -> None:
    """In this process: little of ours is imported before, so that it starts quickly."""
    path = Path(args.file).resolve()
    if not path.is_file():
        raise ExtensionProblem(f"{path} is no file; name the extension's Python program")
    sys.argv = [str(path), *args.arguments]
    sys.path.insert(0, str(path.parent))
    try:
        runpy.run_path(str(path), run_name="__main__")
    except Exception:  # noqa: BLE001  its author's: the whole of it belongs into its log
        traceback.print_exc()
        raise SystemExit(1) from None


_ACTIONS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "list": _list,
    "install": _install,
    "remove": _remove,
    "enable": _enable,
    "disable": _disable,
    "require": _require,
    "logs": _logs,
    "trust": _trust,
    "distrust": _distrust,
    "run": _run,
}
