"""``lsp-agent serve`` as a process: its address, its log, its ends, and what it leaves behind."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.project import (
    ALLOWED,
    EVENTS,
    LSP_AGENT,
    Editor,
    Project,
    Stopwatch,
    Stubborn,
    bash,
    processes_with,
    step,
)
from support.raw_client import Json, descendants, frame, left_behind, wait_until

# TCP

TOKEN = "the token of these tests"


@pytest.fixture
def served(project: Project) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A server on a port of its own choice."""
    command = [*LSP_AGENT, "serve", "--tcp", "127.0.0.1:0"]
    environment = project.environment() | {"LSP_AGENT_TOKEN": TOKEN}
    server = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )
    assert server.stderr
    told = server.stderr.readline().decode()
    found = re.fullmatch(r"lsp-agent: listening on 127\.0\.0\.1:(\d+)\n", told)
    assert found, told
    yield server, int(found[1])
    server.kill()
    server.wait()
    server.stderr.close()


def test_one_client_is_served_on_a_loopback_port(
    project: Project, served: tuple[subprocess.Popen[bytes], int]
) -> None:
    server, port = served
    project.file("a.txt", "one\n")
    agent = project.agent(step("Hello."))
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        stream = connection.makefile("rb")

        def call(number: int, method: str, params: Json) -> Json:
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            connection.sendall(frame(message))
            while True:
                answer = _message(stream)
                if answer.get("id") == number and "method" not in answer:
                    return answer["result"]

        call(
            1,
            "initialize",
            {
                "processId": None,
                "rootUri": project.folder.as_uri(),
                "capabilities": {},
                "initializationOptions": {
                    "token": TOKEN,
                    "agent": "scripted",
                    "agents": {"scripted": agent},
                },
            },
        )
        assert call(2, "agent/prompt", {"text": "Go."})["text"] == "Hello."
        with pytest.raises(OSError):  # a second client is not served
            socket.create_connection(("127.0.0.1", port), 1).close()
        call(3, "shutdown", {})
        connection.sendall(frame({"jsonrpc": "2.0", "method": "exit"}))
    assert server.wait(5) == 0


def _message(stream: object) -> Json:

    header = stream.readline()  # type: ignore[attr-defined]
    stream.readline()  # type: ignore[attr-defined]
    return json.loads(stream.read(int(header.split(b":")[1])))  # type: ignore[attr-defined]


# Wrong use


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tcp", "0.0.0.0:0"], "loopback"),
        (["--tcp", "192.0.2.1:80"], "loopback"),
        (["--tcp", "[::]:0"], "loopback"),
        (["--tcp", "localhost"], "PORT"),
        (["--tcp", "127.0.0.1:x"], "127.0.0.1:x"),
        (["--log-file", "/nowhere/x.log"], "/nowhere/x.log"),
        (["--log-level", "loud"], "loud"),
        (["--dance"], "--dance"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    ended = subprocess.run(
        [*LSP_AGENT, "serve", *arguments], capture_output=True, text=True, timeout=20, check=False
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    (line,) = ended.stderr.splitlines()
    assert line.startswith("lsp-agent: ")
    assert said in line


def test_a_port_that_is_taken_is_said_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run(
            [*LSP_AGENT, "serve", "--tcp", address],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
    assert ended.returncode in (1, 2)
    (line,) = ended.stderr.splitlines()
    assert address in line


# The log


@pytest.mark.parametrize("level", ["info", "debug"])
def test_the_log_has_no_prompt_no_text_and_no_secret(project: Project, level: str) -> None:
    path = project.file("a.txt", "filetext\n")
    log = project.home / "server.log"
    agent = project.agent(
        step("answertext", bash("echo outputtext; echo $MY_API_KEY")),
        step("Done."),
        env={"MY_API_KEY": "s3cr3tkey"},
    )
    editor = project.editor(
        agent=agent, options=ALLOWED, arguments=["--log-file", str(log), "--log-level", level]
    )
    document = editor.open(path)
    editor.ask_agent("prompttext", context=[{"uri": document.uri}])
    editor.failure("agent/prompt", {"text": ""})
    editor.failure("agent/nothing", {"text": "prompttext"})
    assert editor.shut_down() == 0
    written = log.read_text()
    for word in ("prompttext", "answertext", "outputtext", "filetext", "s3cr3tkey"):
        assert word not in written, word
    assert editor.stderr == ""


def test_nothing_is_printed_when_all_goes_well(project: Project) -> None:
    editor = project.editor(step("Hello."))
    editor.ask_agent("Go.")
    assert editor.shut_down() == 0
    assert editor.stderr == ""


# The end


@pytest.fixture
def busy(project: Project) -> tuple[Editor, Stubborn]:
    """A server with an agent that runs a stubborn command."""
    stubborn = Stubborn()
    editor = project.editor(step("", bash(stubborn.command)), options=ALLOWED, client=EVENTS)
    editor.prompt("Go.")
    editor.event("toolProgress")
    assert wait_until(lambda: stubborn.runs)
    assert descendants(editor.process.pid)
    return editor, stubborn


def assert_nothing_left(project: Project, editor: Editor, stubborn: Stubborn) -> None:
    assert wait_until(lambda: stubborn.processes() == [] and left_behind(editor.mark) == [])
    assert wait_until(lambda: project.runtime_files() == [], 1)


def test_shutdown_ends_everything_before_it_is_answered(
    project: Project, busy: tuple[Editor, Stubborn]
) -> None:
    editor, stubborn = busy
    watch = Stopwatch()
    editor.call("shutdown")
    assert stubborn.processes() == []
    assert wait_until(lambda: descendants(editor.process.pid) == [], 1)
    editor.notify("exit")
    assert editor.wait_for_exit() == 0
    assert watch.seconds < 5
    assert_nothing_left(project, editor, stubborn)
    assert [event["stopReason"] for event in editor.events("turnEnded")] == ["aborted"]


@pytest.mark.parametrize("how", ["end of input", "exit", "SIGTERM"])
def test_an_end_without_shutdown_ends_everything_within_5_s(
    project: Project, busy: tuple[Editor, Stubborn], how: str
) -> None:
    editor, stubborn = busy
    watch = Stopwatch()
    match how:
        case "end of input":
            editor.close_input()
        case "exit":
            editor.notify("exit")
        case _:
            editor.process.send_signal(signal.SIGTERM)
    assert editor.wait_for_exit() == 1
    assert_nothing_left(project, editor, stubborn)
    assert watch.seconds < 5


def test_a_killed_server_leaves_no_process(project: Project, busy: tuple[Editor, Stubborn]) -> None:
    editor, stubborn = busy
    editor.process.kill()
    editor.process.wait()
    assert wait_until(lambda: stubborn.processes() == [] and left_behind(editor.mark) == [])


def test_the_end_of_the_editors_process_ends_everything(project: Project) -> None:
    stubborn = Stubborn()
    # The pipe stays open: only the process id tells that the editor is gone.
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        editor = project.editor(
            step("", bash(stubborn.command)), options=ALLOWED, client=EVENTS, processId=other.pid
        )
        editor.prompt("Go.")
        editor.event("toolProgress")
        other.kill()
        other.wait()
        watch = Stopwatch()
        assert editor.wait_for_exit() == 1
        assert watch.seconds < 5
        assert_nothing_left(project, editor, stubborn)


def test_a_server_whose_agent_is_only_starting_ends_as_fast(project: Project) -> None:
    nap = Stubborn().nap
    slow = project.agent(command=["sh", "-c", f"trap '' TERM; {nap}"])
    editor = project.editor(agent=slow, client=EVENTS)
    editor.prompt("Go.")
    assert wait_until(lambda: processes_with(nap))
    watch = Stopwatch()
    editor.close_input()
    assert editor.wait_for_exit() == 1
    assert wait_until(lambda: processes_with(nap) == [])
    assert watch.seconds < 5
