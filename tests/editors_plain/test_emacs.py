"""Emacs with Eglot, set up as docs/editors/emacs.md says, with a person's own keys."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from plain_project import NAP, NOTES, PlainProject, block, napping
from plain_terminal import FETCHED, Terminal, until

pytestmark = [pytest.mark.emacs, pytest.mark.slow, pytest.mark.timeout(180)]

#: No files beside those of the project; a typed space is one also where names are completed.
OWN = """
(setq inhibit-startup-screen t make-backup-files nil create-lockfiles nil auto-save-default nil)
(keymap-unset minibuffer-local-completion-map "SPC")
(setq eglot-report-progress 'messages)
"""


class Emacs(Terminal):
    def __init__(self, project: PlainProject) -> None:
        init = project.write("emacs/init.el", block("emacs.md", "elisp") + OWN)
        program = FETCHED / "emacs" / "bin" / "emacs"
        command = [program, "-nw", "-q", "-l", init, "notes.txt"]
        super().__init__(command, project.folder, project.environment)
        self.wait_for("agent: nap")
        self.keys("M-x")
        self.type("eglot")
        self.keys("Enter")
        self.wait_for("Connected!")

    def go_to(self, line: int) -> None:
        self.keys("M-g", "g")
        self.wait_for("Goto line")
        self.type(f"{line}")
        self.keys("Enter")
        self.wait_for(f"L{line} ")

    def choose(self, line: int, title: str) -> None:
        """The action with this title; asks again until it is there."""
        self.go_to(line)
        assert until(lambda: self._chosen(title)), self.screen

    def _chosen(self, title: str) -> bool:
        self.keys("C-c", "a", "a")
        screen = self.wait_for(lambda s: "Pick an action" in s or "No code actions" in s)
        if "No code actions" in screen:
            self.keys("C-g")
            return False
        self.type(title)
        self.wait_for(title)  # all of it, or a message that comes meanwhile takes the Enter
        self.keys("Enter")
        screen = self.wait_for(lambda s: "[No match]" in s or "Pick an action" not in s)
        if "[No match]" in screen:
            self.keys("C-g")
        return "[No match]" not in screen

    def save(self) -> None:
        self.keys("C-x", "C-s")


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    return PlainProject(tmp_path)


@pytest.fixture
def emacs(project: PlainProject) -> Iterator[Emacs]:
    editor = Emacs(project)
    try:
        yield editor
    finally:
        editor.close()


def test_an_edit_of_unsaved_text_is_asked_for_seen_reviewed_and_saved(
    emacs: Emacs, project: PlainProject
) -> None:
    emacs.type("not saved\n")
    emacs.choose(5, "Ask the agent: shout about beta")
    emacs.wait_for("BETA")
    emacs.wait_for("It is loud now.")
    assert project.saved() == NOTES
    emacs.choose(3, "Keep the agent's change (line 3)")
    emacs.save()
    wanted = "not saved\n" + NOTES.replace("beta\ngamma", "BETA\ngamma")
    assert until(lambda: project.saved() == wanted)


def test_what_was_saved_before_an_edit_is_saved_after_it(
    emacs: Emacs, project: PlainProject
) -> None:
    emacs.choose(4, "Ask the agent: shout about beta")
    emacs.wait_for("BETA")
    assert until(lambda: project.saved() == NOTES.replace("beta\ngamma", "BETA\ngamma"))
    emacs.choose(2, "Undo the agent's change (line 2)")
    emacs.wait_for(lambda screen: "BETA" not in screen)


def test_the_region_or_a_prompt_asks(emacs: Emacs) -> None:
    emacs.keys("C-c", "a", "p")
    emacs.wait_for("Ask the agent:")
    emacs.type("say hello")
    emacs.keys("Enter")
    emacs.wait_for("I have heard: hello.")


def test_a_question_is_answered_by_code_action(emacs: Emacs, project: PlainProject) -> None:
    emacs.choose(5, "Ask the agent: run the command")
    emacs.wait_for("Answer the agent by code action: bash: sleep 1")
    emacs.choose(1, "Agent asks: bash: sleep 1; echo ran > ran.txt: Allow")
    assert until((project.folder / "ran.txt").exists)
    emacs.wait_for("It has run.")


def test_a_long_answer_is_shown_by_code_action(emacs: Emacs) -> None:
    emacs.choose(6, "Ask the agent: explain it")
    emacs.wait_for("The agent has answered")
    emacs.choose(1, "Show the agent's answer: explain it")
    emacs.wait_for("Their names are Greek.")


def test_a_running_command_is_stopped(emacs: Emacs) -> None:
    emacs.choose(7, "Ask the agent: nap for a while")
    emacs.wait_for("Answer the agent by code action: bash: sleep 600")
    emacs.choose(1, "Agent asks: bash: " + NAP + ": Allow")
    assert until(napping)
    emacs.keys("C-c", "a", "s")
    assert until(lambda: not napping(), 5)
