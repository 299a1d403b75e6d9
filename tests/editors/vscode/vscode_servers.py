"""The processes of a window that are no browser's: the server's, and the extensions'."""

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil


def servers(home: Path) -> list[psutil.Process]:
    """Those of the window of the person who has that home, held or running."""
    return _with("serve", home)


def extension_hosts(home: Path) -> list[psutil.Process]:
    """The processes in which that person's window runs its extensions."""
    return _with("--type=extensionHost", home)


def _with(word: str, home: Path) -> list[psutil.Process]:
    found = [p for p in psutil.process_iter(["cmdline"]) if word in (p.info["cmdline"] or [])]
    return [process for process in found if _home_of(process) == str(home)]


def _home_of(process: psutil.Process) -> str | None:
    try:
        return process.environ().get("HOME")
    except psutil.Error:
        return None


@contextmanager
def held(found: Sequence[psutil.Process]) -> Iterator[None]:
    """They answer nothing meanwhile, and all afterwards."""
    assert found
    for process in found:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in found:
            process.send_signal(signal.SIGCONT)
