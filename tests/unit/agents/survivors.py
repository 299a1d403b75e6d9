"""Which processes of a test are still there, as /proc says."""

import time
from pathlib import Path


def survivors(tag: str) -> list[str]:
    """The living processes with ``tag`` in their environment or their arguments."""
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
            command = (folder / "cmdline").read_bytes()
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        if state not in b"ZX" and tag.encode() in command + b"\0" + environment:
            found.append(f"{folder.name}: {command.replace(bytes(1), b' ').decode()}")
    return found


def wait_until_gone(tag: str, seconds: float = 3.0) -> list[str]:
    """What is left of them after that time, at once if nothing is."""
    deadline = time.monotonic() + seconds
    while (left := survivors(tag)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return left
