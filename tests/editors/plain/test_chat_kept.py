"""A conversation in two editors at once, and in one that is killed with its server in the middle of
typing and of a turn: what was saved, and what the editor kept, is there once."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from day_people import InEmacs, InHelix, InKakoune
from days_task import Person
from plain_helix import Helix
from plain_neovim import Neovim
from plain_project import PlainProject, text_of
from plain_terminal import Terminal, until
from support import neovim_versions
from support.chat_typing import GOES_ON, NAME, PROMPT, SCRIPT_ON, TEXT, in_order, late
from test_chat_typed import InNeovim, opened

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

#: When editor and server are killed, in typed lines; the half of them is saved.
POINTS = [21, 64, 107]


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    project = PlainProject(tmp_path, SCRIPT_ON)
    (project.folder / NAME).write_text(TEXT)
    return project


class Recovered(Neovim):
    """With what it kept in its swap file."""

    def __init__(self, project: PlainProject, program: Path) -> None:
        init = project.config / "nvim" / "init.lua"
        command = [program, "-u", init, "-r", NAME]
        Terminal.__init__(self, command, project.folder, project.environment)
        self.wait_for("Recovery completed")
        self.keys("Enter")
        self.wait_for(f"{NAME} at")
        assert until(self._ready), self.screen


def is_written(folder: Path) -> bool:
    """Whether Neovim is not in the middle of writing its swap file there, of which it would say so,
    nor of reading the file again, when it has two and would ask which one is meant."""

    def swaps() -> list[bytes]:
        try:
            return [swap.read_bytes() for swap in folder.glob("*.sw?")]
        except FileNotFoundError:  # it has one of them just now
            return []

    before = swaps()
    time.sleep(0.05)
    return len(before) == 1 and swaps() == before


def saved_by(editor: InNeovim | Person, file: Path, shown: str, *, ended: bool = False) -> str:
    """The file's text once it has ``shown``, and with ``ended`` says that no turn runs."""

    def is_there() -> bool:
        text = text_of(file) or ""
        return shown in text and not (ended and "at work" in text)

    def is_saved() -> bool:
        editor.save()
        return until(is_there, 5)

    assert until(is_saved)
    return file.read_text()


@pytest.mark.neovim
@pytest.mark.parametrize("lines", POINTS)
@pytest.mark.parametrize("version", neovim_versions.parameters("0.11"))
def test_a_kill_of_neovim_and_its_server_costs_nothing_that_was_kept(
    project: PlainProject, version: str, lines: int
) -> None:
    program, file = neovim_versions.found()[version].program, project.folder / NAME
    neovim = Neovim(project, program, NAME)
    neovim.type(":set swapfile updatecount=1")
    neovim.keys("Enter")
    neovim.choose("Send to the agent: ")
    neovim.wait_for("a0002")
    typist = InNeovim(neovim)
    typist.to_last()
    for number in range(lines):
        typist.type(late(number))
        if number == lines // 2:
            typist.leave()
            saved_by(typist, file, late(number))
            typist.to_last()
    kept = project.home / ".local" / "state" / "nvim" / "swap"
    assert until(lambda: is_written(kept))
    neovim.kill()
    neovim.close()
    assert in_order(file.read_text(), "k") == lines // 2 + 1
    said = in_order(file.read_text(), "a")
    with opened(again := Recovered(project, program)):
        again.choose("Send to the agent: ")
        text = saved_by(InNeovim(again), file, GOES_ON, ended=True)
    assert in_order(text, "k") > lines // 2 + 1
    assert in_order(text, "a") >= said
    assert text.count("*(cut off)*") == 1


@pytest.mark.parametrize("lines", POINTS[:2])
@pytest.mark.parametrize(
    "person",
    [
        pytest.param(InHelix, marks=pytest.mark.helix),
        pytest.param(InEmacs, marks=pytest.mark.emacs),
        pytest.param(InKakoune, marks=pytest.mark.kakoune),
    ],
)
def test_a_kill_of_an_editor_and_its_server_costs_nothing_that_was_saved(
    project: PlainProject, person: Callable[[PlainProject], Person], lines: int
) -> None:
    file = project.folder / NAME
    killed = person(project)
    killed.begin(NAME)
    killed.send()
    killed.sees("a0002")
    for number in range(lines):
        killed.write(f"{late(number)}\n")
        if number == lines // 2:
            saved_by(killed, file, late(number))
    killed.editor.kill()
    killed.editor.close()
    assert lines // 2 < in_order(file.read_text(), "k") <= lines
    said = in_order(file.read_text(), "a")
    again = person(project)
    again.begin(NAME)
    with opened(again.editor):
        again.send()
        again.look(GOES_ON)
        text = saved_by(again, file, GOES_ON, ended=True)
    assert in_order(text, "k") > lines // 2
    assert in_order(text, "a") >= said
    assert text.count("*(cut off)*") == 1


@pytest.fixture
def two(project: PlainProject) -> Iterator[tuple[Helix, Neovim]]:
    """A Helix and a Neovim that show the same conversation."""
    program = neovim_versions.found()["0.11"].program
    with ExitStack() as stack:
        helix = Helix(project, PROMPT, NAME)
        stack.callback(helix.close)
        neovim = Neovim(project, program, NAME)
        stack.callback(neovim.close)
        yield helix, neovim


@pytest.mark.helix
@pytest.mark.neovim_0_11
def test_of_two_editors_one_writes_and_the_other_sees_it_and_says_so(
    project: PlainProject, two: tuple[Helix, Neovim]
) -> None:
    helix, neovim = two
    helix.type(" l")
    helix.keys("Enter")
    helix.wait_for("a0002")
    helix.write()
    assert until(lambda: "a0002" in (text_of(project.folder / NAME) or ""))
    neovim.type(":checktime")
    neovim.keys("Enter")
    neovim.wait_for("a0002")
    neovim.type("Goand more")
    neovim.keys("Escape")
    neovim.choose("Send to the agent: ")
    neovim.wait_for("goes on in another editor")
    neovim.keys("Enter")
    neovim.wait_for("and more")
    helix.type("gea")
    helix.wait_for("INS")
    helix.type(", and mine")
    helix.keys("Escape")
    helix.wait_for("NOR")  # a key at once behind it would be one with Alt
    helix.write()
    assert until(lambda: ", and mine" in (text_of(project.folder / NAME) or ""))
    neovim.type(":w")
    neovim.keys("Enter")
    neovim.wait_for("has been changed since reading it")  # and asks; nothing is written over
    neovim.type("n")
    neovim.keys("Enter")
    assert ", and mine" in (project.folder / NAME).read_text()
    assert "and more" not in (project.folder / NAME).read_text()
