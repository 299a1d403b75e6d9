"""Imports what a command of ours does, and forks it for the tests of one process (``warm.py``).

Arguments: the command, the descriptor of a socket, and room. A packet on it is ``{"arguments",
"cwd", "env", "umask"}`` with four descriptors: the new process's standard ones, and one that is
told its exit code. The answer is its id. It ends when the socket is closed.
"""

import atexit
import contextlib
import gc
import json
import os
import pkgutil
import select
import signal
import socket
import sys
import threading
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel

from lsp_agent.cli.main import main

_TESTS = str(Path(__file__).parents[1])
sys.path.append(_TESTS)
from support import forked, forked_agents  # noqa: E402 - this is a script of that package

sys.path.remove(_TESTS)

#: What a command may import in its life. A server forks its embedded agent (``forked_agents.py``).
_SHARED = ("processes", "protocol", "text", "toolset", "user_data")
_PACKAGES = {
    "serve": (*_SHARED, "agents", "runtime", "sandbox", "server", "sessions", "wires", "workspace"),
    "rpc": (*_SHARED, "runtime"),
    "setup": (*_SHARED, "agents", "cli", "sandbox", "sessions", "wires", "workspace"),
}


#: Modules of libraries that are imported when they are needed first.
_LATER = ("anyio._backends._asyncio", "anyio.streams.stapled", "anyio.streams.tls", "ctypes")


def _import_all(command: str) -> None:
    for name in (f"lsp_agent.cli.{command}", *_LATER):
        import_module(name)
    for package in _PACKAGES[command]:
        folder = import_module(f"lsp_agent.{package}")
        for module in pkgutil.walk_packages(folder.__path__, folder.__name__ + "."):
            import_module(module.name)
    for model in _below(BaseModel):
        model.model_rebuild()  # they are built when they are used first
    gc.freeze()


def _below(model: type[BaseModel]) -> list[type[BaseModel]]:
    return [each for below in model.__subclasses__() for each in (below, *_below(below))]


def _serve(control: socket.socket) -> None:
    """Answers requests; returns in each forked process."""
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
                _become(json.loads(packet), descriptors)
                return
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


def _become(request: dict[str, Any], descriptors: list[int]) -> None:
    forked.take_streams(descriptors[:3])
    forked.take_signals()
    os.chdir(request["cwd"])
    os.umask(request["umask"])
    forked.take_environment(request["env"])
    arguments: list[str] = request["arguments"]
    forked.show([sys.executable, "-P", "-m", "lsp_agent", *arguments])
    forked.take_arguments(arguments)


def _end(code: int) -> NoReturn:
    """As an interpreter does, but for the modules: to take them down is 60 ms of processor."""
    threading._shutdown()  # type: ignore[attr-defined]  # what waits for the threads has no other name
    atexit._run_exitfuncs()
    os._exit(code)


_import_all(sys.argv[1])
if sys.argv[1] == "serve":
    forked_agents.fork_agents()
_serve(socket.socket(fileno=int(sys.argv[2])))
_end(main())
