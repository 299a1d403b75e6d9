"""What a person allows beyond one call: a line, a project, always; and how it is taken back."""

import json
import math
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.project import NO_ANSWER, Editor, Project, bash, step
from support.raw_client import Json

ASK: Json = {"events": True, "ask": True}
LINE = "echo made > made.txt"
PATTERN = "mkdir -p made"


def asked(editor: Editor) -> list[str]:
    return [question["detail"] for question in editor.received("agent/ask")]


def turn(project: Project, *lines: str, answers: list[Any], **more: Any) -> Editor:
    """A server of its own, in which the agent runs these lines; what is asked beyond ``answers``
    is declined."""
    steps = [step("", bash(line)) for line in lines]
    editor = project.editor(*steps, step("Done."), client=ASK, **more)
    left = iter(answers)
    editor.handlers["agent/ask"] = lambda _question: {"optionId": next(left, "deny")}
    editor.ask_agent("Go.")
    return editor


def kept_file(project: Project) -> Path:
    return project.home / "data" / "lsp-agent" / "permissions.json"


def permissions(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return project.command("permissions", *arguments)


def test_a_question_about_a_command_offers_from_once_to_always(project: Project) -> None:
    editor = turn(project, LINE, PATTERN, answers=[])
    compound, simple = editor.received("agent/ask")
    assert [(each["kind"], each["name"]) for each in compound["options"]] == [
        ("allowOnce", "Allow"),
        ("deny", "Deny"),
        ("allowCommand", "Allow this command in this session"),
        ("allowSession", "Allow every command in this session"),
        ("allowProject", "Allow this command always in this project"),
        ("allowAlways", "Allow this command always"),
    ]
    names = [each["name"] for each in simple["options"]]
    assert names[2:4] == ["Allow this command in this session", "Allow `mkdir*` in this session"]
    assert names[5:7] == ["Allow `mkdir*` always in this project", "Allow `mkdir*` always"]


def test_a_pattern_that_is_the_very_command_is_not_offered_beside_it(project: Project) -> None:
    # A name as long as the command would be cut by many menus.
    editor = turn(project, "make one two", answers=[])
    (question,) = editor.received("agent/ask")
    assert not any("make" in each["name"] for each in question["options"])


def test_a_line_that_is_allowed_for_the_session_allows_no_other(project: Project) -> None:
    editor = turn(project, LINE, LINE, f"{LINE} -a", answers=["allowCommand"])
    assert asked(editor) == [LINE, f"{LINE} -a"]
    assert not kept_file(project).exists()


@pytest.mark.parametrize("option", ["allowProject", "allowAlways"])
@pytest.mark.parametrize(("line", "later"), [(LINE, LINE), (PATTERN, "mkdir -p other")])
def test_what_is_allowed_for_good_is_not_asked_about_by_another_server(
    project: Project, option: str, line: str, later: str
) -> None:
    turn(project, line, answers=[option]).kill()
    assert asked(turn(project, later, answers=[])) == []


def test_what_is_allowed_in_a_project_is_asked_about_in_another(
    project: Project, tmp_path: Path
) -> None:
    turn(project, LINE, answers=["allowProject"]).kill()
    other = tmp_path / "other"
    other.mkdir()
    assert asked(turn(project, LINE, answers=[], folders=[other])) == [LINE]


def test_a_project_is_known_by_its_real_path(project: Project, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project.folder)
    turn(project, LINE, answers=["allowProject"], folders=[link]).kill()
    assert asked(turn(project, LINE, answers=[])) == []


def test_what_is_kept_is_for_the_person_alone_and_not_in_the_repository(project: Project) -> None:
    turn(project, LINE, answers=["allowProject"])
    path = kept_file(project)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(each.name for each in project.folder.iterdir()) == ["made.txt"]
    (grant,) = json.loads(path.read_text())["grants"]
    assert (grant["command"], grant["folder"]) == (LINE, str(project.folder.resolve()))


@pytest.mark.parametrize("whose", ["the person", "the repository"])
def test_a_settings_deny_wins_over_what_was_allowed_for_good(project: Project, whose: str) -> None:
    turn(project, LINE, answers=["allowAlways"]).kill()
    options: Json = {}
    if whose == "the person":
        options = {"permissions": {"command": "deny"}}
    else:
        project.file(".lsp-agent.toml", '[permissions]\ncommand = "deny"\n')
    editor = turn(project, LINE, answers=[], options=options)
    assert asked(editor) == []
    assert editor.tool_texts() == ['Not run: permissions.command is "deny" in the settings.']


def test_a_damaged_file_allows_nothing_and_is_named(project: Project) -> None:
    turn(project, LINE, answers=["allowAlways"]).kill()
    kept_file(project).write_text("{")
    editor = turn(project, LINE, LINE, answers=["allow", "allowAlways"])
    assert asked(editor) == [LINE, LINE]
    told = [each["message"] for each in editor.events("notice")]
    assert sum("permissions.json" in text and "damaged" in text for text in told) == 2
    (not_kept,) = [
        each for each in editor.events("notice") if each["message"].startswith("Not kept")
    ]
    assert not_kept["level"] == "warning"
    assert f"allowed for this session only: command: {LINE}" in not_kept["message"]
    assert kept_file(project).read_text() == "{"


@pytest.mark.parametrize(
    "since",
    [
        pytest.param(1e300, id="beyond any calendar"),
        pytest.param(10**400, id="beyond any number"),
        pytest.param(math.nan, id="no number"),
        pytest.param(True, id="yes"),
    ],
)
def test_a_time_that_is_none_is_damage_that_is_named(project: Project, since: float) -> None:
    grant = {"kind": "command", "command": LINE, "folder": None, "since": since}
    path = kept_file(project)
    path.parent.mkdir(mode=0o700, parents=True)
    path.write_text(json.dumps({"format": 1, "grants": [grant]}))
    path.chmod(0o600)
    for arguments in (["list"], ["list", "--json"]):
        told = permissions(project, *arguments)
        assert (told.returncode, told.stdout) == (1, "")
        assert f"{path} (it is damaged): mend or delete it" in told.stderr


def test_a_file_that_others_may_write_allows_nothing(project: Project) -> None:
    turn(project, LINE, answers=["allowAlways"]).kill()
    kept_file(project).chmod(0o666)
    assert asked(turn(project, LINE, answers=[])) == [LINE]


# Taking it back


def test_a_running_server_asks_again_once_it_was_taken_back(project: Project) -> None:
    steps = [step("", bash(LINE)), step("Done."), step("", bash(LINE)), step("Done.")]
    editor = project.editor(*steps, client=ASK)
    editor.answers = ["allowAlways", "deny"]
    editor.ask_agent("Go.")
    (kept,) = editor.call("agent/permissions")["permissions"]
    assert (kept["kind"], kept["command"], kept.get("folder")) == ("command", LINE, None)
    left = editor.call("agent/permissions", {"remove": [kept["permissionId"]]})
    assert left == {"permissions": []}
    editor.ask_agent("Again.")
    assert asked(editor) == [LINE, LINE]


def test_a_misspelt_key_takes_nothing_back(project: Project) -> None:
    editor = project.editor()
    assert editor.failure("agent/permissions", {"removed": ["p-1"]}).code == -32602


def test_the_command_line_lists_and_removes_them(project: Project) -> None:
    assert permissions(project, "list").stdout == "No command is allowed for good.\n"
    turn(project, PATTERN, LINE, answers=["allowAlways", "allowProject"])
    first, second = permissions(project, "list").stdout.splitlines()
    assert first.endswith("everywhere: mkdir*")
    assert second.endswith(f"in {project.folder.resolve()}: {LINE}")
    (one, _) = json.loads(permissions(project, "list", "--json").stdout)["permissions"]
    assert first.startswith(one["permissionId"])
    removed = permissions(project, "remove", one["permissionId"])
    assert removed.stdout == "asked about again, everywhere: mkdir*\n"
    assert permissions(project, "list").stdout.splitlines() == [second]
    again = permissions(project, "remove", one["permissionId"])
    assert (again.returncode, again.stdout) == (2, "")
    assert "lsp-agent permissions list" in again.stderr


# A refusal's reason


@pytest.mark.parametrize("how", ["agent/ask", "command"])
def test_a_refusals_reason_reaches_the_model(project: Project, how: str) -> None:
    editor = project.editor(step("", bash(LINE)), step("Done."), client=ASK)
    answer: Json = {"optionId": "deny", "reason": "use make dirs"}
    editor.handlers["agent/ask"] = lambda _question: answer if how == "agent/ask" else NO_ANSWER
    prompt = editor.prompt("Go.")
    if how == "command":
        editor.event("questionAsked")
        assert editor.command("answer", answer) == {"answered": True}
    editor.result(prompt)
    (text,) = editor.tool_texts()
    assert "Not run: the user declined this command and says: use make dirs\n" in text
