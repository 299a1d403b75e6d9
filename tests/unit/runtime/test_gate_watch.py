"""The pipe by which a gate tells a shell of ours whether its command may run."""

import os
import subprocess
import sys

import pytest

from lsp_agent.protocol.environment import GATE_VARIABLE
from lsp_agent.runtime.tools.gate_watch import GateWatch

#: Says that it has opened the pipe once, and does so until there is none.
OPENS = """
import os, sys
says = True
while True:
    try:
        os.close(os.open(sys.argv[1], os.O_WRONLY))
    except FileNotFoundError:
        break
    if says:
        print(flush=True)
        says = False
"""


@pytest.mark.asyncio
async def test_who_opens_the_pipe_as_it_is_closed_does_not_wait_for_ever():
    for _ in range(10):
        watch = GateWatch(gated=True)
        path = watch.environment[GATE_VARIABLE]
        with subprocess.Popen(  # noqa: ASYNC220 - nothing else runs in this loop
            [sys.executable, "-I", "-S", "-c", OPENS, path], stdout=subprocess.PIPE
        ) as command:
            try:
                assert command.stdout
                command.stdout.readline()
                pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                os.write(pipe, b"allow\n")
                os.close(pipe)
                await watch.decided.wait()
                command.wait(20)
            finally:
                command.kill()
