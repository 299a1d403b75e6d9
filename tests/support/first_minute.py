"""A person's first minute: an empty home, the wheel as a registry would have it, and a film of the
steps, which the run prints as a table."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
UV = Path(sys.prefix) / "uv" / "bin"
#: What leads to the registry, in the words of pip and in uv's.
_REGISTRY = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_CERT": "SSL_CERT_FILE"}

TITLE = "First minutes, from an empty home to an edit"
HEAD = f"{'in':<28} | {'step':<44} | seconds"

Record = Callable[[str, object], None]


def build_wheel(folder: Path) -> Path:
    """Of this repository, into ``folder``."""
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT]
    subprocess.run(command, check=True, capture_output=True, timeout=200)
    return next(folder.glob("*.whl"))


def uv_environment(home: Path, wheel: Path) -> dict[str, str]:
    """In which uv has nothing of the real person's, and finds ``wheel`` beside the registry."""
    given = {theirs: os.environ[pips] for pips, theirs in _REGISTRY.items() if pips in os.environ}
    given |= {name: value for name, value in os.environ.items() if name == "SSL_CERT_FILE"}
    path = os.pathsep.join([str(UV), str(home / ".local" / "bin"), "/usr/bin", "/bin"])
    return given | {
        "HOME": str(home),
        "PATH": path,
        "UV_FIND_LINKS": str(wheel.parent),
        # Where it is not told of the registry's certificate.
        "UV_SYSTEM_CERTS": "1",
        "UV_PYTHON": os.path.realpath(sys.executable),
        "UV_PYTHON_DOWNLOADS": "never",
    }


class Film:
    """The steps of one person, with the seconds since the one before."""

    def __init__(self, place: str, record: Record) -> None:
        self._place = place
        self._record = record
        self._begun = self._last = time.monotonic()
        self._steps = 0

    def did(self, step: str) -> None:
        now = time.monotonic()
        self._steps += 1
        self._row(f"{self._steps}. {step}", now - self._last)
        self._last = now

    def ends(self) -> None:
        self._row("all", self._last - self._begun)
        assert self._steps <= 5

    def _row(self, step: str, seconds: float) -> None:
        row = f"{self._place:<28} | {step:<44} | {seconds:7.1f}"
        self._record("table", (TITLE, HEAD, row))


def run(env: Mapping[str, str], cwd: Path, *command: str) -> str:
    """What it printed. As a shell, looks for the program on the PATH of ``env``."""
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
