"""A project whose agent, in the person's settings, follows a script."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project import Project, new_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made
