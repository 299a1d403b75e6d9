"""An allowed command stops the process that is to end it: nothing outlives the server even so."""

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from support.project import EVENTS, Editor, Project, bash, new_project, step
from support.raw_client import left_behind, wait_until

pytestmark = [
    pytest.mark.sampled,
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: /proc"),
]

ONCE = "kill -STOP $LSP_AGENT_GUARD"
#: In a session of its own, and faster than anybody who wakes it.
AGAIN = "(setsid sh -c 'while :; do kill -STOP $LSP_AGENT_GUARD; sleep 0.01; done' >&- 2>&- &)"
COMMANDS = {
    "once": f"{ONCE}; echo now; sleep 600",
    "once, and out of its session": f"(setsid sleep 600 >&- 2>&- &); {ONCE}; echo now; sleep 600",
    "again and again": f"{AGAIN}; sleep 0.2; echo now; sleep 600",
}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


def busy(project: Project, command: str) -> Editor:
    """Its agent's supervisor is stopped."""
    options = {"permissions": {"command": "allow"}}
    editor = project.editor(step("", bash(command)), options=options, client=EVENTS)
    editor.prompt("Go.")
    editor.event("toolProgress")
    assert wait_until(lambda: supervisors(editor, state="T"))
    return editor


def supervisors(editor: Editor, state: str) -> list[int]:
    found: list[int] = []
    for pid in left_behind(editor.mark):
        status = ""
        with suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        if "Name:\tlsp-agent-guard" in status and f"State:\t{state}" in status:
            found.append(pid)
    return found


def end(editor: Editor, how: str) -> None:
    match how:
        case "shutdown":
            editor.call("shutdown")
            editor.notify("exit")
        case "end of input":
            editor.close_input()
        case "SIGTERM":
            editor.process.send_signal(signal.SIGTERM)
        case _:
            editor.process.kill()


@pytest.mark.parametrize("how", ["shutdown", "end of input", "SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_stopped_supervisor_and_all_below_it_end_with_the_server(
    project: Project, command: str, how: str
) -> None:
    editor = busy(project, COMMANDS[command])
    started = time.monotonic()
    end(editor, how)
    editor.process.wait(15)
    ended = time.monotonic() - started
    assert wait_until(lambda: left_behind(editor.mark) == [], 5), ended
    assert ended < 6


def test_a_turn_whose_supervisor_was_stopped_can_be_stopped(project: Project) -> None:
    editor = busy(project, COMMANDS["once"])
    started = time.monotonic()
    editor.command("abort")
    assert editor.event("turnEnded")["stopReason"] == "aborted"
    assert time.monotonic() - started < 5
