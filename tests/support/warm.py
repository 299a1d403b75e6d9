"""Our commands without their imports, which are most of what one takes in a test.

``start`` forks it from a process that has the modules already (``zygote.py``). Program, arguments,
folder, environment and descriptors are those of one that an editor starts. Tests of the start
itself start it as an editor does.
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
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

from support import forked

#: In the environment of every process of a client; ``raw_client.left_behind`` looks for it.
MARK = "LSP_AGENT_TEST_MARK"
LSP_AGENT = [sys.executable, "-P", "-m", "lsp_agent"]
SERVE = [*LSP_AGENT, "serve"]
#: A command, and from which one's process it is forked.
_FORKED_FROM = {"serve": "serve", "rpc": "rpc"} | dict.fromkeys(
    ("doctor", "ext", "log", "permissions", "prompt", "setup"), "setup"
)
_PROGRAM = Path(__file__).with_name("zygote.py")


class Request(TypedDict):
    """``umask``: of the new process."""

    arguments: Sequence[str]
    cwd: str
    env: Mapping[str, str]
    umask: int


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
    """One of ours with pipes. As an editor does where ``command`` is another one than those that
    can be forked."""
    *ours, name = command[: len(SERVE)]
    if ours != LSP_AGENT or not can_fork(name, env):
        return cold_start(command, cwd=cwd, env=env)
    request: Request = {
        "arguments": command[len(LSP_AGENT) :],
        "cwd": os.fspath(Path(cwd or ".").absolute()),
        "env": env,
        "umask": _umask(),
    }
    return _with_pipes(request)


def can_fork(name: str, env: Mapping[str, str]) -> bool:
    """Whether our command of that name can be forked, in that environment."""
    return sys.platform == "linux" and name in _FORKED_FROM and not forked.OF_A_START & env.keys()


def fork(request: Request, descriptors: Sequence[int]) -> int:
    """The id of a new process; ``descriptors`` as in ``zygote.py``, open here as before."""
    kind = _FORKED_FROM[request["arguments"][0]]
    with _starting:
        try:
            return _pid_of_forked(kind, request, descriptors)
        except ConnectionError:
            _end_zygote(kind)
            return _pid_of_forked(kind, request, descriptors)
        except BaseException:
            _end_zygote(kind)  # it may be about to answer
            raise


def _umask() -> int:
    """Without a moment in which it is another one."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("\nUmask:")[2].split()[0], 8)


def run(
    command: Sequence[str], *, cwd: Path | str, env: Mapping[str, str]
) -> "subprocess.CompletedProcess[str]":
    """To its end, with nothing to read."""
    process = start(command, cwd=cwd, env=env)
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdin.close()
    with process.stdout, process.stderr, ThreadPoolExecutor(1) as threads:
        try:
            errors = threads.submit(process.stderr.read)
            said = process.stdout.read()
            code = process.wait()
        finally:
            process.kill()
        return subprocess.CompletedProcess(command, code, said.decode(), errors.result().decode())


_starting = threading.Lock()
#: By what they fork.
_zygotes: dict[str, tuple[subprocess.Popen[bytes], socket.socket]] = {}


def _zygote(kind: str) -> socket.socket:
    if kind not in _zygotes:
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-P", str(_PROGRAM)),
                    *(kind, str(its.fileno()), forked.ARGUMENT_ROOM),
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env=os.environ | forked.ENVIRONMENT_ROOM,
                pass_fds=[its.fileno()],
            )
        _zygotes[kind] = process, ours
    return _zygotes[kind][1]


def _end_zygote(kind: str) -> None:
    process, connection = _zygotes.pop(kind)
    connection.close()
    process.wait()


@atexit.register
def _end_zygotes() -> None:
    for kind in [*_zygotes]:
        _end_zygote(kind)


def _with_pipes(request: Request) -> WarmProcess:
    pipes = [os.pipe() for _ in range(4)]
    (stdin, our_in), (our_out, stdout), (our_err, stderr), (our_end, ended) = pipes
    its, ours = [stdin, stdout, stderr, ended], [our_in, our_out, our_err, our_end]
    try:
        pid = fork(request, its)
    except BaseException:
        for descriptor in ours:
            os.close(descriptor)
        raise
    finally:
        for descriptor in its:
            os.close(descriptor)
    return WarmProcess(pid, ours)


def _pid_of_forked(kind: str, request: Request, descriptors: Sequence[int]) -> int:
    """Raises ``ConnectionError`` where the zygote was killed: what tests run of ours in their own
    process kills each child that it does not know."""
    zygote = _zygote(kind)
    socket.send_fds(zygote, [json.dumps(request).encode()], descriptors)
    if answer := zygote.recv(64):
        return int(answer)
    raise ConnectionResetError
