"""A Neovim with the plugin installed as a package in a bare home folder."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The harness of the plain Neovim: the process, its screen, the scripted agent; and a real pi's.
for _folder in ("editors", "server", "agents_real"):
    sys.path.insert(0, str(Path(__file__).parents[1] / _folder))

import neovim_versions  # noqa: E402
from neovim_desk import seated  # noqa: E402
from plugin_desk import PluginDesk  # noqa: E402


@pytest.fixture(params=neovim_versions.parameters())
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PluginDesk]:
    with seated(PluginDesk, neovim_versions.found()[request.param], tmp_path) as desk:
        yield desk
