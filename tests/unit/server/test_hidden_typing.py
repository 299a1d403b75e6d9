"""Clients that may hide what is typed while an edit comes: what is open in them is only proposed
to."""

import pytest
from support.project import Project, edit, step
from support.raw_client import Json

EGLOT = {"name": "Eglot", "version": "1.18"}
#: As Kate names none, which looks at no version.
TAKES_NO_EDITS = {"workspace": {"workspaceEdit": {"documentChanges": True}}}


@pytest.mark.parametrize(
    ("client", "capabilities"),
    [("Eglot", {}), ("kakoune-lsp", {}), ("something new", TAKES_NO_EDITS)],
)
def test_edits_of_open_documents_wait_as_proposals_and_the_person_is_told(
    project: Project, client: str, capabilities: Json
) -> None:
    path = project.file("open.txt", "one\n")
    project.file("closed.txt", "one\n")
    editor = project.editor(
        step("", edit("open.txt", "one", "ONE"), edit("closed.txt", "one", "ONE")),
        step("Done."),
        capabilities=capabilities,
        clientInfo={"name": client},
    )
    document = editor.open(path)
    result = editor.ask_agent("Go.")
    statuses = {one["uri"].rsplit("/", 1)[1]: one["status"] for one in result["edits"]}
    assert statuses == {"open.txt": "proposed", "closed.txt": "applied"}
    assert document.text.content == "one\n"
    assert any(
        "wait as proposals" in told["message"] for told in editor.received("window/showMessage")
    )
    assert editor.command("applyEdit")["applied"] is True
    assert document.text.content == "ONE\n"


def test_with_sync_they_are_applied_as_anywhere(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    editor = project.editor(
        step("", edit("a.txt", "one", "ONE")),
        step("Done."),
        client={"sync": True},
        clientInfo=EGLOT,
    )
    editor.open(path)
    assert [one["status"] for one in editor.ask_agent("Go.")["edits"]] == ["applied"]
