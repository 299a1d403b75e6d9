"""Edits in long texts: what takes long leaves the event loop, and nothing is done per change."""

import threading
from pathlib import Path
from types import ModuleType

import pytest
from support.scripted_editor import POLICIES, ScriptedEditor

from lsp_agent.text.lines import Text
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import ContentChange
from lsp_agent.workspace.ledger import reviews
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.review_state import ReviewState
from lsp_agent.workspace.placing import flight
from lsp_agent.workspace.placing import placement as proof
from lsp_agent.workspace.placing.placement import place

URI = "untitled:doc"
LINES = [f"line {n}\n" for n in range(6_000)]
TEXT = "".join(LINES)
MEANT = "".join(line if n % 600 else line.upper() for n, line in enumerate(LINES))


# As generated files are: all in one line.
LINE = " ".join(f"word{n}" for n in range(30_000)) + "\n"


def changes(documents: Documents, *, each: bool) -> list[ContentChange]:
    """What is observed of 100 changes that come together."""
    document = documents.get(URI)
    assert document is not None
    seen: list[ContentChange] = []
    together = [
        {"range": {"start": place, "end": place}, "text": "x"}
        for place in ({"line": 0, "character": 0} for n in range(100))
    ]
    with document.record(seen.append, each=each):
        documents.change(URI, 2, together)
    assert document.text.content.count("x") == 100
    return seen


@pytest.mark.parametrize("text", [TEXT, LINE], ids=["lines", "one line"])
def test_many_changes_of_a_long_text_that_come_together_are_observed_as_one(text: str) -> None:
    documents = Documents()
    documents.open(URI, 1, text)
    (only,) = changes(documents, each=False)
    assert (only.before.content, only.span) == (text, None)
    assert only.after.content == only.text
    document = documents.get(URI)
    assert document is not None
    assert document.text == only.after


def test_they_are_observed_one_by_one_where_that_tells_whether_an_edit_strayed() -> None:
    documents = Documents()
    documents.open(URI, 1, TEXT)
    assert len(changes(documents, each=True)) == 100


def noting_calls_in_the_loop(
    monkeypatch: pytest.MonkeyPatch, *places: tuple[ModuleType | type, str]
) -> list[str]:
    in_loop: list[str] = []
    for owner, name in places:
        original = getattr(owner, name)

        def noting(*texts: object, original: object = original, name: str = name) -> object:
            if threading.current_thread() is threading.main_thread():
                in_loop.append(name)
            assert callable(original)
            return original(*texts)

        monkeypatch.setattr(owner, name, noting)
    return in_loop


@pytest.mark.parametrize(
    ("text", "meant", "place_"),
    [(TEXT, MEANT, "line 7\n"), (LINE, LINE.replace("word9 ", "changed "), "word7 ")],
    ids=["lines", "one line"],
)
@pytest.mark.asyncio
async def test_long_texts_are_compared_away_from_the_loop(
    monkeypatch: pytest.MonkeyPatch, text: str, meant: str, place_: str
) -> None:
    """With a person's key in the way, so that the edit is merged and made again."""
    in_loop = noting_calls_in_the_loop(
        monkeypatch, (proof, "text_edits"), (proof, "merged"), (flight, "merged")
    )
    documents = Documents()

    def keys(editor: ScriptedEditor, point: str, send: int) -> None:
        if point == "before apply" and send == 1:
            editor.type(text.index(place_), "typed ")

    editor = ScriptedEditor(documents, URI, text, POLICIES[0], keys)
    document = documents.get(URI)
    assert document is not None
    result = await place(
        document, editor, lambda _: Text.of(meant), "edit", still_wanted=lambda: True
    )
    assert (result.outcome, result.sends) == ("in", 2)
    assert document.text.content == meant.replace(place_, "typed " + place_, 1)
    assert in_loop == []


@pytest.mark.asyncio
async def test_a_review_of_one_long_line_is_made_away_from_the_loop(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ledger = Ledger(str(tmp_path / "ledger"))
    file_reviews = reviews.Reviews(ledger)
    before, after = Text.of(LINE), Text.of(LINE.upper())
    change = await ledger.record(Origin("s"), "/w/a", before, after, "applied")
    in_loop = noting_calls_in_the_loop(monkeypatch, (ReviewState, "folded"))
    assert await file_reviews.refresh("/w/a", after)
    assert in_loop == []
    assert [hunk.change_id for hunk in file_reviews.peek("/w/a", after).hunks] == [change.id]
    ledger.close()
