"""The guides to the code name what is there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDES = [ROOT / "CONTRIBUTING.md", DOCS / "architecture.md", *sorted(DOCS.glob("design/*.md"))]
#: A file by its ending, a folder by its slash; both may be named without `lsp_agent/`.
FILE = re.compile(r"(?<![\w./$~*-])[\w.-]*[\w-](?:/[\w.-]+)*\.(?:py|lua|ts|md|toml|txt)\b(?!\()")
FOLDER = re.compile(r"`([\w.-]+(?:/[\w.-]+)*/)`")
#: In the person's folder, not in the repository.
ELSEWHERE = {"config.toml"}


def named(text: str) -> Iterator[str]:
    for path in [*FILE.findall(text), *FOLDER.findall(text)]:
        if path not in ELSEWHERE:
            yield path


def is_there(path: str, page: Path) -> bool:
    return any((place / path).exists() for place in (ROOT, ROOT / "lsp_agent", DOCS, page.parent))


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)
def test_every_path_that_it_names_exists(page: Path):
    paths = set(named(page.read_text(encoding="utf-8")))
    assert [path for path in sorted(paths) if not is_there(path, page)] == []


def test_there_is_one_list_of_where_to_change_what():
    lists = [
        page
        for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
        if "## Where do I" in page.read_text(encoding="utf-8")
    ]
    assert lists == [DOCS / "architecture.md"]
    text = lists[0].read_text(encoding="utf-8")
    questions = text.partition("## Where do I …")[2].partition("\n## ")[0]
    entries = re.findall(r"^- \*\*(.+?\?)\*\* (.+?)(?=^- \*\*|\Z)", questions, re.M | re.S)
    assert len(entries) == len(re.findall(r"^- ", questions, re.M))
    for question, answer in entries:
        assert set(named(answer)), question


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see `server/nowhere.py` and `agent/edits`", ["server/nowhere.py"]),
        ("`tests/nowhere/` has `~/.config/x.toml`", ["tests/nowhere/"]),
    ],
)
def test_these_tests_find_what_they_are_to_find(text: str, paths: list[str]):
    assert list(named(text)) == paths
    assert not any(is_there(path, DOCS / "architecture.md") for path in paths)
