"""``lsp-agent prompt`` runs one turn without an editor, as a person and as a script would."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from support.project import LSP_AGENT, Project, Stubborn, bash, edit, step, write
from support.raw_client import Json, wait_until

pytestmark = pytest.mark.slow

ESCAPE = "\x1b["
_COMMANDS = '[permissions]\ncommand = "allow"\n'
#: Seconds that a busy machine may need.
PATIENCE = 60

Open = Callable[..., "Terminal"]


def set_up(project: Project, *steps: Json, more: str = "") -> None:
    """Writes the person's settings: an agent that follows ``steps``."""
    command = json.dumps(project.agent(*steps)["command"])
    (project.config / "config.toml").write_text(
        f'agent = "mine"\n[agents.mine]\nwire = "zot"\nprovider = "script"\ncommand = {command}\n'
        + more
    )


def prompt(project: Project, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Without a terminal."""
    return project.command("prompt", *arguments)


class Terminal:
    """A person at a terminal, where ``prompt`` runs."""

    def __init__(self, project: Project, arguments: Sequence[str]) -> None:
        self.shown = ""
        # A pseudo-terminal of its own, and a shell's job control: Ctrl-C goes to the foreground.
        self._end, its_end = pty.openpty()
        self._process = subprocess.Popen(
            ["setsid", "--ctty", "--wait", *LSP_AGENT, "prompt", *arguments],
            cwd=project.folder,
            env=project.environment() | {"TERM": "xterm", "COLUMNS": "100"},
            stdin=its_end,
            stdout=its_end,
            stderr=its_end,
        )
        os.close(its_end)
        os.set_blocking(self._end, False)

    def wait_for(self, text: str) -> None:
        assert wait_until(lambda: text in self._read(), PATIENCE), self.shown

    def times(self, text: str) -> int:
        return self._read().count(text)

    def type(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def exit_code(self) -> int:
        assert wait_until(self._has_ended, PATIENCE), self.shown
        return self._process.returncode

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._end)

    def _has_ended(self) -> bool:
        ended = self._process.poll() is not None
        self._read()
        return ended

    def _read(self) -> str:
        try:
            while piece := os.read(self._end, 65536):
                self.shown += piece.decode(errors="replace")
        except OSError:  # nothing more now, or for good
            pass
        return self.shown


@pytest.fixture
def terminal(project: Project) -> Iterator[Open]:
    """Opens one with ``prompt`` and its arguments."""
    with contextlib.ExitStack() as stack:

        def open_one(*arguments: str) -> Terminal:
            made = Terminal(project, arguments)
            stack.callback(made.close)
            return made

        yield open_one


def test_the_text_is_on_stdout_and_all_else_on_stderr(project: Project) -> None:
    path = project.file("a.txt", "one\ntwo\n")
    set_up(project, step("I change it.", edit("a.txt", "two", "TWO")), step("Done."))
    done = prompt(project, "Make it loud.")
    assert (done.returncode, done.stdout) == (0, "I change it.\nDone.\n")
    assert path.read_text() == "one\nTWO\n"
    told = done.stderr.splitlines()
    assert told[:2] == ["● edit a.txt", "✓ a.txt changed"]
    assert told[2:] == ["--- a/a.txt", "+++ b/a.txt", "@@ -1,2 +1,2 @@", " one", "-two", "+TWO"]
    assert ESCAPE not in done.stderr


def test_files_below_the_folder_are_named_from_there(project: Project) -> None:
    path = project.file("a.txt", "one\n")
    set_up(project, step("", edit(str(path), "one", "two")), step("Done."))
    assert prompt(project, "Go.").stderr.startswith("● edit a.txt\n")


def test_a_file_is_named_as_the_person_would_write_it(project: Project) -> None:
    set_up(project, step("", write("naïve dir/tëst.txt", "new\n")), step("Done."))
    told = prompt(project, "Go.").stderr.splitlines()
    assert told[1:3] == ["✓ naïve dir/tëst.txt changed", "--- a/naïve dir/tëst.txt"]


def test_what_the_output_cannot_show_is_escaped(project: Project) -> None:
    set_up(project, step("naïve"))
    done = subprocess.run(
        [*LSP_AGENT, "prompt", "Go."],
        cwd=project.folder,
        env=project.environment() | {"PYTHONIOENCODING": "ascii"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "na\\xefve\n")


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["text", "json"])
def test_it_ends_quietly_when_nobody_reads_on(project: Project, as_json: tuple[str, ...]) -> None:
    wait = bash("until [ -e closed ]; do sleep 0.05; done")
    set_up(project, step("line\n", wait), step("more\n"), step("never\n"), more=_COMMANDS)
    with subprocess.Popen(
        [*LSP_AGENT, "prompt", "Go.", *as_json],
        cwd=project.folder,
        env=project.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()  # as `head -1` does
        process.stdout.close()
        (project.folder / "closed").touch()
        told = process.stderr.read().splitlines()
        assert process.wait(PATIENCE) == 1
    assert all(line.startswith("● bash ") for line in told)


@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_a_closed_stream_is_no_terminal(project: Project, closed: str) -> None:
    set_up(project, step("An answer."))
    done = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *LSP_AGENT, "prompt", "Go."],
        cwd=project.folder,
        env=project.environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("An answer.\n" if closed == "<&-" else "")


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /dev/full elsewhere")
def test_output_that_cannot_be_written_is_told_in_one_line(project: Project) -> None:
    set_up(project, step("An answer."))
    with open("/dev/full", "w") as full:  # noqa: PTH123 - no path of the project
        done = subprocess.run(
            [*LSP_AGENT, "prompt", "Go."],
            cwd=project.folder,
            env=project.environment(),
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith("lsp-agent: there is no room: ")
    assert len(done.stderr.splitlines()) == 1


def test_as_json_stdout_has_the_events_one_a_line(project: Project) -> None:
    project.file("a.txt", "one\n")
    set_up(project, step("", edit("a.txt", "one", "two")), step("Done."))
    done = prompt(project, "Go.", "--json")
    events: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    assert kinds.count("turnStarted") == kinds.count("turnEnded") == 1
    assert {"toolCall", "toolResult", "editApplied", "assistantMessage"} <= set(kinds)
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert (done.returncode, done.stderr) == (0, "")


def test_without_a_terminal_nothing_that_must_be_asked_is_done(project: Project) -> None:
    set_up(project, step("", bash("touch made")), step("Then not."))
    done = prompt(project, "Go.")
    assert done.returncode == 0
    assert "! Refused, as there is no terminal to ask on: bash: touch made" in done.stderr
    assert "✗ bash touch made Not run: " in done.stderr
    assert not (project.folder / "made").exists()


def test_on_a_terminal_a_question_is_answered_and_the_diff_is_coloured(
    project: Project, terminal: Open
) -> None:
    project.file("a.txt", "one\n")
    set_up(project, step("", bash("touch made"), edit("a.txt", "one", "two")), step("Done."))
    screen = terminal("Go.")
    screen.wait_for("Enter to refuse")
    assert "bash: touch made" in screen.shown
    assert not (project.folder / "made").exists()
    screen.type("y\n1\n")  # what is none of the numbers is asked again
    assert screen.exit_code() == 0
    assert (project.folder / "made").exists()
    assert re.search(r"\x1b\[[0-9;]+m-one", screen.shown)
    assert re.search(r"\x1b\[[0-9;]+m\+two", screen.shown)


def test_what_was_typed_before_a_question_is_no_answer_to_it(
    project: Project, terminal: Open
) -> None:
    set_up(project, step("", bash("touch made")), step("Done."))
    screen = terminal("Go.")
    screen.type("1\n")
    screen.wait_for("Enter to refuse")
    screen.type("perhaps\n")  # asked again
    assert wait_until(lambda: screen.times("Enter to refuse") == 2, PATIENCE)
    assert not (project.folder / "made").exists()
    screen.type("No\n")
    assert screen.exit_code() == 0
    assert "declined" in screen.shown
    assert not (project.folder / "made").exists()


def test_an_agent_cannot_command_the_terminal(project: Project, terminal: Open) -> None:
    set_up(project, step("\x1b]0;owned\x07\x1b[2Jhello"))
    screen = terminal("Go.")
    screen.wait_for("hello")
    assert screen.exit_code() == 0
    assert r"\x1b]0;owned\x07\x1b[2Jhello" in screen.shown


def test_proposals_are_asked_about_at_the_end(project: Project, terminal: Open) -> None:
    path, other = project.file("a.txt", "one\n"), project.file("b.txt", "one\n")
    set_up(
        project, step("", edit("a.txt", "one", "two"), edit("b.txt", "one", "two")), step("Done.")
    )
    screen = terminal("Go.", "--review", "before")
    screen.wait_for("Apply this to a.txt?")
    assert path.read_text() == "one\n"
    screen.type("yep\n")
    assert wait_until(lambda: screen.times("Apply this to a.txt?") == 2, PATIENCE)
    screen.type("Yes\n")
    screen.wait_for("Apply this to b.txt?")
    screen.type("\n")
    assert screen.exit_code() == 0
    assert (path.read_text(), other.read_text()) == ("two\n", "one\n")


def test_an_interrupt_leaves_a_proposal_to_the_editor(project: Project, terminal: Open) -> None:
    path = project.file("a.txt", "one\n")
    set_up(project, step("", edit("a.txt", "one", "two")), step("Done."))
    screen = terminal("Go.", "--review", "before")
    screen.wait_for("Apply this to a.txt?")
    screen.type("\x03")
    assert screen.exit_code() == 130
    assert screen.shown.endswith("\n")
    assert path.read_text() == "one\n"
    (waiting,) = project.editor(step("Hello.")).call("agent/edits")["edits"]
    assert waiting["status"] == "proposed"


def test_an_interrupt_stops_the_turn_and_all_that_it_started(
    project: Project, terminal: Open
) -> None:
    stubborn = Stubborn()
    set_up(project, step("", bash(stubborn.command)))
    screen = terminal("Go.")
    screen.wait_for("Enter to refuse")
    screen.type("1\n")
    screen.wait_for("  \x1b[2mmeasuring")
    screen.type("\x03")
    assert screen.exit_code() == 130
    assert "it was stopped" in screen.shown
    assert wait_until(lambda: not stubborn.processes(), PATIENCE)


def test_an_interrupt_is_an_answer_to_a_question_as_well(project: Project, terminal: Open) -> None:
    set_up(project, step("", bash("touch made")))
    screen = terminal("Go.")
    screen.wait_for("Enter to refuse")
    screen.type("\x03")
    assert screen.exit_code() == 130
    assert not (project.folder / "made").exists()


def test_killed_from_outside_it_leaves_nothing(project: Project) -> None:
    stubborn = Stubborn()
    set_up(project, step("", bash(stubborn.command)), more=_COMMANDS)
    process = subprocess.Popen(
        [*LSP_AGENT, "prompt", "Go."],
        cwd=project.folder,
        env=project.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert wait_until(stubborn.processes, PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert wait_until(lambda: not stubborn.processes(), PATIENCE)


def test_a_failed_turn_exits_with_1_and_says_why(project: Project) -> None:
    set_up(project, step("So far.", error="the service is down"))
    done = prompt(project, "Go.")
    assert (done.returncode, done.stdout) == (1, "So far.\n")
    assert "the service is down" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((" ",), 2, "the prompt is empty"),
        (("Go.", "--cwd", "nowhere"), 2, "--cwd nowhere is no folder"),
        (("Go.", "--review", "never"), 2, "--review"),
        (("Go.", "--agent", "nobody"), 1, "No agent 'nobody' is configured"),
    ],
)
def test_wrong_use_is_told_in_one_line(
    project: Project, arguments: tuple[str, ...], code: int, said: str
) -> None:
    set_up(project, step("Never."))
    done = prompt(project, *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_its_session_is_stored_like_any_other(project: Project) -> None:
    set_up(project, step("An answer."))
    prompt(project, "A question?")
    editor = project.editor(step("Hello."))
    (listed,) = editor.call("agent/sessions")["sessions"]
    assert (listed["title"], listed["agent"], listed["stored"]) == ("A question?", "mine", True)


def test_faults_in_the_settings_are_told(project: Project) -> None:
    set_up(project, step("Done."), more='[permisions]\ncommand = "deny"\n')
    done = prompt(project, "Go.")
    assert (done.returncode, done.stdout) == (0, "Done.\n")
    assert "permisions" in done.stderr
