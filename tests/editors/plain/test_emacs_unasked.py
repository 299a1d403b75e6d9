"""What Emacs would ask about when the agent edits: whoever types then would answer it."""

import os
import socket
from contextlib import closing
from pathlib import Path

import pytest
from plain_emacs import Emacs
from plain_project import NOTES, PlainProject
from plain_terminal import until

pytestmark = [pytest.mark.emacs, pytest.mark.slow, pytest.mark.timeout(400)]

LATIN = "-*- coding: latin-1 -*-\nbeta é\nagent: shout\n"
ARROW = {"path": "notes.txt", "edits": [{"oldText": "beta é", "newText": "beta é → BETA"}]}
STEPS = [
    {"match": "^shout", "calls": [{"name": "edit", "args": ARROW}]},
    {"text": "It is loud now."},
]


def test_what_its_files_encoding_lacks_stays_unsaved_and_keys_go_where_they_were_typed(
    tmp_path: Path,
) -> None:
    project = PlainProject(tmp_path, STEPS)
    project.notes.write_bytes(LATIN.encode("latin-1"))
    with closing(Emacs(project, "beta é")) as emacs:
        emacs.choose(3, "Ask the agent: shout")
        emacs.wait_for("beta é → BETA")
        emacs.wait_for("Flymake[0 0 1]")
        emacs.type("hello ")
        screen = emacs.wait_for("hello agent: shout")
        assert "oding system" not in screen
    assert project.notes.read_bytes() == LATIN.encode("latin-1")


def test_a_file_that_another_emacs_has_locked_is_not_edited_for_the_agent(
    emacs: Emacs, project: PlainProject
) -> None:
    emacs.keys("M-:")
    emacs.wait_for("Eval:")
    emacs.type("(setq create-lockfiles t)")
    emacs.keys("Enter")
    lock = project.folder / ".#notes.txt"
    lock.symlink_to(f"another@{socket.gethostname()}.{os.getpid()}")
    emacs.choose(4, "Ask the agent: shout about beta")
    screen = emacs.wait_for("It is loud now.")
    assert "BETA" not in screen
    assert "Narrow" not in screen  # while it asks, the lines of the edit are all that it shows
    lock.unlink()
    assert until(lambda: project.saved() == NOTES)
