"""The private folder of one bridge: its two sockets, the extension, the gate."""

import json
import os
import re
import shlex
import shutil
import socket
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from lsp_agent.agents.guard import gate, path_of, pipe
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.sandbox.held_script import CODE, SAID, held_script
from lsp_agent.toolset.calls import Held, Outcome

#: What the bridge's extension is called.
BRIDGE_NAME = "bridge"
#: What fits into a socket's address on every system, with room for the file's name.
_LONGEST_FOLDER = 80
#: The kernel cuts longer first lines of scripts.
_LONGEST_INTERPRETER = 100
#: How the names of such folders begin.
PREFIX = "lsp-agent-bridge-"
_GATE_SOCKET = "gate.sock"
#: A younger folder may belong to a server that is just about to listen.
_ABANDONED_SECONDS = 60
_SAID_BYTES = 8192


class PrivateFolder:
    """A new folder that only this user may enter (0700), outside of any workspace.

    Raises RequestFailed (``notConfigured``) where none can be made. :meth:`remove` deletes it;
    those of servers that were killed before they could are deleted when the next one is made.
    """

    def __init__(self, answer_seconds: float) -> None:
        """``answer_seconds`` is how long the extension waits before it blocks a call itself."""
        parent = _parent()
        for folder in Path(parent).glob(f"{PREFIX}*"):
            if _is_abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)
        self._folder = tempfile.TemporaryDirectory(prefix=PREFIX, dir=parent)
        self.path = Path(self._folder.name)
        self.extension_socket = self.path / "bridge.sock"
        self.gate_socket = self.path / _GATE_SOCKET
        self.extension = self.path / "bridge"
        self._write_extension(answer_seconds)
        self._gate = self._write_gate()

    def gate(self, identifier: str) -> str:
        """The shell words that a command waits behind until it is decided on."""
        return f"{self._gate} {identifier} || exit"

    def held(self, held: Held, command: str, identifier: str, seconds: float | None) -> str:
        """The shell words that end in running the command in its sandbox, and never go on to
        what stands after them. Where it fails in there, it asks by ``identifier``; it may take so
        many ``seconds``."""
        script = self._script(identifier)
        ask = f"{self._gate} {identifier}"
        holder, unset = held.holder, held.unset
        text = held_script(holder, held.mount_points, command, ask, seconds, unset)
        script.write_text(text, encoding="utf-8", errors="replace")
        return f'exec /bin/sh {shlex.quote(str(script))} "$0"; exit'

    def outcome(self, identifier: str) -> Outcome:
        """Of a held command that has ended."""
        script = self._script(identifier)
        said, code = b"", 1
        with suppress(FileNotFoundError), script.with_name(script.name + SAID).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _SAID_BYTES))
            said = file.read()
        with suppress(FileNotFoundError, ValueError):
            code = int(script.with_name(script.name + CODE).read_bytes())
        return Outcome(said.decode(errors="replace"), code)

    def _script(self, identifier: str) -> Path:
        return self.path / f"held-{identifier}"

    def remove(self) -> None:
        self._folder.cleanup()

    def _write_extension(self, answer_seconds: float) -> None:
        self.extension.mkdir(mode=0o700)
        manifest = {
            "name": BRIDGE_NAME,
            "version": "1",
            "exec": sys.executable,
            "args": ["-I", "-S", path_of(pipe), str(self.extension_socket), str(answer_seconds)],
            "reload": False,  # the agent would be ended with it
        }
        (self.extension / "extension.json").write_text(json.dumps(manifest), encoding="utf-8")

    def _write_gate(self) -> str:
        """Returns the shell words that start it."""
        script = self.path / "gate"
        source = Path(gate.__file__).read_text(encoding="utf-8")
        script.write_text(f"#!{sys.executable} -IS\n{source}", encoding="utf-8")
        script.chmod(0o700)
        plain = len(sys.executable) <= _LONGEST_INTERPRETER and not re.search(r"\s", sys.executable)
        # A file system mounted noexec says so here.
        if plain and os.access(script, os.X_OK):
            return shlex.quote(str(script))
        return shlex.join([sys.executable, "-I", "-S", str(script)])


def starts() -> list[str]:
    """How the paths of such folders begin, wherever they may be made."""
    return [os.path.join(parent, PREFIX) for parent in _parents()]  # noqa: PTH118


def _is_abandoned(folder: Path) -> bool:
    """Nobody listens at its gate any more."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.setblocking(False)
        try:
            if folder.stat().st_mtime > time.time() - _ABANDONED_SECONDS:
                return False
            connection.connect(str(folder / _GATE_SOCKET))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False  # another user's, no folder of a bridge, or a server too busy to accept
    return False


def _parents() -> list[str]:
    """The user's own runtime folder, then the one for temporary files."""
    candidates = [os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir()]
    return [candidate for candidate in candidates if Path(candidate).is_absolute()]


def _parent() -> str:
    """The first that can be used."""
    for candidate in _parents():
        if len(os.fsencode(candidate)) <= _LONGEST_FOLDER - len(PREFIX) - 8 and os.access(
            candidate, os.W_OK | os.X_OK
        ):
            return candidate
    raise RequestFailed(
        "notConfigured",
        "There is no folder for the sockets between server and agent. Set XDG_RUNTIME_DIR or"
        f" TMPDIR to a folder that you can write to, with a path of less than {_LONGEST_FOLDER}"
        " bytes.",
    )
