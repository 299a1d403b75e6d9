"""A person's project a test, and an editor with it; or a desk, a Neovim with folders of its own."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from plain_emacs import Emacs
from plain_helix import Helix
from plain_kakoune import Kakoune
from plain_kate import Kate
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


@pytest.fixture
def helix(project: PlainProject) -> Iterator[Helix]:
    with closing(Helix(project)) as editor:
        yield editor


@pytest.fixture
def emacs(project: PlainProject) -> Iterator[Emacs]:
    with closing(Emacs(project)) as editor:
        yield editor


@pytest.fixture
def kakoune(project: PlainProject) -> Iterator[Kakoune]:
    with closing(Kakoune(project)) as editor:
        yield editor


@pytest.fixture
def kate(project: PlainProject) -> Iterator[Kate]:
    with closing(Kate(project)) as editor:
        yield editor
