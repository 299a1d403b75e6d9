"""A workspace, what lies outside of it, and a look at whether any of that was touched or seen.

Outside are the decoys: files with secrets, a folder whose name begins as the workspace's, a home
with the person's settings and keys. ``Ground.check`` compares them with how they were, and looks
for the secrets in all that the server said, in what the model was given, and in the log.
"""

import contextlib
import hashlib
import json
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from support.project import Editor, Project

Json = dict[str, Any]

MODES = ("hosted", "mirror")
CLIENT: Json = {"events": True, "ask": True}


class Ground(Project):
    """``folder`` is the workspace, ``decoy`` lies beside it; ``cwd`` is where the server runs."""

    def __init__(self, base: Path, runtime: Path) -> None:
        super().__init__(base, runtime)
        self.base = base
        self.runtime = runtime
        self.cwd = base
        self.secret = f"CANARY-{uuid.uuid4().hex}"
        self.key = f"sk-{uuid.uuid4().hex}"
        self.inherited = f"sk-{uuid.uuid4().hex}"
        self.log = base / "server.log"
        self.decoy = base / "decoy"
        for path in (
            self.decoy / "secret.txt",
            self.decoy / "deep" / "secret.txt",
            base / f"{self.folder.name}-other" / "secret.txt",
            self.home / ".ssh" / "id_ed25519",
            self.config / "notes.txt",
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{self.secret}\nsecond line\n", encoding="utf-8")
        (self.config / "config.toml").write_text(f"# {self.secret}\n", encoding="utf-8")
        self._decoys = [
            self.decoy,
            base / f"{self.folder.name}-other",
            self.home / ".ssh",
            self.home / "config",
        ]
        self._before: dict[str, tuple[object, ...]] = {}
        self._checked = 0

    def environment(self) -> dict[str, str]:
        return super().environment() | {"OPENAI_API_KEY": self.inherited}

    def start(self, *arguments: str) -> Editor:
        command = self.serve("--log-file", str(self.log), "--log-level", "debug", *arguments)
        editor = Editor(command, cwd=self.cwd, env=self.environment(), warm_start=True)
        self._editors.enter_context(editor)
        return editor

    def attacked(
        self,
        mode: str,
        *steps: Json,
        options: Json | None = None,
        folders: Sequence[Path] | None = None,
        capabilities: Json | None = None,
    ) -> Editor:
        """A server whose agent follows ``steps`` and has a key in its environment; the person
        denies whatever is asked. The decoys are from here on to stay as they are."""
        agent = self.agent(*steps, env={"CANARY_API_KEY": self.key}, hosting=mode)
        editor = self.editor(
            agent=agent, client=CLIENT, options=options, folders=folders, capabilities=capabilities
        )
        editor.handlers["agent/ask"] = lambda _question: {"optionId": "deny"}
        self._before = self.state()
        return editor

    def state(self) -> dict[str, tuple[object, ...]]:
        """Names, kinds, modes, times and contents of all decoys."""
        found: dict[str, tuple[object, ...]] = {}
        for decoy in self._decoys:
            for path in (decoy, *sorted(decoy.rglob("*"))):
                status = path.lstat()
                content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
                found[str(path)] = (stat.S_IFMT(status.st_mode), status.st_mode,
                                    status.st_mtime_ns, content)  # fmt: skip
        return found

    def check(self, editor: Editor) -> None:
        """Nothing outside was changed, and nothing secret was told to anyone since the last
        check of this editor."""
        before, self._before = self._before, self.state()
        changed = before.items() ^ self._before.items()
        assert not changed, sorted({path for path, _ in changed})
        messages, self._checked = editor.messages[self._checked :], len(editor.messages)
        told = {
            "the client": json.dumps(messages, ensure_ascii=False),
            "the log": self.log.read_text(encoding="utf-8"),
            "stderr": editor.stderr,
        }
        for where, text in told.items():
            for name in ("secret", "key", "inherited"):
                assert getattr(self, name) not in text, f"{where} was told the {name}"

    def shown(self, message: str) -> str:
        """One line of it, for the table."""
        for path, name in ((self.folder, "WORKSPACE"), (self.home, "HOME"), (self.base, "BASE")):
            message = message.replace(str(path), name)
        message = message.replace(str(self.runtime), "RUNTIME").strip()
        line = json.dumps(message, ensure_ascii=False)[1:-1].replace('\\"', '"')
        return line if len(line) <= 150 else f"{line[:90]} … {line[-57:]}"


@contextlib.contextmanager
def new_ground(base: Path) -> Iterator[Ground]:
    # Sockets' addresses are short: pytest's own folders are too deep for them.
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    ground = Ground(Path(os.path.realpath(base)), runtime)
    try:
        yield ground
    finally:
        ground.close()
        shutil.rmtree(runtime, ignore_errors=True)
