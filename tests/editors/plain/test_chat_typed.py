"""A person types hundreds of lines into a conversation, in Helix, Kakoune, Emacs and a Neovim
without the plugin, while the agent's words and calls come into it: each is there once and in its
place."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from plain_emacs import Emacs
from plain_helix import Helix
from plain_kakoune import Kakoune
from plain_neovim import Neovim
from plain_project import PlainProject
from plain_terminal import Terminal, until
from support import neovim_versions
from support.chat_typing import (
    EARLY_LINE,
    END,
    NAME,
    PROMPT,
    SCRIPT,
    TEXT,
    Record,
    Sitting,
    Typist,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.xdist_group("at a keyboard"),
]


class InHelix(Typist):
    editor = "Helix"

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def to_early(self) -> None:
        self._insert(f"{EARLY_LINE}ggO")

    def to_last(self) -> None:
        self._insert("geo")

    def type(self, line: str) -> None:
        self._terminal.type(line)
        self._terminal.keys("Enter")

    def leave(self) -> None:
        """Of the line that is begun nothing stays."""
        self._terminal.keys("BSpace", "Escape")
        self._terminal.wait_for(" NOR ")

    def save(self) -> None:
        self._terminal.type(":w")
        self._terminal.keys("Enter")

    def _insert(self, keys: str) -> None:
        self._terminal.type(keys)
        self._terminal.wait_for(" INS ")


class InNeovim(InHelix):
    editor = "Neovim"

    def to_last(self) -> None:
        self._insert("Go")

    def leave(self) -> None:
        self._terminal.keys("BSpace", "Escape")
        self._terminal.wait_for(lambda screen: "-- INSERT --" not in screen)

    def _insert(self, keys: str) -> None:
        self._terminal.type(keys)
        self._terminal.wait_for("-- INSERT --")


class InKakoune(InHelix):
    """Who types no faster than people do, and looks up now and then: it takes edits while keys wait
    in it that it has not told of."""

    editor = "Kakoune"

    def type(self, line: str) -> None:
        super().type(line)
        time.sleep(0.05)

    def to_early(self) -> None:
        self._insert(f"{EARLY_LINE}gO")

    def leave(self) -> None:
        self._terminal.keys("BSpace", "Escape")
        self._terminal.wait_for(lambda screen: "insert" not in screen)
        time.sleep(1.0)

    def save(self) -> None:
        self._terminal.type(":write")
        self._terminal.keys("Enter")

    def _insert(self, keys: str) -> None:
        self._terminal.type(keys)
        self._terminal.wait_for("insert")


class InEmacs(Typist):
    editor = "Emacs"

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def to_early(self) -> None:
        self._terminal.keys("M-g", "g")
        self._terminal.wait_for("Goto line")
        self._terminal.type(f"{EARLY_LINE}")
        self._terminal.keys("Enter")

    def to_last(self) -> None:
        self._terminal.keys("M->")

    def type(self, line: str) -> None:
        self._terminal.type(line)
        self._terminal.keys("Enter")

    def leave(self) -> None: ...

    def save(self) -> None:
        self._terminal.keys("C-x", "C-s")


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    project = PlainProject(tmp_path, SCRIPT)
    (project.folder / NAME).write_text(TEXT)
    return project


@contextmanager
def opened(editor: Terminal) -> Iterator[Terminal]:
    try:
        yield editor
    finally:
        editor.close()


def told(project: PlainProject) -> bool:
    """Whether the agent has said its last word, as it is kept."""
    kept = (project.home / ".local" / "share").rglob("messages.jsonl")
    return any(END in path.read_text() for path in kept)


def check(typist: Typist, terminal: Terminal, project: PlainProject, record: Record) -> None:
    terminal.wait_for("a0002")
    sitting = Sitting(typist, project.folder / NAME, lambda: told(project))
    assert until(lambda: told(project))
    sitting.check(record)


@pytest.mark.helix
def test_hundreds_of_lines_typed_in_helix_beside_a_turn_are_each_in_once(
    project: PlainProject, record_property: Record
) -> None:
    with opened(helix := Helix(project, PROMPT, NAME)):
        helix.type(" l")
        helix.keys("Enter")
        check(InHelix(helix), helix, project, record_property)


@pytest.mark.kakoune
def test_hundreds_of_lines_typed_in_kakoune_beside_a_turn_are_each_in_once(
    project: PlainProject, record_property: Record
) -> None:
    with opened(kakoune := Kakoune(project, NAME)):
        kakoune.choose(None, "Send to the agent: ")
        check(InKakoune(kakoune), kakoune, project, record_property)


@pytest.mark.emacs
def test_hundreds_of_lines_typed_in_emacs_beside_a_turn_are_each_in_once(
    project: PlainProject, record_property: Record
) -> None:
    with opened(emacs := Emacs(project, PROMPT, NAME)):
        emacs.keys("C-c", "a", "Enter")
        check(InEmacs(emacs), emacs, project, record_property)


@pytest.mark.neovim
@pytest.mark.parametrize("version", neovim_versions.parameters("0.11"))
def test_hundreds_of_lines_typed_in_neovim_beside_a_turn_are_each_in_once(
    project: PlainProject, record_property: Record, version: str
) -> None:
    program = neovim_versions.found()[version].program
    with opened(neovim := Neovim(project, program, NAME)):
        neovim.choose("Send to the agent: ")
        check(InNeovim(neovim), neovim, project, record_property)
