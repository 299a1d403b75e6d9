"""Cells of the matrix over a real server, with real kills (-9): after the restart on the same data
folder buffer, disk and ledger say the same.

The editor's buffer outlives the server, and is opened again as it is.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.project import Document, Editor, Project, call, edit, new_project, step, write
from support.raw_client import NO_ANSWER, Json, descendants, wait_until
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
from support.stage import cmdline, parent

STATES = ("open clean", "open unsaved", "not open")
ACTIONS = ("edit", "write")
KILLS = (
    "agent killed while the edit is asked for",
    "server killed once the client has the edit",
    "server killed once the file is written",
)
CELLS = [
    (state, action, killed)
    for state in STATES
    for action in ACTIONS
    for killed in KILLS
    # What is not open is not sent to the client, what is unsaved is not written.
    if (state, killed) not in {("not open", KILLS[1]), ("open unsaved", KILLS[2])}
]
FAST = {("open unsaved", "edit", KILLS[1]), ("not open", "write", KILLS[0])}
TYPED = "typed\n"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


class Scene:
    """An agent about to change a file, and the kill on the way."""

    def __init__(self, project: Project, state: str, action: str) -> None:
        self.path = project.file("a.txt", LINES)
        self.typed = TYPED if state == "open unsaved" else ""
        self.changes = (
            edit("a.txt", "two", "TWO") if action == "edit" else write("a.txt", EDITED + self.typed)
        )
        reads = step("", call("read", path="a.txt"))
        # It talks on, so that no turn is over before the kill.
        talks = step("Done. " * 500, pace_ms=20)
        self.editor = project.editor(reads, step("", self.changes), talks, client=SAVES)
        self.document: Document | None = None
        if state != "not open":
            self.document = self.editor.open(self.path, LINES + self.typed)

    def on_the_way(self, method: str, happens: Callable[[Json], object]) -> None:
        """Sends the prompt; returns when the client was asked for this, and has done that."""
        there = threading.Event()

        def handler(params: Json) -> object:
            try:
                return happens(params)
            finally:
                there.set()

        self.editor.handlers[method] = handler
        self.editor.prompt("Go.")
        assert there.wait(PATIENCE)

    def agent_killed(self) -> None:
        if self.document is None:
            self.editor.prompt("Go.")
            self.editor.event("toolCall", PATIENCE, tool="read")
            agent = agent_of(self.editor)
            self.editor.event("toolCall", PATIENCE, tool=self.changes["name"])
            os.kill(agent, signal.SIGKILL)
        else:

            def kill_and_apply(params: Json) -> Json:
                os.kill(agent_of(self.editor), signal.SIGKILL)
                return self.editor._apply(params)

            self.on_the_way("workspace/applyEdit", kill_and_apply)
        assert self.editor.event("turnEnded", PATIENCE)["stopReason"] == "error"
        kill(self.editor)

    def client_has_it(self) -> None:
        def apply(params: Json) -> object:
            self.editor._apply(params)
            self.editor.process.send_signal(signal.SIGKILL)
            return NO_ANSWER

        self.on_the_way("workspace/applyEdit", apply)
        self.editor.process.wait()

    def file_is_written(self) -> None:
        if self.document is None:
            self.editor.prompt("Go.")
            while self.path.read_text() != EDITED:  # without a pause: it is told of at once
                assert self.editor.process.poll() is None
            kill(self.editor)
            return

        def save(_params: Json) -> object:
            self.path.write_text(EDITED)
            self.editor.process.send_signal(signal.SIGKILL)
            return NO_ANSWER

        self.on_the_way("agent/saveDocument", save)
        self.editor.process.wait()


def agent_of(editor: Editor) -> int:
    """The supervisor's child."""
    below = descendants(editor.process.pid)
    (supervisor,) = [pid for pid in below if b"supervise" in cmdline(pid)]
    return next(pid for pid in below if parent(pid) == supervisor)


def hunks(editor: Editor) -> list[str]:
    return [hunk["newText"] for item in listed(editor) for hunk in item["hunks"]]


@pytest.mark.parametrize(
    ("state", "action", "killed"),
    [pytest.param(*cell, marks=[] if cell in FAST else [pytest.mark.slow]) for cell in CELLS],
)
def test_after_a_kill_texts_and_ledger_say_the_same(
    project: Project,
    state: str,
    action: str,
    killed: str,
    record_property: Callable[[str, object], None],
) -> None:
    scene = Scene(project, state, action)
    dict(zip(KILLS, (scene.agent_killed, scene.client_has_it, scene.file_is_written), strict=True))[
        killed
    ]()
    shown = scene.document and scene.document.text.content
    on_disk = scene.path.read_text()
    if shown is not None:
        assert shown == EDITED + scene.typed
        assert on_disk in ((LINES,) if killed == KILLS[1] or scene.typed else (LINES, EDITED))
    if killed == KILLS[2]:
        assert on_disk == EDITED
    is_in = (shown or on_disk).startswith(EDITED)
    assert is_in or (shown is None and on_disk == LINES)

    restarted = again(project)
    buffer = restarted.open(scene.path, shown) if shown is not None else None
    if is_in:
        assert settled(restarted, ("a.txt", "applied")), listed(restarted)
        assert wait_until(lambda: hunks(restarted) == ["TWO\n"], PATIENCE), listed(restarted)
    else:  # recorded or not, it is not said to be in
        assert wait_until(lambda: told(restarted) in ([], [("a.txt", "lost")]), PATIENCE)
    assert scene.path.read_text() == on_disk
    assert (buffer and buffer.text.content) == shown
    record_property("kill", (f"{state}, {action}, {killed}", "in" if is_in else "not in"))
