"""A project a test, with servers that are gone at its end."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project import Editor, Project, new_project, step


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """One server for requests that reach no agent."""
    with new_project(tmp_path_factory.mktemp("shared")) as made:
        yield made.editor(step("Never."))
