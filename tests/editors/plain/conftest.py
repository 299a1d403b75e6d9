"""A person's project a test; or a desk, a Neovim with folders of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_project import PlainProject
from support import neovim_versions
from support.neovim_desk import Desk, seated


@pytest.fixture(params=neovim_versions.parameters())
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    with seated(Desk, neovim_versions.found()[request.param], tmp_path) as desk:
        yield desk


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    return PlainProject(tmp_path)
