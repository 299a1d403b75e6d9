"""A project a test, with servers that are gone at its end."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from project import Project, new_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made
