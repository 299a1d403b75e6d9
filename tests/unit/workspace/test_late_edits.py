"""An edit that the editor shows long after it was sent, when others have come in since: what is
said of those stays so."""

import threading
from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
import pytest_asyncio
from support.scripted_editor import Policy, ScriptedEditor

from lsp_agent.protocol.settings.settings import Review
from lsp_agent.text.lines import Text
from lsp_agent.workspace.changing.file_host import FileHost, Origin, Placed, View
from lsp_agent.workspace.disk.paths import from_ledger, path_to_uri
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.placing import flight
from lsp_agent.workspace.placing import late as late_module
from lsp_agent.workspace.placing.flight import Timings

Which = Literal["the late one", "the other"]
WHICH: tuple[Which, ...] = ("the late one", "the other")
TEXT = "one\n\ntwo\n\nthree\n\nfour\n"
#: What comes late is looked for so seldom that others come in before that.
TIMINGS = Timings(tick=0.01, align_within=0.0, align_wait=0.0, quiet=0.5, unknown=1.0)


class Holding(ScriptedEditor):
    """While ``holds``, what is sent is neither answered nor done until ``let_go``."""

    holds = False

    def _process(self, version: int | None, wire: list[dict[str, Any]], send: int) -> bool | None:
        if not self.holds:
            return super()._process(version, wire, send)
        self._held = wire, send
        return None

    def let_go(self) -> None:
        self._apply(*self._held)


class Desk:
    """One open file, of which an agent changes words that a person may take back."""

    def __init__(self, folder: Path, text: str = TEXT, timings: Timings = TIMINGS) -> None:
        self.file = folder / "a.txt"
        self.file.write_bytes(text.encode())
        self.documents = Documents()
        uri = path_to_uri(str(self.file))
        self.editor = Holding(self.documents, uri, text, Policy("holds"))
        self.ledger = Ledger(str(folder / "ledger"))
        self.reviews = Reviews(self.ledger)
        self.host = FileHost(self.documents, self.editor, self.ledger, self.reviews, timings)

    async def replace(self, old: str, new: str, review: Review = "after") -> Placed:
        def resolve(view: View) -> Text:
            text = view.require_text()
            return Text.of(text.content.replace(old, new), like=text)

        path = from_ledger(str(self.file))
        return await self.host.replace(path, Origin("s"), resolve, review=review, save="never")

    def statuses(self) -> list[str]:
        """Of the changes, in order; what was typed is taken into the review first."""
        self.open()
        return [change.status for change in self.ledger.changes()]

    def open(self) -> list[str]:
        """The lines of each hunk that nobody has decided on."""
        document = self.documents.at(str(self.file))
        assert document is not None
        review = self.reviews.current(str(self.file), document.text)
        return ["".join(review.lines_of(hunk)) for hunk in review.hunks]


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.ledger.close()


async def until(desk: Desk, *statuses: str) -> None:
    with anyio.fail_after(20):
        while desk.statuses() != [*statuses]:  # noqa: ASYNC110 (typing is only seen on looking)
            await anyio.sleep(0.01)
    await anyio.sleep(1.5 * TIMINGS.quiet)  # nobody takes it back
    assert desk.statuses() == [*statuses]


async def late(desk: Desk, what: Coroutine[Any, Any, Placed], first: Which) -> None:
    """``what`` is done long after it was sent; another edit comes in before that or right after."""
    desk.editor.holds = True
    assert (await what).status == "unknown"
    desk.editor.holds = False
    if first == "the late one":
        desk.editor.let_go()
        await desk.editor.settle()
    assert (await desk.replace("three", "3")).status == "applied"
    if first == "the other":
        desk.editor.let_go()


@pytest.mark.asyncio
@pytest.mark.parametrize("first", WHICH)
async def test_an_undo_that_comes_late_takes_back_nothing_else(desk: Desk, first: Which) -> None:
    two = await desk.replace("two", "2")
    assert two.change is not None
    await late(desk, desk.host.undo(str(desk.file), [(two.change.id, 0)], save="never"), first)
    await until(desk, "rejected", "applied")
    assert desk.open() == ["3\n"]
    assert desk.editor.buffer.text == TEXT.replace("three", "3")


@pytest.mark.asyncio
@pytest.mark.parametrize("first", WHICH)
async def test_an_edit_that_comes_late_takes_back_nothing_else(desk: Desk, first: Which) -> None:
    await late(desk, desk.replace("two", "2"), first)
    await until(desk, "applied", "applied")
    assert desk.open() == ["2\n", "3\n"]


@pytest.mark.asyncio
@pytest.mark.parametrize("first", WHICH)
async def test_a_proposal_that_comes_late_takes_back_nothing_else(desk: Desk, first: Which) -> None:
    two = await desk.replace("two", "2", "before")
    assert two.change is not None
    await late(desk, desk.host.accept(two.change.id, save="never"), first)
    await until(desk, "applied", "applied")
    assert desk.open() == ["2\n", "3\n"]


@pytest.mark.asyncio
async def test_what_the_person_makes_of_an_edit_right_after_it_came_late_is_theirs(
    desk: Desk,
) -> None:
    desk.editor.holds = True
    assert (await desk.replace("two", "2")).status == "unknown"
    desk.editor.let_go()
    desk.editor.type(desk.editor.buffer.text.index("2") + 1, "0")
    await until(desk, "applied")
    assert desk.open() == ["20\n"]
    (change,) = desk.ledger.changes()
    assert (change.before, change.after) == (Text.of(TEXT), Text.of(TEXT.replace("two", "2")))


LONG = TEXT + "".join(f"line {number}\n" for number in range(6_000))


@pytest.mark.parametrize("comes", [True, False])
@pytest.mark.asyncio
async def test_a_late_edit_of_a_long_text_is_looked_for_away_from_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, comes: bool
) -> None:
    in_loop: list[str] = []

    def noting(name: str, original: Any) -> Any:
        def called(*texts: Text) -> object:
            if threading.current_thread() is threading.main_thread():
                in_loop.append(name)
            return original(*texts)

        return called

    monkeypatch.setattr(flight, "merged", noting("merged", flight.merged))
    monkeypatch.setattr(late_module, "preferring", noting("preferring", late_module.preferring))
    desk = Desk(tmp_path, LONG, replace(TIMINGS, late=2.0))
    two = await desk.replace("two", "2", "before")
    assert two.change is not None
    desk.editor.holds = True
    desk.editor.type(0, "typed\n")
    assert (await desk.host.accept(two.change.id, save="never")).status == "unknown"
    desk.editor.holds = False
    desk.editor.type(0, "and typed\n")
    if comes:
        two_at = desk.editor.buffer.text.index("two")
        desk.editor.buffer.replace(two_at, two_at + 3, "2")
        desk.editor.type(0, "more\n")
    with anyio.fail_after(20):
        while desk.ledger.changes()[0].status == "unknown":  # noqa: ASYNC110
            await anyio.sleep(0.01)
    assert [change.status for change in desk.ledger.changes()] == (
        ["applied"] if comes else ["proposed"]
    )
    assert in_loop == []
    desk.ledger.close()
