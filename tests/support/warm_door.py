"""Where an editor's ``lsp-agent``, or a server's agent, (``warm_relay.py``) has a process of ours
forked."""

import atexit
import contextlib
import functools
import json
import os
import shlex
import shutil
import socket
import stat
import sys
import tempfile
import threading
from pathlib import Path

import psutil

from support import warm
from support.living import outliving
from support.warm import LSP_AGENT

_RELAY = Path(__file__).with_name("warm_relay.py")


class WarmDoor:
    """Open until ``close``. ``folder`` has a short path: sockets' addresses are."""

    def __init__(self, folder: Path) -> None:
        self._address = folder / "warm"
        self._listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listening.bind(str(self._address))
        self._listening.listen()
        #: What was forked, the newest last.
        self.processes: list[psutil.Process] = []
        self._thread = threading.Thread(target=self._answer, name="warm door", daemon=True)
        self._thread.start()

    @property
    def command(self) -> list[str]:
        """In the place of ``LSP_AGENT``."""
        return [sys.executable, "-I", "-S", str(_RELAY), str(self._address)]

    def _answer(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:  # closed
                return
            with connection:
                packet, descriptors, _, _ = socket.recv_fds(connection, 1 << 20, 4)
                if not packet:  # the relay was killed as it started
                    continue
                request = json.loads(packet)
                try:
                    if not warm.can_fork(request["arguments"][0], request["env"]):
                        continue
                    pid = warm.fork(request, descriptors)
                    with contextlib.suppress(psutil.NoSuchProcess):
                        self.processes.append(psutil.Process(pid))
                    with contextlib.suppress(BrokenPipeError):  # killed since: what was forked
                        connection.send(str(pid).encode())  # ends with its input
                finally:
                    for descriptor in descriptors:
                        os.close(descriptor)

    def close(self) -> None:
        """Raises AssertionError where something of what was forked outlives its editor."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()
        left = outliving(self.processes, 10)
        for process in left:
            process.kill()
        assert not left, left


def write_program(
    path: Path, door: WarmDoor | None, log: Path | None = None, *, forks: str = "serve"
) -> None:
    """An ``lsp-agent`` whose command ``forks`` is forked behind ``door``, where there is one; its
    servers have their log in ``log``."""
    lines = ["#!/bin/sh"]
    if log is not None:
        lines.append(f'test "$1" = serve && set -- "$@" --log-file {shlex.quote(str(log))}')
    if door is not None:
        lines.append(f'test "$1" = {forks} && exec {shlex.join(door.command)} "$@"')
    lines.append(f'exec {shlex.join(LSP_AGENT)} "$@"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(stat.S_IRWXU)


@functools.cache
def warm_lsp_agent() -> list[str]:
    """In the place of ``LSP_AGENT``, for the agent that a server starts: it is forked, so not among
    the server's own processes."""
    if sys.platform != "linux":
        return LSP_AGENT
    folder = Path(tempfile.mkdtemp(prefix="la-"))
    door = WarmDoor(folder)
    atexit.register(shutil.rmtree, folder)
    atexit.register(door.close)
    program = folder / "lsp-agent"  # by which a server knows the embedded agent
    write_program(program, door, forks="rpc")
    return [str(program)]
