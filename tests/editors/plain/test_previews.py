"""What the agent proposes, shown as a file before it is in."""

from pathlib import Path

import pytest
from plain_emacs import Emacs
from plain_helix import Helix
from plain_project import PlainProject

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    project = PlainProject(tmp_path)
    project.set("edits", 'review = "before"')
    return project


@pytest.mark.helix
def test_helix_shows_a_proposal_as_a_file_and_applies_it(helix: Helix) -> None:
    helix.choose(4, "Ask the agent: shout about beta")
    helix.wait_for("1 change of the agent's to review")
    helix.choose(2, "Preview the agent's proposal (line 2)")
    helix.wait_for(lambda screen: "-beta" in screen and "+BETA" in screen)
    assert "notes.txt.diff" in helix.screen
    helix.type("ga")  # back
    helix.wait_for(" notes.txt [+] ")  # the line that asked is gone
    helix.choose(2, "Apply the agent's proposal (line 2)")
    helix.wait_for("2  BETA")


@pytest.mark.emacs
def test_emacs_shows_a_proposal_beside_the_text_and_applies_it(emacs: Emacs) -> None:
    emacs.choose(4, "Ask the agent: shout about beta")
    emacs.wait_for("Flymake[0 0 1]")
    emacs.choose(2, "Preview the agent's proposal (line 2)")
    emacs.wait_for(lambda screen: "-beta" in screen and "+BETA" in screen)
    assert "notes.txt.diff" in emacs.screen
    emacs.keys("C-x", "o")  # back
    emacs.choose(2, "Apply the agent's proposal (line 2)")
    emacs.wait_for("! BETA")
