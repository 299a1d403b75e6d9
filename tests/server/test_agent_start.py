"""The start of an agent: what it may not print, and what it must have loaded."""

import pytest
from project import EVENTS, Project
from raw_client import RpcError

KEY = "sk-1234567890"


def test_an_inherited_key_that_an_agent_prints_is_masked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "no")  # too short for a key: a word, not to be masked
    says = 'echo "no model takes $ANTHROPIC_API_KEY" >&2; exit 3'
    agent = {"wire": "zot", "command": ["/bin/sh", "-c", says]}
    editor = project.editor(agent=agent, client=EVENTS)
    with pytest.raises(RpcError) as caught:
        editor.ask_agent("Go.")
    assert caught.value.message.startswith("The agent ended with exit code 3: no model takes ***")
    assert caught.value.data["stderr"] == "no model takes ***"
    assert editor.event("agentStatus", status="exited")["message"] == "no model takes ***"
