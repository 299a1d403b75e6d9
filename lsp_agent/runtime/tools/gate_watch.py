"""What the gate before a command tells the shell: the command waits, may run, or may not.

``agents/guard/gate.py`` writes it into a pipe that its environment names. The command itself has no
such pipe: it is closed with the gate's answer, and one without a gate gets none.
"""

import asyncio
import os
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from lsp_agent.protocol.environment import GATE_VARIABLE

_PREFIX = "lsp-agent-gate-"


class GateWatch:
    """Of one command. ``since`` is when it began to run, by ``time.monotonic``; None while its gate
    holds it, and where that did not let it run."""

    def __init__(self, *, gated: bool) -> None:
        """``gated``: a gate stands before the command. Raises OSError."""
        self.environment: dict[str, str] = {}
        self.since: float | None = time.monotonic()
        self._pipe: int | None = None
        self._held = ExitStack()
        #: Set once nobody needs to be waited for any more.
        self.decided = asyncio.Event()
        if gated:
            self._listen()
        else:
            self.decided.set()

    def close(self) -> None:
        """What was told is heard before."""
        self._hear()
        self._end()

    def _listen(self) -> None:
        with ExitStack() as held, ExitStack() as making:
            made = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
            path = Path(making.enter_context(made)) / "pipe"
            os.mkfifo(path, 0o600)
            # Open for writing as well, since a pipe that its last writer leaves would be at its
            # end.
            pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            held.callback(os.close, pipe)
            # Gone before it is closed: who opens one that nobody reads waits for ever.
            held.push(making.pop_all())
            loop = asyncio.get_running_loop()
            loop.add_reader(pipe, self._hear)
            held.callback(loop.remove_reader, pipe)
            self._pipe, self._held = pipe, held.pop_all()
        self.environment[GATE_VARIABLE] = str(path)

    def _hear(self) -> None:
        if self._pipe is None:
            return
        try:
            told = os.read(self._pipe, 4096).split()
        except BlockingIOError:
            return
        for word in told:
            self.since = time.monotonic() if word == b"allow" else None
            if word != b"asks":
                # Whatever comes now is the command's.
                self._end()
                return

    def _end(self) -> None:
        self._pipe = None
        self.decided.set()
        self._held.close()
