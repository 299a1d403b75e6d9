"""What a command of the agent's writes into a file that is open in an editor."""

import time
from pathlib import Path

import pytest
from plain_emacs import Emacs
from plain_helix import Helix
from plain_kakoune import Kakoune
from plain_project import PlainProject
from plain_terminal import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

#: The last line is what the editors are waited for by.
TEXT = "alpha\nbeta\nshout about beta\nagent: nap\n"
WRITTEN = TEXT.replace("\nbeta", "\nBETA")
NAMES = {
    "name": "edit",
    "args": {"path": "notes.txt", "edits": [{"oldText": "beta\nshout", "newText": "BETA\nshout"}]},
}
TURNS = [
    {
        "match": "^shout",
        "text": "I write it.",
        "calls": [{"name": "bash", "args": {"command": "sleep 1; sed -i s/^beta/BETA/ notes.txt"}}],
    },
    {"text": "It is loud now.", "delay_ms": 1500},
    {"match": "^name", "text": "I name it.", "calls": [NAMES], "delay_ms": 1500},
    {"text": "It is named.", "delay_ms": 1500},
]


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    project = PlainProject(tmp_path, TURNS)
    project.set("permissions", 'command = "allow"')
    project.notes.write_text(TEXT)
    return project


@pytest.mark.helix
def test_helix_shows_it_and_is_told_to_save_over_it(helix: Helix, project: PlainProject) -> None:
    helix.type("3ggx a")
    helix.wait_for("Ask the agent: shout about beta")
    helix.keys("Enter")
    helix.wait_for("BETA")
    helix.wait_for("It is loud now.")
    helix.type_line("typed")
    helix.write()
    helix.wait_for("use :w! to overwrite")
    helix.type(":w!")
    helix.keys("Enter")
    assert until(lambda: project.saved() == f"typed\n{WRITTEN}"), project.saved()


@pytest.mark.emacs
def test_emacs_reads_it_where_nothing_is_unsaved(emacs: Emacs, project: PlainProject) -> None:
    ask(emacs, "shout about beta")
    assert ":**-" not in emacs.wait_for("BETA")  # the mode line's mark of what is not saved
    emacs.wait_for("It is loud now.")
    emacs.keys("M-<")
    emacs.type("typed\n")
    emacs.save()
    assert until(lambda: project.saved() == f"typed\n{WRITTEN}"), project.saved()


@pytest.mark.emacs
def test_emacs_has_it_beside_what_is_typed_and_takes_no_key(
    emacs: Emacs, project: PlainProject
) -> None:
    emacs.type("begun\n")
    ask(emacs, "shout about beta")
    emacs.keys("M-<")
    lines = [f"line {number}" for number in range(30)]
    for line in lines:
        emacs.type(f"{line}\n")
        time.sleep(0.1)
    emacs.wait_for("BETA")
    emacs.save()
    emacs.confirm("has changed since visited or saved")  # Emacs asks whoever saves
    emacs.wait_for("really edit the buffer")  # once more where it has no lock files
    emacs.type("y")
    wanted = "".join(f"{line}\n" for line in [*lines, "begun"]) + WRITTEN
    assert until(lambda: project.saved() == wanted), emacs.screen


def ask(emacs: Emacs, prompt: str) -> None:
    emacs.keys("C-c", "a", "p")
    emacs.wait_for("Ask the agent:")
    emacs.type(prompt)
    emacs.keys("Enter")
    emacs.wait_for(f"agent: {prompt}...")


@pytest.mark.emacs
def test_emacs_reads_what_another_program_wrote_before_it_takes_an_edit(
    emacs: Emacs, project: PlainProject
) -> None:
    ask(emacs, "name beta")
    project.notes.write_text(TEXT.replace("alpha", "ALPHA"))
    emacs.wait_for(lambda screen: "ALPHA" in screen and "BETA" in screen)
    wanted = WRITTEN.replace("alpha", "ALPHA")
    assert until(lambda: project.saved() == wanted), project.saved()


@pytest.mark.kakoune
def test_kakoune_asks_and_reads_it(kakoune: Kakoune, project: PlainProject) -> None:
    kakoune.type("3gx")
    kakoune.choose(None, "Ask the agent: shout about beta")
    kakoune.wait_for("reload 'notes.txt' ?")
    kakoune.type("y")
    kakoune.wait_for("BETA")
    kakoune.type_line("typed")
    kakoune.run("write")
    assert until(lambda: project.saved() == f"typed\n{WRITTEN}"), project.saved()


@pytest.mark.kakoune
def test_kakoune_keeps_what_is_typed_beside_a_proposal_of_it(
    kakoune: Kakoune, project: PlainProject
) -> None:
    kakoune.type_line("typed")
    kakoune.type("4gx")
    kakoune.choose(None, "Ask the agent: shout about beta")
    kakoune.wait_for("reload 'notes.txt' ?")
    kakoune.type("n")
    kakoune.wait_for("-beta")
    kakoune.choose(3, "Apply the agent's proposal (line 3)")
    kakoune.wait_for("BETA")
    kakoune.run("write")
    assert until(lambda: project.saved() == f"typed\n{WRITTEN}"), project.saved()
