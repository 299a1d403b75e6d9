"""Imports what a command of ours does, and forks it for the tests of one process (``warm.py``).

Arguments: the command, and the descriptor of a socket. A packet on it is ``{"arguments", "cwd",
"env", "umask"}`` with four descriptors: the new process's standard ones, and one that is told its
exit code. The answer is its id. It ends when the socket is closed.
"""

import contextlib
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path

import lsp_agent
from lsp_agent.cli.main import main

#: What a command may import in its life. A server has no embedded agent in it, nor the other way
#: round: each is a process of its own.
_SHARED = ("processes", "protocol", "text", "toolset", "user_data")
_PACKAGES = {
    "serve": (*_SHARED, "agents", "sandbox", "server", "sessions", "wires", "workspace"),
    "rpc": (*_SHARED, "runtime"),
    "setup": (*_SHARED, "agents", "cli", "sandbox", "sessions", "wires", "workspace"),
}
#: In the environment that the kernel shows of a process; RawClient looks for it.
_MARK = b"LSP_AGENT_TEST_MARK="
#: Of /proc/self/stat, counted from the state on: where in memory the environment begins.
_ENV_START = 47


def _import_all(command: str) -> None:
    import_module(f"lsp_agent.cli.{command}")
    for package in _PACKAGES[command]:
        folder = import_module(f"lsp_agent.{package}")
        for module in pkgutil.walk_packages(folder.__path__, folder.__name__ + "."):
            import_module(module.name)
    gc.freeze()


def _serve(control: socket.socket) -> list[str]:
    """Answers requests; returns in each forked process, with its arguments."""
    children: dict[int, int] = {}  # pid: whom to tell its exit code
    awake, wake = os.pipe()
    os.set_blocking(awake, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    while True:
        ready = select.select([control, awake], [], [])[0]
        if awake in ready:
            os.read(awake, 4096)
            _tell_ends(children)
        if control in ready:
            packet, descriptors, _, _ = socket.recv_fds(control, 1 << 20, 4)
            if not packet:
                os._exit(0)
            pid = os.fork()
            if pid == 0:
                return _become(json.loads(packet), descriptors)
            for descriptor in descriptors[:3]:
                os.close(descriptor)
            children[pid] = descriptors[3]
            control.send(str(pid).encode())


def _tell_ends(children: dict[int, int]) -> None:
    for pid in [*children]:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            told = children.pop(pid)
            with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
                os.write(told, str(os.waitstatus_to_exitcode(status)).encode())
            os.close(told)


def _become(request: dict[str, object], descriptors: list[int]) -> list[str]:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for standard, descriptor in enumerate(descriptors[:3]):
        os.dup2(descriptor, standard)
    # The old ones have found out whether theirs can seek.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False, errors="backslashreplace")
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(str(request["cwd"]))
    umask = request["umask"]
    assert isinstance(umask, int)
    os.umask(umask)
    env = request["env"]
    assert isinstance(env, dict)
    os.environ.clear()
    os.environ.update(env)
    _show(env.get(_MARK[:-1].decode(), ""))
    arguments = request["arguments"]
    assert isinstance(arguments, list)
    return [str(Path(lsp_agent.__file__).with_name("__main__.py")), *map(str, arguments)]


def _show(mark: str) -> None:
    """In the environment as others see it, which is the one that this process was started with."""
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    at = Path("/proc/self/environ").read_bytes().index(_MARK) + len(_MARK)
    with Path("/proc/self/mem").open("r+b", buffering=0) as memory:
        memory.seek(int(fields[_ENV_START]) + at)
        memory.write(mark.encode())


_import_all(sys.argv[1])
sys.argv = _serve(socket.socket(fileno=int(sys.argv[2])))
sys.exit(main())
