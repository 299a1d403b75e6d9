"""Real kills (-9) on the ways that are no hosted edit: the merge of what came to the disk, the
acceptance of a proposal, the undo of a hunk, a revert. After the restart on the same data folder
buffer, disk and ledger say the same, and nothing has changed by itself.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.project import Document, Editor, Project, call, edit, new_project, step
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
from test_matrix_kills import agent_of

BEFORE = "server killed before the client has it"
AFTER = "server killed once the client has it"
BOTH = "server and editor killed once the client has it"
WRITTEN = "server killed once the file is written"
AGENT = "agent killed once the file is written"
CELLS = [
    ("mirror", "open clean", BEFORE),
    ("mirror", "open clean", AGENT),
    ("mirror", "open unsaved", AFTER),
    ("mirror", "open unsaved", BOTH),
    ("mirror", "open unsaved", WRITTEN),
    ("mirror", "open unsaved", AGENT),
    ("mirror", "not open", WRITTEN),
    ("mirror", "not open", AGENT),
    ("acceptance", "open clean", BEFORE),
    ("acceptance", "open clean", BOTH),
    ("acceptance", "open unsaved", AFTER),
    ("acceptance", "not open", WRITTEN),
    ("undo", "open clean", AFTER),
    ("undo", "open clean", BOTH),
    ("undo", "open unsaved", BEFORE),
    ("undo", "not open", WRITTEN),
    ("revert", "open clean", BEFORE),
    ("revert", "open clean", BOTH),
    ("revert", "open unsaved", AFTER),
    ("revert", "not open", WRITTEN),
]
FAST = {("mirror", "open unsaved", AFTER), ("acceptance", "open clean", BEFORE)}
TYPED = "typed\n"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


class Scene:
    """All is ready for the course's step, which is yet to go into a.txt."""

    def __init__(self, project: Project, course: str, state: str) -> None:
        self.path = project.file("a.txt", LINES)
        self.typed = TYPED if state == "open unsaved" else ""
        self.course = course
        steps = [
            step("", call("read", path="a.txt")),
            step("", edit("a.txt", "two", "TWO")),
            # It talks on, so that no turn of a mirror agent is over before the kill.
            step("Done. " * (500 if course == "mirror" else 1), pace_ms=20),
        ]
        hosting = {"hosting": "mirror"} if course == "mirror" else {}
        review = "before" if course == "acceptance" else "after"
        self.editor = project.editor(
            agent=project.agent(*steps, **hosting),
            client=SAVES,
            options={"edits": {"review": review}},
        )
        self.document: Document | None = None
        if state != "not open":
            self.document = self.editor.open(self.path, LINES + self.typed)
        #: Once it is done, the file holds this.
        self.done = LINES if course in ("undo", "revert") else EDITED
        self.turn = "" if course == "mirror" else self.editor.ask_agent("Go.")["turnId"]

    def begin(self) -> None:
        match self.course:
            case "mirror":
                self.editor.prompt("Go.")
            case "acceptance":
                self.editor.request("agent/applyEdit", {"editId": listed(self.editor)[0]["editId"]})
            case "undo":
                edit_id = listed(self.editor)[0]["editId"]
                self.editor.request("agent/rejectEdit", {"editId": edit_id})
            case _:
                self.editor.request("agent/revert", {"turnId": self.turn})

    def killed_on_the_way(self, *, applied: bool) -> None:
        there = threading.Event()

        def handler(params: Json) -> object:
            if applied:
                self.editor._apply(params)
            self.editor.process.send_signal(signal.SIGKILL)
            there.set()
            return NO_ANSWER

        self.editor.handlers["workspace/applyEdit"] = handler
        self.begin()
        assert there.wait(PATIENCE)
        self.editor.process.wait()

    def killed_at_the_file(self, *, agent: bool) -> None:
        self.begin()
        while self.path.read_text() != self.done:  # without a pause: it is told of at once
            assert self.editor.process.poll() is None
        if agent:
            os.kill(agent_of(self.editor), signal.SIGKILL)
            assert self.editor.event("turnEnded", PATIENCE)["stopReason"] == "error"
            assert settled(self.editor, ("a.txt", "applied"))
        kill(self.editor)


@pytest.mark.parametrize(
    ("course", "state", "killed"),
    [pytest.param(*cell, marks=[] if cell in FAST else [pytest.mark.slow]) for cell in CELLS],
)
def test_after_a_kill_elsewhere_texts_and_ledger_say_the_same(
    project: Project,
    course: str,
    state: str,
    killed: str,
    record_property: Callable[[str, object], None],
) -> None:
    scene = Scene(project, course, state)
    if killed in (WRITTEN, AGENT):
        scene.killed_at_the_file(agent=killed == AGENT)
    else:
        scene.killed_on_the_way(applied=killed != BEFORE)
    on_disk = scene.path.read_text()
    shown = None if scene.document is None else scene.document.text.content
    if killed == BOTH:
        shown = on_disk
    restarted = again(project)
    buffer = None if shown is None else restarted.open(scene.path, shown)

    def now() -> str:
        return scene.path.read_text() if buffer is None else buffer.text.content

    was = now()
    is_in = "TWO" in was
    assert wait_until(lambda: is_told(restarted, course, killed, is_in), PATIENCE), told(restarted)
    assert (scene.path.read_text(), now()) == (on_disk, was)

    # The step that was cut off can be made again.
    item = (listed(restarted) or [{}])[0]
    if course in ("undo", "revert"):
        if is_in and course == "undo":
            restarted.call("agent/rejectEdit", {"editId": item["editId"]})
        elif is_in:
            restarted.call("agent/revert", {"turnId": scene.turn})
        assert now() == was.replace("TWO", "two")
    elif not is_in and item:
        assert restarted.call("agent/applyEdit", {"editId": item["editId"]})["applied"] is True
        assert now() == was.replace("two", "TWO")
    record_property("kill", (f"{course}, {state}, {killed}", "in" if is_in else "not in"))


def is_told(editor: Editor, course: str, killed: str, is_in: bool) -> bool:
    """Whether the ledger says of the agent's change what the text does."""
    statuses = [status for _, status in told(editor)]
    if course == "mirror" and killed == WRITTEN and not statuses:
        return True  # killed before it could be recorded: it is in the file alone
    change, *reverts = statuses
    if is_in:
        return change == "applied" and reverts in ([], ["lost"])
    match course:
        case "mirror":
            return change == "lost"
        case "acceptance":
            return change == "proposed"
        case "undo":
            return change in ("rejected", "superseded", "lost")
        case _:  # the turn's change and the revert's, which takes it out
            return reverts[0] in ("applied", "kept")
