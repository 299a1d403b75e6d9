"""A command that is run in the place of an agent that has no shell of its own.

It runs below a supervisor like an agent: whatever it starts ends with it, with the server, and
when it is stopped.
"""

import codecs
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import anyio

from lsp_agent.agents.process import AgentProcess
from lsp_agent.toolset.command_output import OutputEnds
from lsp_agent.toolset.commands import bash_result

#: Both streams into one, and nothing to read.
_PIPES = 'exec "$@" </dev/null 2>&1'


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """``text`` is the tool's result; ``code`` is -1 for a command that was ended."""

    text: str
    code: int


async def run_command(
    command: str,
    *,
    cwd: str,
    env: Mapping[str, str],
    hidden: Sequence[str],
    held: Sequence[str] = (),
    on_output: Callable[[str], None],
    seconds: float | None,
    overdue: str,
) -> CommandEnd:
    """Runs ``command`` in ``/bin/sh``, for at most ``seconds``; ``overdue`` is the line that its
    result then ends with.

    ``env`` is added to this process's environment, of which the command does not see the variables
    that are ``hidden``. ``held`` are the words of its sandbox. ``on_output`` gets the beginning of
    what is printed, as it comes.

    :raises RequestFailed: "agentNotFound", "agentExited" where it cannot be started
    """
    started = time.monotonic()
    without = [word for name in hidden for word in ("-u", name)]
    shell = ("/bin/sh", "-c", _PIPES, "sh", "env", *without, "/bin/sh", "-c", command)
    process = await AgentProcess.start(shell, cwd=cwd, env=env, line_bytes=0, held=held)
    output = OutputEnds()
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    try:
        with anyio.move_on_after(seconds) as patience:
            async for chunk in process.output():
                if text := decode(output.add(chunk)):
                    on_output(text)
            await process.wait()
    finally:
        last = await process.kill()
    code = -1 if patience.cancelled_caught or last.code is None else max(last.code, -1)
    took = time.monotonic() - started
    shown = output.shown(overdue if patience.cancelled_caught else "")
    return CommandEnd(bash_result(command, shown, code, took), code)
