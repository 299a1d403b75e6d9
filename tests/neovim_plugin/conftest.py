"""A Neovim with the plugin installed as a package in a bare home folder."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

# The harness of the plain Neovim: the process, its screen, the scripted agent.
sys.path.insert(0, str(Path(__file__).parents[1] / "editors"))

import neovim_versions
from plugin_desk import PluginDesk


@pytest.fixture(params=neovim_versions.parameters())
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PluginDesk]:
    version = neovim_versions.found()[request.param]
    # Sockets' addresses are short: pytest's own folders are too deep for them.
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    folders = {f"XDG_{k}_HOME": str(tmp_path / k) for k in ("CONFIG", "DATA", "STATE", "CACHE")}
    env = os.environ | folders | {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(runtime)}
    desk = PluginDesk(version, tmp_path, env)
    try:
        yield desk
    finally:
        print(desk.report())  # shown where the test fails
        desk.nvim.close()
        shutil.rmtree(runtime, ignore_errors=True)
