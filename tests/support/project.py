"""A small project with an agent that follows a script, and an editor over a real server.

``Project`` lays out a folder, writes the agent's script and starts ``lsp-agent serve`` with the
person's folders under the test's own. ``Editor`` is a ``RawClient`` that also holds documents:
it takes the server's edits as an editor does, and answers questions as a test says.
"""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from lsp_agent.text.edits import TextEdit, apply_edits, text_edits
from lsp_agent.text.lines import Text
from lsp_agent.text.positions import Encoding, to_column, to_units
from support import warm
from support.raw_client import NO_ANSWER, Json, RawClient, RpcError
from support.warm import LSP_AGENT

#: What most tests' clients can do.
CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
}
EVENTS: Json = {"events": True}
#: A client that is sent message requests, as it shows them where they take no key.
BESIDE: Json = {"name": "Visual Studio Code"}
#: Seconds, and a little more: until then nobody has read a question, and no answer is meant.
UNREAD = 0.35
ALLOWED: Json = {"permissions": {"command": "allow"}}


# The script's parts


def step(text: str = "", *calls: Json, **more: Any) -> Json:
    return {"text": text, "calls": list(calls)} | more


def call(name: str, **args: Any) -> Json:
    return {"name": name, "args": args}


def bash(command: str) -> Json:
    return call("bash", command=command)


def edit(path: str, old: str, new: str) -> Json:
    return call("edit", path=path, edits=[{"oldText": old, "newText": new}])


def write(path: str, content: str) -> Json:
    return call("write", path=path, content=content)


@dataclass
class Stubborn:
    """A command that only a stop ends: it ignores SIGTERM and has a child in a session of its
    own. Its processes are found by the unique number that they sleep for."""

    nap: str = field(default_factory=lambda: f"sleep 600.{uuid.uuid4().int % 10**12:012d}")

    @property
    def command(self) -> str:
        return f"trap '' TERM; setsid {self.nap} & echo measuring; {self.nap}"

    def processes(self) -> list[int]:
        return processes_with(self.nap)

    @property
    def runs(self) -> bool:
        """Whether it and its child sleep; before, what starts it has its words as well."""
        return list(_command_lines().values()).count(self.nap) == 2


def processes_with(words: str) -> list[int]:
    """The processes whose command line has these words (Linux)."""
    return [pid for pid, line in _command_lines().items() if words in line and pid != os.getpid()]


def _command_lines() -> dict[int, str]:
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (folder / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ")
            found[int(folder.name)] = line.decode(errors="replace")
    return found


@dataclass
class Document:
    """As the editor shows it; ``typed`` is applied by ``Editor.type``."""

    uri: str
    path: Path
    text: Text
    version: int = 1


class Editor(RawClient):
    """``answers`` are what the person will say to questions, in order: an option's id, an
    option's name, None for dismissing, ``NO_ANSWER`` for leaving it open."""

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        self.documents: dict[str, Document] = {}
        self.answers: list[Any] = []
        self.encoding: Encoding = "utf-16"
        #: A document has one text and one version, whoever changes it: the person, who is the
        #: test's thread, or the server, who is the reading one.
        self._changing = threading.RLock()
        super().__init__(command, **options)
        self.handlers |= {
            "workspace/applyEdit": self._apply,
            "window/workDoneProgress/create": lambda _params: None,
            "agent/ask": self._ask,
            "agent/saveDocument": self._save,
            "window/showMessageRequest": self._show,
        }

    # Documents

    def open(self, path: Path, text: str | None = None, version: int = 1) -> Document:
        """Opens the file, with other ``text`` than the disk has if given (unsaved)."""
        shown = path.read_bytes().decode() if text is None else text
        document = Document(path.as_uri(), path, Text.of(shown), version)
        self.documents[document.uri] = document
        item = {"uri": document.uri, "languageId": "text", "version": version, "text": shown}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return document

    def begin_anew(self) -> None:
        """For another test with the same server: nothing is open, heard or to be answered."""
        for uri in self.documents:
            self.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        self.documents.clear()
        self.answers.clear()
        with self._news:
            self.messages.clear()
            self._starts.clear()

    def type(self, document: Document, line: int, typed: str) -> None:
        """The person inserts at the start of a line; the document is unsaved then."""
        self._change(document, [TextEdit(line, 0, line, 0, typed)])

    def retype(self, document: Document, content: str) -> None:
        """The person makes it another text."""
        with self._changing:
            self._change(document, text_edits(document.text, Text.of(content)))

    def _change(self, document: Document, edits: Sequence[TextEdit]) -> None:
        with self._changing:
            changes = [
                {"range": self._range(document, edit), "text": edit.new_text}
                for edit in reversed(edits)  # last first: each range then is right as it stands
            ]
            document.text = apply_edits(document.text, edits)
            document.version += 1
            item = {"uri": document.uri, "version": document.version}
            self.notify("textDocument/didChange", {"textDocument": item, "contentChanges": changes})

    def _range(self, document: Document, edit: TextEdit) -> Json:
        lines = document.text.lines

        def position(line: int, column: int) -> Json:
            units = to_units(lines[line], column, self.encoding) if line < len(lines) else 0
            return {"line": line, "character": units}

        return {
            "start": position(edit.start_line, edit.start_column),
            "end": position(edit.end_line, edit.end_column),
        }

    def _apply(self, params: Json) -> Json:
        (change,) = params["edit"]["documentChanges"]
        document = self.documents[change["textDocument"]["uri"]]
        with self._changing:
            if change["textDocument"]["version"] != document.version:
                return {"applied": False, "failureReason": "another version"}
            self._change(document, [self._text_edit(document, edit) for edit in change["edits"]])
            return {"applied": True}

    def _text_edit(self, document: Document, edit: Json) -> TextEdit:
        lines = document.text.lines

        def position(at: Json) -> tuple[int, int]:
            line = at["line"]
            units = at["character"]
            return line, to_column(lines[line], units, self.encoding) if line < len(lines) else 0

        start, end = position(edit["range"]["start"]), position(edit["range"]["end"])
        return TextEdit(*start, *end, edit["newText"])

    def _save(self, params: Json) -> Json:
        document = self.documents[params["uri"]]
        if params.get("version") not in (None, document.version):
            return {"saved": False}
        document.path.write_bytes(document.text.content.encode())
        self.notify("textDocument/didSave", {"textDocument": {"uri": document.uri}})
        return {"saved": True}

    # Questions

    def _ask(self, question: Json) -> Any:
        answer = self.answers.pop(0) if self.answers else NO_ANSWER
        return answer if answer is NO_ANSWER else {"optionId": answer}

    def _show(self, params: Json) -> Any:
        time.sleep(UNREAD)
        answer = self.answers.pop(0) if self.answers else NO_ANSWER
        return {"title": answer} if isinstance(answer, str) else answer

    # The agent

    def prompt(self, text: str, **params: Any) -> int:
        """Sends ``agent/prompt``; its id."""
        return self.request("agent/prompt", {"text": text} | params)

    def ask_agent(self, text: str, **params: Any) -> Json:
        """``agent/prompt`` to its result."""
        return self.result(self.prompt(text, **params))

    def command(self, name: str, *arguments: Any) -> Any:
        """``workspace/executeCommand`` of ``lspAgent.<name>``, by who has read what it answers."""
        if name == "answer":
            time.sleep(UNREAD)
        params: Json = {"command": f"lspAgent.{name}"}
        return self.call(
            "workspace/executeCommand", params | ({"arguments": arguments} if arguments else {})
        )

    def event(self, kind: str, timeout: float | None = None, **wanted: Any) -> Json:
        """The first event of this type with these values."""
        return self.notification("agent/event", timeout, type=kind, **wanted)

    def events(self, *kinds: str, **wanted: Any) -> list[Json]:
        """All events so far of these types (all if none is named) with these values."""
        return [
            event
            for event in self.received("agent/event")
            if (not kinds or event["type"] in kinds)
            and all(event.get(key) == value for key, value in wanted.items())
        ]

    def tool_texts(self) -> list[str]:
        """The text of every tool result so far, in order."""
        return [
            "".join(block.get("text", "") for block in event["content"])
            for event in self.events("toolResult")
        ]

    def progress(self, token: Any) -> list[Json]:
        """The values of one progress so far."""
        return [p["value"] for p in self.received("$/progress") if p["token"] == token]

    def failure(self, method: str, params: Any = None) -> RpcError:
        """The error that a request is answered with."""
        with pytest.raises(RpcError) as caught:
            self.call(method, params)
        return caught.value


class Project:
    """``folder`` is the workspace; ``config`` the person's configuration folder."""

    def __init__(self, base: Path, runtime: Path) -> None:
        self._base = base
        self._runtime = runtime
        self._editors = contextlib.ExitStack()
        self.program: Sequence[str] = ()  #: in the place of LSP_AGENT, for the server
        self.folder = base / "shop"
        self.folder.mkdir()
        self.home = base / "home"
        self.config = self.home / "config" / "lsp-agent"
        self.config.mkdir(parents=True)

    def file(self, name: str, text: str = "") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def agent(self, *steps: Json, arguments: Sequence[str] = (), **settings: Any) -> Json:
        """An agent's settings: the embedded one, following ``steps``."""
        script = self._base / f"script-{uuid.uuid4().hex[:8]}.json"
        script.write_text(json.dumps({"steps": steps}), encoding="utf-8")
        return {
            "wire": "zot",
            "command": [*LSP_AGENT, "rpc", "--script", str(script), *arguments],
            "provider": "script",
        } | settings

    def editor(
        self,
        *steps: Json,
        agent: Json | None = None,
        options: Json | None = None,
        client: Json | None = None,
        capabilities: Json | None = None,
        folders: Sequence[Path] | None = None,
        initialize: bool = True,
        arguments: Sequence[str] = (),
        **params: Any,
    ) -> Editor:
        """A running server with an editor that has the folder open and an agent that follows
        ``steps``. ``client`` is ``experimental.agent``; ``options`` are joined to the
        initializationOptions."""
        editor = self.start(*arguments)
        if initialize:
            chosen = {"agent": "scripted", "agents": {"scripted": agent or self.agent(*steps)}}
            editor.encoding = editor.initialize(
                CAPABILITIES | (capabilities or {}),
                folders=[self.folder] if folders is None else folders,
                agent=client,
                initializationOptions=chosen | (options or {}),
                **params,
            )["capabilities"]["positionEncoding"]
        return editor

    def start(self, *arguments: str) -> Editor:
        """A server that nobody has spoken to yet."""
        command = self.serve(*arguments)
        editor = Editor(command, cwd=self._base, env=self.environment(), warm_start=True)
        self._editors.enter_context(editor)
        return editor

    def serve(self, *arguments: str) -> list[str]:
        """The command of a server."""
        return [*(self.program or LSP_AGENT), "serve", *arguments]

    def command(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """``lsp-agent`` with them, run to its end in the folder, without a terminal."""
        return warm.run([*LSP_AGENT, *arguments], cwd=self.folder, env=self.environment())

    def environment(self) -> dict[str, str]:
        return os.environ | {
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / "config"),
            "XDG_DATA_HOME": str(self.home / "data"),
            "XDG_STATE_HOME": str(self.home / "state"),
            "XDG_CACHE_HOME": str(self.home / "cache"),
            "XDG_RUNTIME_DIR": str(self._runtime),
        }

    def runtime_files(self) -> list[Path]:
        """What lies in the runtime folder, where the sockets are."""
        return list(self._runtime.iterdir())

    def close(self) -> None:
        self._editors.close()


@contextlib.contextmanager
def new_project(base: Path) -> Iterator[Project]:
    # Sockets' addresses are short: pytest's own folders are too deep for them.
    runtime = Path(tempfile.mkdtemp(prefix="la-"))
    project = Project(base, runtime)
    try:
        yield project
    finally:
        project.close()
        shutil.rmtree(runtime, ignore_errors=True)


class Stopwatch:
    def __init__(self) -> None:
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started
