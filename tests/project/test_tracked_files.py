"""What is in the repository fits any machine."""

import re
import subprocess
from pathlib import Path

import pytest

from lsp_agent.cli import main as cli

ROOT = Path(__file__).parents[2]
LARGEST = 2_000_000

#: Written apart, so that this file does not name them itself.
MACHINE_PATHS = ["/" + "work/", "/" + "root/", "/" + "opt/wheels", "/" + "Users/", ".py" + "env/"]
REGISTRIES = ["pypi" + ".org", "python" + "hosted.org", "npm" + "js.", "proxy.go" + "lang"]


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        pytest.fail("this is no clone: git ls-files says " + listed.stderr.decode())
    files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in files if path.is_file()]


def test_no_file_names_a_path_of_one_machine_or_a_package_registry():
    unwanted = re.compile("|".join(re.escape(text) for text in MACHINE_PATHS + REGISTRIES))
    found = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in tracked()
        if (match := unwanted.search(path.read_bytes().decode("utf-8", "replace")))
    }
    assert not found


def test_no_file_is_huge():
    assert not [path for path in tracked() if path.stat().st_size > LARGEST]


def test_every_command_of_the_command_line_has_a_module():
    folder = ROOT / "lsp_agent" / "cli"
    assert not [name for name in cli.COMMANDS if not (folder / f"{name}.py").is_file()]
