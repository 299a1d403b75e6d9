"""A desk a test: a Neovim with folders of its own, gone at the end with all that it started."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import neovim_versions
import pytest
from neovim_desk import Desk


@pytest.fixture(params=neovim_versions.parameters())
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    version = neovim_versions.found()[request.param]
    # Sockets' addresses are short: pytest's own folders are too deep for them.
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    folders = {f"XDG_{k}_HOME": str(tmp_path / k) for k in ("CONFIG", "DATA", "STATE", "CACHE")}
    env = os.environ | folders | {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(runtime)}
    desk = Desk(version, tmp_path, env)
    try:
        yield desk
    finally:
        if desk.log.exists():
            print(desk.log.read_text())  # shown where the test fails
        desk.nvim.close()
        shutil.rmtree(runtime, ignore_errors=True)
