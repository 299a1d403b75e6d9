"""Servers without their imports, which are most of what a server takes in a test.

``start`` forks a server from a process that has the modules already (``zygote.py``). Program,
arguments, folder, environment and descriptors are those of a server that an editor starts. Tests of
the start itself start it as an editor does.
"""

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

#: In the environment of every process of a client; ``raw_client.left_behind`` looks for it.
MARK = "LSP_AGENT_TEST_MARK"
LSP_AGENT = [sys.executable, "-P", "-m", "lsp_agent"]
SERVE = [*LSP_AGENT, "serve"]
#: Room for one: a forked process has the environment of the zygote's start, as others see it.
_NO_MARK = "0" * 32
_PROGRAM = Path(__file__).with_name("zygote.py")


class WarmProcess:
    """As much of ``subprocess.Popen`` as clients of a server need."""

    def __init__(self, pid: int, descriptors: Sequence[int]) -> None:
        stdin, stdout, stderr, ended = descriptors
        self.pid = pid
        self.stdin = os.fdopen(stdin, "wb")
        self.stdout = os.fdopen(stdout, "rb")
        self.stderr = os.fdopen(stderr, "rb")
        self.returncode: int | None = None
        self._ended = os.fdopen(ended, "rb", buffering=0)
        self._asking = threading.Lock()

    def poll(self) -> int | None:
        return self._look(0)

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self._look(0.05)) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(SERVE, timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _look(self, seconds: float) -> int | None:
        with self._asking:
            if self.returncode is None and select.select([self._ended], [], [], seconds)[0]:
                told = self._ended.read()
                self._ended.close()
                if not told:  # the zygote was killed
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self.pid, signal.SIGKILL)
                self.returncode = int(told or -signal.SIGKILL)
            return self.returncode


Process = subprocess.Popen[bytes] | WarmProcess


def cold_start(
    command: Sequence[str], *, cwd: Path | str | None, env: Mapping[str, str]
) -> Process:
    """As an editor does."""
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=env)


def start(command: Sequence[str], *, cwd: Path | str | None, env: Mapping[str, str]) -> Process:
    """A server with pipes. As an editor does where ``command`` is another one than ``SERVE``, or is
    to find other modules."""
    other = list(command[: len(SERVE)]) != SERVE or "PYTHONPATH" in env
    if sys.platform != "linux" or other:
        return cold_start(command, cwd=cwd, env=env)
    folder = os.fspath(Path(cwd or ".").absolute())
    request = {"arguments": command[len(SERVE) - 1 :], "cwd": folder, "env": env}
    with _starting:
        try:
            return _forked(request)
        except ConnectionError:
            _end_zygote()
            return _forked(request)
        except BaseException:
            _end_zygote()  # it may be about to answer
            raise


_starting = threading.Lock()
_zygotes: list[tuple[subprocess.Popen[bytes], socket.socket]] = []


def _zygote() -> socket.socket:
    if not _zygotes:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            process = subprocess.Popen(
                [sys.executable, "-P", str(_PROGRAM), str(its.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=os.environ | {MARK: _NO_MARK},
                pass_fds=[its.fileno()],
            )
        _zygotes.append((process, ours))
    return _zygotes[0][1]


@atexit.register
def _end_zygote() -> None:
    while _zygotes:
        process, connection = _zygotes.pop()
        connection.close()
        process.wait()


def _forked(request: Mapping[str, object]) -> WarmProcess:
    pipes = [os.pipe() for _ in range(4)]
    (stdin, our_in), (our_out, stdout), (our_err, stderr), (our_end, ended) = pipes
    its, ours = [stdin, stdout, stderr, ended], [our_in, our_out, our_err, our_end]
    try:
        pid = _pid_of_forked(request, its)
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in its:
            os.close(descriptor)
    return WarmProcess(pid, ours)


def _pid_of_forked(request: Mapping[str, object], descriptors: Sequence[int]) -> int:
    """Raises ``ConnectionError`` where the zygote was killed: what tests run of ours in their own
    process kills each child that it does not know."""
    zygote = _zygote()
    socket.send_fds(zygote, [json.dumps(request).encode()], descriptors)
    if answer := zygote.recv(64):
        return int(answer)
    raise ConnectionResetError
