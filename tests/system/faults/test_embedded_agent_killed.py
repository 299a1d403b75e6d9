"""The embedded agent killed (-9) at each kind of event of a real turn, and around an edit."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from embedded_job import EDITED, WRITTEN, Project, check_document
from support.raw_client import Json, wait_until
from support.stage import Editor

pytestmark = pytest.mark.sampled

Outcome = Callable[[str, str], None]

#: (type, which one of that type); those marked "fast" run by default.
EVENTS = [
    ("turnStarted", 1, "fast"),
    ("userMessage", 1, ""),
    ("stepStarted", 1, ""),
    ("textDelta", 1, "fast"),
    ("textDelta", 4, ""),
    ("toolCallStarted", 1, ""),
    ("toolArgsDelta", 1, ""),
    ("usage", 1, ""),
    ("assistantMessage", 1, ""),
    ("toolCall", 1, ""),
    ("stepEnded", 1, ""),
    ("toolResult", 1, "fast"),
    ("stepStarted", 2, ""),
    ("toolCallStarted", 2, ""),
    ("toolCallStarted", 4, ""),
    ("toolCall", 2, ""),
    ("toolCall", 4, ""),
    ("editApplied", 1, "fast"),
    ("toolResult", 2, ""),
    ("editApplied", 2, ""),
    ("toolResult", 3, ""),
    ("questionAsked", 1, "fast"),
    ("questionAnswered", 1, ""),
    ("toolProgress", 1, "fast"),
    ("toolProgress", 2, ""),
    ("toolResult", 4, ""),
    ("stepStarted", 3, ""),
    ("textDelta", 9, ""),
    ("assistantMessage", 3, ""),
    ("stepEnded", 3, ""),
]
#: Behind these nothing is waited for: the turn may have ended before the agent is dead.
LAST = [
    ("toolResult", 4),
    ("stepStarted", 3),
    ("textDelta", 9),
    ("assistantMessage", 3),
    ("stepEnded", 3),
]


class Stage:
    """One server; each point has a folder, a session and an agent of its own."""

    def __init__(self, home: Path, editor: Editor) -> None:
        self.home = home
        self.editor = editor
        self._count = 0

    def point(self) -> tuple[Project, str]:
        """A project with a session of its own whose agent runs already, and its session."""
        self._count += 1
        project = Project(self.home / f"work{self._count}", self.editor.nap())
        # The agent reads its script when it starts: one path for all, its content for each.
        project.script.replace(self.home / "script.json")
        added = {"uri": project.folder.as_uri(), "name": project.folder.name}
        self.editor.notify(
            "workspace/didChangeWorkspaceFolders", {"event": {"added": [added], "removed": []}}
        )
        session = self.editor.call("agent/newSession", {"cwd": str(project.folder)})["sessionId"]
        self.editor.works(session, "again")
        return project, session


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    home = tmp_path_factory.mktemp("killed")
    first = Project(home / "work", "1")
    script = first.script.rename(home / "script.json")
    first.script = script
    with Editor(home) as editor:
        editor.start(first.folder, first.options)
        yield Stage(home, editor)
        editor.end()


def params(where: tuple[str, int, str]) -> object:
    kind, number, fast = where
    marks = [] if fast else [pytest.mark.slow]
    return pytest.param(kind, number, marks=marks, id=f"{kind}-{number}")


@pytest.mark.parametrize(("kind", "number"), [params(where) for where in EVENTS])
def test_the_embedded_agent_killed_at_any_event_loses_and_doubles_nothing(
    stage: Stage, kind: str, number: int, outcome: Outcome
) -> None:
    editor = stage.editor
    project, session = stage.point()
    uri = project.open(editor)
    victim = editor.agent_pid()
    seen: list[Json] = []

    def kill_there(event: Json) -> None:
        if event["type"] == kind and event["sessionId"] == session:
            seen.append(event)
            if len(seen) == number:
                os.kill(victim, signal.SIGKILL)

    editor.on_event = kill_there
    request = editor.prompt("work", session)
    came_to = "agentExited"
    if (kind, number) in LAST and "result" in editor.answer(request):
        editor.answered(request)
        editor.event(sessionId=session, type="agentStatus", status="exited")
        came_to = "endTurn came first"
    else:
        editor.failure(request, came_to)
    editor.on_event = lambda _event: None
    assert len(seen) >= number
    finish(stage, project, session, uri)
    outcome("embedded agent killed at each kind of event", f"{came_to}, text right, next works")


@pytest.mark.parametrize("when", ["before", pytest.param("while", marks=pytest.mark.slow), "after"])
def test_the_embedded_agent_killed_while_an_edit_is_under_way_leaves_it_whole(
    stage: Stage, when: str, outcome: Outcome
) -> None:
    """The edit comes late, at once, or is in but not yet answered."""
    editor = stage.editor
    project, session = stage.point()
    uri = project.open(editor)
    victim = editor.agent_pid()

    def kill() -> None:
        os.kill(victim, signal.SIGKILL)
        if when != "while":
            time.sleep(0.4)

    if when == "after":
        editor.on_applied = kill
    else:
        editor.on_apply = kill
    editor.failure(editor.prompt("edit", session), "agentExited")
    editor.on_apply = editor.on_applied = lambda: None
    assert wait_until(lambda: editor.texts[uri] == EDITED)
    finish(stage, project, session, uri)
    outcome(f"embedded agent killed {when} an edit is applied", "agentExited, in once, next works")


def finish(stage: Stage, project: Project, session: str, uri: str) -> None:
    """What the editor shows is what is known, no edit is half in, nothing is left behind."""
    editor = stage.editor
    text = check_document(editor, uri, session)

    def statuses() -> list[str]:
        edits = editor.call("agent/edits", {"sessionId": session, "uri": uri})["edits"]
        return [edit["status"] for edit in edits]

    if text == EDITED:
        assert wait_until(lambda: statuses() == ["applied"]), statuses()
    else:
        assert statuses() in ([], ["lost"]), statuses()
    others = {path.name: path for path in project.folder.iterdir()}
    assert set(others) <= {"open.txt", "new.txt"}
    if "new.txt" in others:
        assert others["new.txt"].read_text(encoding="utf-8") == WRITTEN
    assert not [line for line in editor.left() if "sleep" in line]
    editor.call("agent/closeSession", {"sessionId": session})
    assert wait_until(lambda: not editor.agents())


def test_killed_between_two_turns_it_remembers_the_first(stage: Stage) -> None:
    _, session = stage.point()  # where a turn has run
    editor = stage.editor
    os.kill(editor.agent_pid(), signal.SIGKILL)
    editor.event(sessionId=session, type="agentStatus", status="exited")
    editor.works(session, "again")
    messages = editor.call("agent/messages", {"sessionId": session})["messages"]
    turn = ["user", "assistant", "tool", "assistant"]
    assert [message["role"] for message in messages] == turn * 2
