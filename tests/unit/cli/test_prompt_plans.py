"""How ``lsp-agent prompt`` shows an agent's plan."""

import json
import subprocess
import sys
from pathlib import Path

from support.project import Project

ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")
PLAN = "plan 0 0 1 2 of Read [Change] Test"


def prompt(project: Project, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = json.dumps([sys.executable, ACP_AGENT])
    (project.config / "config.toml").write_text(
        f'agent = "mine"\n[agents.mine]\nwire = "acp"\ncommand = {command}\n'
    )
    return project.command("prompt", *arguments)


def test_a_plan_is_listed_once_and_then_it_is_told_how_far_it_is(project: Project) -> None:
    done = prompt(project, PLAN)
    assert (done.returncode, done.stdout) == (0, "0 done. \n0 done. \n1 done. \n2 done. \n")
    assert done.stderr.splitlines() == [
        "● Plan",
        "  [>] Read",
        "  [ ] [Change]",
        "  [ ] Test",
        "● Plan 1/3 · [Change]",
        "● Plan 2/3 · Test",
    ]


def test_as_json_each_change_of_the_plan_is_a_line(project: Project) -> None:
    events = map(json.loads, prompt(project, PLAN, "--json").stdout.splitlines())
    plans = [event["entries"] for event in events if event["type"] == "plan"]
    done = [[entry["status"] for entry in plan].count("completed") for plan in plans]
    assert done == [0, 1, 2]
