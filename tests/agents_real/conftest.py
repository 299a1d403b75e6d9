"""The agents that every scenario runs over: the embedded one always, zot where there is one."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

for _folder in ("runtime", "server"):  # rpc_process; project, raw_client
    sys.path.insert(0, str(Path(__file__).parents[1] / _folder))

from project import Project, new_project  # noqa: E402
from scripted_agents import EmbeddedAgent, ScriptedAgent, ZotAgent  # noqa: E402


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


@pytest.fixture(params=["embedded", pytest.param("zot", marks=pytest.mark.zot)])
def agent(request: pytest.FixtureRequest, project: Project) -> Iterator[ScriptedAgent]:
    kind = EmbeddedAgent if request.param == "embedded" else ZotAgent
    with kind(project) as made:
        yield made
