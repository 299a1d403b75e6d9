"""Server or editor gone at a point of an edit: at the next start the ledger tells what is in."""

import json
import os
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.project import EVENTS, Editor, Project, edit, new_project, step, write
from support.raw_client import NO_ANSWER, Json, wait_until
from support.restarted_server import (
    EDITED,
    LINES,
    PATIENCE,
    SAVES,
    again,
    kill,
    listed,
    settled,
    told,
)

Outcome = Callable[[str, str], None]


@pytest.fixture
def project(tmp_path: Path):
    with new_project(tmp_path) as made:
        yield made


def leftovers(project: Project) -> list[str]:
    return [path.name for path in project.folder.rglob(".lsp-agent-*")]


def warnings(editor: Editor) -> list[str]:
    return [m["message"] for m in editor.received("window/showMessage") if m["type"] <= 2]


# An open document, the server killed at each point of the edit.


def before_it_is_applied(editor: Editor, stop: Callable[[], None]) -> None:
    def never(_params: Json) -> Any:
        stop()
        return NO_ANSWER

    editor.handlers["workspace/applyEdit"] = never


def applied_and_not_told(editor: Editor, stop: Callable[[], None]) -> None:
    def silent(params: Json) -> Any:
        send, editor.send = editor.send, lambda *_messages: None  # type: ignore[method-assign]
        editor._apply(params)
        editor.send = send  # type: ignore[method-assign]
        stop()
        return NO_ANSWER

    editor.handlers["workspace/applyEdit"] = silent


def applied_and_not_answered(editor: Editor, stop: Callable[[], None]) -> None:
    def unanswered(params: Json) -> Any:
        editor._apply(params)
        stop()
        return NO_ANSWER

    editor.handlers["workspace/applyEdit"] = unanswered


def before_the_save(editor: Editor, stop: Callable[[], None]) -> None:
    def unsaved(_params: Json) -> Any:
        stop()
        return NO_ANSWER

    editor.handlers["agent/saveDocument"] = unsaved


def saved_and_not_told(editor: Editor, stop: Callable[[], None]) -> None:
    def saved(params: Json) -> Any:
        document = editor.documents[params["uri"]]
        document.path.write_bytes(document.text.content.encode())
        stop()
        return NO_ANSWER

    editor.handlers["agent/saveDocument"] = saved


POINTS = [
    before_it_is_applied,
    applied_and_not_told,
    applied_and_not_answered,
    before_the_save,
    saved_and_not_told,
]


_FAST = {(before_it_is_applied, False), (applied_and_not_answered, True)}


@pytest.mark.parametrize(
    ("point", "editor_dies"),
    [
        pytest.param(point, dies, marks=[] if (point, dies) in _FAST else [pytest.mark.slow])
        for point in POINTS
        for dies in (False, True)
    ],
)
def test_what_an_edit_came_to_is_told_after_a_kill(
    project: Project, point: Callable[..., None], editor_dies: bool, outcome: Outcome
) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), client=SAVES)
    document = editor.open(path)
    there = threading.Event()
    point(editor, there.set)
    editor.prompt("Go.")
    assert there.wait(PATIENCE)
    kill(editor)
    shown = path.read_text() if editor_dies else document.text.content
    restarted = again(project)
    buffer = restarted.open(path, shown)
    is_in = shown == EDITED
    assert settled(restarted, ("a.txt", "applied" if is_in else "lost")), told(restarted)
    assert buffer.text.content == shown
    assert path.read_text() in (LINES, EDITED)
    if is_in:
        (only,) = listed(restarted)
        assert [hunk["newText"] for hunk in only["hunks"]] == ["TWO\n"]
        restarted.call("agent/rejectEdit", {"editId": only["editId"]})
        assert buffer.text.content == LINES
    else:
        message = restarted.notification("window/showMessage", PATIENCE)["message"]
        assert "1 change of the agent's" in message
        assert "a.txt" in message
        assert restarted.command("applyEdit")["applied"] is True
        assert buffer.text.content == EDITED
        assert settled(restarted, ("a.txt", "applied"))
    outcome(f"server killed, {point.__name__}", "in" if is_in else "lost, applied again")


def test_an_unsaved_change_is_lost_with_its_editor_and_offered(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), client=EVENTS)
    document = editor.open(path, LINES + "typed\n")
    editor.ask_agent("Go.")
    assert document.text.content == EDITED + "typed\n"
    editor.close_input()  # the client goes without a word
    editor.wait_for_exit()
    restarted = again(project)
    message = restarted.notification("window/showMessage", PATIENCE)["message"]
    assert message.startswith("1 change of the agent's from before the restart is not in")
    assert told(restarted) == [("a.txt", "lost")]
    assert restarted.command("applyEdit")["applied"] is True
    assert path.read_text() == EDITED


def test_an_editor_that_brings_its_buffers_back_late_has_the_change_again(
    project: Project,
) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), client=EVENTS)
    document = editor.open(path, LINES + "typed\n")
    editor.ask_agent("Go.")
    kill(editor)
    restarted = again(project)
    restarted.notification("window/showMessage", PATIENCE)
    assert told(restarted) == [("a.txt", "lost")]
    buffer = restarted.open(path, document.text.content)
    assert settled(restarted, ("a.txt", "applied"))
    restarted.command("rejectEdit")
    assert buffer.text.content == LINES + "typed\n"


@pytest.mark.slow
def test_marks_are_back_for_every_file_of_a_turn(project: Project) -> None:
    shown, closed = project.file("a.txt", LINES), project.file("b.txt", LINES)
    editor = project.editor(
        step("", edit("a.txt", "two", "TWO"), edit("b.txt", "four", "FOUR"), write("c.txt", "c\n")),
        step("Done."),
        client=EVENTS,
    )
    document = editor.open(shown)
    editor.ask_agent("Go.")
    kill(editor)
    restarted = again(project)
    restarted.open(shown, document.text.content)
    assert wait_until(lambda: all(len(edit["hunks"]) == 1 for edit in listed(restarted)), PATIENCE)
    assert told(restarted) == [(name, "applied") for name in ("a.txt", "b.txt", "c.txt")]
    assert warnings(restarted) == []
    for item in listed(restarted):
        restarted.call("agent/rejectEdit", {"editId": item["editId"]})
    assert closed.read_text() == LINES
    assert not (project.folder / "c.txt").exists()


@pytest.mark.slow
def test_a_revert_whose_buffer_died_is_told(project: Project) -> None:
    path = project.file("a.txt", LINES)
    editor = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), client=SAVES)
    editor.open(path)
    turn = editor.ask_agent("Go.")["turnId"]
    editor.type(editor.documents[path.as_uri()], 4, "typed ")  # so it stays unsaved
    editor.call("agent/revert", {"turnId": turn})
    assert path.read_text() == EDITED
    kill(editor)
    restarted = again(project)
    assert "1 change" in restarted.notification("window/showMessage", PATIENCE)["message"]
    assert told(restarted) == [("a.txt", "applied"), ("a.txt", "lost")]
    assert [f["outcome"] for f in restarted.call("agent/revert", {"turnId": turn})["files"]] == [
        "restored"
    ]
    assert path.read_text() == LINES


@pytest.mark.slow
def test_a_hunk_that_was_undone_in_a_buffer_that_died_can_be_taken_back(project: Project) -> None:
    path = project.file("a.txt", LINES)
    both = EDITED.replace("four", "FOUR")
    editor = project.editor(step("", write("a.txt", both)), step("Done."), client=SAVES)
    editor.open(path)
    turn = editor.ask_agent("Go.")["turnId"]
    editor.type(editor.documents[path.as_uri()], 2, "typed ")  # so it stays unsaved
    (only,) = listed(editor)
    first = only["hunks"][0]["hunkId"]
    editor.call("agent/rejectEdit", {"editId": only["editId"], "hunks": [first]})
    assert path.read_text() == both
    kill(editor)
    restarted = again(project)
    buffer = restarted.open(path)
    (only,) = listed(restarted)
    assert [hunk["status"] for hunk in only["hunks"]] == ["applied", "applied"]
    restarted.call("agent/revert", {"turnId": turn})
    assert buffer.text.content == LINES


# Files that are not open: killed at any time while they are written.


#: Long to write and to sync, quick to compare.
SIZE = 500_000
OLD = "o" * SIZE + "\n"


def writing(project: Project) -> tuple[Editor, dict[str, str]]:
    texts = {f"d/f{number}.txt": str(number) * SIZE + "\n" for number in range(5)}
    for name in texts:
        project.file(name, OLD)
    calls = [write(name, text) for name, text in texts.items()]
    editor = project.editor(*[step("", one) for one in calls], step("Done."), client=EVENTS)
    return editor, texts


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] if seed else []) for seed in range(12)]
)
def test_a_kill_while_files_are_written(project: Project, seed: int, outcome: Outcome) -> None:
    """Even seeds kill once a temporary file is there, odd ones at any time."""
    editor, texts = writing(project)
    editor.prompt("Go.")
    editor.event("editApplied", PATIENCE)
    if seed % 2:
        time.sleep(random.Random(seed).uniform(0, 0.5))
    else:
        wait_for_leftover(project.folder / "d")
    kill(editor)
    left = bool(leftovers(project))
    restarted = again(project)
    assert wait_until(lambda: not leftovers(project), PATIENCE)
    assert wait_until(lambda: "unknown" not in {status for _, status in told(restarted)}, PATIENCE)
    statuses = dict(told(restarted))
    for name, text in texts.items():
        content = (project.folder / name).read_text()
        assert content in (text, OLD)
        status = statuses.get(Path(name).name)
        assert status == "applied" if content == text else status in (None, "lost")
    lost = restarted.call("agent/edits", {"status": "lost"})["edits"]
    if lost:
        message = restarted.notification("window/showMessage", PATIENCE)["message"]
        assert "not in your files" in message
    for item in lost:
        assert restarted.call("agent/applyEdit", {"editId": item["editId"]})["applied"] is True
        name = f"d/{item['uri'].rsplit('/', 1)[1]}"
        assert (project.folder / name).read_text() == texts[name]
    came_to = f"{len(lost)} lost, offered, applied" + (
        ", its temporary file removed" if left else ""
    )
    outcome("server killed among writes of closed files", came_to)


def wait_for_leftover(folder: Path) -> None:
    """Polls without a pause: it is there for a few milliseconds."""
    end = time.monotonic() + 5
    while time.monotonic() < end:
        if any(name.startswith(".lsp-agent-") for name in os.listdir(folder)):  # noqa: PTH208
            return


def test_the_leftover_of_a_crashed_write_is_removed_and_nothing_else(project: Project) -> None:
    project.file("d/a.txt", LINES)
    editor = project.editor(step("", edit("d/a.txt", "two", "TWO")), step("Done."), client=EVENTS)
    editor.ask_agent("Go.")
    kill(editor)
    (journal,) = (project.home / "data").rglob("journal.jsonl")
    change = json.loads(journal.read_text().splitlines()[0])
    with journal.open("a") as file:  # as if it had been killed before the rename
        file.write(json.dumps({"id": change["id"], "status": "pending"}) + "\n")
    project.file("d/a.txt", LINES)
    leftover = project.file("d/.lsp-agent-0123456789abcdef.tmp", "half")
    others = [
        project.file("d/.lsp-agent-notes.tmp", "mine"),
        project.file("e/.lsp-agent-0123456789abcdef.tmp", "elsewhere"),
    ]
    restarted = again(project)
    living = project.file("d/.lsp-agent-fedcba9876543210.tmp", "another server's")
    os.utime(living, (time.time() + 60,) * 2)
    assert wait_until(lambda: not leftover.exists(), PATIENCE)
    assert all(path.exists() for path in (*others, living))
    assert told(restarted) == [("a.txt", "applied" if change["on_disk"] else "lost")]


def test_a_second_server_leaves_the_changes_of_the_living_one_alone(project: Project) -> None:
    path = project.file("a.txt", LINES)
    first = project.editor(step("", edit("a.txt", "two", "TWO")), step("Done."), client=EVENTS)
    first.open(path, LINES + "typed\n")
    first.ask_agent("Go.")
    second = again(project)
    time.sleep(3)
    assert told(second) == []
    assert warnings(second) == []
    assert told(first) == [("a.txt", "applied")]
