"""Has a forked server (``zygote.py``) fork its embedded agent too, whose imports are most of what
a turn takes in a test.

The agent is a child of its supervisor, and that of the server, as when they are executed; each
runs its own code in the process that would have executed it. What a start alone can show
(``forked.OF_A_START``), and an agent of another Python, is executed.
"""

import asyncio
import contextvars
import gc
import logging
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from lsp_agent.agents.guard import path_of, supervise
from lsp_agent.cli.main import main
from support import forked

_SUPERVISOR = [sys.executable, "-I", "-S", path_of(supervise)]
#: Of what a supervisor is started with, before its agent: its socket, and "--".
_ITS_OWN = 2
_AGENTS = [[sys.executable, *flags, "-m", "lsp_agent", "rpc"] for flags in (["-P"], ["-E", "-P"])]
_PYTHON = Path("/proc/self/comm").read_text().rstrip()
_EXECUTE = os.execv


def fork_agents() -> None:
    """From now on, in this process and what is forked from it."""
    execute: Callable[..., int] = vars(subprocess)["_fork_exec"]

    def fork_or_execute(*given: Any) -> int:
        # As CPython's _posixsubprocess.fork_exec takes them; [3] to [5] are descriptors to keep,
        # folder and environment, [6], [9] and [11] its side of the pipes.
        command = [os.fsdecode(word) for word in given[0]]
        agent = command[len(_SUPERVISOR) + _ITS_OWN :]
        if command[: len(_SUPERVISOR)] != _SUPERVISOR or not _is_ours(agent):
            return execute(*given)
        env = dict(os.fsdecode(variable).split("=", 1) for variable in given[5])
        if forked.OF_A_START & env.keys():
            return execute(*given)
        pid = os.fork()
        if pid == 0:
            _run(lambda: _supervise(command, (given[6], given[9], given[11]), given[4], env))
        return pid

    vars(subprocess)["_fork_exec"] = fork_or_execute


def _is_ours(agent: Sequence[str]) -> bool:
    return any(list(agent[: len(start)]) == start for start in _AGENTS)


def _run(code: Callable[[], int]) -> NoReturn:
    """In a process just forked, whose stack below is the other's."""
    gc.freeze()  # what the other has is not finalized here: its descriptors are ours by now
    asyncio.events._set_running_loop(None)
    number = 1
    try:
        number = contextvars.Context().run(code)
    except SystemExit as end:
        number = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - as where a program ends
        traceback.print_exc()
    finally:
        os._exit(number)


def _supervise(
    command: Sequence[str], standard: Sequence[int], folder: str | bytes, env: Mapping[str, str]
) -> int:
    os.setsid()
    arguments = command[len(_SUPERVISOR) - 1 :]
    forked.take_streams(standard, [int(arguments[1])])
    forked.take_signals()
    os.chdir(folder)
    forked.take_environment(env)
    forked.show(command)
    vars(os)["execv"] = _become_agent
    return supervise.main(arguments)


def _become_agent(_program: str, command: Sequence[str]) -> NoReturn:
    """In the place of ``os.execv``, by the supervisor's child."""
    vars(os)["execv"] = _EXECUTE
    forked.take_streams((0, 1, 2))
    forked.take_signals()
    forked.show(command)
    Path("/proc/self/comm").write_text(_PYTHON)
    logging.getLogger().handlers.clear()
    logging.getLogger().setLevel(logging.WARNING)
    forked.take_arguments(command[command.index("rpc") :])
    _run(main)
