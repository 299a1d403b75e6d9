"""A Neovim with the plugin installed as a package in a bare home folder."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The harness of the plain Neovim: the process, its screen, the scripted agent.
sys.path.insert(0, str(Path(__file__).parents[1] / "editors"))

import neovim_versions
from neovim_desk import seated
from plugin_desk import PluginDesk


@pytest.fixture(params=neovim_versions.parameters())
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PluginDesk]:
    with seated(PluginDesk, neovim_versions.found()[request.param], tmp_path) as desk:
        yield desk
