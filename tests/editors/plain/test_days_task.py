"""A day's task by keyboard, in editors that know nothing of the agent."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from day_people import InEmacs, InHelix, InKakoune, InNeovim
from days_task import Day, DayProject, Person, Record
from support import neovim_versions

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.xdist_group("at a keyboard"),
]


@pytest.fixture
def project(tmp_path: Path) -> DayProject:
    return DayProject(tmp_path)


@pytest.fixture
def in_helix(project: DayProject) -> Iterator[Person]:
    yield from _seated(InHelix(project))


@pytest.fixture
def in_kakoune(project: DayProject) -> Iterator[Person]:
    yield from _seated(InKakoune(project))


@pytest.fixture
def in_emacs(project: DayProject) -> Iterator[Person]:
    yield from _seated(InEmacs(project))


#: 0.10 has no code actions by key. In a terminal a Neovim starts itself once more, which those that
#: ``.ci/neovims`` brings cannot: they are started by the loader that comes with them.
_NEOVIMS = neovim_versions.parameters("0.11")


@pytest.fixture(params=_NEOVIMS)
def in_neovim(project: DayProject, request: pytest.FixtureRequest) -> Iterator[Person]:
    program = neovim_versions.found()[request.param].program
    yield from _seated(InNeovim(project, program))


def _seated(person: Person) -> Iterator[Person]:
    try:
        yield person
    finally:
        person.editor.close()


@pytest.mark.helix
def test_a_days_task_is_done_in_helix(
    in_helix: Person, project: DayProject, record_property: Record
) -> None:
    Day(in_helix, project, record_property).do()


@pytest.mark.kakoune
def test_a_days_task_is_done_in_kakoune(
    in_kakoune: Person, project: DayProject, record_property: Record
) -> None:
    Day(in_kakoune, project, record_property).do()


@pytest.mark.emacs
def test_a_days_task_is_done_in_emacs(
    in_emacs: Person, project: DayProject, record_property: Record
) -> None:
    Day(in_emacs, project, record_property).do()


@pytest.mark.neovim
def test_a_days_task_is_done_in_neovim(
    in_neovim: Person, project: DayProject, record_property: Record
) -> None:
    Day(in_neovim, project, record_property).do()
