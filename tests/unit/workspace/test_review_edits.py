"""Edits as they are listed for review, and decisions on them that meet trouble."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import pytest
from support.scripted_editor import Policy, ScriptedEditor

from lsp_agent.protocol.errors import LspAgentError, RequestFailed
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.text.lines import Text
from lsp_agent.text.live_hunks import LiveHunk, live_hunks
from lsp_agent.workspace.changing.file_host import FileHost
from lsp_agent.workspace.disk.paths import Confinement
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.placing.flight import Timings
from lsp_agent.workspace.review import views as edit_views
from lsp_agent.workspace.review.edits import Edits, Rejection


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


@pytest.mark.asyncio
async def test_an_edit_that_goes_in_as_a_file_is_looked_at_is_listed_with_those_it_took_over(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    texts = [Text.of(f"{number}\n") for number in range(3)]
    path.write_text("1\n")
    documents, reviews = Documents("utf-16"), Reviews(ledger)
    host = FileHost(documents, cast(Editor, cast(Any, None)), ledger, reviews)  # nothing is open
    edits = Edits(ledger, host, documents, reviews, lambda _path: Settings())
    await ledger.record(Origin("s"), str(path), texts[0], texts[1], "applied")
    view = host.view

    async def beside_another(*looked: Any) -> Any:
        monkeypatch.undo()
        path.write_text("2\n")
        await ledger.record(Origin("s"), str(path), texts[1], texts[2], "applied")
        return await view(*looked)

    monkeypatch.setattr(host, "view", beside_another)
    listed = await edits.find(path=str(path))
    assert [edit.status for edit in listed] == ["superseded", "applied"]


# Decisions, with an editor that misbehaves

LINES = "one\ntwo\nthree\nfour\nfive\n"
QUICK = Timings(tick=0.01, align_within=0.0, align_wait=0.0, quiet=0.05, unknown=5.0, late=0.4)


class Desk:
    """A document in a scripted editor, and a proposal to change its second and fourth line."""

    def __init__(self, folder: Path, ledger: Ledger, policy: Policy, lines: str = LINES) -> None:
        path = folder / "open.txt"
        path.write_text(lines)
        self.lines = lines
        self.ledger = ledger
        self.documents = Documents()
        self.sent = anyio.Event()  # when the editor has an edit
        self.editor = ScriptedEditor(self.documents, path.as_uri(), lines, policy, self._point)
        self.reviews = Reviews(ledger)
        self.host = FileHost(self.documents, self.editor, ledger, self.reviews, QUICK)
        self.edits = Edits(ledger, self.host, self.documents, self.reviews, lambda _: Settings())
        self.path = Confinement([str(folder)]).confine(str(path), str(folder), write=True)

    def _point(self, _editor: ScriptedEditor, point: str, _send: int) -> None:
        if point == "before apply":
            self.sent.set()

    async def propose(self, *words: str) -> str:
        content = self.lines
        for word in words or ("two", "four"):
            content = content.replace(word, word.upper())
        text = Text.of(content)
        placed = await self.host.replace(
            self.path, Origin("s"), lambda _: text, review="before", save="never"
        )
        assert placed.change is not None
        return placed.change.id

    async def write(self, content: str) -> str:
        text = Text.of(content)
        placed = await self.host.replace(
            self.path, Origin("s"), lambda _: text, review="after", save="never"
        )
        assert placed.change is not None
        return placed.change.id

    async def types(self, old: str, new: str) -> None:
        text = self.editor.buffer.text
        self.editor.buffer.replace(text.index(old), text.index(old) + len(old), new)
        await self.editor.settle()

    async def statuses(self, edit_id: str) -> list[str]:
        edit = await self.edits.get(edit_id)
        return [edit.status, *(hunk.status for hunk in edit.hunks)]

    async def becomes(self, edit_id: str, *wanted: str) -> bool:
        for _ in range(300):
            if await self.statuses(edit_id) == [*wanted]:
                return True
            await anyio.sleep(0.02)
        return False


@pytest.mark.asyncio
async def test_an_edit_that_is_looked_at_before_it_is_known_to_be_in_is_no_persons(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    told = desk.documents.change

    def change(uri: str, version: int | None, changes: Sequence[Mapping[str, Any]]) -> None:
        told(uri, version, changes)
        document = desk.documents.get(uri)
        assert document is not None
        desk.reviews.current(desk.path.path, document.text)

    monkeypatch.setattr(desk.documents, "change", change)
    first = await desk.write(LINES.replace("two", "TWO"))
    second = await desk.write(LINES.replace("two\n", ""))
    assert (await desk.statuses(first))[0] == "superseded"
    desk.editor.buffer.replace(4, 4, "TWO\n")  # as the editor's undo does
    await desk.editor.settle()
    assert await desk.statuses(first) == ["applied", "applied"]
    assert (await desk.statuses(second))[0] == "rejected"


async def given_up(desk: Desk, edit_id: str, hunks: list[str] | None = None) -> None:
    """A request to apply that is cancelled once the editor has the edit."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.edits.apply, edit_id, hunks)
        await desk.sent.wait()
        tasks.cancel_scope.cancel()


@pytest.mark.asyncio
async def test_what_the_editors_port_fails_with_is_told_as_the_editors_failure(
    tmp_path: Path, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise LspAgentError("the editor is on fire")

    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await desk.propose()
    monkeypatch.setattr(desk.editor, "apply", fails)
    with pytest.raises(RequestFailed) as caught:
        await desk.edits.apply(edit_id)
    assert (caught.value.kind, str(caught.value)) == ("editorFailed", "the editor is on fire")
    assert caught.value.data == {"editId": edit_id}


@pytest.mark.asyncio
async def test_a_proposal_that_was_given_up_and_never_came_is_one_again(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("silent", lie="silent, not done"))
    edit_id = await desk.propose()
    await given_up(desk, edit_id)
    assert (await desk.statuses(edit_id))[0] == "unknown"
    applied, reason, _ = await desk.edits.apply(edit_id)
    assert (applied, "may still come" in (reason or "")) == (False, True)
    assert await desk.becomes(edit_id, "proposed", "proposed", "proposed")


@pytest.mark.asyncio
async def test_a_proposal_that_was_given_up_and_came_is_applied(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("late", lie="late", late=0.2))
    edit_id = await desk.propose()
    await given_up(desk, edit_id)
    assert (await desk.statuses(edit_id))[0] == "unknown"
    assert await desk.becomes(edit_id, "applied", "applied", "applied")


@pytest.mark.asyncio
async def test_a_hunk_that_was_given_up_leaves_the_other_under_review(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await desk.propose()
    await desk.edits.apply(edit_id, ["0"])
    desk.editor.policy, desk.sent = Policy("silent", lie="silent, not done"), anyio.Event()
    await given_up(desk, edit_id, ["1"])
    assert await desk.becomes(edit_id, "proposed", "applied", "proposed")
    desk.editor.policy = Policy("plain")
    await desk.edits.reject(edit_id)
    await desk.editor.settle()
    assert desk.editor.buffer.text == LINES


@pytest.mark.asyncio
async def test_the_agent_is_not_told_of_what_was_not_taken_back(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    told: list[Rejection] = []
    desk.edits.on_rejected(told.append)
    edit_id = await desk.propose()
    await desk.edits.apply(edit_id)
    await desk.edits.keep(edit_id, ["0"])
    await desk.edits.reject(edit_id, ["0"], "too late")
    assert told == []
    await desk.edits.reject(edit_id, ["1"], "no")
    assert [each.reason for each in told] == ["no"]


# Edits of which only a part was lost


async def lost_in_part(desk: Desk) -> str:
    """The first line of the proposal is applied, the second was, and is lost."""
    edit_id = await desk.propose()
    await desk.edits.apply(edit_id)
    ledger, path = desk.ledger, desk.path.path
    text = desk.editor.buffer.text
    desk.reviews.keep(path, Text.of(text), [(edit_id, 1)])
    ledger.decide(edit_id, {1: "lost"})
    desk.editor.buffer.replace(text.index("FOUR"), text.index("FOUR") + 4, "four")
    await desk.editor.settle()
    assert await desk.statuses(edit_id) == ["applied", "applied", "lost"]
    return edit_id


@pytest.mark.asyncio
async def test_a_lost_hunk_is_applied_beside_one_that_is_in(tmp_path: Path, ledger: Ledger) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await lost_in_part(desk)
    applied, reason, _ = await desk.edits.apply(edit_id, ["1"])
    assert (applied, reason) == (True, None)
    assert await desk.statuses(edit_id) == ["applied", "applied", "applied"]
    assert desk.editor.buffer.text == LINES.replace("two", "TWO").replace("four", "FOUR")
    await desk.edits.undo_all()
    await desk.editor.settle()
    assert desk.editor.buffer.text == LINES


@pytest.mark.asyncio
async def test_a_lost_hunk_is_dropped_beside_one_that_is_in(tmp_path: Path, ledger: Ledger) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await lost_in_part(desk)
    await desk.edits.reject(edit_id, ["1"])
    assert await desk.statuses(edit_id) == ["applied", "applied", "rejected"]
    await desk.edits.keep(edit_id)
    assert await desk.statuses(edit_id) == ["kept", "kept", "rejected"]


@pytest.mark.asyncio
async def test_one_hunk_of_a_lost_edit_is_applied_and_the_other_stays_lost(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await desk.propose()
    ledger.set_status(edit_id, "lost")
    await desk.edits.apply(edit_id, ["0"])
    assert await desk.statuses(edit_id) == ["applied", "applied", "lost"]
    assert desk.editor.buffer.text == LINES.replace("two", "TWO")
    await desk.edits.apply(edit_id)
    assert await desk.statuses(edit_id) == ["applied", "applied", "applied"]
    assert desk.editor.buffer.text == LINES.replace("two", "TWO").replace("four", "FOUR")


# Proposals for a text that has become another one


@pytest.mark.asyncio
async def test_what_the_person_has_made_of_a_proposal_is_kept_and_the_rest_is_reviewed(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await desk.propose("two", "four", "five")
    await desk.types("two", "TWO")
    await desk.edits.apply(edit_id)
    assert desk.editor.buffer.text == "one\nTWO\nthree\nFOUR\nFIVE\n"
    assert await desk.statuses(edit_id) == ["applied", "kept", "applied"]
    await desk.edits.reject(edit_id, ["1"])
    assert desk.editor.buffer.text == LINES.replace("two", "TWO")
    assert await desk.statuses(edit_id) == ["kept", "kept", "rejected"]


@pytest.mark.asyncio
async def test_each_hunk_of_a_proposal_goes_by_its_own_name_whatever_of_it_is_in(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await desk.propose("one", "three", "five")
    await desk.types("one", "ONE")
    await desk.edits.apply(edit_id)
    assert await desk.statuses(edit_id) == ["applied", "kept", "applied", "applied"]
    (three, five) = (await desk.edits.get(edit_id)).hunks[1:]
    assert (three.new_text, five.new_text) == ("THREE\n", "FIVE\n")
    await desk.edits.reject(edit_id, ["1"])
    assert desk.editor.buffer.text == LINES.replace("one", "ONE").replace("five", "FIVE")
    await desk.edits.keep(edit_id, ["2"])
    assert await desk.statuses(edit_id) == ["kept", "kept", "rejected", "kept"]


@pytest.mark.asyncio
async def test_a_hunk_that_goes_in_around_a_typed_line_is_one(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"), "alpha one\nbeta two\nend\n")
    edit_id = await desk.propose("one", "two")
    await desk.types("beta", "typed\nbeta")
    await desk.edits.apply(edit_id)
    assert desk.editor.buffer.text == "alpha ONE\ntyped\nbeta TWO\nend\n"
    edit = await desk.edits.get(edit_id)
    (hunk,) = edit.hunks
    assert (edit.status, hunk.status) == ("applied", "applied")
    assert (hunk.range.start.line, hunk.range.end.line) == (0, 3)
    await desk.edits.reject(edit_id)
    assert desk.editor.buffer.text == "alpha one\ntyped\nbeta two\nend\n"


@pytest.mark.asyncio
async def test_a_hunk_around_another_agents_lines_is_seen_from_its_first_to_its_last_line(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"), "alpha one\nbeta two\nend\n")
    edit_id = await desk.propose("one", "two")
    other = await desk.write("alpha one\nbetween\nbeta two\nend\n")
    await desk.edits.apply(edit_id)
    (hunk,) = (await desk.edits.get(edit_id)).hunks
    assert (hunk.range.start.line, hunk.range.end.line) == (0, 3)
    assert hunk.new_text == "alpha ONE\nbetween\nbeta TWO\n"
    await desk.edits.reject(edit_id)
    assert desk.editor.buffer.text == "alpha one\nbetween\nbeta two\nend\n"
    assert await desk.statuses(other) == ["applied", "applied"]


@pytest.mark.asyncio
async def test_hunks_that_meet_since_the_line_between_them_went_are_decided_on_as_one(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await desk.propose("two", "four")
    await desk.types("three\n", "")
    await desk.edits.apply(edit_id)
    assert desk.editor.buffer.text == "one\nTWO\nFOUR\nfive\n"
    assert await desk.statuses(edit_id) == ["applied", "applied", "superseded"]
    await desk.edits.keep(edit_id, ["0"])
    assert await desk.statuses(edit_id) == ["kept", "kept", "kept"]


@pytest.mark.asyncio
async def test_hunks_of_a_lost_edit_that_meet_are_one_to_who_is_told_of_it_at_once(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await desk.propose("two", "four")
    ledger.set_status(edit_id, "lost")
    ledger.subscribe(lambda change: None if change.cold else str(desk.edits.event(change)))
    await desk.types("three\n", "")
    await desk.edits.apply(edit_id)
    assert await desk.statuses(edit_id) == ["applied", "applied", "superseded"]
    await desk.edits.reject(edit_id)
    assert await desk.statuses(edit_id) == ["rejected", "rejected", "rejected"]


# All at once


@pytest.mark.asyncio
async def test_who_undoes_all_is_told_that_the_editor_refused_it(
    tmp_path: Path, ledger: Ledger
) -> None:
    desk = Desk(tmp_path, ledger, Policy("plain"))
    edit_id = await desk.write(LINES.replace("two", "TWO"))
    desk.editor.policy = Policy("refusing", lie="refuses")
    with pytest.raises(RequestFailed, match="the editor refused the edit") as refused:
        await desk.edits.undo_all()
    assert (refused.value.kind, refused.value.data) == ("editorFailed", {"editId": edit_id})
    assert await desk.statuses(edit_id) == ["applied", "applied"]
