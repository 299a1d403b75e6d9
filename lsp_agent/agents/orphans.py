"""The last resort: what is left of an agent whose supervisor was killed."""

import os
import time
from contextlib import suppress

from lsp_agent.agents.guard import path_of, supervise
from lsp_agent.processes.system import Process, System, this_system

#: One that sleeps in the kernel is killed, but dies when it wakes.
_SECONDS = 2.0


def kill_orphans(supervisor: int) -> int:
    """Kills what belonged to that supervisor (its pid) until none is left; returns how many.

    The agent died with it, but the agent's commands came to us (``System.adopt_orphans``), those
    that have left its session and environment (``env -i setsid``) as well. Where a system has no
    such adoption nothing is found.
    """
    system = this_system()
    if not system.adopts_orphans:
        return 0
    killed: set[tuple[int, str]] = set()
    refused: set[tuple[int, str]] = set()
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        table = system.processes()
        for process in table:
            if process.ended and process.parent == os.getpid():
                _reap(process, supervisor)
        found = [process for process in table if _is_of(process, supervisor, system)]
        found = [process for process in found if process.key not in refused]
        if not found:
            break
        for process in found:
            (killed if supervise.kill_process(process.pid) else refused).add(process.key)
        time.sleep(0.002)
    return len(killed)


def _is_of(process: Process, supervisor: int, system: System) -> bool:
    if process.ended:
        return False
    if process.parent == os.getpid() and _is_adopted(process.pid, system):
        return True
    return process.session == supervisor or _is_marked(process.pid, supervisor, system)


def _reap(process: Process, supervisor: int) -> None:
    """Supervisors are left to asyncio, which waits for them."""
    if process.pid != supervisor and process.name != supervise.NAME:
        with suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)


def _is_adopted(pid: int, system: System) -> bool:
    """Whether a child of ours is none that we started: those are supervisors, or about to be."""
    line = system.command_line(pid)
    return path_of(supervise).encode() not in line and line != system.command_line(os.getpid())


def _is_marked(pid: int, supervisor: int, system: System) -> bool:
    environment = system.environment(pid).split(b"\0")
    return f"{supervise.MARK}={supervisor}".encode() in environment
