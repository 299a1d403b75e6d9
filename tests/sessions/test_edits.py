"""Edits as they are listed for review."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from lsp_agent.protocol.settings import Settings
from lsp_agent.sessions import edit_views
from lsp_agent.sessions.edits import Edits
from lsp_agent.text.lines import Text
from lsp_agent.text.live_hunks import LiveHunk, live_hunks
from lsp_agent.workspace.documents import Documents
from lsp_agent.workspace.editor import Editor
from lsp_agent.workspace.file_host import FileHost
from lsp_agent.workspace.ledger import Ledger, Origin
from lsp_agent.workspace.reviews import Reviews


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(str(tmp_path / "ledger"))
    yield made
    made.close()


@pytest.mark.asyncio
async def test_only_the_edits_that_are_asked_for_are_compared(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[Text] = []

    def counted(before: Text, after: Text, now: Text) -> list[LiveHunk]:
        compared.append(after)
        return live_hunks(before, after, now)

    monkeypatch.setattr(edit_views, "live_hunks", counted)
    path = tmp_path / "a.txt"
    path.write_text("1\n")
    for number in range(3):
        before, after = Text.of(f"{number - 1}\n"), Text.of(f"{number}\n")
        change = await ledger.record(Origin("s"), str(path), before, after, "applied")
        if number < 2:
            ledger.set_status(change.id, "kept")
    documents = Documents("utf-16")
    reviews = Reviews(ledger)
    host = FileHost(documents, cast(Editor, cast(Any, None)), ledger, reviews)  # nothing is open
    listed = await Edits(ledger, host, documents, reviews, lambda _path: Settings()).find(
        path=str(path), statuses=("proposed", "applied")
    )
    assert [edit.status for edit in listed] == ["applied"]
    assert compared == []
