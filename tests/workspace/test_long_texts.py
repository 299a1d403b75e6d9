"""Edits in long texts: what takes long leaves the event loop, and nothing is done per change."""

import threading

import pytest
from scripted_editor import POLICIES, ScriptedEditor

from lsp_agent.text.lines import Text
from lsp_agent.workspace import flight, proof
from lsp_agent.workspace.documents import Documents
from lsp_agent.workspace.open_document import ContentChange
from lsp_agent.workspace.proof import place

URI = "untitled:doc"
LINES = [f"line {n}\n" for n in range(6_000)]
TEXT = "".join(LINES)
MEANT = "".join(line if n % 600 else line.upper() for n, line in enumerate(LINES))


def changes(documents: Documents, *, each: bool) -> list[ContentChange]:
    """What is observed of 100 changes that come together."""
    document = documents.get(URI)
    assert document is not None
    seen: list[ContentChange] = []
    together = [
        {"range": {"start": place, "end": place}, "text": "x"}
        for place in ({"line": n, "character": 0} for n in range(100))
    ]
    with document.record(seen.append, each=each):
        documents.change(URI, 2, together)
    assert document.text.content.count("x") == 100
    return seen


def test_many_changes_of_a_long_text_that_come_together_are_observed_as_one() -> None:
    documents = Documents()
    documents.open(URI, 1, TEXT)
    (only,) = changes(documents, each=False)
    assert (only.before.content, only.span) == (TEXT, None)
    assert only.after.content == only.text
    document = documents.get(URI)
    assert document is not None
    assert document.text == only.after


def test_they_are_observed_one_by_one_where_that_tells_whether_an_edit_strayed() -> None:
    documents = Documents()
    documents.open(URI, 1, TEXT)
    assert len(changes(documents, each=True)) == 100


@pytest.mark.asyncio
async def test_long_texts_are_compared_away_from_the_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a person's key in the way, so that the edit is merged and made again."""
    in_loop: list[str] = []
    for module, name in ((proof, "text_edits"), (proof, "merged"), (flight, "merged")):
        original = getattr(module, name)

        def noting(*texts: Text, original: object = original, name: str = name) -> object:
            if threading.current_thread() is threading.main_thread():
                in_loop.append(name)
            assert callable(original)
            return original(*texts)

        monkeypatch.setattr(module, name, noting)
    documents = Documents()

    def keys(editor: ScriptedEditor, point: str, send: int) -> None:
        if point == "before apply" and send == 1:
            editor.type(TEXT.index("line 7\n"), "typed ")

    editor = ScriptedEditor(documents, URI, TEXT, POLICIES[0], keys)
    document = documents.get(URI)
    assert document is not None
    result = await place(
        document, editor, lambda _: Text.of(MEANT), "edit", still_wanted=lambda: True
    )
    assert (result.outcome, result.sends) == ("in", 2)
    assert document.text.content == MEANT.replace("line 7\n", "typed line 7\n")
    assert in_loop == []
