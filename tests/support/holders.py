"""The ways of holding a command, as parameters of tests."""

import sys
from pathlib import Path

import pytest

from support.project import Project

BUBBLEWRAP = pytest.param("bubblewrap", marks=pytest.mark.bubblewrap)
LANDLOCK = pytest.param("landlock", marks=pytest.mark.landlock)
WAYS = [BUBBLEWRAP, LANDLOCK]

_WITHOUT_BUBBLEWRAP = Path(__file__).parent / "doubles" / "without_bubblewrap.py"


def hold_by(way: str, project: Project) -> None:
    """The servers that are started from here on."""
    if way == "landlock":
        project.program = [sys.executable, "-P", str(_WITHOUT_BUBBLEWRAP)]
