"""An agent that reads nothing while it says much."""

import sys
from pathlib import Path

from support.project import Project

ACP_AGENT = str(Path(__file__).parents[2] / "support" / "doubles" / "acp_agent.py")
#: The questions and their answers are each more than both sides hold back.
QUESTIONS = 20_000


def test_it_is_read_from_though_our_answers_wait_for_it(project: Project) -> None:
    agent = {"wire": "acp", "command": [sys.executable, ACP_AGENT]}
    editor = project.editor(agent=agent)
    result = editor.ask_agent(f"deaf {QUESTIONS}")
    assert (result["stopReason"], result["text"]) == ("endTurn", "It was all answered.")
