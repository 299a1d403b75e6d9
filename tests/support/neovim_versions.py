"""Which Neovims the tests run in: the oldest that is supported, 0.11, and the newest.

0.11 is the wheel of the ``neovim`` extra, beside this interpreter; ``.ci/neovims`` brings the
others. Where none of these is, the one on PATH stands in for its version.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from shutil import which

import pytest

#: The first is the one that quick runs take, where it is there.
NAMES = ("0.11", "0.10", "newest")
FETCHED = Path(sys.prefix) / "neovims"


@dataclass(frozen=True)
class Version:
    name: str
    program: Path


@cache
def found() -> dict[str, Version]:
    """By name."""
    beside = which("nvim", path=str(Path(sys.executable).parent))
    fetched = [FETCHED / name / "bin" / "nvim" for name in NAMES]
    programs = [Path(beside)] if beside else []
    programs += [path for path in fetched if os.access(path, os.X_OK)]
    if not programs and (elsewhere := which("nvim")):
        programs.append(Path(elsewhere))
    versions = [Version(name, path) for path in programs if (name := _name(path))]
    return {version.name: version for version in versions}


def _name(program: Path) -> str | None:
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    match = re.match(r"NVIM v0\.(\d+)", shown.stdout)
    if match is None or int(match[1]) < 10:
        return None
    return f"0.{match[1]}" if int(match[1]) < 12 else "newest"


def parameters(*names: str) -> list[object]:
    """For all tests, or those in Neovims of these names; all but one of them slow."""
    quick = next((name for name in NAMES if name in found()), NAMES[0])
    return [
        pytest.param(name, id=name, marks=_marks(name, slow=name != quick))
        for name in names or NAMES
    ]


def _marks(name: str, *, slow: bool) -> list[pytest.MarkDecorator]:
    marks = [getattr(pytest.mark, f"neovim_{name.replace('.', '_')}")]
    if name not in found():
        why = f"no Neovim {name}: .ci/neovims {FETCHED.name} brings one"
        marks.append(pytest.mark.skip(reason=why))
    return [*marks, pytest.mark.slow] if slow else marks
