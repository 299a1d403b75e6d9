"""Whether processes that a test has started are gone."""

import time
from collections.abc import Iterable

import psutil


def alive(process: psutil.Process) -> bool:
    """Not so: one that ended, whether or not anybody has taken notice of it."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def outliving(processes: Iterable[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Those that run for that long still. psutil's own wait fails on some kernels where a process
    ends just as it asks for it."""
    deadline = time.monotonic() + seconds
    while (left := [each for each in processes if alive(each)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return left
