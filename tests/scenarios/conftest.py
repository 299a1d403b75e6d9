"""The twelve scenarios run over every agent."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "server"))
sys.path.insert(0, str(Path(__file__).parents[1] / "agents_real"))

from actors import ACTORS, Actor
from project import Project, new_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


@pytest.fixture(
    params=[
        pytest.param(actor, marks=[getattr(pytest.mark, mark)] if mark else [], id=actor.name)
        for actor, mark in ACTORS.items()
    ]
)
def actor(request: pytest.FixtureRequest, project: Project) -> Iterator[Actor]:
    with request.param(project) as made:
        yield made
