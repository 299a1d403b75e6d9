"""The embedded agent runs in the workspace, which must not be able to replace it."""

import os
import subprocess
from pathlib import Path

from lsp_agent import __version__
from lsp_agent.protocol.settings.sources import builtin_command, load


def make_trap(folder: Path) -> None:
    """Modules that the embedded agent would import, if it looked there."""
    for name in ("lsp_agent", "orjson", "json"):
        package = folder / name
        package.mkdir(parents=True)
        for module in ("__init__", "__main__"):
            (package / f"{module}.py").write_text("raise SystemExit('the trap')\n")


def started_in(folder: Path, env: dict[str, str]) -> str:
    command = [*builtin_command()[:-1], "--version"]
    done = subprocess.run(
        command, cwd=folder, env=os.environ | env, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_a_package_of_our_name_in_the_workspace_is_not_imported(tmp_path):
    make_trap(tmp_path)
    assert started_in(tmp_path, {}) == f"lsp-agent {__version__}"


def test_pythonpath_cannot_bring_one_in_either(tmp_path):
    make_trap(tmp_path / "lib")
    for value in (str(tmp_path / "lib"), "lib"):
        assert started_in(tmp_path, {"PYTHONPATH": value}) == f"lsp-agent {__version__}"


def test_lsp_agent_in_a_command_is_the_program_that_runs():
    agents = {"mine": {"wire": "zot", "command": ["lsp-agent", "rpc", "--script", "a.json"]}}
    settings = load(initialization_options={"agents": agents}).settings
    assert settings.agents["mine"].command == [*builtin_command(), "--script", "a.json"]
