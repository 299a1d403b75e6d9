"""The agent of a server that tests start without imports (support/forked_agents.py) is to others as
one that was executed."""

import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from support.project import LSP_AGENT, Editor, Project, step

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked elsewhere")

#: Each start has its own.
_DIFFERENT = {"LSP_AGENT_COVER", "LSP_AGENT_GUARD", "LSP_AGENT_TEST_MARK", "_"}
_BRIDGE = "lsp-agent-bridge-"
#: Above are the C library's, for its threads.
_SIGNALS = (1 << 31) - 1


def seen(process: psutil.Process, roles: dict[int, str]) -> dict[str, Any]:
    """What the system tells of a process."""
    folder = Path("/proc", str(process.pid))
    status = dict(line.split(":\t", 1) for line in (folder / "status").read_text().splitlines())
    parent, group, session = (folder / "stat").read_text().rpartition(")")[2].split()[1:4]
    words = (folder / "cmdline").read_bytes().decode().rstrip("\0").split("\0")
    descriptors = {int(entry.name): str(entry.readlink()) for entry in (folder / "fd").iterdir()}
    return {
        "command": [word for word in words if not word.isdigit() and _BRIDGE not in word],
        "environment": {k: v for k, v in process.environ().items() if k and k not in _DIFFERENT},
        "name": (folder / "comm").read_text(),
        "folder": process.cwd(),
        "parent, group and session": [roles[int(pid)] for pid in (parent, group, session)],
        "signals": [int(status[kind], 16) & _SIGNALS for kind in ("SigBlk", "SigIgn", "SigCgt")],
        "umask": status["Umask"],
        "standard descriptors": [descriptors[number].partition(":")[0] for number in range(3)],
        "other descriptors": sorted(
            "file" if to.startswith("/") else to.partition(":")[0]
            for number, to in descriptors.items()
            if number > 2
        ),
    }


def told(editor: Editor, *, forked: bool) -> dict[str, dict[str, Any]]:
    """Of the supervisor and the agent."""
    editor.ask_agent("greet")
    server = psutil.Process(editor.process.pid)
    (supervisor,) = server.children()
    (agent,) = supervisor.children()
    assert {each.environ()["LSP_AGENT_TEST_MARK"] for each in (supervisor, agent)} == {editor.mark}
    assert agent.environ()["LSP_AGENT_GUARD"] == str(supervisor.pid)
    for each in (supervisor, agent):  # for another environment there is room in a forked one
        assert Path(f"/proc/{each.pid}/environ").read_bytes().endswith(b"\0\0") == forked
    roles = {server.pid: "server", supervisor.pid: "supervisor", agent.pid: "agent"}
    return {roles[each.pid]: seen(each, roles) for each in (supervisor, agent)}


def test_it_looks_as_one_that_was_executed(project: Project) -> None:
    agent = project.agent(step("Hello."))
    forked = told(project.editor(agent=agent), forked=True)
    project.program = ["env", *LSP_AGENT]
    assert forked == told(project.editor(agent=agent), forked=False)
