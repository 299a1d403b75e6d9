"""``lsp-agent`` itself: choosing a command, and failing in one line."""

import argparse
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from lsp_agent import __version__
from lsp_agent.cli import main as cli
from lsp_agent.protocol.errors import RequestFailed, UsageError


def lsp_agent(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lsp_agent", *args]
    return subprocess.run(
        command, env=os.environ | env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def command(monkeypatch):
    """Makes ``lsp-agent probe`` run what it is given."""

    def install(run):
        def add_arguments(parser: argparse.ArgumentParser) -> None:
            parser.add_argument("--level", type=int)

        module = SimpleNamespace(add_arguments=add_arguments, run=run)
        monkeypatch.setitem(sys.modules, "lsp_agent.cli.probe", module)
        monkeypatch.setattr(cli, "COMMANDS", {"probe": "try something"})

    return install


def raising(error: BaseException):
    def run(args: argparse.Namespace) -> int:
        raise error

    return run


def test_the_version_is_printed():
    assert lsp_agent("--version").stdout == f"lsp-agent {__version__}\n"


def test_help_lists_every_command():
    done = lsp_agent("--help")
    assert done.returncode == 0
    assert all(f"  {name}" in done.stdout for name in cli.COMMANDS)


@pytest.mark.parametrize("args", [(), ("sreve",), ("--sreve",), ("serve", "--no-such-option")])
def test_wrong_use_is_one_line_and_exit_code_2(args):
    done = lsp_agent(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("lsp-agent: ")
    assert done.stderr.count("\n") == 1


def test_only_the_chosen_command_is_imported():
    watch = "import sys; from lsp_agent.cli.main import main; main(['{}']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", watch.format("nothing")], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"pygls", "lsprotocol", "pydantic", "anyio", "rich"}


def test_a_command_gets_its_arguments_and_gives_the_exit_code(command):
    command(lambda args: args.level)
    assert cli.main(["probe", "--level", "3"]) == 3


def test_an_abbreviated_option_is_refused(command, capsys):
    command(lambda args: 0)
    assert cli.main(["probe", "--lev", "3"]) == 2
    assert "see lsp-agent probe --help" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("--level needs a number"), 2, "--level needs a number"),
        (RequestFailed("noFolder", "open a folder"), 1, "open a folder"),
        (ExceptionGroup("tasks", [RequestFailed("busy", "wait")]), 1, "wait"),
        (ValueError("two\nlines"), 1, "unexpected error: ValueError: two lines"),
        (
            ExceptionGroup("tasks", [ExceptionGroup("more", [KeyError("a")]), OSError("b")]),
            1,
            "unexpected error: KeyError: 'a'; OSError: b",
        ),
        (KeyboardInterrupt(), 130, ""),
        (BaseExceptionGroup("tasks", [KeyboardInterrupt(), RequestFailed("busy", "")]), 130, ""),
        (BaseExceptionGroup("tasks", [SystemExit(3), RequestFailed("busy", "wait")]), 1, "wait"),
    ],
)
def test_an_error_is_one_line_and_never_a_traceback(command, capsys, error, code, message):
    command(raising(error))
    assert cli.main(["probe"]) == code
    printed = capsys.readouterr().err
    assert message in printed
    assert printed.count("\n") == (1 if message else 0)


def test_a_reader_that_goes_away_is_no_error_to_report():
    code = (
        "import sys, types; from lsp_agent.cli import main as m\n"
        "m.COMMANDS = {'probe': 'p'}\n"
        "run = lambda args: print('x' * 1000000) or 0\n"
        "probe = types.SimpleNamespace(add_arguments=lambda p: None, run=run)\n"
        "sys.modules['lsp_agent.cli.probe'] = probe\n"
        "sys.exit(m.main(['probe']))\n"
    )
    pipe = subprocess.Popen([sys.executable, "-c", code], stdout=-1, stderr=-1)
    assert pipe.stdout is not None
    assert pipe.stderr is not None
    pipe.stdout.close()
    assert pipe.stderr.read() == b""
    assert pipe.wait() == 1
    pipe.stderr.close()
