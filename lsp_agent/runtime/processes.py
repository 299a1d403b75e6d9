"""Processes and all that they start: how to end them so that nothing stays behind.

Linux: the agent makes itself the reaper of its orphans, so that what a command daemonised
(``setsid``, a double fork) stays below it and is found in ``/proc``. Elsewhere only the process
group is ended; a child that has left it is missed.
"""

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress

from lsp_agent.processes.system import Process, this_system

_ROUNDS = 200
_BETWEEN_ROUNDS = 0.005


def signal_group(leader: int, number: signal.Signals) -> None:
    """To the process group that ``leader`` leads, if there still is one."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


async def end_tree(root: int | None, is_other: Callable[[int], bool]) -> None:
    """Kills the group of ``root``, its descendants and the orphans of this process; of None only
    the orphans.

    ``root`` leads a process group and is a child of this process, whose exit status is left to
    whoever waits for it. ``is_other`` tells which other direct children stay. Returns when none
    is left, at the latest after a second or so: a process in an uninterruptible system call
    dies when it comes out of it.
    """
    for _ in range(_ROUNDS):
        if root is not None:
            signal_group(root, signal.SIGKILL)
        if not await asyncio.to_thread(_kill_all, root, is_other):
            return
        await asyncio.sleep(_BETWEEN_ROUNDS)


def _kill_all(root: int | None, is_other: Callable[[int], bool]) -> bool:
    """Whether there was anything that may still live."""
    if not this_system().adopts_orphans:
        return False
    family = _family(root, is_other)
    alive = [process for process in family if not process.ended]
    for process in alive:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, signal.SIGKILL)
    for process in family:
        if process.ended and process.parent == os.getpid() and process.pid != root:
            with suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)
    return bool(alive)


def _family(root: int | None, is_other: Callable[[int], bool]) -> list[Process]:
    """``root`` and the orphans of this process, with all descendants."""
    children: dict[int, list[Process]] = {}
    for process in this_system().processes():
        children.setdefault(process.parent, []).append(process)
    own = children.get(os.getpid(), [])
    waiting = [process for process in own if process.pid == root or not is_other(process.pid)]
    found: list[Process] = []
    while waiting:
        process = waiting.pop()
        found.append(process)
        waiting += children.get(process.pid, [])
    return found
