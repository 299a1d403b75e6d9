"""Where a run takes place: a private home and workspace, and how much is measured."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from bench import asker, copier, far, puppet, pygls_server, reader
from bench.vscode import Json, initialize_params

_BARE = (sys.executable, "-I", "-S")

PUPPET = (*_BARE, puppet.__file__)
COPIER = (*_BARE, copier.__file__)
FAR = (*_BARE, far.__file__)
#: As text, by the interpreter's own path: this checkout may lie where a held command sees nothing.
ASKER = (os.path.realpath(sys.executable), "-I", "-S", "-c", Path(asker.__file__).read_text())
PYGLS = (sys.executable, "-P", pygls_server.__file__)
READER = (sys.executable, "-P", reader.__file__)


@dataclass(frozen=True, slots=True)
class Sizes:
    """``rounds`` of each measurement; the others count what one round handles."""

    rounds: int
    deltas: int
    drops: int
    held_back: int
    keys: int
    lines: int
    starts: int
    turns: int
    files: int
    seen: int
    commands: int
    requests: int


FULL = Sizes(
    rounds=5,
    deltas=100_000,
    drops=1_000,
    held_back=1_000_000,
    keys=10_000,
    lines=100_000,
    starts=6,
    turns=1_000,
    files=50_000,
    seen=500,
    commands=60,
    requests=200,
)
QUICK = Sizes(
    rounds=2,
    deltas=50_000,
    drops=200,
    held_back=300_000,
    keys=3_000,
    lines=100_000,
    starts=2,
    turns=50,
    files=5_000,
    seen=50,
    commands=5,
    requests=20,
)


@dataclass(frozen=True, slots=True)
class Setting:
    """``folder`` is the workspace; ``home`` takes the place of the user's own folders."""

    home: Path
    folder: Path
    sizes: Sizes

    @property
    def env(self) -> dict[str, str]:
        """For every process alike. Compiled modules are kept for the run, as an installer would
        have done for good."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        return env | {"HOME": str(self.home), "PYTHONPYCACHEPREFIX": str(self.home / "compiled")}

    def params(self) -> Json:
        """``initialize`` with the puppet as the agent, and ``agent/event`` wanted."""
        options = {
            "agent": "puppet",
            "agents": {"puppet": {"wire": "zot", "command": list(PUPPET)}},
        }
        return initialize_params(self.folder, options, events=True)
