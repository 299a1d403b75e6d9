"""How a conversation stands, behind its lines, and its colours, as plain editors show them."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from plain_emacs import Emacs
from plain_helix import Helix
from plain_kakoune import Kakoune
from plain_project import PlainProject, block
from plain_terminal import Terminal, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

EDITS = [{"oldText": "two", "newText": "TWO"}]
CALLS = [
    {"name": "bash", "args": {"command": "until test -e go; do sleep 0.05; done"}},
    {"name": "edit", "args": {"path": "shop.py", "edits": EDITS}},
]
TURN = [{"match": "^name", "text": "I do.", "calls": CALLS}, {"text": "It is done."}]
#: Behind the lines: of a turn that runs, of one that has ended, and of its change.
RUNS = re.compile(r"at work: t-\w+ --> step 1, \d+ s")
TOOK = re.compile(r"## Agent \d+ s, \d+ tokens")
#: Of the faces of a keyword and a module; Kakoune itself has a heading in cyan.
BLUE, GREEN = 34, 32
CHANGE = "shop.py:2 +1 −1"


@pytest.fixture
def project(tmp_path: Path) -> PlainProject:
    project = PlainProject(tmp_path, TURN)
    project.set("permissions", 'command = "allow"')
    (project.folder / "shop.py").write_text("one\ntwo\n")
    project.notes.with_name("x.chat.md").write_text("## You\n\nname it: agent: nap\n")
    return project


def ended(screen: str) -> bool:
    return bool(TOOK.search(screen)) and CHANGE in screen


def shows_after(keys: str, editor: Terminal, shown: Callable[[str], object]) -> bool:
    """Helix and Kakoune ask for hints at the rest after a key, which may be too soon: a person
    who goes on sees them."""
    editor.type(keys)
    return until(lambda: shown(editor.screen), 2)


@pytest.mark.helix
def test_helix_shows_how_a_turn_stands_and_asks_anew_with_a_key(project: PlainProject) -> None:
    project.write("helix/languages.toml", block("helix.md", "toml", 0))
    drawn = "[editor.lsp]\ndisplay-inlay-hints = true\n"
    config = block("helix.md", "toml", 1).replace("[editor.lsp]\n", drawn)
    project.write("helix/config.toml", config)
    helix = Helix(project, "name it", "x.chat.md")
    try:
        helix.type(" l")
        helix.keys("Enter")
        assert until(lambda: shows_after("kj", helix, RUNS.search)), helix.screen
        (project.folder / "go").touch()
        helix.wait_for("It is done.")
        helix.wait_for(lambda screen: "at work" not in screen)
        helix.type("j")
        helix.wait_for(ended)
    finally:
        helix.close()


@pytest.mark.emacs
def test_emacs_shows_how_a_turn_stands(project: PlainProject) -> None:
    emacs = Emacs(project, "name it", "x.chat.md")
    try:
        emacs.keys("C-c", "a", "Enter")
        emacs.wait_for(re.compile(r"at work: t-\w+ --> step 1, ([2-9]|\d{2,}) s").search)
        (project.folder / "go").touch()
        emacs.wait_for(ended)
    finally:
        emacs.close()


@pytest.mark.kakoune
def test_kakoune_shows_how_a_turn_stands_and_who_speaks_in_colours(project: PlainProject) -> None:
    kakoune = Kakoune(project, "x.chat.md", block("kakoune.md", "kak", 1))
    try:
        kakoune.choose(None, "Send to the agent")
        kakoune.wait_for("at work")
        assert until(lambda: shows_after("1g", kakoune, RUNS.search)), kakoune.screen
        (project.folder / "go").touch()
        kakoune.wait_for("It is done.")
        kakoune.wait_for(lambda screen: "at work" not in screen)
        assert until(lambda: shows_after("1g", kakoune, ended)), kakoune.screen
        assert until(lambda: coloured(kakoune, "## You", BLUE)), kakoune.coloured
        assert coloured(kakoune, "## Agent", GREEN), kakoune.coloured
    finally:
        kakoune.close()


def coloured(kakoune: Kakoune, words: str, colour: int) -> bool:
    return f"\x1b[{colour}m{words}" in kakoune.coloured
