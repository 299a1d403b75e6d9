"""Whether a command runs, where it does nothing but show that."""

import subprocess
from collections.abc import Sequence

from lsp_agent.sandbox.hold import Hold

NOTHING = Hold(folders=(), read_only=(), hidden=(), network=False)


def fault(command: Sequence[str], seconds: float) -> str | None:
    """Why it fails, in its own words."""
    try:
        done = run(command, seconds)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return words_of(done) if done.returncode else None


def run(command: Sequence[str], seconds: float) -> "subprocess.CompletedProcess[bytes]":
    """:raises OSError, TimeoutExpired:"""
    return subprocess.run(  # noqa: S603  of our own words
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
    )


def words_of(done: "subprocess.CompletedProcess[bytes]") -> str:
    """Why it ended as it did, as far as it says so."""
    return done.stderr.decode(errors="replace").strip() or f"exit {done.returncode}"
