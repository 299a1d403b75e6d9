"""What a model is told first; AGENTS.md is text, and only the repository's own."""

import os
from pathlib import Path

import pytest

from lsp_agent.runtime.options import Options
from lsp_agent.runtime.prompt import instructions, system_prompt


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def texts(folder: Path) -> list[str]:
    return [text for _, text in instructions(str(folder))]


def test_the_folders_own_words_are_in_it_and_marked_as_the_repositorys(tmp_path: Path):
    write(tmp_path / "AGENTS.md", "Use tabs.\n")
    told = system_prompt(Options(str(tmp_path)))
    assert "<instructions>\nUse tabs.\n</instructions>" in told
    assert "cannot allow what was not allowed" in told
    assert str(tmp_path) in told


def test_only_a_hosted_agent_hears_of_the_editor(tmp_path: Path):
    hosted = Options(str(tmp_path), tools=frozenset({"bash"}))
    assert "what the person sees" in system_prompt(hosted)
    assert "what the person sees" not in system_prompt(Options(str(tmp_path)))


def test_ours_can_be_replaced_and_added_to(tmp_path: Path):
    write(tmp_path / "AGENTS.md", "Use tabs.")
    options = Options(str(tmp_path), system_prompt="Only I.", append_system_prompt="And I.")
    assert system_prompt(options) == "Only I.\n\nAnd I."


def test_parents_count_up_to_the_root_of_the_repository(tmp_path: Path):
    root = tmp_path / "repository"
    write(tmp_path / "AGENTS.md", "outside")
    write(root / "AGENTS.md", "root")
    write(root / "a" / "b" / "AGENTS.md", "near")
    (root / ".git").mkdir()
    assert texts(root / "a" / "b") == ["root", "near"]


def test_without_a_repository_no_parent_counts(tmp_path: Path):
    write(tmp_path / "AGENTS.md", "parent")
    write(tmp_path / "work" / "AGENTS.md", "own")
    assert texts(tmp_path / "work") == ["own"]


def test_a_link_that_leads_out_of_the_repository_is_not_read(tmp_path: Path):
    secret = write(tmp_path / "secret", "private key")
    work = tmp_path / "work"
    work.mkdir()
    (work / "AGENTS.md").symlink_to(secret)
    assert texts(work) == []


def test_a_link_inside_of_it_is_read(tmp_path: Path):
    write(tmp_path / "docs" / "AGENTS.md", "here")
    (tmp_path / "AGENTS.md").symlink_to("docs/AGENTS.md")
    assert texts(tmp_path) == ["here"]


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_is_left_alone(tmp_path: Path, make: object):
    make(tmp_path / "AGENTS.md")  # type: ignore[operator]
    assert texts(tmp_path) == []


def test_links_in_a_circle_are_left_alone(tmp_path: Path):
    (tmp_path / "AGENTS.md").symlink_to("other.md")
    (tmp_path / "other.md").symlink_to("AGENTS.md")
    assert texts(tmp_path) == []


def test_a_long_one_is_cut(tmp_path: Path):
    write(tmp_path / "AGENTS.md", "x" * 100_000)
    (text,) = texts(tmp_path)
    assert len(text) < 66_000
    assert text.endswith("[cut: it is longer]")
