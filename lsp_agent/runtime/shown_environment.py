"""The environment that a process began with, as the kernel shows it to every process of the same
user, commands included: unsetting a variable leaves it there."""

import os
import sys
from pathlib import Path

_SHOWN = Path("/proc/self/environ")
#: Of /proc/self/stat, counted from the state on: where in memory the environment begins.
_ENV_START = 47


def take(name: str) -> str:
    """The value of that variable, which is nowhere in the environment any more; "" without it."""
    value = os.environ.pop(name, "")
    if value and _SHOWN.exists():  # elsewhere than on Linux nothing is shown there
        try:
            _blot(os.fsencode(name))
        except OSError as error:
            told = f"lsp-agent rpc: commands can read {name} in /proc ({error.strerror})"
            print(told, file=sys.stderr, flush=True)
    return value


def _blot(name: bytes) -> None:
    """Nothing of the process refers to the bytes once the variable is unset."""
    begins = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[_ENV_START])
    at = 0
    with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
        for variable in _SHOWN.read_bytes().split(b"\0"):
            if variable.startswith(name + b"="):
                memory.seek(begins + at)
                memory.write(bytes(len(variable)))
            at += len(variable) + 1
