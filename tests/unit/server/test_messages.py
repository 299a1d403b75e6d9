"""What an editor shows a person in its own messages."""

from support.project import Project, step

LINK = "[Open the settings](command:workbench.action.tasks.build)"


def test_neither_a_repository_nor_an_agent_puts_a_link_into_a_message(project: Project) -> None:
    """VS Code makes links of them, and this one runs a command of the editor's."""
    project.file(".lsp-agent.toml", f'"{LINK}" = 1\n')
    editor = project.editor(step("", error=f"See {LINK}."))
    editor.result(editor.prompt("Go."))
    told = [each["message"] for each in editor.received("window/showMessage")]
    naming = [each for each in told if "Open the settings" in each]
    assert len(naming) == 2, told
    assert not any("](" in each for each in naming)
