"""Helix, set up as docs/editors/helix.md says, with a person's own keys."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_project import NOTES, PlainProject, block, napping
from plain_terminal import FETCHED, Terminal, until

pytestmark = [pytest.mark.helix, pytest.mark.slow, pytest.mark.timeout(180)]

#: How the titles of our code actions begin, to tell a menu's rows from the text under it.
TITLES = ("Agent asks", "Ask the", "Keep ", "Undo ", "Next change", "Show the", "Stop the")


class Helix(Terminal):
    def __init__(self, project: PlainProject) -> None:
        project.write("helix/languages.toml", block("helix.md", "toml", 0))
        project.write("helix/config.toml", block("helix.md", "toml", 1))
        program = FETCHED / "helix" / "bin" / "hx"
        super().__init__([program, "notes.txt"], project.folder, project.environment)
        self.wait_for("agent: nap")
        assert until(self._ready), self.screen

    def _ready(self) -> bool:
        self.type(" a")
        screen = self.wait_for(lambda s: "No " in s.splitlines()[-1])
        self.keys("Escape")  # clears the message
        self.wait_for(lambda s: "No " not in s.splitlines()[-1])
        return "No code actions" in screen

    def type_line(self, text: str) -> None:
        """Above the first line, without saving."""
        self.keys("g", "g", "O")
        self.wait_for("INS")
        self.type(text)
        self.keys("Escape")
        self.wait_for("NOR")

    def actions(self, line: int) -> list[str]:
        """Opens the menu with the cursor in a line (from 1); the titles in it, in order."""
        self.type(f"{line}ggglgh")
        self.wait_for(lambda s: f" {line}:1" in s and "No " not in s.splitlines()[-1])
        self.type(" a")
        return menu(self.wait_for(lambda s: menu(s) or "No " in s.splitlines()[-1]))

    def choose(self, line: int, title: str) -> None:
        """The first action whose title begins so; asks again until it is there."""
        found: list[str] = []

        def offered() -> bool:
            nonlocal found
            if found:
                self.keys("Escape")
                self.wait_for(lambda screen: not menu(screen))
            found = self.actions(line)
            return any(each.startswith(title) for each in found)

        assert until(offered), f"{title!r} is not among {found}"
        index = next(i for i, each in enumerate(found) if each.startswith(title))
        self.keys(*["Down"] * index, "Enter")
        self.wait_for(lambda screen: not menu(screen))

    def write(self) -> None:
        self.type(":w")
        self.keys("Enter")


def menu(screen: str) -> list[str]:
    rows = [
        row[row.find(title) :].strip()
        for row in screen.splitlines()
        for title in TITLES
        if title in row
    ]
    return [row for row in rows if row.startswith(TITLES)]


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    return PlainProject(tmp_path)


@pytest.fixture
def helix(project: PlainProject) -> Iterator[Helix]:
    editor = Helix(project)
    try:
        yield editor
    finally:
        editor.close()


def test_an_edit_of_unsaved_text_is_asked_for_seen_reviewed_and_saved(
    helix: Helix, project: PlainProject
) -> None:
    helix.type_line("not saved")
    helix.choose(5, "Ask the agent: shout about beta")
    helix.wait_for("agent: shout about beta\n")  # progress, in the last line
    helix.wait_for("BETA")
    helix.wait_for("It is loud now.")
    assert project.saved() == NOTES
    assert "1 change of the agent's to review" in helix.screen
    helix.choose(3, "Keep the agent's change (line 3)")
    helix.wait_for(lambda screen: "to review" not in screen)
    helix.write()
    wanted = "not saved\n" + NOTES.replace("beta\ngamma", "BETA\ngamma")
    assert until(lambda: project.saved() == wanted)


def test_an_edit_is_undone_by_key(helix: Helix, project: PlainProject) -> None:
    helix.choose(4, "Ask the agent: shout about beta")
    helix.wait_for("BETA")
    helix.type_line("typed since")
    helix.type(" lu")
    helix.wait_for(lambda screen: "BETA" not in screen)
    helix.write()
    assert until(lambda: project.saved() == "typed since\n" + NOTES)


def test_an_edit_after_fast_typing_is_in_its_place(helix: Helix, project: PlainProject) -> None:
    """Helix 25.01 sends the keys of fast typing mixed up."""
    typed = [f"typed too fast to be sent in order, {number}" for number in range(8)]
    for line in typed:
        helix.type_line(line)
    helix.choose(12, "Ask the agent: shout about beta")
    helix.wait_for("BETA")
    helix.write()
    wanted = "".join(f"{line}\n" for line in reversed(typed))
    wanted += NOTES.replace("beta\ngamma", "BETA\ngamma")
    assert until(lambda: project.saved() == wanted)


def test_a_selection_is_a_prompt(helix: Helix) -> None:
    helix.type_line("say hello, please")
    helix.type("x a")
    helix.wait_for("Ask the agent: say hello, please")
    helix.keys("Enter")
    helix.wait_for("I have heard: hello.")


def test_a_question_is_answered_by_code_action(helix: Helix, project: PlainProject) -> None:
    helix.choose(5, "Ask the agent: run the command")
    helix.choose(1, "Agent asks: bash: sleep 1; echo ran > ran.txt: Allow")
    assert until((project.folder / "ran.txt").exists)
    helix.wait_for("It has run.")


def test_a_long_answer_is_shown_by_code_action(helix: Helix) -> None:
    helix.choose(6, "Ask the agent: explain it")
    helix.wait_for("The agent has answered")
    helix.choose(1, "Show the agent's answer: explain it")
    helix.wait_for("Their names are Greek.")


def test_a_running_command_is_stopped(helix: Helix) -> None:
    helix.choose(7, "Ask the agent: nap for a while")
    helix.choose(1, "Agent asks: bash: sleep 600")
    assert until(napping)
    helix.choose(1, "Stop the agent")
    assert until(lambda: not napping(), 5)
    helix.wait_for("stopped")


def test_the_agent_works_in_the_folder_of_helix_where_there_is_no_repository(
    project: PlainProject,
) -> None:
    (project.folder / ".git").rmdir()
    helix = Helix(project)
    try:
        helix.choose(4, "Ask the agent: shout about beta")
        helix.wait_for("BETA")
    finally:
        helix.close()


def test_why_a_prompt_cannot_be_taken_is_said(project: PlainProject) -> None:
    project.write("lsp-agent/config.toml", "")
    helix = Helix(project)
    try:
        helix.choose(4, "Ask the agent: shout about beta")
        helix.wait_for("The built-in agent has no model")
    finally:
        helix.close()
