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
from lsp_agent.wires import zot_tools
from lsp_agent.wires.zot_tools import MAX_BYTES, MAX_LINES, CommandOutput

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
    on_output: Callable[[str], None],
    seconds: float | None,
) -> CommandEnd:
    """Runs ``command`` in ``/bin/sh``, for at most ``seconds``.

    ``env`` is added to this process's environment, of which the command does not see the variables
    that are ``hidden``. ``on_output`` gets what is printed, as far as the result shows it.

    :raises RequestFailed: "agentNotFound", "agentExited" where it cannot be started
    """
    started = time.monotonic()
    without = [word for name in hidden for word in ("-u", name)]
    shell = ("/bin/sh", "-c", _PIPES, "sh", "env", *without, "/bin/sh", "-c", command)
    process = await AgentProcess.start(shell, cwd=cwd, env=env, line_bytes=0)
    output = _Output(on_output)
    try:
        with anyio.move_on_after(seconds) as patience:
            async for chunk in process.output():
                output.add(chunk)
            await process.wait()
    finally:
        last = await process.kill()
    code = -1 if patience.cancelled_caught or last.code is None else max(last.code, -1)
    took = time.monotonic() - started
    return CommandEnd(zot_tools.bash_result(command, output.shown(), code, took), code)


class _Output:
    """The beginning of a command's output, as it comes and in the end."""

    def __init__(self, on_output: Callable[[str], None]) -> None:
        self._on_output = on_output
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._head = bytearray()
        self._cut = False

    def add(self, data: bytes) -> None:
        kept = data[: MAX_BYTES - len(self._head)]
        self._cut |= len(kept) < len(data)
        self._head += kept
        if text := self._decode(kept):
            self._on_output(text)

    def shown(self) -> CommandOutput:
        lines = bytes(self._head).split(b"\n", MAX_LINES)
        cut_lines = len(lines) > MAX_LINES and lines[-1] != b""
        text = b"\n".join(lines[:MAX_LINES]) + b"\n" if cut_lines else bytes(self._head)
        return CommandOutput(zot_tools.decode(text), cut_lines=cut_lines, cut_bytes=self._cut)
