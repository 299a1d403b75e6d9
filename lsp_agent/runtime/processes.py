"""Processes and all that they start: how to end them so that nothing stays behind.

Linux: the agent makes itself the reaper of its orphans, so that what a command daemonised
(``setsid``, a double fork) stays below it and is found in ``/proc``. Elsewhere only the process
group is ended; a child that has left it is missed.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_ROUNDS = 200
_BETWEEN_ROUNDS = 0.005


def adopt_orphans() -> None:
    """Makes this process the parent of its descendants' orphans; Linux only, harmless twice."""
    if sys.platform != "linux":
        return
    import ctypes  # noqa: PLC0415  only needed once a command runs

    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


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


@dataclass(frozen=True, slots=True)
class _Process:
    """``ended``: it is a zombie, only its exit status is still there."""

    pid: int
    parent: int
    ended: bool


def _family(root: int | None, is_other: Callable[[int], bool]) -> list[_Process]:
    """``root`` and the orphans of this process, with all descendants."""
    children: dict[int, list[_Process]] = {}
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
    own = children.get(os.getpid(), [])
    waiting = [process for process in own if process.pid == root or not is_other(process.pid)]
    found: list[_Process] = []
    while waiting:
        process = waiting.pop()
        found.append(process)
        waiting += children.get(process.pid, [])
    return found


def _processes() -> Iterator[_Process]:
    if sys.platform != "linux":
        return
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit() and (process := _process(entry.name)) is not None:
                yield process


def _process(pid: str) -> _Process | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The command's name stands in parentheses and may hold anything, a ")" included.
    state, parent = stat.rpartition(b")")[2].split()[:2]
    return _Process(int(pid), int(parent), state in (b"Z", b"X"))
