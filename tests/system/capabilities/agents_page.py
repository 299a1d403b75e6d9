"""The table of docs/agents.md: agents, capabilities, and how a run's cells become its lines."""

import re
from collections.abc import Mapping
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "agents.md"

#: The columns.
AGENTS = (
    "embedded",
    "zot",
    "pi",
    "Codex",
    "Claude Code",
    "codex-acp",
    "Gemini CLI",
    "Copilot CLI",
    "opencode",
    "qwen-code",
    "Meerkat",
)
#: The rows: a test's name without ``test_`` and what the page calls it.
CAPABILITIES: Mapping[str, str] = {
    "version": "tested with",
    "text": "text as it comes",
    "thinking": "thinking",
    "argument_streaming": "arguments of calls as they come",
    "progress": "output of commands as it comes",
    "hosted_read": "hosted: read",
    "hosted_edit": "hosted: edit",
    "hosted_write": "hosted: write",
    "confined": "changes confined to lines",
    "command_gate": "commands wait for leave",
    "abort_before_the_answer": "stop: before the answer",
    "abort_in_the_answer": "stop: in the answer",
    "abort_at_a_question": "stop: at an open question",
    "abort_in_a_command": "stop: in a command",
    "steer": "steering",
    "compact": "compaction on demand",
    "models": "models: list and change",
    "sessions": "sessions side by side",
    "resume": "resuming",
    "rewind": "back to an earlier prompt",
    "own_sessions": "sessions that it keeps itself",
    "images": "images in prompts",
    "usage": "usage",
    "window": "how full the model's window is",
    "cost": "cost",
}

#: (agent, capability) -> what the page says of it.
Cells = Mapping[tuple[str, str], str]

_REGION = re.compile(r"(<!-- generated: capabilities -->\n).*?(<!-- end -->)", re.DOTALL)


def is_whole(cells: Cells) -> bool:
    return set(cells) == {(agent, name) for agent in AGENTS for name in CAPABILITIES}


def filled(page: str, cells: Cells) -> str:
    """``page`` with the table of a whole run's ``cells`` in its region."""
    rows = [["", *AGENTS], ["---"] * (len(AGENTS) + 1)]
    rows += [
        [title, *(cells[agent, name] for agent in AGENTS)] for name, title in CAPABILITIES.items()
    ]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return _REGION.sub(lambda found: f"{found[1]}{table}\n\n{found[2]}", page)
