"""``lsp-agent doctor`` finds what would stop the main job, and says what mends it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.warm import LSP_AGENT, run

pytestmark = pytest.mark.slow

Json = dict[str, Any]

SECRET = "sk-this-is-nobodys-business"


class Person:
    """Folders and a PATH of their own; ``lsp-agent`` is on it."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.folder = base / "shop"
        self.programs = base / "bin"
        for folder in (self.home, self.folder, self.programs):
            folder.mkdir()
        self.settings_file = self.home / ".config" / "lsp-agent" / "config.toml"
        self.settings_file.parent.mkdir(parents=True)
        beside = Path(sys.executable).parent / "lsp-agent"
        (self.programs / "lsp-agent").symlink_to(beside)
        self.variables = {"PATH": f"{self.programs}:/usr/bin:/bin", "HOME": str(self.home)}

    def settings(self, text: str) -> None:
        self.settings_file.write_text(text)

    def scripted(self) -> None:
        script = self.home / "script.json"
        script.write_text('{"steps": []}')
        self.settings(
            "[agents.builtin]\n"
            f'command = ["lsp-agent", "rpc", "--script", "{script}"]\nprovider = "script"\n'
        )

    def program(self, name: str, text: str) -> Path:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def doctor(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        mine = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
        command = [*LSP_AGENT, "doctor", *arguments]
        return run(command, cwd=self.folder, env=mine | self.variables)

    def report(self) -> Json:
        done = self.doctor("--json")
        assert done.stderr == ""
        report = json.loads(done.stdout)
        assert done.returncode == (0 if report["ok"] else 1)
        return report


def found(report: Json, check: str, *statuses: str) -> list[Json]:
    wanted = statuses or ("ok", "note", "warning", "failure")
    return [c for c in report["checks"] if c["check"] == check and c["status"] in wanted]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_where_all_is_well_it_says_so_and_exits_with_0(person: Person) -> None:
    person.scripted()
    done = person.doctor()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All is well." in done.stdout
    assert "builtin starts, and answers" in done.stdout
    assert "✗" not in done.stdout
    assert list(person.folder.iterdir()) == []
    kept = person.home / ".local/share/lsp-agent"
    assert [
        path for name in ("workspaces", "conversations") for path in (kept / name).iterdir()
    ] == []


def test_its_json_has_a_stable_shape(person: Person) -> None:
    person.scripted()
    report = person.report()
    assert set(report) == {"version", "ok", "checks", "agents", "credentials", "settings"}
    assert (report["version"], report["ok"]) == (1, True)
    assert [check["check"] for check in report["checks"]] == [
        *("platform", "path", "settings", "settings", "agent", "hosting", "credentials"),
        *("data", "sockets", "sandbox", "selfTest", "start"),
    ]
    assert all(set(c) == {"check", "status", "message", "remedy"} for c in report["checks"])
    (agent,) = report["agents"]
    assert (agent["name"], agent["chosen"]) == ("builtin", True)
    assert agent["path"] == sys.executable  # its command begins with lsp-agent: this one
    assert {"key": "edits.review", "value": "after", "source": "default"} in report["settings"]
    provider = next(s for s in report["settings"] if s["key"] == "agents.builtin.provider")
    assert (provider["value"], provider["source"]) == ("script", str(person.settings_file))


def test_without_a_model_the_agent_cannot_run(person: Person) -> None:
    report = person.report()
    (agent,) = found(report, "agent", "failure")
    assert "has no model yet" in agent["message"]
    assert str(person.settings_file) in agent["remedy"]
    assert found(report, "start") == []


def test_without_a_model_an_agent_that_is_installed_is_named_instead(person: Person) -> None:
    person.program("qwen", "echo 1.0")
    (agent,) = found(person.report(), "agent", "failure")
    assert agent["remedy"].startswith("or use qwen, which is installed: write into ")


def test_a_program_that_is_not_there_is_named_with_the_key_to_correct(person: Person) -> None:
    person.settings('agent = "mine"\n[agents.mine]\nwire = "zot"\ncommand = ["nowhere", "rpc"]\n')
    (agent,) = found(person.report(), "agent", "failure")
    assert agent["message"] == "mine: its program 'nowhere' is not found"
    assert "agents.mine.command" in agent["remedy"]


def test_an_agent_that_ends_at_its_start_is_reported(person: Person) -> None:
    person.program("broken", '[ "$1" = --version ] && echo "broken 1.2" && exit; exit 3')
    person.settings('agent = "b"\n[agents.b]\nwire = "zot"\ncommand = ["broken", "rpc"]\n')
    report = person.report()
    (agent,) = found(report, "agent")
    assert agent["message"].endswith("broken (broken 1.2)")
    (start,) = found(report, "start", "failure")
    assert start["message"].startswith("b does not start:")


def test_an_agent_that_starts_but_lists_no_models_is_well(person: Person) -> None:
    double = Path(__file__).parents[1] / "support" / "doubles" / "acp_agent.py"
    person.program("mine", f'exec "{sys.executable}" "{double}"')
    person.settings('agent = "m"\n[agents.m]\nwire = "acp"\ncommand = ["mine"]\n')
    (start,) = found(person.report(), "start")
    assert (start["status"], start["message"]) == ("ok", "m starts, and answers")


def test_the_agent_that_a_repository_chooses_is_the_one_that_is_tried(person: Person) -> None:
    person.scripted()
    with person.settings_file.open("a") as file:
        file.write('[agents.other]\nwire = "zot"\ncommand = ["false"]\n')
    (person.folder / ".lsp-agent.toml").write_text('agent = "other"\n')
    (start,) = found(person.report(), "start", "failure")
    assert start["message"].startswith("other does not start:")


def test_credentials_are_told_to_be_there_and_never_shown(person: Person) -> None:
    person.variables["ANTHROPIC_API_KEY"] = SECRET
    person.settings(
        'agent = "mine"\n[agents.mine]\nwire = "zot"\ncommand = ["cat", "--key", "'
        f'{SECRET}"]\nenv = {{ MY_TOKEN = "{SECRET}" }}\n'
    )
    done = person.doctor("--json")
    report = json.loads(done.stdout)
    there = {each["name"] for each in report["credentials"] if each["present"]}
    assert there == {"ANTHROPIC_API_KEY", "MY_TOKEN"}
    (credentials,) = found(report, "credentials", "ok")
    assert "ANTHROPIC_API_KEY" in credentials["message"]
    for text in (done.stdout, done.stderr, person.doctor().stdout):
        assert SECRET not in text


def test_what_a_repository_may_not_set_is_named_with_the_reason(person: Person) -> None:
    (person.folder / ".lsp-agent.toml").write_text('[permissions]\ncommand = "allow"\n')
    report = person.report()
    (problem,) = found(report, "settings", "warning")
    assert ".lsp-agent.toml: permissions.command: ignored: looser" in problem["message"]
    assert not any(".lsp-agent.toml" in well["message"] for well in found(report, "settings", "ok"))


def test_an_editor_that_would_not_find_it_is_told_of(person: Person) -> None:
    (person.programs / "lsp-agent").unlink()
    (path,) = found(person.report(), "path", "warning")
    assert "not on PATH" in path["message"]
    assert str(Path(sys.executable).parent) in path["remedy"]


def test_another_installation_in_front_is_told_of(person: Person) -> None:
    (person.programs / "lsp-agent").unlink()
    other = person.program("lsp-agent", "echo other")
    (path,) = found(person.report(), "path", "warning")
    assert str(other) in path["message"]


def test_a_data_folder_that_cannot_be_written_is_told_of(person: Person) -> None:
    blocked = person.home / "blocked"
    blocked.write_text("a file in the way")
    person.variables["XDG_DATA_HOME"] = str(blocked)
    (data,) = found(person.report(), "data", "warning")
    assert "forgotten" in data["message"]


#: A system's keyring, in a file.
KEYRING = """
import json, pathlib
from keyring.backend import KeyringBackend

class Keyring(KeyringBackend):
    priority = 5
    kept = pathlib.Path(__file__).with_name("kept.json")

    def get_password(self, service, name):
        return json.loads(self.kept.read_text()).get(f"{service} {name}")

    def set_password(self, service, name, password):
        self.kept.write_text(json.dumps({f"{service} {name}": password}))
"""


def test_without_a_key_the_line_for_the_systems_keyring_runs_as_it_is_said(person: Person) -> None:
    (person.home / "drawer.py").write_text(KEYRING)
    person.variables |= {
        "PYTHONPATH": str(person.home),
        "PYTHON_KEYRING_BACKEND": "drawer.Keyring",
    }
    (failure,) = found(person.report(), "agent", "failure")
    line = failure["message"].split("keep the key in the system's keyring (`")[1].split("`")[0]
    subprocess.run(
        ["sh", "-c", line],
        env=os.environ | person.variables,
        input=f"{SECRET}\n",
        text=True,
        check=True,
    )
    assert json.loads((person.home / "kept.json").read_text()) == {"lsp-agent anthropic": SECRET}


def test_a_keyring_that_the_system_does_not_have_is_not_advised(person: Person) -> None:
    person.variables["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    (failure,) = found(person.report(), "agent", "failure")
    assert "set ANTHROPIC_API_KEY" in failure["message"]
    assert "keyring" not in failure["message"]
