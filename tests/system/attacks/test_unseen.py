"""What a person reads is what there is: no escape sequence of a server, a repository or an
extension reaches the terminal, and a question hides no character."""

import os
import pty
import socket
import subprocess
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from support.project import EVENTS, LSP_AGENT, Project, bash, new_project, step

TITLE = "\x1b]0;owned\x07\x1b[2Jall is well\x9b31m\u202e"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with new_project(tmp_path) as made:
        yield made


def said_by(project: Project, *arguments: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [*LSP_AGENT, *arguments],
        cwd=cwd or project.folder,
        env=project.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return (done.stdout + done.stderr).decode()


def assert_harmless(said: str) -> None:
    """Colours are left out where nobody looks, so that no sequence is ours."""
    found = {char for char in said if not char.isprintable()} - {"\n"}
    assert found == set(), ascii(said)
    assert r"\u202e" in said


def test_a_git_servers_error_does_not_steer_the_terminal(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(4096)
                words = f"ERR {TITLE}".encode()
                connection.sendall(b"%04x%b" % (len(words) + 4, words))

        threading.Thread(target=refuse, daemon=True).start()
        port = server.getsockname()[1]
        said = said_by(project, "ext", "install", f"git://127.0.0.1:{port}/x.git")
    assert "git could not clone" in said
    assert_harmless(said)


def test_a_folders_name_does_not_steer_the_terminal(project: Project) -> None:
    folder = project.folder / TITLE
    folder.mkdir()
    (folder / ".lsp-agent.toml").write_text("nonsense = 1\n")
    said = said_by(project, "doctor", cwd=folder)
    assert "nonsense" in said
    assert_harmless(said)


@pytest.mark.parametrize("action", ["trust", "distrust", "install"])
def test_no_path_that_an_extension_lies_in_steers_the_terminal(
    project: Project, action: str
) -> None:
    folder = project.folder / TITLE
    extension = folder / ".zot" / "extensions" / "one"
    extension.mkdir(parents=True)
    (extension / "extension.json").write_text('{"name": "../one", "exec": "x"}')
    assert_harmless(said_by(project, "ext", action, str(folder)))


def test_a_log_does_not_steer_the_terminal(project: Project) -> None:
    log = project.home / "state" / "lsp-agent" / "log" / "ext-one.log"
    log.parent.mkdir(parents=True)
    log.write_text(f"{TITLE}\n")
    assert_harmless(_on_a_terminal(project, ["ext", "logs", "one"]))


def _on_a_terminal(project: Project, arguments: Sequence[str]) -> str:
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as seen:  # noqa: PTH123  by descriptor
        command = [*LSP_AGENT, *arguments]
        subprocess.run(command, stdout=theirs, env=project.environment(), timeout=60, check=True)
        os.close(theirs)
        return seen.read(65536).decode().replace("\r\n", "\n")


#: Printable, says Python, and shown as nothing or as a blank.
UNSEEN = [
    *map(chr, range(0xFE00, 0xFE10)),
    *map(chr, range(0xE0100, 0xE01F0)),
    *"\u034f\u115f\u1160\u3164\uffa0\u2800\u180b\u180c\u180d\u180f\u17b4\u17b5",
]


def test_a_question_hides_no_character(project: Project) -> None:
    command = f"echo {''.join(UNSEEN)}x"
    editor = project.editor(step("", bash(command)), step("Done."), client=EVENTS | {"ask": True})
    editor.answers.append("deny")
    editor.ask_agent("Go.")
    (question,) = editor.received("agent/ask")
    shown = question["title"] + (question.get("detail") or "")
    shown += "".join(option["name"] for option in question["options"])
    for char in UNSEEN:
        assert char not in shown, unicodedata.name(char, hex(ord(char)))
    assert r"\ufe00\ufe01" in shown
    assert r"\u2800\u180b" in shown
    # None of them is in a pattern that would cover other commands.
    assert not [option for option in question["options"] if "*" in option["name"]]
