"""The agents that every scenario runs over: the embedded one always, zot where there is one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project import Project, new_project
from support.scripted_agents import EmbeddedAgent, ScriptedAgent, ZotAgent


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


@pytest.fixture(params=["embedded", pytest.param("zot", marks=pytest.mark.zot)])
def agent(request: pytest.FixtureRequest, project: Project) -> Iterator[ScriptedAgent]:
    kind = EmbeddedAgent if request.param == "embedded" else ZotAgent
    with kind(project) as made:
        yield made
