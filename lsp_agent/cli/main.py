"""``lsp-agent``: chooses the command, and turns its errors into one line and an exit code.

Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted. A command is a module of this package
with ``add_arguments(parser)`` and ``run(args) -> int``; only the chosen one is imported, since
start-up time matters to editors.
"""

import argparse
import errno
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import NoReturn, Protocol, TypeVar, cast

from lsp_agent import __version__
from lsp_agent.cli.surroundings import hold_closed_streams, need_folder
from lsp_agent.protocol.errors import LspAgentError, UsageError, causes

E = TypeVar("E", bound=BaseException)

COMMANDS: Mapping[str, str] = {
    "setup": "choose an agent, and put lsp-agent into an editor's own settings",
    "serve": "run the language server, on stdio unless told otherwise",
    "prompt": "run one turn of an agent here, without an editor",
    "demo": "show the main job from end to end, offline",
    "doctor": "say what would stop the main job here, and what mends it",
    "agents": "list the agents that can be used here, and what brings the others",
    "permissions": "list the commands that you have allowed for good, or take them back",
    "log": "list what was decided on the agents' commands, by whom, and how they ended",
    "rpc": "run the embedded agent, which speaks zot's rpc protocol on stdio",
    "ext": "manage the extensions of the embedded agent",
}

#: Its client names the folders; the editor may have outlived the one that it was started in.
_NEEDS_NO_FOLDER = "serve"

#: Set to anything: an unexpected error shows its traceback. For those who work on lsp-agent.
TRACEBACK_VARIABLE = "LSP_AGENT_TRACEBACK"


class Command(Protocol):
    """What a module of this package offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, args: argparse.Namespace) -> int:
        """The exit code. Raises ``UsageError`` for wrong use, any ``LspAgentError`` to fail."""
        ...


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line ``argv`` (of this process if None); answers its exit code."""
    hold_closed_streams()
    stdout = cast(TextIOWrapper | None, sys.stdout)  # None if it was closed before we began
    if stdout is not None:
        # For what a terminal of another encoding cannot show.
        stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:
        code = 130
    except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001  the process's own boundary
        code = 130 if _within(error, KeyboardInterrupt) else _fail_with(error)
    return code if stdout is None else _flushed(stdout, code)


def _flushed(stdout: TextIOWrapper, code: int) -> int:
    try:
        stdout.flush()
    except OSError as error:
        # Nothing must try to write the rest at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stdout.fileno())
        return code or _fail_with(error)
    return code


def _run(argv: Sequence[str]) -> int:
    if not argv or argv[0] not in COMMANDS:
        return _without_command(argv)
    name = argv[0]
    command = cast(Command, import_module(f"lsp_agent.cli.{name}"))
    parser = _Parser(prog=f"lsp-agent {name}", description=_sentence(COMMANDS[name]))
    command.add_arguments(parser)
    args = parser.parse_args(argv[1:])
    if name != _NEEDS_NO_FOLDER:
        need_folder()
    return command.run(args)


def _without_command(argv: Sequence[str]) -> int:
    """Help, the version, or what is wrong."""
    commands = "\n".join(f"  {name:<12} {summary}" for name, summary in COMMANDS.items())
    parser = _Parser(
        prog="lsp-agent",
        usage="lsp-agent [--version] [--help] COMMAND ...",
        description="A language server that puts a coding agent into any editor.",
        epilog=f"commands (each has its own --help):\n{commands}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"lsp-agent {__version__}")
    rest = parser.parse_known_args(argv)[1]
    if not rest:
        raise UsageError(f"no command given; say one of {', '.join(COMMANDS)}")
    raise UsageError(f"{rest[0]!r} is no command; there are {', '.join(COMMANDS)}")


class _Parser(argparse.ArgumentParser):
    """Errors in one line, and no abbreviated options: a later one could make them ambiguous."""

    def __init__(
        self,
        prog: str,
        description: str,
        usage: str | None = None,
        epilog: str | None = None,
        formatter_class: type[argparse.HelpFormatter] = argparse.HelpFormatter,
    ) -> None:
        super().__init__(
            prog=prog,
            usage=usage,
            description=description,
            epilog=epilog,
            formatter_class=formatter_class,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see {self.prog} --help")


def _fail_with(error: BaseException) -> int:
    known = _within(error, LspAgentError)
    if known is not None:
        return _fail(str(known), 2 if isinstance(known, UsageError) else 1)
    if _within(error, BrokenPipeError) is not None:
        return 1  # whoever read our output is gone, and wants to hear no more
    if os.environ.get(TRACEBACK_VARIABLE):
        raise error
    full = _within(error, OSError)
    if full is not None and full.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return _fail(f"there is no room: {full}; make some and try again", 1)
    what = "; ".join(dict.fromkeys(f"{type(one).__name__}: {one}" for one in causes(error)))
    return _fail(f"unexpected error: {what} ({TRACEBACK_VARIABLE}=1 shows where)", 1)


def _within(error: BaseException, kind: type[E]) -> E | None:
    """The error of that kind in ``error``, which a task group may have wrapped."""
    return next((one for one in causes(error) if isinstance(one, kind)), None)


def _fail(message: str, code: int) -> int:
    from lsp_agent.text.plain import escaped_line  # noqa: PLC0415  not at each start

    # Always one line, and what a server or a file's name says does not steer the terminal.
    print("lsp-agent:", escaped_line(" ".join(message.split())), file=sys.stderr)
    return code


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
