"""Agents that refuse, repeat themselves and answer late: who asked gets an answer, and the session
goes on."""

import json
import sys
from pathlib import Path

from support.project import Project, step
from support.raw_client import Json

DOUBLES = Path(__file__).parents[2] / "support" / "doubles"

#: Runs the agent that its arguments are, and itself refuses to compact.
RELUCTANT = """
import json, subprocess, sys
agent = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
for line in sys.stdin.buffer:
    command = json.loads(line)
    if command["type"] == "compact":
        refusal = {"type": "response", "id": command["id"], "success": False, "error": "Not now."}
        print(json.dumps(refusal), flush=True)
    else:
        agent.stdin.write(line)
        agent.stdin.flush()
agent.stdin.close()
agent.wait()
"""

#: Meerkat's double, which asks for each call twice.
STAMMERING = f"""
import sys
sys.path.insert(0, {str(DOUBLES)!r})
import rkat_rpc
send = rkat_rpc.Server.send
def twice(self, frame):
    send(self, frame)
    if frame.get("method") == "tool/execute":
        send(self, frame)
rkat_rpc.Server.send = twice
rkat_rpc.main()
"""


def test_a_compaction_that_the_agent_refuses_is_answered_so(project: Project) -> None:
    agent = project.agent(step("Hello."), step("Still here."))
    command = [sys.executable, "-c", RELUCTANT, *agent["command"]]
    editor = project.editor(agent=agent | {"command": command})
    editor.ask_agent("Hi.")
    assert "Not now." in editor.failure("agent/compact").message
    assert editor.ask_agent("And now?")["text"] == "Still here."


def test_a_call_that_the_agent_asks_for_twice_does_not_end_the_session(
    project: Project, tmp_path: Path
) -> None:
    project.file("a.txt", "words\n")
    read: Json = {"name": "read", "args": {"path": "a.txt"}}
    load: Json = {"name": "tool_catalog_load", "args": {"names": ["read"]}}
    steps = [{"calls": [load]}, {"calls": [read]}, {"text": "Read."}]
    script = tmp_path / "runs.json"
    script.write_text(json.dumps({"runs": [{"steps": steps}]}))
    command = [sys.executable, "-c", STAMMERING, "--script", str(script)]
    editor = project.editor(agent={"wire": "meerkat", "command": command})
    result = editor.ask_agent("Read it.")
    assert (result["stopReason"], result["text"]) == ("endTurn", "Read.")
