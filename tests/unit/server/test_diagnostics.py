"""A hosted agent learns what the editor's other language servers say of its edit."""

from typing import Any

import pytest
from support.project import EVENTS, Editor, Project, call, edit, step
from support.raw_client import Json, RpcError

CODE = "from math import pi\n\n\ndef area(r):\n    return pi * r\n"
CLIENT: Json = EVENTS | {"diagnostics": True}


def said(line: int, message: str, **more: Any) -> Json:
    place = {"line": line, "character": 0}
    return {"range": {"start": place, "end": place}, "message": message, "severity": 1} | more


def answering(editor: Editor, path: str, after: list[Json]) -> None:
    """The editor's servers say ``after`` once the document has no ``pi`` any more."""

    def answer(params: Json) -> Json:
        (uri,) = params["uris"]
        broken = "import pi" not in editor.documents[uri].text.content
        own = said(0, "1 change to review", source="lsp-agent")
        return {"files": [{"uri": uri, "diagnostics": [own, *(after if broken else [])]}]}

    editor.handlers["agent/diagnostics"] = answer


BREAKING = edit("area.py", "from math import pi\n", "")


def test_the_result_of_an_edit_names_the_new_problems(project: Project) -> None:
    path = project.file("area.py", CODE)
    editor = project.editor(step("", BREAKING), step("Done."), client=CLIENT)
    answering(editor, str(path), [said(3, '"pi" is not defined', source="Pyright")])
    editor.open(path)
    editor.ask_agent("Break it.")
    (text,) = editor.tool_texts()
    assert f"New problems in {path}, say its language servers:" in text
    assert 'error, line 4: "pi" is not defined (Pyright)' in text
    assert "to review" not in text


@pytest.mark.parametrize(
    "answer",
    [None, {}, {"files": "none"}, {"files": [{"uri": 3}]}, RpcError(-32601, "Method not found")],
)
def test_an_odd_answer_changes_nothing(project: Project, answer: Any) -> None:
    path = project.file("area.py", CODE)
    editor = project.editor(step("", BREAKING), step("Done."), client=CLIENT)

    def odd(_params: Json) -> Any:
        if isinstance(answer, RpcError):
            raise answer
        return answer

    editor.handlers["agent/diagnostics"] = odd
    document = editor.open(path)
    assert editor.ask_agent("Break it.")["stopReason"] == "endTurn"
    assert "import pi" not in document.text.content
    assert "New problems" not in editor.tool_texts()[0]


def test_a_client_without_the_capability_is_not_asked(project: Project) -> None:
    path = project.file("area.py", CODE)
    editor = project.editor(
        step("", BREAKING, call("read", path="area.py")), step("Done."), client=EVENTS
    )
    editor.open(path)
    editor.ask_agent("Break it.")
    assert editor.received("agent/diagnostics") == []
