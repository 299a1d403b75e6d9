"""``lsp-agent doctor``: what would stop the main job here, and what mends it.

The folder that it is started in counts as the workspace. Exit code 1 if the chosen agent cannot
run. Nothing is changed; the files of its own trials are removed.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from lsp_agent.cli import doctor_checks as checks
from lsp_agent.cli.doctor_agents import HOSTING_WORDS, agents
from lsp_agent.cli.doctor_checks import Finding, Status
from lsp_agent.cli.doctor_trial import chosen_agent_starts, scripted_turn
from lsp_agent.protocol.settings.files import load_for_folder
from lsp_agent.protocol.settings.sources import DEFAULTS
from lsp_agent.text.plain import escaped_lines

_MARKS: Mapping[Status, str] = {
    "ok": "[green]✓[/]",
    "note": "[blue]·[/]",
    "warning": "[yellow]![/]",
    "failure": "[red]✗[/]",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    console = Console(highlight=False, soft_wrap=True)
    report = _examine(Path.cwd(), None if args.json else console)
    if args.json:
        print(json.dumps(report, indent=2))
    else:
        _show_rest(console, report)
    return 0 if report["ok"] else 1


def _examine(folder: Path, console: Console | None) -> dict[str, Any]:
    """The report in the form of ``--json``; each finding is shown as soon as it is made."""
    findings: list[Finding] = []

    def add(new: Iterable[Finding]) -> None:
        for finding in new:
            findings.append(finding)
            if console is not None:
                _show(console, finding)

    loaded = load_for_folder(folder)
    add(checks.platform())
    add(checks.on_path())
    add(checks.settings(loaded, folder))
    found = agents(loaded)
    add(checks.chosen_agent(loaded, found))
    variables = checks.key_variables(loaded)
    add(checks.credentials(loaded, variables))
    add(checks.package(loaded))
    add(checks.folders())
    add(checks.sandbox(loaded))
    add([scripted_turn()])
    if not any(finding.status == "failure" for finding in findings):
        add([chosen_agent_starts(loaded.settings.agent)])
    return {
        "version": 1,
        "ok": not any(finding.status == "failure" for finding in findings),
        "checks": [asdict(finding) for finding in findings],
        "agents": [asdict(agent) for agent in found],
        "credentials": [{"name": name, "present": there} for name, there in variables.items()],
        "settings": [
            {"key": key, "value": value, "source": source}
            for key, value, source in checks.set_values(loaded)
        ],
    }


def _show(console: Console, finding: Finding) -> None:
    mark, check = _MARKS[finding.status], f"{finding.check:<11}"
    console.print(f"{mark} [dim]{check}[/] {_harmless(finding.message)}")
    if finding.remedy is not None:
        console.print(_arrow(finding.remedy, 14))


def _harmless(text: str) -> str:
    """As markup. What it names, a folder or a setting, does not steer the terminal."""
    return escape(escaped_lines(text))


def _arrow(remedy: str, column: int) -> str:
    lines = _harmless(remedy).replace("\n", f"\n{'':<{column + 2}}")
    return f"{'':<{column}}[dim]→[/] {lines}"


def _show_agent(console: Console, agent: dict[str, Any]) -> None:
    usable = agent["configured"] and agent["path"]
    mark = "[green]✓[/]" if usable else "[blue]·[/]"
    where = agent["path"] or f"its program {agent['program']!r} is not found"
    version = f" ({agent['version']})" if agent["version"] else ""
    console.print(f"{mark} {_harmless(agent['name'])}: {_harmless(where + version)}")
    if agent["path"]:
        words = f"speaks {agent['wire']}, {HOSTING_WORDS[agent['hosting']]}"
        console.print(f"{'':<4}[dim]{words}[/]")
    if agent["remedy"]:
        console.print(_arrow(agent["remedy"], 4))


def _show_rest(console: Console, report: dict[str, Any]) -> None:
    others = [agent for agent in report["agents"] if not agent["chosen"]]
    if others:
        console.print("\n[bold]Other agents[/]")
    for agent in others:
        _show_agent(console, agent)
    own = [each for each in report["settings"] if each["source"] != DEFAULTS]
    if own:
        console.print("\n[bold]Settings that are not the defaults[/]")
    for each in own:
        value = json.dumps(each["value"], ensure_ascii=False)
        setting = _harmless(f"{each['key']} = {value}")
        console.print(f"  {setting} [dim]{_harmless(each['source'])}[/]")
    failures = sum(check["status"] == "failure" for check in report["checks"])
    warnings = sum(check["status"] == "warning" for check in report["checks"])
    if failures:
        console.print("\n[bold red]The chosen agent cannot run:[/] see ✗ above.")
    elif warnings:
        console.print("\n[bold yellow]It runs, but see ! above.[/]")
    else:
        console.print("\n[bold green]All is well.[/]")
