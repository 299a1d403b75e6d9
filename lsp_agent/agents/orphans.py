"""The last resort: what is left of an agent whose supervisor was killed."""

import os
import time
from contextlib import suppress
from pathlib import Path

from lsp_agent.agents.guard import path_of, supervise

_PR_SET_CHILD_SUBREAPER = 36

#: One that sleeps in the kernel is killed, but dies when it wakes.
_SECONDS = 2.0


def adopt_orphans() -> None:
    """From now on this process becomes the parent of what killed supervisors leave behind; to
    be called before a supervisor is started. Linux only."""
    if supervise.LINUX:
        import ctypes  # noqa: PLC0415 - slow to import, and not needed elsewhere

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_orphans(supervisor: int) -> int:
    """Kills what belonged to that supervisor (its pid) until none is left; returns how many.

    The agent died with it, but the agent's commands came to us (``adopt_orphans``), those that
    have left its session and environment (``env -i setsid``) as well. Linux only: elsewhere
    nothing is found.
    """
    if not supervise.LINUX:
        return 0
    killed: set[tuple[int, str]] = set()
    refused: set[tuple[int, str]] = set()
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        table = supervise.process_table()
        for process in table:
            if process.zombie and process.parent == os.getpid():
                _reap(process, supervisor)
        found = [process for process in table if _is_of(process, supervisor)]
        found = [process for process in found if process.key not in refused]
        if not found:
            break
        for process in found:
            (killed if supervise.kill_process(process) else refused).add(process.key)
        time.sleep(0.002)
    return len(killed)


def _is_of(process: supervise.Process, supervisor: int) -> bool:
    if process.zombie:
        return False
    if process.parent == os.getpid() and _is_adopted(process.pid):
        return True
    return process.session == supervisor or _is_marked(process.pid, supervisor)


def _reap(process: supervise.Process, supervisor: int) -> None:
    """Supervisors are left to asyncio, which waits for them."""
    if process.pid != supervisor and process.name != supervise.NAME:
        with suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def _is_adopted(pid: int) -> bool:
    """Whether a child of ours is none that we started: those are supervisors, or about to be."""
    line = _contents(pid, "cmdline")
    return path_of(supervise).encode() not in line and line != _contents(os.getpid(), "cmdline")


def _is_marked(pid: int, supervisor: int) -> bool:
    environment = _contents(pid, "environ").split(b"\0")
    return f"{supervise.MARK}={supervisor}".encode() in environment


def _contents(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""  # it ended, or it is another user's
