"""What is in the data folder is lost or damaged: the server starts, says so and goes on."""

from collections.abc import Callable
from pathlib import Path

import pytest
from embedded_job import EDITED, Project
from support.stage import Editor

pytestmark = pytest.mark.sampled

Spoil = Callable[[Path], object]

SPOILED: dict[str, Spoil] = {
    "gone": Path.unlink,
    "cut short": lambda text: text.write_bytes(text.read_bytes()[:-1]),
    "of as many other bytes": lambda text: text.write_bytes(text.read_bytes().swapcase()),
    "no UTF-8": lambda text: text.write_bytes(b"\xff" + text.read_bytes()[1:]),
    "a folder": lambda text: (text.unlink(), text.mkdir()),
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_review_whose_texts_are_lost_is_told_of_and_the_next_one_works(
    tmp_path: Path, how: str
) -> None:
    project = Project(tmp_path / "work", "1")
    with Editor(tmp_path) as editor:
        editor.start(project.folder, project.options)
        uri = project.open(editor)
        editor.works(text="edit")
        assert editor.texts[uri] == EDITED
        editor.end()
    texts = list((tmp_path / "data" / "lsp-agent").glob("workspaces/*/texts/*/*"))
    assert texts
    for text in texts:
        SPOILED[how](text)
    with Editor(tmp_path) as editor:
        editor.start(project.folder, project.options)
        told = editor.notification("window/showMessage")["message"]
        assert "open.txt" in told
        assert "lost" in told
        assert editor.call("agent/edits")["edits"] == []
        assert editor.call("agent/keepAll")["edits"] == []
        uri = project.open(editor)
        editor.works(text="edit")
        assert editor.texts[uri] == EDITED
        *earlier, made = editor.call("agent/edits")["edits"]
        assert made["status"] == "applied"
        assert {edit["status"] for edit in earlier} <= {"lost"}
        editor.end()
