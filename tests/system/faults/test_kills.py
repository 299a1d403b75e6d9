"""Each process of the chain killed (-9) in each phase: what runs on says so, nothing is left."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from embedded_job import DISK, EDITED, SHOWN, Project, check_document
from support.raw_client import NO_ANSWER, wait_until
from support.stage import Editor

pytestmark = pytest.mark.sampled

Outcome = Callable[[str, str], None]
Reach = Callable[[Editor], int | None]

FAST = {
    ("server", "command"),
    ("server", "edit"),
    ("supervisor", "command"),
    ("pipe", "command"),
    ("pipe", "question"),
    ("agent", "question"),
    ("editor", "command"),
    ("stdin", "command"),
    ("stdin", "question"),
}


def idle(_editor: Editor) -> None:
    return None


def streaming(editor: Editor) -> int:
    request = editor.prompt("talk")
    editor.wait_for(lambda message: "word " in str(message.get("params", {}).get("text")))
    return request


def command(editor: Editor) -> int:
    request = editor.prompt("run")
    editor.wait_for(lambda message: "started" in str(message.get("params", {}).get("text")))
    return request


def question(editor: Editor) -> int:
    editor.handlers["agent/ask"] = lambda _question: NO_ANSWER
    request = editor.prompt("run")
    editor.event(type="questionAsked")
    return request


def edit(editor: Editor) -> int:
    """The client has got the edit and does not answer, nor carries it out."""
    editor.handlers["workspace/applyEdit"] = lambda _params: NO_ANSWER
    request = editor.prompt("edit")
    editor.notification("workspace/applyEdit")
    return request


PHASES: dict[str, Reach] = {
    "idle": idle,
    "streaming": streaming,
    "command": command,
    "question": question,
    "edit": edit,
}


def points(victims: list[str]) -> list[object]:
    return [
        pytest.param(victim, phase, marks=[] if (victim, phase) in FAST else [pytest.mark.slow])
        for victim in victims
        for phase in PHASES
    ]


class Scene:
    def __init__(self, tmp_path: Path, phase: str) -> None:
        self.editor = Editor(tmp_path)
        self.host = subprocess.Popen(["sleep", "600"])  # the editor's process, as it were
        self.project = Project(tmp_path / "work", self.editor.nap())
        self.editor.start(self.project.folder, self.project.options, process_id=self.host.pid)
        self.uri = self.project.open(self.editor)
        self.editor.works(text="again")
        self.handlers = dict(self.editor.handlers)
        self.request = PHASES[phase](self.editor)

    def __enter__(self) -> "Scene":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.host.kill()
        self.host.wait()
        self.editor.kill()

    def kill(self, victim: str) -> None:
        match victim:
            case "server":
                self.editor.process.kill()
                self.editor.process.wait()
            case "editor":
                self.host.kill()
                self.host.wait()
            case "stdin":
                self.editor.close_input()
            case "supervisor":
                (supervisor,) = self.editor.agents()
                os.kill(supervisor, signal.SIGKILL)
            case "agent":
                os.kill(self.editor.agent_pid(), signal.SIGKILL)
            case other:
                os.kill(self.editor.find(f"/{other}"), signal.SIGKILL)


def zombies(pid: int) -> list[int]:
    """The children of a process that have ended and that it has not waited for."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state == "Z" and int(parent) == pid:
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize(("victim", "phase"), points(["server", "editor", "stdin"]))
def test_nothing_is_left_when_the_server_or_its_editor_goes(
    tmp_path: Path, victim: str, phase: str, outcome: Outcome
) -> None:
    with Scene(tmp_path, phase) as scene:
        scene.kill(victim)
        scene.editor.nothing_left(5)
        assert scene.project.document.read_text(encoding="utf-8") == DISK
    outcome(f"{victim} gone: {phase}", "nothing left within 5 s")


@pytest.mark.parametrize(("victim", "phase"), points(["supervisor", "pipe", "agent"]))
def test_a_turn_fails_and_the_next_works_when_a_process_of_the_agents_goes(
    tmp_path: Path, victim: str, phase: str, outcome: Outcome
) -> None:
    with Scene(tmp_path, phase) as scene:
        editor = scene.editor
        scene.kill(victim)
        if scene.request is None:
            editor.event(type="agentStatus", status="exited")
        else:
            editor.failure(scene.request, "agentExited")
        editor.handlers = scene.handlers
        assert [line for line in editor.left() if "sleep" in line] == []
        assert wait_until(lambda: not zombies(editor.process.pid), 2)
        assert check_document(editor, scene.uri) == SHOWN
        editor.works(text="edit")
        assert editor.texts[scene.uri] == EDITED
        editor.end()
    outcome(f"{victim} killed: {phase}", "agentExited, next prompt works, nothing left")


@pytest.mark.parametrize("victim", ["agent", "pipe"])
def test_the_end_of_an_agent_that_died_or_lost_its_bridge_is_told_once(
    tmp_path: Path, victim: str
) -> None:
    with Scene(tmp_path, "streaming") as scene:
        editor = scene.editor
        scene.kill(victim)
        assert scene.request is not None
        editor.failure(scene.request, "agentExited")
        editor.works(text="edit")
        messages = [each["message"] for each in editor.received("window/showMessage")]
        # What the agent may still say of its extension is its own.
        (told,) = (message for message in messages if not message.startswith("extension "))
        assert "was ended by signal 9" in told
        # Of a killed agent either its own end is seen first or that of its connection.
        assert victim == "agent" or told.startswith("The agent lost its connection to the editor")
        editor.end()


def test_a_command_whose_gate_is_killed_does_not_run(tmp_path: Path, outcome: Outcome) -> None:
    with Scene(tmp_path, "question") as scene:
        editor = scene.editor
        scene.kill("gate")
        assert scene.request is not None
        result = editor.answered(scene.request)
        (refused,) = editor.events(turnId=result["turnId"], type="toolResult")
        assert refused["isError"]
        assert editor.events(turnId=result["turnId"], type="questionAnswered")
        assert editor.call("agent/state")["questions"] == []
        assert [line for line in editor.left() if "sleep" in line] == []
        editor.handlers = scene.handlers
        editor.works(text="edit")
        editor.end()
    outcome("gate killed: question", "the command fails, the turn goes on to endTurn")
