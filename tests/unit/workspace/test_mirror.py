"""What an agent writes to disk by itself meets what the editor shows."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from support.mirror_bench import PLAIN, TEXT, WAITS, MirrorBench, MirrorEditor, Style, eventually
from support.scripted_editor import Policy

from lsp_agent.text.lines import Text
from lsp_agent.text.merge import merge3_fine, preferring
from lsp_agent.workspace.changing.file_host import NotWanted, Placed
from lsp_agent.workspace.disk import look as disk_look
from lsp_agent.workspace.disk.paths import SafePath
from lsp_agent.workspace.documents.editor import EditorTraits
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.mirror import disk_to_editor as bring_in
from lsp_agent.workspace.mirror.disk_change import Brought
from lsp_agent.workspace.mirror.watcher import Known

AGENTS = TEXT.replace("two", "2")
UNCHECKED = Policy("checks nothing", checks="never", traits=EditorTraits(checks_versions=False))
CLIENTS = (
    PLAIN,
    Policy("answers first", answers="before"),
    UNCHECKED,
    Policy("holds back 60 ms", debounce=0.06),
)


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[MirrorBench]:
    bench = MirrorBench(tmp_path)
    yield bench
    bench.close()


# Open, without unsaved text.


@pytest.mark.parametrize("policy", CLIENTS, ids=lambda policy: policy.name)
@pytest.mark.parametrize("style", ["a change", "a new didOpen"])
@pytest.mark.parametrize("reloads", [0.0, 0.1, 0.3, None], ids=["now", "soon", "late", "never"])
@pytest.mark.asyncio
async def test_a_clean_document_takes_the_text_on_disk_once(
    bench: MirrorBench, reloads: float | None, style: Style, policy: Policy
) -> None:
    editor = await bench.open(reloads=reloads, style=style, policy=policy)
    (brought,) = await bench.agent(AGENTS)
    # Between the didClose and the didOpen of a reload it is a file that is not open.
    assert brought.what in ({"merged"} if style == "a change" else {"merged", "recorded"})
    assert await eventually(lambda: bench.documents.at(str(bench.file)) is not None)
    assert bench.shown == AGENTS
    assert await bench.texts() == [("applied", TEXT, AGENTS)]
    assert editor.sends in {0.0: {0}, None: {1}}.get(reloads, {0, 1})
    await bench.document.compared()
    assert not bench.document.dirty
    await asyncio.sleep(0.4)  # a late reload, or one that comes again
    await editor.settle()
    assert bench.shown == editor.buffer.text == AGENTS
    assert bench.file.read_text() == AGENTS
    assert await bench.after() == []


@pytest.mark.parametrize("style", ["a change", "a new didOpen"])
@pytest.mark.asyncio
async def test_what_was_read_before_another_program_wrote_is_recorded(
    bench: MirrorBench, style: Style
) -> None:
    editor = await bench.open(style=style)
    await bench.before()
    bench.writes(AGENTS)
    (change,) = await bench.look()
    for text in (AGENTS, f"{AGENTS}six\n"):
        bench.file.write_text(text)
        editor.load(bench.file)
        await editor.settle()
    brought = await bench.mirror.take(change, bench.origin)
    await editor.settle()
    assert (brought.what, editor.sends) == ("merged", 0)
    assert bench.shown == editor.buffer.text == f"{AGENTS}six\n"
    assert await bench.texts() == [("applied", f"{TEXT}six\n", f"{AGENTS}six\n")]


@pytest.mark.asyncio
async def test_what_was_read_and_undone_before_we_looked_does_not_come_back(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    await bench.before()
    bench.writes(AGENTS)
    (change,) = await bench.look()
    editor.load(bench.file)
    await editor.settle()
    editor.buffer.replace(0, len(AGENTS), TEXT)
    await editor.settle()
    brought = await bench.mirror.take(change, bench.origin)
    await editor.settle()
    assert (brought.what, editor.sends) == ("merged", 0)
    assert bench.shown == editor.buffer.text == TEXT
    assert await bench.texts() == [("applied", TEXT, AGENTS)]


@pytest.mark.asyncio
async def test_what_the_editor_showed_before_the_agent_wrote_it_again_is_brought_in(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    await bench.agent(AGENTS)
    await bench.agent(TEXT)
    editor.type(len(TEXT), "six\n")
    await editor.settle()
    (brought,) = await bench.agent(AGENTS)
    await editor.settle()
    assert brought.what == "merged"
    assert bench.shown == editor.buffer.text == f"{AGENTS}six\n"


def as_the_edit_is_made(
    bench: MirrorBench,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[], Awaitable[None]],
    *,
    wanted: bool,
) -> None:
    """What ``happens`` then; the edit may be not ``wanted`` any more."""
    replace_ = bench.host.replace

    async def replaced(*args: Any, **options: Any) -> Placed:
        await happens()
        if not wanted:
            raise NotWanted
        return await replace_(*args, **options)

    monkeypatch.setattr(bench.host, "replace", replaced)


@pytest.mark.parametrize("style", ["a change", "a new didOpen"])
@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.asyncio
async def test_a_reload_that_comes_as_the_edit_is_made_is_recorded(
    bench: MirrorBench, monkeypatch: pytest.MonkeyPatch, style: Style, wanted: bool
) -> None:
    editor = await bench.open(style=style)

    async def read() -> None:
        editor.load(bench.file)
        await editor.settle()

    as_the_edit_is_made(bench, monkeypatch, read, wanted=wanted)
    (brought,) = await bench.agent(AGENTS)
    assert (brought.what, bench.shown, editor.sends) == ("merged", AGENTS, 0)
    assert await bench.texts() == [("applied", TEXT, AGENTS)]
    assert await bench.after() == []


@pytest.mark.parametrize("wanted", [True, False])
@pytest.mark.asyncio
async def test_what_another_program_makes_of_it_as_the_edit_is_made_is_recorded(
    bench: MirrorBench, monkeypatch: pytest.MonkeyPatch, wanted: bool
) -> None:
    editor = await bench.open()
    both = AGENTS.replace("2", "x\n2")

    async def written_and_read() -> None:
        bench.file.write_text(both)
        editor.load(bench.file)
        await editor.settle()

    as_the_edit_is_made(bench, monkeypatch, written_and_read, wanted=wanted)
    (brought,) = await bench.agent(AGENTS)
    assert (brought.what, bench.shown, editor.sends) == ("merged", both, 0)
    assert await bench.texts() == [("applied", TEXT.replace("two", "x\ntwo"), both)]


@pytest.mark.parametrize("policy", CLIENTS, ids=lambda policy: policy.name)
@pytest.mark.parametrize("style", ["a change", "a new didOpen"])
@pytest.mark.asyncio
async def test_a_reload_that_crosses_the_edit_doubles_no_line(
    bench: MirrorBench, monkeypatch: pytest.MonkeyPatch, style: Style, policy: Policy
) -> None:
    editor = await bench.open(style=style, policy=policy)
    apply = editor.apply

    async def crossed(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(editor, "apply", apply)
        editor.load(bench.file)
        return await apply(*args, **options)

    monkeypatch.setattr(editor, "apply", crossed)
    twice = TEXT + TEXT
    (brought,) = await bench.agent(twice)
    await editor.settle()
    assert brought.what == "merged"
    assert await eventually(lambda: bench.documents.at(str(bench.file)) is not None)
    assert bench.shown == editor.buffer.text == twice
    assert await bench.texts() == [("applied", TEXT, twice)]


@pytest.mark.asyncio
async def test_an_edit_that_lands_on_a_line_just_typed_in_is_only_proposed(
    bench: MirrorBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = await bench.open(policy=UNCHECKED)
    apply = editor.apply

    async def crossed(*args: Any, **options: Any) -> Any:
        monkeypatch.setattr(editor, "apply", apply)
        editor.type(TEXT.index("two"), "my ")
        return await apply(*args, **options)

    monkeypatch.setattr(editor, "apply", crossed)
    (brought,) = await bench.agent(AGENTS)
    await editor.settle()
    typed = TEXT.replace("two", "my two")
    assert brought.what == "proposed"
    assert bench.shown == editor.buffer.text == typed
    assert await bench.texts() == [("proposed", typed, TEXT.replace("two", "my 2"))]


@pytest.mark.asyncio
async def test_an_editor_that_can_reload_is_asked_to(bench: MirrorBench) -> None:
    policy = replace(PLAIN, traits=EditorTraits(can_reload=True))
    editor = await bench.open(policy=policy)
    await bench.agent(AGENTS)
    assert (editor.asked_to_reload, editor.sends) == (1, 0)
    assert bench.shown == AGENTS
    assert await bench.texts() == [("applied", TEXT, AGENTS)]


@pytest.mark.asyncio
async def test_an_editor_that_does_not_do_what_it_says_is_sent_an_edit(bench: MirrorBench) -> None:
    policy = replace(PLAIN, traits=EditorTraits(can_reload=True))
    editor = await bench.open(policy=policy)
    editor.load = lambda path: None
    await bench.agent(AGENTS)
    assert (editor.asked_to_reload, editor.sends) == (1, 1)
    assert bench.shown == AGENTS


@pytest.mark.parametrize("asked", [True, False], ids=["asked to reload", "by itself"])
@pytest.mark.asyncio
async def test_a_reload_is_known_though_the_agents_line_is_typed_in_at_once(
    bench: MirrorBench, asked: bool
) -> None:
    joint = replace(PLAIN, traits=EditorTraits(can_reload=asked), debounce=0.05)
    editor = await bench.open(policy=joint, reloads=None if asked else 0.1)
    load = editor.load

    def load_and_type(path: Path) -> None:
        load(path)
        editor.type(AGENTS.index("2"), "typed")

    editor.load = load_and_type
    await bench.agent(AGENTS)
    assert bench.shown == AGENTS.replace("2", "typed2")
    assert await bench.texts() == [("applied", TEXT, AGENTS)]


@pytest.mark.asyncio
async def test_an_editor_that_did_not_reload_in_time_is_not_waited_for_again(
    bench: MirrorBench,
) -> None:
    await bench.open()
    await bench.agent(AGENTS)
    started = asyncio.get_running_loop().time()
    await bench.agent(AGENTS.replace("four", "4"))
    assert asyncio.get_running_loop().time() - started < WAITS.reload
    assert bench.shown == AGENTS.replace("four", "4")


@pytest.mark.asyncio
async def test_an_editor_that_reloads_only_the_newest_text_has_them_all(
    bench: MirrorBench,
) -> None:
    await bench.open(reloads=0.1)
    newest = AGENTS.replace("four", "4")
    await bench.before()
    bench.writes(AGENTS)
    first = asyncio.create_task(bench.after())
    await asyncio.sleep(0.05)
    bench.file.write_text(newest)
    second = asyncio.create_task(bench.after())
    await asyncio.gather(first, second)
    assert bench.shown == newest
    assert await bench.texts() == [("applied", TEXT, AGENTS), ("applied", AGENTS, newest)]


@pytest.mark.asyncio
async def test_what_is_typed_while_the_editor_could_reload_stays(bench: MirrorBench) -> None:
    editor = await bench.open()
    asyncio.get_running_loop().call_later(0.1, editor.type, len(TEXT), "typed\n")
    await bench.agent(AGENTS)
    await editor.settle()
    assert bench.shown == editor.buffer.text == AGENTS + "typed\n"


@pytest.mark.asyncio
async def test_a_document_closed_meanwhile_is_recorded_as_its_file(bench: MirrorBench) -> None:
    editor = await bench.open()
    asyncio.get_running_loop().call_later(0.1, bench.documents.close, editor.uri)
    (brought,) = await bench.agent(AGENTS)
    assert (brought.what, editor.sends) == ("recorded", 0)
    assert await bench.texts() == [("applied", TEXT, AGENTS)]


@pytest.mark.asyncio
async def test_a_file_opened_after_it_was_changed_is_recorded(bench: MirrorBench) -> None:
    await bench.before()
    known = bench.known
    bench.file.write_text(AGENTS)
    editor = await bench.open()
    bench.known = known
    await bench.after()
    assert editor.sends == 0
    assert await bench.texts() == [("applied", TEXT, AGENTS)]


# Open, with unsaved text.


@pytest.mark.parametrize("policy", CLIENTS, ids=lambda policy: policy.name)
@pytest.mark.asyncio
async def test_unsaved_text_apart_from_it_stays(bench: MirrorBench, policy: Policy) -> None:
    unsaved = TEXT + "typed\n"
    editor = await bench.open(unsaved, policy=policy)
    await bench.agent(AGENTS)
    await editor.settle()
    assert bench.shown == editor.buffer.text == AGENTS + "typed\n"
    assert await bench.texts() == [("applied", unsaved, AGENTS + "typed\n")]
    assert bench.file.read_text() == AGENTS
    assert bench.document.dirty


@pytest.mark.asyncio
async def test_unsaved_text_in_the_same_line_stays_and_the_agents_is_proposed(
    bench: MirrorBench,
) -> None:
    unsaved = TEXT.replace("two", "TWO")
    editor = await bench.open(unsaved)
    (brought,) = await bench.agent(AGENTS)
    assert (brought.what, brought.change, editor.sends) == ("proposed", None, 0)
    assert bench.shown == unsaved
    assert bench.file.read_text() == AGENTS
    assert await bench.texts() == [("proposed", unsaved, AGENTS)]
    assert brought.proposal is not None
    placed = await bench.host.accept(brought.proposal.id)
    assert (placed.status, bench.shown) == ("applied", AGENTS)


@pytest.mark.asyncio
async def test_a_proposal_is_in_once_its_document_is_closed_without_saving(
    bench: MirrorBench,
) -> None:
    await bench.open(TEXT.replace("two", "TWO"))
    bench.reviews.documents.follow(bench.documents)
    await bench.agent(AGENTS)
    bench.documents.close(bench.document.uri)
    assert await bench.texts() == [("applied", TEXT, AGENTS)]
    (hunk,) = bench.reviews.current(str(bench.file), Text.of(AGENTS)).hunks
    assert hunk.change_id == bench.changes()[0].id


@pytest.mark.asyncio
async def test_a_proposal_is_in_once_the_editor_reads_the_file(bench: MirrorBench) -> None:
    editor = await bench.open(TEXT.replace("two", "TWO"))
    bench.reviews.documents.follow(bench.documents)
    await bench.agent(AGENTS)
    editor.load(bench.file)
    await editor.settle()
    assert bench.shown == AGENTS
    assert await bench.texts() == [("applied", TEXT, AGENTS)]


@pytest.mark.asyncio
async def test_what_is_undone_and_not_saved_is_in_once_its_document_is_closed(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    bench.reviews.documents.follow(bench.documents)
    await bench.agent(AGENTS)
    (hunk,) = bench.reviews.current(str(bench.file), bench.document.text).hunks
    await bench.host.undo(str(bench.file), [hunk.key], save="never")
    await editor.settle()
    assert (bench.shown, await bench.texts()) == (TEXT, [("rejected", TEXT, AGENTS)])
    bench.documents.close(bench.document.uri)
    assert await bench.texts() == [("applied", TEXT, AGENTS)]


@pytest.mark.asyncio
async def test_a_proposal_that_was_applied_keeps_its_texts_when_it_is_undone_and_redone(
    bench: MirrorBench,
) -> None:
    typed = TEXT.replace("two", "TWO")
    editor = await bench.open(typed)
    bench.reviews.documents.follow(bench.documents)
    (brought,) = await bench.agent(AGENTS)
    assert brought.proposal is not None
    await bench.host.accept(brought.proposal.id, save="never")
    at = AGENTS.index("2")
    for old, new in (("2", "TWO"), ("TWO", "2")):
        editor.buffer.replace(at, at + len(old), new)
        editor.flush()
        await editor.settle()
    assert [texts[1:] for texts in await bench.texts()] == [(typed, AGENTS)]


@pytest.mark.asyncio
async def test_what_is_saved_over_a_proposal_is_all_there_is(bench: MirrorBench) -> None:
    typed = TEXT.replace("two", "TWO")
    editor = await bench.open(typed)
    bench.reviews.documents.follow(bench.documents)
    await bench.agent(AGENTS)
    await editor.save(bench.document.uri)
    await editor.settle()
    bench.documents.close(bench.document.uri)
    assert bench.file.read_text() == typed
    assert await bench.texts() == [("proposed", typed, AGENTS)]


@pytest.mark.asyncio
async def test_what_another_program_added_before_we_looked_is_not_taken_out(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    await bench.before()
    bench.writes(AGENTS)
    changes = await bench.look()
    bench.writes(others := AGENTS.replace("three", "others\nthree"))
    editor.load(bench.file)
    (brought,) = [await bench.mirror.take(change, bench.origin) for change in changes]
    await editor.settle()
    assert (brought.what, bench.shown) == ("merged", others)
    assert [status for status, *_ in await bench.texts()] == ["applied"]


@pytest.mark.asyncio
async def test_lines_that_the_person_changed_are_not_proposed_beside_what_they_became(
    bench: MirrorBench,
) -> None:
    bench.file.write_text("\none of\ntwo of\nend\n")
    await bench.open("mine\none of mine\ntwo of mine\n\nend\n")
    (brought,) = await bench.agent("\none of\n2 of\nend\n")
    assert brought.proposal is not None
    await bench.host.accept(brought.proposal.id)
    assert bench.shown == "mine\none of mine\n2 of mine\n\nend\n"


@pytest.mark.asyncio
async def test_only_what_overlaps_is_proposed(bench: MirrorBench) -> None:
    await bench.open(TEXT.replace("two", "TWO"))
    (brought,) = await bench.agent(AGENTS.replace("five", "5"))
    assert brought.what == "proposed"
    merged = "one\nTWO\nthree\nfour\n5\n"
    assert bench.shown == merged
    assert await bench.texts() == [
        ("applied", TEXT.replace("two", "TWO"), merged),
        ("proposed", merged, "one\n2\nthree\nfour\n5\n"),
    ]


@pytest.mark.asyncio
async def test_a_proposal_stays_when_the_agent_goes_on_elsewhere(bench: MirrorBench) -> None:
    await bench.open(TEXT.replace("two", "TWO"))
    await bench.agent(AGENTS)
    await bench.agent(AGENTS.replace("five", "5"))
    assert bench.shown == "one\nTWO\nthree\nfour\n5\n"
    assert [change.status for change in bench.changes()] == ["proposed", "applied"]


@pytest.mark.asyncio
async def test_a_newer_version_of_the_same_lines_supersedes_the_older_proposal(
    bench: MirrorBench,
) -> None:
    await bench.open(TEXT.replace("two", "TWO").replace("five", "FIVE"))
    await bench.agent(AGENTS)
    await bench.agent(AGENTS.replace("five", "5"))
    await bench.agent(TEXT.replace("two", "zwei").replace("five", "5"))
    assert [change.status for change in bench.changes()] == ["superseded", "proposed", "proposed"]


@pytest.mark.asyncio
async def test_what_both_changed_alike_is_no_conflict(bench: MirrorBench) -> None:
    editor = await bench.open(AGENTS)
    await bench.agent(AGENTS)
    assert (bench.shown, editor.sends) == (AGENTS, 0)
    assert not bench.document.dirty


@pytest.mark.asyncio
async def test_what_both_changed_alike_is_recorded_as_of_the_document(bench: MirrorBench) -> None:
    await bench.open(AGENTS + "typed\n")
    (brought,) = await bench.agent(AGENTS)
    assert (brought.what, bench.shown) == ("merged", AGENTS + "typed\n")
    assert await bench.texts() == [("applied", TEXT + "typed\n", AGENTS + "typed\n")]


@pytest.mark.asyncio
async def test_saving_after_the_merge_writes_both(bench: MirrorBench) -> None:
    editor = await bench.open(TEXT + "typed\n")
    await bench.agent(AGENTS)
    await bench.before()
    await editor.save(editor.uri)
    assert bench.file.read_text() == AGENTS + "typed\n"
    assert await bench.after() == []


@pytest.mark.asyncio
async def test_typing_all_the_time_loses_no_key_and_no_edit(bench: MirrorBench) -> None:
    editor = await bench.open()
    done = False

    async def typist() -> int:
        count = 0
        while not done:
            editor.type(len(editor.buffer.text), f"k{count}\n")
            count += 1
            await asyncio.sleep(0.02)
        return count

    typing = asyncio.create_task(typist())
    text = TEXT
    for old, new in (("one", "1"), ("two", "2"), ("three", "3"), ("four", "4")):
        text = text.replace(old, new)
        await bench.agent(text)
        await asyncio.sleep(0.05)
    done = True
    count = await typing
    await editor.settle()
    assert await eventually(lambda: bench.shown == editor.buffer.text)
    assert bench.shown == text + "".join(f"k{i}\n" for i in range(count))


# Not open.


@pytest.mark.asyncio
async def test_a_file_that_is_not_open_is_recorded_with_its_texts(bench: MirrorBench) -> None:
    (brought,) = await bench.agent(AGENTS)
    assert brought.what == "recorded"
    assert await bench.texts() == [("applied", TEXT, AGENTS)]
    (change,) = bench.changes()
    assert (change.session_id, change.turn_id, change.tool_call_id) == ("s1", "t1", "c1")


@pytest.mark.asyncio
async def test_a_created_and_a_deleted_file_are_recorded(bench: MirrorBench) -> None:
    await bench.before("a.py", "b.py")
    bench.writes("new\n", "b.py")
    bench.file.unlink()
    await bench.after("a.py", "b.py")
    assert await bench.texts() == [("applied", TEXT, None), ("applied", None, "new\n")]


@pytest.mark.parametrize("new", ["b.py", "sub/a.py", "sub/b.py"])
@pytest.mark.asyncio
async def test_a_renamed_file_is_recorded_as_deleted_and_created(
    bench: MirrorBench, new: str
) -> None:
    (bench.root / "sub").mkdir()
    await bench.before()
    bench.file.rename(bench.root / new)
    named = [bench.path("a.py"), bench.path("sub" if new == "sub/a.py" else new)]
    changes = await bench.mirror.look(
        bench.known, [bench.path("a.py")], named, claim=lambda _: True
    )
    for change in changes:
        await bench.mirror.take(change, bench.origin)
    assert [change.renamed_to for change in changes] == [bench.path(new), None]
    assert await bench.texts() == [("applied", TEXT, None), ("applied", None, TEXT)]


@pytest.mark.asyncio
async def test_a_file_in_a_renamed_folder_is_found(bench: MirrorBench) -> None:
    (bench.root / "old" / "deep").mkdir(parents=True)
    bench.writes(TEXT, "old/deep/b.py")
    await bench.before("old/deep/b.py")
    (bench.root / "old").rename(bench.root / "new")
    changes = await bench.mirror.look(
        bench.known,
        [bench.path("old/deep/b.py")],
        [bench.path("old"), bench.path("new")],
        claim=lambda _: True,
    )
    assert [change.path for change in changes] == [
        bench.path("old/deep/b.py"),
        bench.path("new/deep/b.py"),
    ]


@pytest.mark.asyncio
async def test_a_file_that_is_renamed_onto_one_that_was_saved_before_goes_in(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    bench.writes(AGENTS, "b.py")
    editor.type(0, "typed\n")
    await editor.save(editor.uri)
    await bench.document.compared()
    await bench.before("b.py")
    (bench.root / "b.py").rename(bench.file)
    changes = await bench.mirror.look(
        bench.known, [bench.path("b.py")], [bench.path("a.py")], claim=lambda _: True
    )
    brought = [await bench.mirror.take(change, bench.origin) for change in changes]
    assert [each.what for each in brought] == ["recorded", "merged"]
    assert bench.shown == AGENTS


@pytest.mark.asyncio
async def test_an_older_file_that_is_renamed_onto_an_open_one_goes_beside_what_is_unsaved(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    editor.type(len(TEXT), "typed\n")
    await editor.settle()
    bench.writes(AGENTS, "b.py")
    os.utime(bench.path("b.py"), (1, 1))
    await bench.before("a.py", "b.py")
    (bench.root / "b.py").rename(bench.file)
    await bench.after("a.py", "b.py")
    assert bench.shown == f"{AGENTS}typed\n"


@pytest.mark.asyncio
async def test_another_file_with_the_old_ones_number_is_no_renaming(bench: MirrorBench) -> None:
    await bench.before()
    bench.file.rename(bench.root / "b.py")
    bench.writes("other\n", "b.py")
    (change,) = await bench.look()
    assert change.renamed_to is None


# Deleted, created and renamed under an open document.


@pytest.mark.asyncio
async def test_a_deleted_file_leaves_its_document_as_it_is(bench: MirrorBench) -> None:
    editor = await bench.open(TEXT + "typed\n")
    await bench.before()
    bench.file.unlink()
    (brought,) = await bench.after()
    assert (brought.what, editor.sends) == ("gone", 0)
    assert bench.shown == TEXT + "typed\n"
    assert await bench.texts() == [("kept", TEXT, None)]


@pytest.mark.asyncio
async def test_a_file_created_under_a_new_document_is_merged_with_it(bench: MirrorBench) -> None:
    bench.file.unlink()
    await bench.open("typed\n")
    (brought,) = await bench.agent(AGENTS)
    assert brought.what == "proposed"
    assert bench.shown == "typed\n"
    assert await bench.texts() == [("proposed", "typed\n", AGENTS)]


@pytest.mark.asyncio
async def test_a_file_created_under_an_empty_document_goes_in(bench: MirrorBench) -> None:
    bench.file.unlink()
    await bench.open("")
    await bench.agent(AGENTS)
    assert bench.shown == AGENTS


@pytest.mark.asyncio
async def test_a_file_deleted_and_written_again_is_merged_with_what_it_held(
    bench: MirrorBench,
) -> None:
    await bench.open(TEXT + "typed\n")
    await bench.before()
    bench.file.unlink()
    await bench.after()
    bench.writes(AGENTS)
    await bench.after()
    assert bench.shown == AGENTS + "typed\n"


# How a text stands on disk.


@pytest.mark.parametrize("unsaved", ["", "typed\n"])
@pytest.mark.parametrize(
    ("data", "line_ends"),
    [
        (TEXT.replace("\n", "\r\n").encode(), "as on disk"),
        (TEXT.replace("\n", "\r\n").encode(), "apart"),
        (b"\xef\xbb\xbf" + TEXT.encode(), "as on disk"),
        (TEXT.replace("\nthree", "\r\nthree").encode(), "as on disk"),
        (TEXT.rstrip("\n").encode(), "as on disk"),
    ],
    ids=["CRLF", "CRLF kept apart", "BOM", "mixed ends", "no last newline"],
)
@pytest.mark.asyncio
async def test_line_ends_and_marks_are_kept(
    bench: MirrorBench, data: bytes, line_ends: str, unsaved: str
) -> None:
    bench.file.write_bytes(data)
    editor = await bench.open(line_ends=line_ends)  # type: ignore[arg-type]
    before = editor.disk
    typed = unsaved.replace("\n", "\r\n") if "three\r\nf" in before else unsaved
    editor.type(0, typed)
    await editor.settle()
    await bench.agent(data.replace(b"two", b"2"))
    assert bench.shown == typed + before.replace("two", "2")
    assert bench.file.read_bytes() == data.replace(b"two", b"2")
    assert bench.document.dirty == bool(typed)


@pytest.mark.parametrize("unsaved", ["", "typed\n"])
@pytest.mark.asyncio
async def test_other_line_ends_alone_are_no_change_of_the_document(
    bench: MirrorBench, unsaved: str
) -> None:
    editor = await bench.open()
    editor.type(0, unsaved)
    await editor.settle()
    await bench.agent(TEXT.replace("\n", "\r\n"))
    assert (bench.shown, editor.sends, bench.changes()) == (unsaved + TEXT, 0, [])
    await bench.agent(AGENTS.replace("\n", "\r\n"))
    assert bench.shown == unsaved + AGENTS
    assert await bench.texts() == [("applied", unsaved + TEXT, unsaved + AGENTS)]


@pytest.mark.parametrize(
    "data",
    [b"caf\xe9\n", b"\0\1\2" * 100, "zwei\n".encode("utf-16-le")],
    ids=["not UTF-8", "binary", "UTF-16 without a mark"],
)
@pytest.mark.asyncio
async def test_what_is_no_text_is_said_and_changes_nothing(bench: MirrorBench, data: bytes) -> None:
    editor = await bench.open(TEXT + "typed\n")
    (brought,) = await bench.agent(data)
    assert (brought.what, brought.open, editor.sends) == ("unreadable", True, 0)
    assert brought.reason
    assert bench.shown == TEXT + "typed\n"
    assert bench.changes() == []


@pytest.mark.asyncio
async def test_a_huge_file_is_said_and_changes_nothing(bench: MirrorBench) -> None:
    await bench.open()
    await bench.before()
    with bench.file.open("r+b") as file:
        file.truncate(65 << 20)
    (brought,) = await bench.after()
    assert brought.what == "unreadable"
    assert "MiB" in brought.reason
    assert bench.shown == TEXT


# Whose change it is.


@pytest.mark.asyncio
async def test_what_our_own_host_wrote_is_no_change_of_a_commands(bench: MirrorBench) -> None:
    await bench.before()
    await bench.hosted_edit("two", "2")
    assert await bench.after() == []
    assert [change.session_id for change in bench.changes()] == ["s2"]


@pytest.mark.asyncio
async def test_a_change_on_top_of_our_own_begins_with_ours(bench: MirrorBench) -> None:
    await bench.before()
    await bench.hosted_edit("two", "2")
    bench.writes(AGENTS.replace("four", "4"))
    await bench.after()
    assert (await bench.texts())[1:] == [("applied", AGENTS, AGENTS.replace("four", "4"))]


@pytest.mark.asyncio
async def test_what_the_person_saves_while_a_command_runs_is_the_persons(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    await bench.before()
    editor.type(0, "typed\n")
    await editor.save(editor.uri)
    assert await bench.after() == []
    assert bench.changes() == []


@pytest.mark.asyncio
async def test_a_save_that_is_told_a_little_later_is_the_persons(bench: MirrorBench) -> None:
    editor = await bench.open()
    await bench.before()
    editor.type(0, "typed\n")
    await told_and_compared(bench, editor)
    bench.file.write_text("typed\n" + TEXT)
    asyncio.get_running_loop().call_later(0.03, bench.documents.save, editor.uri)
    (brought,) = await bench.after()
    assert brought.what == "nothing"
    assert bench.changes() == []


@pytest.mark.parametrize("half", ["", "typed\none\ntw", None], ids=["empty", "begun", "away"])
@pytest.mark.asyncio
async def test_what_the_editor_is_writing_while_we_look_is_no_change(
    bench: MirrorBench, half: str | None
) -> None:
    editor = await bench.open()
    await bench.before()
    editor.type(0, "typed\n")
    await told_and_compared(bench, editor)
    bench.file.unlink()
    if half is not None:
        bench.file.write_text(half)

    def written() -> None:
        bench.file.write_text("typed\n" + TEXT)
        bench.documents.save(editor.uri)

    asyncio.get_running_loop().call_later(0.05 if half is None else 0.2, written)
    await bench.after()
    await editor.settle()
    assert bench.shown == editor.buffer.text == "typed\n" + TEXT
    assert bench.changes() == []


@pytest.mark.asyncio
async def test_a_file_that_stays_empty_is_brought_in(bench: MirrorBench) -> None:
    editor = await bench.open()
    await bench.agent("")
    await editor.settle()
    assert bench.shown == editor.buffer.text == ""


@pytest.mark.asyncio
async def test_a_document_whose_folder_has_become_a_link_is_compared_with_nothing(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    elsewhere = bench.root.with_name("elsewhere")
    bench.root.rename(elsewhere)
    bench.root.symlink_to(elsewhere)
    bench.documents.save(editor.uri)
    await bench.document.compared()
    assert bench.shown == TEXT


async def told_and_compared(bench: MirrorBench, editor: MirrorEditor) -> None:
    """What was typed is compared with the disk before that has it: else it looks like a reload."""
    await editor.settle()
    await bench.document.compared()


async def written_untold(bench: MirrorBench, editor: MirrorEditor) -> None:
    """A line is typed and written, of which no didSave tells yet."""
    editor.type(0, "typed\n")
    await editor.settle()
    await asyncio.sleep(0.02)  # the clock of files is coarse
    bench.file.write_text("typed\n" + TEXT)


@pytest.mark.asyncio
async def test_what_was_typed_before_it_was_written_and_is_told_as_saved_late_is_the_persons(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    await bench.before()
    await written_untold(bench, editor)
    asyncio.get_running_loop().call_later(0.2, bench.documents.save, editor.uri)
    (brought,) = await bench.after()
    assert brought.what == "nothing"
    assert bench.changes() == []


@pytest.mark.asyncio
async def test_of_two_saves_in_a_row_the_first_is_the_persons_as_well(bench: MirrorBench) -> None:
    editor = await bench.open()
    await bench.before()
    await written_untold(bench, editor)
    (change,) = await bench.look()
    editor.type(0, "more\n")
    await told_and_compared(bench, editor)
    bench.file.write_text("more\ntyped\n" + TEXT)
    asyncio.get_running_loop().call_later(0.1, bench.documents.save, editor.uri)
    brought = await bench.mirror.take(change, bench.origin)
    assert brought.what == "nothing"
    assert bench.changes() == []


@pytest.mark.asyncio
async def test_a_save_that_is_told_after_we_looked_is_the_persons(bench: MirrorBench) -> None:
    editor = await bench.open(policy=Policy("holds back", debounce=0.06))
    await bench.before()
    editor.type(0, "typed\n")  # not told of yet
    bench.file.write_text("typed\n" + TEXT)
    (change,) = await bench.look()
    await editor.settle()
    bench.documents.save(editor.uri)
    await bench.document.compared()
    brought = await bench.mirror.take(change, bench.origin)
    assert brought.what == "nothing"
    assert bench.changes() == []


@pytest.mark.asyncio
async def test_what_the_agent_wrote_on_top_of_a_save_is_the_agents(bench: MirrorBench) -> None:
    editor = await bench.open()
    await bench.before()
    editor.type(0, "typed\n")
    await editor.save(editor.uri)
    await bench.document.compared()
    bench.writes("typed\n" + AGENTS)
    await bench.after()
    assert bench.shown == "typed\n" + AGENTS
    assert await bench.texts() == [("applied", "typed\n" + TEXT, "typed\n" + AGENTS)]


@pytest.mark.asyncio
async def test_what_the_agent_writes_the_moment_after_a_save_is_not_lost(
    bench: MirrorBench,
) -> None:
    editor = await bench.open(TEXT + "typed\n")
    await asyncio.sleep(0.35)  # so that it is not typed while the file is written
    await bench.before()
    bench.writes(AGENTS + "typed\n")
    bench.documents.save(editor.uri)  # which wrote what the document shows, and was overwritten
    await bench.after()
    assert bench.shown == AGENTS + "typed\n"
    assert await bench.texts() == [("applied", TEXT + "typed\n", AGENTS + "typed\n")]


@pytest.mark.asyncio
async def test_nor_is_it_where_the_person_had_just_typed(bench: MirrorBench) -> None:
    editor = await bench.open()
    await asyncio.sleep(0.35)  # for so long it is known what the document showed
    await bench.before()
    editor.type(len(TEXT), "typed\n")
    await editor.settle()
    bench.writes(AGENTS + "typed\n")
    bench.documents.save(editor.uri)
    await bench.after()
    assert bench.shown == AGENTS + "typed\n"
    assert await bench.texts() == [("applied", TEXT + "typed\n", AGENTS + "typed\n")]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.asyncio
async def test_what_is_typed_while_the_editor_writes_the_file_stays(
    bench: MirrorBench, known: bool
) -> None:
    editor = await bench.open()
    await asyncio.sleep(0.35 if known else 0)
    await bench.before()
    for number in range(3):
        bench.writes(bench.document.text.content)
        editor.type(len(TEXT), f"typed {number}\n")
        await editor.settle()
        bench.documents.save(editor.uri)
        assert await bench.after() == []
    assert bench.shown == f"{TEXT}typed 2\ntyped 1\ntyped 0\n"
    assert bench.document.dirty


@pytest.mark.asyncio
async def test_what_an_editor_saves_over_the_agents_write_stays_and_the_agents_is_brought_in(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    await bench.before()
    bench.writes(AGENTS)
    (change,) = await bench.look()
    editor.type(0, "typed\n")
    await editor.save(editor.uri)
    brought = await bench.mirror.take(change, bench.origin)
    assert brought.what == "merged"
    assert bench.shown == "typed\n" + AGENTS
    assert await bench.texts() == [("applied", "typed\n" + TEXT, "typed\n" + AGENTS)]
    assert bench.document.dirty


@pytest.mark.asyncio
async def test_what_is_typed_and_saved_while_the_agent_takes_its_line_back_stays(
    bench: MirrorBench,
) -> None:
    editor = await bench.open()
    await bench.before()

    async def agent(text: str) -> asyncio.Task[Brought]:
        bench.writes(text)
        (change,) = await bench.look()
        return asyncio.create_task(bench.mirror.take(change, bench.origin))

    first = await agent(f"{TEXT}six\n")
    await asyncio.sleep(0.02)  # it waits for the editor to read the file
    editor.type(TEXT.index("five"), "typed ")
    await editor.settle()
    second = await agent(TEXT)
    await editor.save(editor.uri)
    await asyncio.gather(first, second)
    typed = TEXT.replace("five", "typed five")
    assert bench.shown == bench.file.read_text() == typed
    assert not bench.document.dirty


@pytest.mark.parametrize("style", ["a change", "a new didOpen"])
@pytest.mark.asyncio
async def test_what_is_typed_after_a_reload_does_not_hide_the_agents_change(
    bench: MirrorBench, style: Style
) -> None:
    editor = await bench.open(style=style)
    await bench.before()
    bench.writes(AGENTS)
    editor.load(bench.file)
    await editor.settle()
    await bench.document.compared()
    editor.type(len(AGENTS), "typed\n")
    await editor.settle()
    await bench.after()
    assert editor.sends == 0
    assert await bench.texts() == [("applied", TEXT + "typed\n", AGENTS + "typed\n")]


@pytest.mark.asyncio
async def test_what_others_changed_before_the_call_is_not_the_agents(bench: MirrorBench) -> None:
    await bench.before()
    bench.writes(AGENTS)
    await bench.before()
    assert await bench.after() == []
    assert bench.changes() == []


@pytest.mark.asyncio
async def test_a_change_is_taken_by_one_session_only(bench: MirrorBench) -> None:
    other = Known()
    paths = [bench.path("a.py")]
    await bench.before()
    await bench.mirror.look(other, paths, claim=lambda _: False)
    bench.writes(AGENTS)
    await bench.after()
    assert await bench.mirror.look(other, paths, claim=lambda _: True) == []
    assert len(bench.changes()) == 1


# Where no edit may be sent.


@pytest.mark.asyncio
async def test_what_a_stopped_turn_has_changed_is_proposed(bench: MirrorBench) -> None:
    editor = await bench.open()
    bench.wanted = False
    (brought,) = await bench.agent(AGENTS)
    assert (brought.what, editor.sends) == ("proposed", 0)
    assert "stopped" in brought.reason
    assert await bench.texts() == [("proposed", TEXT, AGENTS)]


@pytest.mark.asyncio
async def test_an_editor_that_hides_typing_is_sent_no_edit(bench: MirrorBench) -> None:
    editor = await bench.open(policy=replace(PLAIN, traits=EditorTraits(holds_back=True)))
    (brought,) = await bench.agent(AGENTS)
    assert (brought.what, editor.sends) == ("proposed", 0)


@pytest.mark.asyncio
async def test_without_review_a_change_is_kept(bench: MirrorBench) -> None:
    await bench.before()
    bench.writes(AGENTS)
    (change,) = await bench.look()
    await bench.mirror.take(change, Origin("s1"), kept=True)
    assert await bench.texts() == [("kept", TEXT, AGENTS)]


# What it costs.


@pytest.mark.asyncio
async def test_a_file_that_did_not_change_is_not_read_again(
    bench: MirrorBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"f{i}.py" for i in range(500)]
    for name in names:
        bench.writes(TEXT, name)
    monkeypatch.setattr(disk_look, "_SETTLED_SECONDS", 0.0)
    await bench.before(*names)
    read: list[str] = []
    real = disk_look.read_bytes

    def reading(path: SafePath) -> bytes:
        read.append(path.path)
        return real(path)

    monkeypatch.setattr(disk_look, "read_bytes", reading)
    bench.writes(AGENTS, "f7.py")
    assert len(await bench.after(*names)) == 1
    assert read == [bench.path("f7.py")]


@pytest.mark.asyncio
async def test_the_loop_runs_on_while_files_are_looked_at(
    bench: MirrorBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.before("f.py")
    bench.writes(AGENTS, "f.py")
    real = disk_look.read_bytes
    loop_ran = threading.Event()

    def reading(path: SafePath) -> bytes:
        assert loop_ran.wait(20), "the loop waits for the disk"
        return real(path)

    monkeypatch.setattr(disk_look, "read_bytes", reading)
    asyncio.get_running_loop().call_later(0.05, loop_ran.set)
    assert len(await bench.after("f.py")) == 1


@pytest.mark.parametrize("line", [7, 0], ids=["apart", "in the same line"])
@pytest.mark.asyncio
async def test_the_loop_runs_on_while_a_long_text_is_merged(
    bench: MirrorBench, monkeypatch: pytest.MonkeyPatch, line: int
) -> None:
    lines = [f"line {number}\n" for number in range(6_000)]
    bench.file.write_text("".join(lines))
    mine = [*lines]
    mine[line] = "mine\n"
    await bench.open("".join(mine))
    loop = threading.current_thread()
    threads: set[threading.Thread] = set()

    def noted(merge: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*texts: Text) -> Any:
            threads.add(threading.current_thread())
            return merge(*texts)

        return noting

    monkeypatch.setattr(bring_in, "merge3_fine", noted(merge3_fine))
    monkeypatch.setattr(bring_in, "preferring", noted(preferring))
    (brought,) = await bench.agent("".join([f"# {lines[0]}", *lines[1:]]))
    assert brought.what == ("merged" if line else "proposed")
    assert "mine\n" in bench.shown
    assert threads
    assert loop not in threads
