"""A Neovim with the plugin installed as a package in a bare home folder."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from plugin_desk import PLUGIN, PluginDesk
from plugin_forge import git, git_env

# The harness of the plain Neovim: the process, its screen, the scripted agent; and a real pi's.
from support import neovim_versions
from support.neovim_desk import seated


@pytest.fixture(params=neovim_versions.parameters())
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PluginDesk]:
    version = neovim_versions.found()[request.param]
    cold = request.node.get_closest_marker("cold_start") is not None
    with seated(PluginDesk, version, tmp_path, cold=cold) as desk:
        yield desk


@pytest.fixture(scope="session")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of this repository, with its branch ``neovim``."""
    folder = tmp_path_factory.mktemp("clone") / "whole"
    git("clone", "--quiet", "--shared", str(PLUGIN.parents[1]), str(folder))
    script = folder / "tools" / "neovim_branch.sh"
    subprocess.run([script], cwd=folder, env=git_env(), check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def forge(clone: Path) -> Path:
    """Has that branch alone: managers clone without the files' contents and fetch these one by one,
    which does not end where the history is cut off, as a shallow clone's is."""
    folder = clone.with_name("lsp-agent")
    git("init", "--quiet", "--bare", str(folder))
    git("-C", str(clone), "push", "--quiet", str(folder), "neovim")
    git("-C", str(folder), "symbolic-ref", "HEAD", "refs/heads/neovim")
    for name in ("allowFilter", "allowAnySHA1InWant"):
        git("-C", str(folder), "config", f"uploadpack.{name}", "true")
    return folder
