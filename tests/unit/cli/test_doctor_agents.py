"""Which agents the doctor finds, and what it says of each."""

import importlib.util
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

import pytest
from support.project import processes_with
from support.raw_client import wait_until

from lsp_agent import __version__
from lsp_agent.cli import doctor_agents, doctor_checks
from lsp_agent.cli.doctor_agents import AgentFound
from lsp_agent.protocol.settings.sources import SettingsFile, load


class Machine:
    """Programs on PATH, and the person's settings."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def program(self, name: str, text: str) -> Path:
        path = self._folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def agents(self, **agents: Any) -> dict[str, AgentFound]:
        loaded = load(user_file=SettingsFile("config.toml", {"agents": agents}))
        assert loaded.problems == ()
        return {agent.name: agent for agent in doctor_agents.agents(loaded)}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(doctor_agents, "_VERSION_SECONDS", 20.0)
    return Machine(tmp_path)


def test_a_known_agent_on_the_path_is_listed_with_what_to_write(machine: Machine) -> None:
    path = machine.program("opencode", "echo 1.2.3")
    found = machine.agents()["opencode"]
    assert (found.configured, found.chosen) == (False, False)
    assert (found.path, found.version) == (str(path), "1.2.3")
    assert (found.wire, found.hosting) == ("acp", "mirror")
    assert found.remedy is not None
    written = tomllib.loads(found.remedy.partition(":\n")[2])
    assert written == {"agent": "opencode"}


def test_one_that_the_settings_have_is_listed_once_under_its_name_there(machine: Machine) -> None:
    machine.program("zot", "echo zot 0.1")
    found = machine.agents(mine={"wire": "zot", "command": ["zot", "rpc"]})
    assert set(found) == {"builtin", "mine"}
    mine = found["mine"]
    assert (mine.configured, mine.version, mine.hosting) == (True, "zot 0.1", "hosted")
    assert mine.remedy is None


def test_one_that_is_not_installed_comes_with_the_command_that_installs_it(
    machine: Machine,
) -> None:
    missing = machine.agents(q={"wire": "acp", "command": ["qwen", "--acp"]})["q"]
    assert (missing.path, missing.version) == (None, None)
    assert missing.remedy is not None
    assert missing.remedy.startswith("npm install -g @qwen-code/qwen-code, or correct agents.q")


@pytest.mark.parametrize(
    ("settings", "hosting"),
    [
        ({"wire": "zot", "command": ["zot"], "hosting": "mirror"}, "mirror"),
        ({"wire": "pi", "command": ["pi"]}, "hosted"),
        ({"wire": "codex", "command": ["codex"]}, "hosted"),
        ({"wire": "acp", "command": ["/opt/qwen"]}, "hosted"),
        ({"wire": "acp", "command": ["another"]}, "atStart"),
    ],
)
def test_it_says_whether_an_agent_can_be_hosted(
    machine: Machine, settings: Any, hosting: str
) -> None:
    assert machine.agents(a=settings)["a"].hosting == hosting


def test_versions_are_asked_at_once(machine: Machine, tmp_path: Path) -> None:
    for name in ("zot", "pi"):  # neither says it before the other was asked as well
        wait = f"until [ -e {tmp_path}/zot.asked ] && [ -e {tmp_path}/pi.asked ]; do sleep 0.05"
        machine.program(name, f"touch {tmp_path}/{name}.asked; {wait}; done; echo {name} 1")
    found = machine.agents()
    assert (found["zot"].version, found["pi"].version) == ("zot 1", "pi 1")


def test_an_agent_that_does_not_say_its_version_is_not_waited_for(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor_agents, "_VERSION_SECONDS", 0.2)
    machine.program("pi", "exec sleep 600")
    machine.program("zot", "exit 3")
    found = machine.agents()
    assert (found["pi"].version, found["zot"].version) == (None, None)


def test_what_a_version_started_is_ended_with_it(machine: Machine, tmp_path: Path) -> None:
    nap = f"sleep 600.{uuid.uuid4().int % 10**12:012d}"
    started = tmp_path / "started"
    machine.program("pi", f"{nap} >/dev/null 2>&1 & echo $! > {started}; echo 1.2")
    assert machine.agents()["pi"].version == "1.2"
    assert started.read_text()
    assert wait_until(lambda: not processes_with(nap), 60)


def test_a_version_cannot_command_the_terminal(machine: Machine) -> None:
    machine.program("pi", r"printf '\033]0;owned\007\033[31m1.2\033[0m\n'")
    assert machine.agents()["pi"].version == "1.2"


def test_one_that_runs_the_embedded_agent_has_our_version(machine: Machine) -> None:
    command = ["lsp-agent", "rpc", "--script", "script.json"]
    assert machine.agents(mine={"wire": "zot", "command": command})["mine"].version == __version__


def test_a_package_that_the_provider_needs_is_named_with_its_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = {"agents": {"builtin": {"provider": "openai"}}}
    loaded = load(user_file=SettingsFile("config.toml", settings))
    assert list(doctor_checks.package(loaded)) == []
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    (missing,) = doctor_checks.package(loaded)
    assert missing.status == "failure"
    assert missing.remedy == f"{sys.executable} -m pip install openai"
