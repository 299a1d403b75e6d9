"""``permissions.command = "sandbox"``: a command of a real agent, held by each way of holding."""

import os
import shutil
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ground import Ground, Json
from support.holders import WAYS, hold_by
from support.project import Editor, bash, call, step

import lsp_agent

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="needs Linux"), pytest.mark.slow]

#: How a program says that it may not write.
REFUSED = {
    "bubblewrap": ("it may not write there", "Read-only file system"),
    "landlock": ("it may not do that", "Permission denied"),
}
SANDBOX: Mapping[str, Any] = {"permissions": {"command": "sandbox"}}
OURS = Path(lsp_agent.__file__).parent


AGAIN = "Without the sandbox? "


@pytest.fixture(params=WAYS, autouse=True)
def way(request: pytest.FixtureRequest, ground: Ground) -> str:
    """What holds the commands."""
    hold_by(request.param, ground)
    return request.param


def questions(editor: Editor) -> list[Json]:
    asked = [message for message in editor.messages if message.get("method") == "agent/ask"]
    return [message["params"] for message in asked]


def ran(
    ground: Ground, *commands: str | Json, mode: str = "hosted", **permissions: Any
) -> list[str]:
    """What each printed. The person was asked at most about one that had failed in the sandbox, and
    said no; all outside is as it was."""
    options = {"permissions": {**SANDBOX["permissions"], **permissions}}
    steps = [step("", bash(one) if isinstance(one, str) else one) for one in commands]
    editor = ground.attacked(mode, *steps, step("Done."), options=options)
    editor.result(editor.prompt("Go."), timeout=60)
    assert all(question["title"].startswith(AGAIN) for question in questions(editor))
    ground.check(editor)
    return [event["content"][0]["text"] for event in editor.events("toolResult")]


def test_a_held_command_works_in_the_workspace_without_a_question(ground: Ground) -> None:
    ground.file("sub/a.txt", "one\n")
    (shown,) = ran(ground, "cd sub; sed -i s/one/two/ a.txt && cat a.txt && cp -p a.txt b.txt")
    assert shown.startswith("$ cd sub; sed -i s/one/two/ a.txt")
    assert "two\n" in shown
    assert (ground.folder / "sub" / "a.txt").read_text() == "two\n"
    assert (ground.folder / "sub" / "b.txt").read_text() == "two\n"


def test_a_new_file_at_the_top_of_the_workspace_is_made_or_asked_about(
    ground: Ground, way: str
) -> None:
    ran(ground, "echo new > b.txt")
    assert (ground.folder / "b.txt").exists() == (way == "bubblewrap")


def test_its_failure_is_its_own(ground: Ground) -> None:
    (shown,) = ran(ground, "echo before; exit 7; echo after")
    assert "before\n" in shown
    assert "after\n" not in shown.partition("\n")[2]
    assert "7" in shown.partition("\n")[2]


@pytest.mark.parametrize("there", [True, False], ids=["there", "not there yet"])
def test_what_other_programs_obey_is_not_written(ground: Ground, there: bool) -> None:
    names = (".git/hooks/pre-commit", ".git/config", ".vscode/tasks.json", ".claude/x.json")
    files = [ground.folder / name for name in names]
    for file in files if there else ():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("as it was\n")
    commands = [
        command
        for name in names
        for top, parent in [(name.partition("/")[0], name.rpartition("/")[0])]
        for command in (
            f"mkdir -p {parent}; echo pwned > {name}",
            f"mv {top} away; mkdir -p {parent}; echo pwned > {name}",
            f"rm -rf {top}; ln -s /tmp {top}",
        )
    ]
    before = sorted(ground.folder.rglob("*"))
    assert len(ran(ground, *commands)) == len(commands)
    assert sorted(ground.folder.rglob("*")) == before
    assert {file.read_text() for file in files if file.exists()} <= {"as it was\n"}


def test_nothing_outside_of_the_workspace_is_written(ground: Ground, way: str) -> None:
    ours = OURS / "pwned.py"
    shown = ran(ground, f"echo x > {ours}", f"echo x >> {ground.decoy}/secret.txt")
    assert not ours.exists()
    assert REFUSED[way][1] in shown[0]


def test_what_would_put_in_what_the_server_imports_is_asked_about(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next start would run that, with nothing around it."""
    installed = ground.folder / "server"
    shutil.copytree(OURS, installed / "lsp_agent", ignore=shutil.ignore_patterns("*.pyc"))
    monkeypatch.setenv("PYTHONPATH", str(installed))
    planted = installed / "sitecustomize.py"
    command = bash(f'echo \'open("pwned", "w")\' > {planted}')
    editor = ground.attacked("hosted", step("", command), step("Done."), options=SANDBOX)
    editor.result(editor.prompt("Go."), timeout=60)
    (asked,) = questions(editor)
    assert not asked["title"].startswith(AGAIN)
    ground.check(editor)
    assert not planted.exists()


def test_no_secret_is_seen(ground: Ground) -> None:
    named = ground.folder / "keys" / "one.txt"
    named.parent.mkdir()
    named.write_text(f"{ground.secret}\n")
    ran(ground, "cat ~/.ssh/* ~/.config/lsp-agent/*", "cat keys/*", hidden=[str(named.parent)])


def test_a_command_that_is_ended_leaves_nothing(ground: Ground) -> None:
    before = sorted(ground.folder.iterdir())
    (shown,) = ran(ground, call("bash", command="echo begun; sleep 600", timeout=1))
    assert "begun\n" in shown
    assert "it took longer than 1 s" in shown
    assert sorted(ground.folder.iterdir()) == before


def test_there_is_no_network_unless_the_person_lets_it(ground: Ground) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service:
        port = service.getsockname()[1]
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
        reach = f'{sys.executable} -ISc "{connect}" && echo reached'
        (shown,) = ran(ground, reach)
        assert "reached" not in shown.splitlines()
        (shown,) = ran(ground, reach, network="allow")
        assert "reached" in shown.splitlines()


def test_what_a_held_command_changes_is_recorded_and_taken_back(ground: Ground) -> None:
    files = [ground.file(name, "one\n") for name in ("open.txt", "closed.txt")]
    both = bash("echo two > open.txt; echo two > closed.txt")
    editor = ground.attacked("hosted", step("", both), step("Done."), options=SANDBOX)
    shown = editor.open(files[0])
    editor.result(editor.prompt("Go."), timeout=60)
    assert [file.read_text() for file in files] == ["two\n", "two\n"]
    edits = editor.call("agent/edits", {})["edits"]
    assert {edit["uri"] for edit in edits} == {file.as_uri() for file in files}
    editor.call("agent/revert", {})
    assert (shown.text.content, files[1].read_text()) == ("one\n", "one\n")


def asked_again(ground: Ground, command: str, answer: str) -> tuple[Json, str]:
    """The one question, and what the agent reads."""
    editor = ground.attacked("hosted", step("", bash(command)), step("Done."), options=SANDBOX)
    editor.handlers["agent/ask"] = lambda _question: {"optionId": answer}
    editor.result(editor.prompt("Go."), timeout=60)
    (question,) = questions(editor)
    (result,) = editor.events("toolResult")
    return question, result["content"][0]["text"]


def test_one_that_the_sandbox_lets_fail_may_run_again_without_it(ground: Ground, way: str) -> None:
    (ground.folder / ".git").mkdir()
    command = "echo begun; echo mine > .git/mark"
    question, shown = asked_again(ground, command, "allow")
    assert question["title"] == f"{AGAIN}bash: {command}"
    reason, words = REFUSED[way]
    assert f"failed: {reason}: " in question["detail"]
    assert f".git/mark: {words}" in question["detail"]
    assert (ground.folder / ".git" / "mark").read_text() == "mine\n"
    assert shown.count("begun\n") == 2
    assert "[exit 0]" in shown


def test_the_agent_reads_why_where_it_may_not(ground: Ground, way: str) -> None:
    (ground.folder / ".git").mkdir()
    _, shown = asked_again(ground, "echo mine > .git/mark", "deny")
    assert not (ground.folder / ".git" / "mark").exists()
    assert (
        f"[Held in a sandbox: {REFUSED[way][0]}. Outside of it: Not run: the user declined" in shown
    )
    assert "[exit 0]" not in shown


def test_what_it_wanted_is_told_whichever_stream_it_says_it_in(ground: Ground, way: str) -> None:
    python = os.path.realpath(sys.executable)
    with socket.create_server(("127.0.0.1", 0)) as service:
        connect = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))"
        wanted = {
            f"echo x 2>&1 >{OURS}/pwned.py": REFUSED[way][0],
            f'{python} -ISc "{connect}" {service.getsockname()[1]} 2>&1': "it has no network",
            "cd ~; cat .ssh/id_ed25519 2>&1": "it does not see that place",
        }
        steps = [step("", bash(command)) for command in wanted]
        editor = ground.attacked("hosted", *steps, step("Done."), options=SANDBOX)
        editor.result(editor.prompt("Go."), timeout=60)
    shown = [event["content"][0]["text"] for event in editor.events("toolResult")]
    for question, text, reason in zip(questions(editor), shown, wanted.values(), strict=True):
        assert f"failed: {reason}: " in question["detail"]
        assert f"[Held in a sandbox: {reason}. Outside of it: Not run: the user declined" in text
    ground.check(editor)


def test_one_that_fails_by_itself_is_not_asked_about(ground: Ground) -> None:
    editor = ground.attacked("hosted", step("", bash("exit 3")), step("Done."), options=SANDBOX)
    editor.result(editor.prompt("Go."), timeout=60)
    assert questions(editor) == []


def test_of_one_behind_a_pipe_the_agent_is_told_and_nobody_asked(ground: Ground, way: str) -> None:
    (ground.folder / ".git").mkdir()
    write = f"{os.path.realpath(sys.executable)} -ISc \"open('.git/mark', 'w')\" 2>&1"
    held, alone = ran(ground, f"{write} | tail -1", "echo fine | tail -1")
    assert f"[This ran in a sandbox: {REFUSED[way][0]}. Its exit code is" in held
    assert "[exit 0]" in held
    assert "sandbox" not in alone


def test_the_time_of_a_command_stands_still_while_a_person_decides(ground: Ground) -> None:
    (ground.folder / ".git").mkdir()
    slow = call("bash", command="echo mine > .git/mark", timeout=2)
    editor = ground.attacked("hosted", step("", slow), step("Done."), options=SANDBOX)
    editor.handlers["agent/ask"] = lambda _question: time.sleep(4) or {"optionId": "allow"}
    editor.result(editor.prompt("Go."), timeout=60)
    (result,) = editor.events("toolResult")
    shown = result["content"][0]["text"]
    assert (ground.folder / ".git" / "mark").exists(), shown
    assert float(shown.rpartition("Took ")[2].rstrip("s")) < 3


def test_a_host_that_was_not_named_is_named_to_the_person_and_to_the_agent(
    ground: Ground,
) -> None:
    code = "import sys, urllib.request as u; u.urlopen(sys.argv[1])"
    command = f"{os.path.realpath(sys.executable)} -ISc '{code}' https://evil.example/"
    options = {"permissions": {"command": "sandbox", "network": ["python.org"]}}
    editor = ground.attacked("hosted", step("", bash(command)), step("Done."), options=options)
    editor.handlers["agent/ask"] = lambda _question: {"optionId": "deny"}
    editor.result(editor.prompt("Go."), timeout=60)
    (question,) = questions(editor)
    assert "failed: it wanted to reach evil.example: " in question["detail"]
    (result,) = editor.events("toolResult")
    assert "[Held in a sandbox: it wanted to reach evil.example. " in result["content"][0]["text"]


def test_a_repository_names_no_host(ground: Ground) -> None:
    ground.file(".lsp-agent.toml", '[permissions]\nnetwork = ["evil.example"]\n')
    (shown,) = ran(ground, 'echo "way: $http_proxy."')
    assert "way: .\n" in shown


LATER = "while ! [ -e sub/go ]; do sleep 0.05; done; echo mine > .git/mark"


def in_the_background(command: str) -> Json:
    return {"name": "bash", "args": {"command": command, "background": True}}


def test_one_in_the_background_that_is_held_between_turns_says_why_and_asks_nobody(
    ground: Ground, way: str
) -> None:
    for folder in ("sub", ".git"):
        (ground.folder / folder).mkdir()
    output = {"name": "bash_output", "args": {"id": "b1"}}
    steps = [step("", in_the_background(LATER)), step("Done."), step("", output), step("Done.")]
    editor = ground.attacked("hosted", *steps, options=SANDBOX)
    editor.result(editor.prompt("Go."), timeout=60)
    ground.file("sub/go", "")
    editor.event("backgroundCommand", state="ended")
    editor.result(editor.prompt("Go on."), timeout=60)
    assert questions(editor) == []
    *_, last = editor.events("toolResult")
    text, reason = last["content"][0]["text"], REFUSED[way][0]
    assert f"[Held in a sandbox: {reason}. Outside of it: Not run: it has failed betw" in text
    told = " ".join(event["message"] for event in editor.events("notice"))
    assert f"A command in the background was held in its sandbox and failed: {reason}: " in told
    assert not (ground.folder / ".git" / "mark").exists()


def test_one_in_the_background_that_is_held_in_a_turn_may_run_again(ground: Ground) -> None:
    for folder in ("sub", ".git"):
        (ground.folder / folder).mkdir()
    go = bash("echo go > sub/go; while ! [ -e .git/mark ]; do sleep 0.05; done")
    steps = [step("", in_the_background(LATER)), step("", go), step("Done.")]
    editor = ground.attacked("hosted", *steps, options=SANDBOX)
    editor.handlers["agent/ask"] = lambda _question: {"optionId": "allow"}
    editor.result(editor.prompt("Go."), timeout=60)
    (question,) = questions(editor)
    assert question["title"] == f"{AGAIN}In the background: bash: {LATER}"
    assert (ground.folder / ".git" / "mark").read_text() == "mine\n"


def test_the_credentials_of_the_persons_own_proxy_are_neither_seen_nor_told(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://me:{ground.secret}@127.0.0.1:9")
    code = "import sys, urllib.request as u; u.urlopen(sys.argv[1])"
    command = f"{os.path.realpath(sys.executable)} -ISc '{code}' https://python.org/"
    look = "env | grep -i proxy; cat /proc/*/environ | tr '\\0' '\\n' | grep -ia _proxy"
    shown = ran(ground, look, f"{look}; {command}", network=["python.org"])
    assert "https_proxy=http://held:" in shown[0]
    assert "502 Bad Gateway" in shown[1]
    (shown,) = ran(ground, f"{look}; echo done")
    assert "proxy=" not in shown.partition("\n")[2]
