"""Where an editor's ``lsp-agent`` (``warm_relay.py``) has a process of ours forked."""

import contextlib
import json
import os
import shlex
import socket
import stat
import sys
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
    def command(self) -> str:
        """For a shell, before the arguments of ``lsp-agent``."""
        return shlex.join([sys.executable, "-I", "-S", str(_RELAY), str(self._address)])

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
                try:
                    pid = warm.fork(json.loads(packet), descriptors)
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


def write_program(path: Path, door: WarmDoor | None, log: Path | None = None) -> None:
    """An ``lsp-agent`` whose servers are forked behind ``door``, where there is one, and have their
    log in ``log``."""
    lines = ["#!/bin/sh"]
    if log is not None:
        lines.append(f'test "$1" = serve && set -- "$@" --log-file {shlex.quote(str(log))}')
    if door is not None:
        lines.append(f'test "$1" = serve && exec {door.command} "$@"')
    lines.append(f'exec {shlex.join(LSP_AGENT)} "$@"')
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(stat.S_IRWXU)
