"""The line before a command, and what git is told by the environment."""

import os
import subprocess
from pathlib import Path

import pytest

from lsp_agent.agents.first_lines import FirstLines
from lsp_agent.protocol.git_environment import git_environment, unread

GATE = "/run/lsp-agent-bridge-x1/gate 7 || exit"
HELD = 'exec /bin/sh /run/lsp-agent-bridge-x1/held-3 "$0"; exit'
LINES = FirstLines(["A_KEY", "B_KEY"], ("GIT_CONFIG_COUNT", "3"))


@pytest.mark.parametrize("unread", [False, True])
@pytest.mark.parametrize("gate", ["", GATE])
@pytest.mark.parametrize("held", ["", HELD])
def test_a_line_that_a_model_copied_is_left_out_however_often(
    gate: str, unread: bool, held: str
) -> None:
    line = LINES.of(gate, unread=unread, held=held)
    assert line.endswith("\n")
    assert LINES.left_out(line * 3 + "ls\n" + line) == "ls\n" + line


def test_a_command_that_only_begins_alike_is_kept() -> None:
    for command in ("unset A_KEY; ls\n", "export GIT_CONFIG_COUNT=3 && x\n", f"{GATE} 1; x\n"):
        assert LINES.left_out(command) == command


def git_says(key: str, environment: dict[str, str], folder: Path) -> str:
    command = ["git", "-C", str(folder), "config", "--default", "unset", "--get", key]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return ended.stdout.strip()


def test_what_a_person_tells_git_by_the_environment_is_kept(tmp_path: Path) -> None:
    theirs = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "mine"}
    before = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), **theirs}
    told = before | git_environment(before)
    assert git_says("a.b", told, tmp_path) == "mine"
    assert git_says("safe.bareRepository", told, tmp_path) == "explicit"
    assert git_says("core.fsmonitor", told, tmp_path) == ""
    assert git_says("log.showSignature", told, tmp_path) == "false"
    assert git_says("diff.submodule", told, tmp_path) == "short"
    assert git_says("core.hooksPath", told, tmp_path) == "unset"
    name, value = unread(told)
    assert git_says("core.hooksPath", told | {name: value}, tmp_path) == "/dev/null"


def test_a_git_that_only_looks_writes_no_index(tmp_path: Path) -> None:
    before = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    told = before | git_environment(before)
    (tmp_path / "a").write_text("a\n")
    for words in ("init --quiet", "add a"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, env=told, check=True)
    os.utime(tmp_path / "a", (1, 1))
    index = (tmp_path / ".git" / "index").read_bytes()
    for words in ("status --short", "diff"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, env=told, check=True)
    assert (tmp_path / ".git" / "index").read_bytes() == index
