"""The last resort: what is left of an agent whose supervisor was killed."""

import time
from pathlib import Path

from lsp_agent.agents.guard import supervise

#: One that sleeps in the kernel is killed, but dies when it wakes.
_SECONDS = 2.0


def kill_orphans(supervisor: int) -> int:
    """Kills what belonged to that supervisor (its pid) until none is left; returns how many.

    The agent died with it, but the agent's commands went to init. They are told by the
    supervisor's session and by its mark in their environment; a process that left both
    (``env -i setsid``) is missed. Linux only: elsewhere nothing is found.
    """
    if not supervise.LINUX:
        return 0
    killed: set[tuple[int, str]] = set()
    refused: set[tuple[int, str]] = set()
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline:
        found = [process for process in supervise.process_table() if _is_of(process, supervisor)]
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
    return process.session == supervisor or _is_marked(process.pid, supervisor)


def _is_marked(pid: int, supervisor: int) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False  # it ended, or it is another user's
    return f"{supervise.MARK}={supervisor}".encode() in environment
