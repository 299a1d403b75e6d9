"""``lsp-agent agents``: the agents that can be used here, and what brings the others.

Nothing is started but each one's ``--version``; nothing is changed.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from lsp_agent.cli.doctor_agents import HOSTING_WORDS, how_to_choose, with_version
from lsp_agent.protocol.settings.files import load_for_folder, user_settings_path
from lsp_agent.sessions.agents_here import (
    AgentHere,
    ModelServerHere,
    agents_here,
    model_servers_here,
)
from lsp_agent.text.plain import escaped_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    here = agents_here(load_for_folder(Path.cwd()).settings)
    servers = model_servers_here()
    if args.json:
        agents = [_as_json(each) for each in here]
        print(json.dumps({"agents": agents, "servers": [_server(each) for each in servers]}))
        return 0
    console = Console(highlight=False, soft_wrap=True)
    for each in here:
        _show(console, each)
    for each in servers:
        _show_server(console, each)
    return 0


def _as_json(each: AgentHere) -> dict[str, Any]:
    return {
        "name": each.name,
        "title": each.title,
        "chosen": each.chosen,
        "hosting": each.hosting,
        "path": each.path,
        "install": None if each.path else each.install,
        "signIn": each.sign_in,
        "setting": each.setting,
    }


def _server(each: ModelServerHere) -> dict[str, Any]:
    return {
        "title": each.server.title,
        "address": each.server.base_url,
        "models": each.models,
        "setting": each.settings_for(each.models[0]),
    }


def _show(console: Console, each: AgentHere) -> None:
    mark = "[green]✓[/]" if each.path else "[blue]·[/]"
    chosen = " [bold](chosen)[/]" if each.chosen else ""
    version = with_version(each).version if each.path else None
    where = f"{each.path}{f' ({version})' if version else ''}" if each.path else _missing(each)
    name = _plain(f"{each.name} ({each.title})" if each.title != each.name else each.name)
    console.print(f"{mark} {name}{chosen}: {_plain(where)}")
    console.print(f"    [dim]{HOSTING_WORDS[each.hosting]}[/]")
    lines = [] if each.path or not each.install else [each.install]
    if each.sign_in and not each.chosen:
        lines.append(f"sign in: {each.sign_in}")
    if not each.chosen:
        lines.append(how_to_choose(each.name).replace("\n  ", " "))
    for line in lines:
        console.print(f"    [dim]→[/] {_plain(line)}")


def _missing(each: AgentHere) -> str:
    if each.own_path is None:
        return "not here"
    return f"{each.own_path} is here, its adapter {each.agent.command[0]} is not"


def _show_server(console: Console, each: ModelServerHere) -> None:
    shown = ", ".join(each.models[:8]) + (", …" if len(each.models) > 8 else "")
    console.print(f"[green]✓[/] {each.server.title} at {each.server.base_url}: {_plain(shown)}")
    console.print(f"    [dim]→[/] write into {_plain(str(user_settings_path()))}:")
    for line in each.settings_for(each.models[0]).splitlines():
        console.print(f"      {_plain(line)}")


def _plain(text: str) -> str:
    """As markup. What a name or a path has in it does not steer the terminal."""
    return escape(escaped_lines(text))
