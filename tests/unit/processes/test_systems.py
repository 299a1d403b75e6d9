"""What each system is asked of processes and sockets: Linux as it is, macOS by what its ``ps`` is
documented to print."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from lsp_agent.processes import system
from lsp_agent.processes.linux import Linux
from lsp_agent.processes.macos import MacOS
from lsp_agent.processes.system import Peer, Process
from lsp_agent.protocol.errors import UsageError

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
MARK = "LSP_AGENT_PROCESS_TEST"


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """In a session of its own; it has begun."""
    command = [sys.executable, "-ISc", "print(flush=True); input()", "its argument"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, MARK: "1"},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def row(of: int) -> Process | None:
    return next((each for each in Linux().processes() if each.pid == of), None)


@on_linux
def test_a_process_is_a_row_with_its_parent_group_and_session(
    child: subprocess.Popen[bytes],
) -> None:
    found = row(child.pid)
    assert found is not None
    assert (found.parent, found.group, found.session) == (os.getpid(), child.pid, child.pid)
    assert not found.ended
    assert Linux().start_of(child.pid) == found.start
    assert b"\0its argument\0" in Linux().command_line(child.pid)
    assert f"{MARK}=1".encode() in Linux().environment(child.pid).split(b"\0")


@on_linux
def test_one_that_nobody_has_waited_for_has_ended_and_then_is_gone(
    child: subprocess.Popen[bytes],
) -> None:
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    found = row(child.pid)
    assert found is not None
    assert found.ended
    child.wait()
    assert row(child.pid) is None
    assert Linux().start_of(child.pid) is None
    assert Linux().command_line(child.pid) == b""


@on_linux
def test_whose_the_other_end_of_a_socket_is() -> None:
    here, there = socket.socketpair()
    with here, there:
        assert Linux().peer_of(here) == Peer(os.getpid(), os.getuid())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with socket.create_connection(listener.getsockname()) as caller:
            answering, _ = listener.accept()
            with answering:
                assert Linux().uid_at_port(answering) == os.getuid()
                assert Linux().uid_at_port(caller) == os.getuid()
        assert Linux().uid_at_port(listener) is None


def test_the_rows_of_macos_are_those_of_ps(monkeypatch: pytest.MonkeyPatch) -> None:
    printed = (
        "    1     0     1 Ss   Mon Nov  2 09:14:07 2026\n"
        "  812   401   812 S+   Sun Nov 29 18:01:22 2026    \n"
        " 9000   812   812 Z    Sun Nov 29 18:02:00 2026\n"
    )
    asked: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 0, printed)

    monkeypatch.setattr(subprocess, "run", run)
    rows = MacOS().processes()
    assert asked[0][0] == "/bin/ps"
    assert [(each.pid, each.parent, each.group, each.ended) for each in rows] == [
        (1, 0, 1, False),
        (812, 401, 812, False),
        (9000, 812, 812, True),
    ]
    assert len({each.key for each in rows}) == len(rows)


def test_a_system_that_nobody_has_written_a_module_for_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(UsageError, match="on win32: use Linux, macOS, or the Windows Subsystem"):
        system.this_system()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert isinstance(system.this_system(), MacOS)
