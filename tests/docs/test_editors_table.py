"""What docs/editors/README.md says that an editor shows, a test has seen in that editor."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "editors" / "README.md"
LINK = re.compile(r"^\[(\d+)\]: (\S+)#(test_\w+)$", re.MULTILINE)
#: Which files drive the editor of a column; a test that says its name does as well.
DRIVEN = {
    "Helix": "test_helix",
    "Emacs": "test_emacs",
    "Kakoune": "test_kakoune",
    "Neovim": "test_neovim_",
    "VS Code": "test_v",
}

TEXT = PAGE.read_text()
TESTS = {number: (PAGE.parent / path, name) for number, path, name in LINK.findall(TEXT)}
TABLE = TEXT.split("## What each shows")[1].split("\n## ")[0]
HEAD, _, *ROWS = [
    [cell.strip() for cell in line.strip("| ").split(" | ")]
    for line in TABLE.splitlines()
    if line.startswith("|")
]


@pytest.mark.parametrize("number", TESTS)
def test_each_test_of_the_table_is_there(number: str) -> None:
    path, name = TESTS[number]
    assert f"\ndef {name}(" in path.read_text()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_cell_names_a_test_in_its_editor_or_says_that_there_is_none(row: list[str]) -> None:
    assert len(row) == len(HEAD)
    for editor, cell in zip(HEAD[1:], row[1:], strict=True):
        numbers = re.findall(r"\]\[(\d+)\]", cell)
        assert numbers or cell == "not tried" or cell.endswith("draws none")
        assert all(_drives(editor, *TESTS[number]) for number in numbers)


def _drives(editor: str, path: Path, test: str) -> bool:
    return path.name.startswith(DRIVEN[editor]) or test.startswith(f"test_{editor.lower()}_")
