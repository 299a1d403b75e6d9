"""What an agent's file tools never write to, though the workspace contains it."""

import pytest
from support.project import EVENTS, Project, call, step, write

STRICTER = '[permissions]\ncommand = "deny"\n'
LOOSER = '[permissions]\ncommand = "allow"\n'


@pytest.mark.parametrize(
    "path",
    ["config/lsp-agent/config.toml", "config/lsp-agent/new.toml", "dotfiles/agent.toml"],
)
def test_the_persons_settings_cannot_be_written_by_the_agent(project: Project, path: str) -> None:
    kept = project.home / "dotfiles" / "agent.toml"
    kept.parent.mkdir()
    kept.write_text("")
    (project.config / "config.toml").symlink_to(kept)
    editor = project.editor(
        step("", write(str(project.home / path), LOOSER)),
        step("Done."),
        client=EVENTS,
        folders=[project.home],
    )
    editor.ask_agent("Go.")
    assert editor.event("toolResult")["isError"]
    assert "belongs to the user's own settings of lsp-agent" in editor.tool_texts()[0]
    assert kept.read_text() == ""
    assert [path.name for path in project.config.iterdir()] == ["config.toml"]


def test_a_folders_own_settings_can_be_written(project: Project) -> None:
    editor = project.editor(
        step("", write(".lsp-agent.toml", LOOSER)), step("Done."), client=EVENTS
    )
    editor.ask_agent("Go.")
    assert not editor.event("toolResult")["isError"]
    assert (project.folder / ".lsp-agent.toml").read_text() == LOOSER


def test_a_folders_own_settings_are_not_made_to_narrow_less(project: Project) -> None:
    path = project.file(".lsp-agent.toml", STRICTER)
    editor = project.editor(
        step("", call("read", path=".lsp-agent.toml")),
        step("", write(".lsp-agent.toml", "")),
        step("Done."),
        client=EVENTS,
    )
    editor.ask_agent("Go.")
    read, written = editor.tool_texts()
    assert read == STRICTER
    assert "only the user changes it" in written
    assert path.read_text() == STRICTER
