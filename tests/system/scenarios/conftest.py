"""The twelve scenarios run over every agent. One that takes seconds of processor to start goes on
with the next scenario, in another conversation; some have an agent of their own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.acp_agents import PATIENCE, started_once
from support.actors import ACTORS, AcpActor, Actor, RealPi, Step, WithSdk
from support.project import Editor, Project, new_project
from support.raw_client import Json

CLIENT: Json = {"events": True, "ask": True}
#: Of agents that are dear to start. Their model can be told what to say from now on.
LASTING = (AcpActor, RealPi, WithSdk)


class Desk:
    """An agent, its folder and its editor. Use as a context manager."""

    def __init__(self, kind: Callable[[Project], Actor], folder: Path) -> None:
        self.kind = kind
        self._folder = folder
        self._open = ExitStack()
        self._editor: Editor | None = None

    def __enter__(self) -> "Desk":
        self.project = self._open.enter_context(new_project(self._folder))
        self.actor = self._open.enter_context(self.kind(self.project))
        return self

    def __exit__(self, *exc: object) -> None:
        self._open.close()

    def start(self, *steps: Step, options: Json | None = None) -> Editor:
        """An editor over a server with this agent, whose model takes these steps. One that is
        there already knows nothing of before."""
        if self._editor is not None:
            assert isinstance(self.actor, LASTING)
            self._editor.call("agent/clear")
            self._editor.begin_anew()
            self.actor.model.begin_anew(*steps)
            return self._editor
        agent = started_once(self.actor.settings(*steps))
        self._editor = self.project.editor(agent=agent, client=CLIENT, options=options)
        self._editor.timeout = PATIENCE
        return self._editor


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            kind,
            marks=[
                pytest.mark.xdist_group(f"scenarios {kind.name}"),
                *([getattr(pytest.mark, mark)] if mark else []),
            ],
            id=kind.name,
        )
        for kind, mark in ACTORS.items()
    ],
)
def lasting(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Desk]:
    with Desk(request.param, tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture
def own_agent(lasting: Desk, tmp_path: Path) -> Iterator[Desk]:
    """One that no other scenario has, and nothing was asked of before."""
    with Desk(lasting.kind, tmp_path) as desk:
        yield desk


@pytest.fixture
def desk(request: pytest.FixtureRequest, lasting: Desk) -> Desk:
    if "own_agent" in request.fixturenames or not isinstance(lasting.actor, LASTING):
        return request.getfixturevalue("own_agent")
    return lasting


@pytest.fixture
def project(desk: Desk) -> Project:
    return desk.project


@pytest.fixture
def actor(desk: Desk) -> Actor:
    return desk.actor


@pytest.fixture
def start(desk: Desk) -> Callable[..., Editor]:
    """``start(*steps, options=…)``: :meth:`Desk.start`."""
    return desk.start
