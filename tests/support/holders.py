"""The ways of holding a command, as parameters of tests."""

import subprocess
import sys
from pathlib import Path

import pytest

from lsp_agent.sandbox.hold import Hold, Holder
from support.project import Project

BUBBLEWRAP = pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)
LANDLOCK = pytest.param("landlock", marks=pytest.mark.landlock)
WAYS = [BUBBLEWRAP, LANDLOCK]

_WITHOUT_BUBBLEWRAP = Path(__file__).parent / "doubles" / "without_bubblewrap.py"


def hold_by(way: str, project: Project) -> None:
    """The servers that are started from here on."""
    if way == "landlock":
        project.program = [sys.executable, "-P", str(_WITHOUT_BUBBLEWRAP)]


def run_held(
    holder: Holder, hold: Hold, cwd: Path, command: str
) -> "subprocess.CompletedProcess[str]":
    """A shell's command line, to its end; what it answers is not looked at."""
    return subprocess.run(
        [*holder.words(hold, str(cwd)), "sh", "-c", command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
