"""A bridge's pipe whose agent has ended before it began."""

import subprocess
import sys

import pytest

from lsp_agent.agents.guard import path_of, pipe

#: Takes in what its children leave, as the server does and a person's session (Linux).
TAKES_IN = """
import os, subprocess, sys
from lsp_agent.processes.system import this_system
this_system().adopt_orphans()
agent = 'sleep 0.3; exec "$@"'
subprocess.run(["sh", "-c", f"({agent}) &", "sh", *sys.argv[1:]], start_new_session=True)
os.wait()
print("lives")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody takes them in but the system")
def test_it_kills_nobody_who_took_it_in() -> None:
    command = [sys.executable, "-I", "-S", path_of(pipe), "/nowhere/socket", "5"]
    parent = subprocess.run(
        [sys.executable, "-c", TAKES_IN, *command],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (parent.stdout, parent.returncode) == ("lives\n", 0)
