"""``lsp-agent log commands``: what was decided on each command, by whom, and how it ended."""

import json
import math
import stat
from pathlib import Path
from typing import Any

import pytest
from support.project import Editor, Project, bash, step
from support.raw_client import NO_ANSWER, Json, wait_until

from lsp_agent.user_data import command_log
from lsp_agent.user_data.command_log import Decided, append, read_entries
from lsp_agent.user_data.private_log import LOG_BYTES

ASK: Json = {"events": True, "ask": True}
#: Asked about, since it is no reading command.
FAILS = "sh -c 'exit 3'"
#: Lines of the log.
DECIDED: Json = {
    "at": 1.0,
    "session": "s",
    "agent": "a",
    "call": "c",
    "command": "touch a",
    "folder": "/",
    "verdict": "allowed",
    "by": "person",
}
ENDED: Json = {"session": "s", "call": "c", "exit": 0, "failed": False, "seconds": 1.0}


def turn(
    project: Project, *lines: str, answers: list[str], **permissions: str | list[str]
) -> Editor:
    steps = [step("", bash(line)) for line in lines]
    editor = project.editor(*steps, step("Done."), client=ASK, options={"permissions": permissions})
    left = iter(answers)
    editor.handlers["agent/ask"] = lambda _question: {"optionId": next(left)}
    editor.ask_agent("Go.")
    return editor


def listed(project: Project, *arguments: str) -> str:
    done = project.command("log", "commands", *arguments)
    done.check_returncode()
    return done.stdout


def entries(project: Project, count: int, *, ended: int) -> list[Json]:
    """Once there are so many, and so many of them have ended: nothing waits for the log."""

    told: list[Json] = []

    def is_there() -> bool:
        told[:] = json.loads(listed(project, "--json"))["commands"]
        return len(told) == count and sum(bool(each["ended"]) for each in told) == ended

    assert wait_until(is_there), told
    return told


def file_of(project: Project) -> Path:
    return project.home / "state" / "lsp-agent" / "log" / "commands.log"


def test_it_says_who_decided_and_how_each_command_ended(project: Project) -> None:
    lines = ["touch a", "touch b", FAILS, "echo $LONG", "touch a", "touch c", "ls"]
    answers = ["allowCommand", "deny", "allow", "allowProject", "allow"]
    editor = turn(project, *lines, answers=answers)
    told = entries(project, 7, ended=6)
    assert [(each["command"], each["verdict"], each["by"]) for each in told] == [
        ("touch a", "allowed", "person"),
        ("touch b", "denied", "person"),
        (FAILS, "allowed", "person"),
        ("echo $LONG", "allowed", "person"),
        ("touch a", "allowed", "session"),
        ("touch c", "allowed", "person"),
        ("ls", "allowed", "reading"),
    ]
    assert [each["ended"] and each["ended"]["exit"] for each in told] == [0, None, 3, 0, 0, 0, 0]
    assert {each["folder"] for each in told} == {str(project.folder)}
    session = editor.event("turnEnded")["sessionId"]
    assert {(each["agent"], each["session"]) for each in told} == {("scripted", session)}


@pytest.mark.parametrize(
    ("permissions", "by"),
    [
        ({"command": "allow"}, ("allowed", "settings")),
        ({"command": "deny"}, ("denied", "settings")),
        ({"command": "ask", "allow": ["command: touch*"]}, ("allowed", "pattern")),
    ],
)
def test_it_names_the_settings_that_decided(
    project: Project, permissions: Any, by: tuple[str, str]
) -> None:
    turn(project, "touch made", answers=[], **permissions)
    (told,) = entries(project, 1, ended=int(by[0] == "allowed"))
    assert (told["verdict"], told["by"]) == by


def test_what_was_allowed_for_good_decides_in_another_server(project: Project) -> None:
    before = turn(project, "mkdir -p x && ls", answers=["allowProject"])
    entries(project, 1, ended=1)
    before.kill()
    turn(project, "mkdir -p x && ls", answers=[])
    assert [each["by"] for each in entries(project, 2, ended=2)] == ["person", "project"]


def test_a_turn_that_is_stopped_decides_as_well(project: Project) -> None:
    editor = project.editor(step("", bash("touch made")), step("Done."), client=ASK)
    editor.handlers["agent/ask"] = lambda _question: NO_ANSWER
    prompt = editor.prompt("Go.")
    editor.event("questionAsked")
    editor.call("agent/abort")
    editor.result(prompt)
    (told,) = entries(project, 1, ended=0)
    assert (told["verdict"], told["by"]) == ("denied", "stop")


def test_it_is_for_the_person_alone_and_has_no_output_and_no_environment(project: Project) -> None:
    turn(project, "echo is$((40 + 2))said $HOME", answers=["allow"])
    entries(project, 1, ended=1)
    path = file_of(project)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert "is42said" not in path.read_text()
    assert str(project.home) not in path.read_text()


def test_it_lists_the_newest_last_a_line_each(project: Project) -> None:
    assert listed(project) == "No command was decided on.\n"
    turn(project, FAILS, "touch a\ntouch b", answers=["allow", "deny"])
    entries(project, 2, ended=1)
    first, second = listed(project).splitlines()
    assert "  allowed by person, exit 3 after " in first
    assert first.endswith(f"{project.folder}: {FAILS}")
    assert "  denied by person  scripted " in second
    assert second.endswith(r": touch a\ntouch b")
    assert listed(project, "-n", "1").splitlines() == [second]


def test_it_is_bounded_and_a_line_that_is_damaged_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command_log, "log_folder", lambda: tmp_path / "log")
    long = Decided(1.0, "s", "a", None, "x" * (1 << 20), "/", "denied", "person")
    append(long)
    with command_log.command_log().open("ab") as file:
        file.write(b'{"by": "nonsense"}\n{"by\n')
    for _ in range(300):
        append(long)
    sizes = [each.stat().st_size for each in (tmp_path / "log").iterdir()]
    assert len(sizes) == 2
    assert sum(sizes) < 3 * LOG_BYTES
    assert {len(each.decided.command) for each in read_entries()} == {8193}


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"at": "x"}, id="a time in words"),
        pytest.param({"at": 1e300}, id="a time beyond any calendar"),
        pytest.param({"at": math.nan}, id="a time that is no number"),
        pytest.param({"session": 5}, id="a session that is no text"),
        pytest.param({"command": None}, id="no command"),
        pytest.param({"by": []}, id="nobody who decides"),
        pytest.param({"background": 5}, id="neither in the background nor not"),
        pytest.param({"verdict": "perhaps"}, id="a verdict that there is not"),
    ],
)
def test_a_decision_that_is_damaged_is_passed_over(project: Project, damage: Json) -> None:
    assert shown(project, DECIDED | damage, DECIDED | {"command": "touch b"}) == ["touch b"]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param({"seconds": None}, id="no time"),
        pytest.param({"seconds": 10**400}, id="a time beyond any number"),
        pytest.param({"call": []}, id="a call that is no text"),
        pytest.param({"exit": "x"}, id="an exit that is no number"),
        pytest.param({"failed": 1}, id="neither well nor failed"),
    ],
)
def test_an_end_that_is_damaged_leaves_its_command_listed(project: Project, damage: Json) -> None:
    assert shown(project, DECIDED, ENDED | damage) == ["touch a"]
    assert ", " not in listed(project)


@pytest.mark.parametrize(
    "line", [pytest.param("[" * 100_000, id="deep"), "5", "[]", "null", '"by"', "{}"]
)
def test_a_line_that_is_no_object_is_passed_over(project: Project, line: str) -> None:
    assert shown(project, line, DECIDED) == ["touch a"]


def shown(project: Project, *lines: Json | str) -> list[str]:
    """The commands that are listed where these lines are the log; both lists have them."""
    path = file_of(project)
    path.parent.mkdir(parents=True)
    texts = (each if isinstance(each, str) else json.dumps(each) for each in lines)
    path.write_text("".join(f"{text}\n" for text in texts))
    commands = [each["command"] for each in json.loads(listed(project, "--json"))["commands"]]
    assert [line.rpartition(": ")[2] for line in listed(project).splitlines()] == commands
    return commands


def test_where_it_cannot_be_written_commands_run_all_the_same(project: Project) -> None:
    path = file_of(project)
    path.mkdir(parents=True)
    editor = turn(project, "touch made", answers=["allow"])
    assert (project.folder / "made").exists()
    assert "[exit 0]" in editor.tool_texts()[0]
