"""What a process that was forked in a test does to be like one that was executed (Linux)."""

import os
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import lsp_agent

#: Variables that a process reads before it runs our code, or hides where the kernel shows them.
OF_A_START = {"PYTHONPATH", "ZOTCORE_RPC_TOKEN"}
#: Room in memory for what the kernel shows of a process: where it lies cannot be changed. The last
#: argument and a variable of who will be forked from.
ARGUMENT_ROOM = " " * 4096
ENVIRONMENT_ROOM = {"LSP_AGENT_TEST_ROOM": " " * 16384}
#: Of /proc/self/stat, counted from the state on: where in memory arguments and environment lie.
_ARGUMENTS, _ENVIRONMENT = 45, 47
#: Python's own, at a start.
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ)


def take_streams(standard: Sequence[int], kept: Iterable[int] = ()) -> None:
    """In the place of 0, 1 and 2; closes all others but the ``kept`` ones."""
    for number, descriptor in enumerate(standard):
        os.dup2(descriptor, number)
    # The old ones have found out whether theirs can seek.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False, errors="backslashreplace")
    _close_all_but(kept)


def _close_all_but(kept: Iterable[int]) -> None:
    """And the standard ones."""
    begin = 3
    for descriptor in sorted(kept):
        os.closerange(begin, descriptor)
        begin = descriptor + 1
    os.closerange(begin, os.sysconf("SC_OPEN_MAX"))


def take_environment(env: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(env)


def take_arguments(arguments: Sequence[str]) -> None:
    """Those of ``python -m lsp_agent``."""
    sys.argv = [str(Path(lsp_agent.__file__).with_name("__main__.py")), *arguments]


def show(command: Sequence[str]) -> None:
    """``command`` and the environment in what others see of this process."""
    variables = (f"{name}={value}" for name, value in os.environ.items())
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
        for field, words in ((_ARGUMENTS, command), (_ENVIRONMENT, variables)):
            begin, end = map(int, fields[field : field + 2])
            shown = b"".join(os.fsencode(word) + b"\0" for word in words)[: end - begin - 1]
            memory.seek(begin)
            memory.write(shown.ljust(end - begin, b"\0"))


def take_signals() -> None:
    """As at a start of Python: nothing is left of what the process forked from has done."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
