"""The workbench with the real server and an agent that follows a script: what a test drives."""

import itertools
import json
import os
import sys
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from support.workbench import SECONDS, Json, Workbench, wait_until

LSP_AGENT = [sys.executable, "-P", "-m", "lsp_agent"]

SHOW = """
const document = await vscode.workspace.openTextDocument(argument);
await vscode.window.showTextDocument(document, { preview: false });
"""
TEXT = """
const document = vscode.workspace.textDocuments.find((d) => d.uri.fsPath === argument);
return document && { text: document.getText(), dirty: document.isDirty };
"""
# A command of the window's own: it runs after the keys that were pressed before, and its answer
# comes after the changes that they made.
SETTLE = "await vscode.commands.executeCommand('setContext', 'harness.settled', argument)"
# Once more where an edit came in between: its change is told after it is in, and the line that was
# meant is another by then.
PLACE = """
const { path, mark, offset, atMark } = argument;
const editor = vscode.window.visibleTextEditors.find((e) => e.document.uri.fsPath === path);
const document = editor.document;
const from = editor.selection.active;
let line, version;
do {
  version = document.version;
  const found = document.getText().indexOf(mark);
  const start = found < 0 ? from : document.positionAt(found);
  line = Math.max(0, Math.min(document.lineCount - 1, start.line + offset));
  const isThere = atMark && found >= 0 && offset === 0;
  const place = new vscode.Position(line, isThere ? start.character : 0);
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(new vscode.Range(place, place), vscode.TextEditorRevealType.InCenter);
  await vscode.commands.executeCommand('setContext', 'harness.settled', line);
} while (document.version !== version);
return line;
"""
#: Is said of an edit that VS Code did not take in all that time, as keys came before each send.
REFUSED = "refused the edit"

# The text counts only where nothing was typed between the request and its answer.
EDITS = """
const document = vscode.workspace.textDocuments.find((d) => d.uri.fsPath === argument);
const { version } = document;
const { edits } = await client().sendRequest('agent/edits', { uri: document.uri.toString() });
return { edits, text: version === document.version ? document.getText() : null };
"""


@dataclass(frozen=True)
class ToolOutcome:
    """``seconds`` are from the model's answer to the tool's result."""

    text: str
    is_error: bool
    seconds: float


class RequestError(Exception):
    """A request that the server answered with an error; ``data`` is the error's."""

    def __init__(self, error: Json) -> None:
        super().__init__(error["message"])
        self.data: Json = error.get("data") or {}


class Desk:
    """One file, ``name``, in the workbench's folder. The person's own folders lie in ``base``,
    the sockets in ``runtime``."""

    _numbers = itertools.count(1)

    def __init__(self, workbench: Workbench, base: Path, runtime: Path, name: str) -> None:
        self.workbench = workbench
        self.name = name
        self.path = workbench.folder / name
        self.log = base / "server.log"
        self._base = base
        folders = {f"XDG_{k}_HOME": str(base / k) for k in ("CONFIG", "DATA", "STATE", "CACHE")}
        self._env = os.environ | folders | {"HOME": str(base), "XDG_RUNTIME_DIR": str(runtime)}

    def open(self, text: str) -> None:
        """The file with this text, shown and focused."""
        self.path.write_bytes(text.encode())
        self.workbench.run(SHOW, str(self.path))
        wait_until(lambda: self.text() == text)

    def start(self, *steps: Json, hosting: str = "auto", **options: Any) -> None:
        """Starts the server as a person's configuration would."""
        script = self._base / "script.json"
        script.write_text(json.dumps({"steps": steps}), encoding="utf-8")
        agent = {
            "wire": "zot",
            "command": [*LSP_AGENT, "rpc", "--script", str(script)],
            "provider": "script",
            "hosting": hosting,
        }
        serve = [*LSP_AGENT, "serve", "--log-file", str(self.log)]
        self.workbench.run(
            "await start(argument)",
            {
                "command": serve[0],
                "args": serve[1:],
                "cwd": str(self.workbench.folder),
                "env": self._env,
                "options": {"agent": "scripted", "agents": {"scripted": agent}} | options,
            },
        )

    def close(self) -> None:
        """Ends the server, then closes the tab without saving, and what was said."""
        self.workbench.run("await stop()")
        self.workbench.command("notifications.clearAll")
        self.workbench.command("workbench.action.revertAndCloseActiveEditor")

    # Requests

    def send(self, method: str, **params: Any) -> int:
        """Sends a request and does not wait; its number."""
        number = next(self._numbers)
        self.workbench.run("send(...argument)", [number, method, params])
        return number

    def prompt(self, text: str) -> int:
        return self.send("agent/prompt", text=text)

    def answer(self, number: int) -> Json | None:
        return self.workbench.run("return answer(argument)", number)

    def wait(self, number: int, timeout: float = SECONDS) -> Any:
        """The result of a request. Raises RequestError."""
        answer = wait_until(lambda: self.answer(number), timeout)
        if "error" in answer:
            raise RequestError(answer["error"])
        return answer["result"]

    def call(self, method: str, **params: Any) -> Any:
        return self.wait(self.send(method, **params))

    def ask(self, text: str = "Go.") -> Json:
        """A turn from its prompt to its end."""
        return self.wait(self.prompt(text))

    def edits(self) -> list[Json]:
        """The agent's edits of the file."""
        return self.seen_edits()[0]

    def seen_edits(self) -> tuple[list[Json], str | None]:
        """The edits of the file, and the text that they were listed for; None where something
        was typed meanwhile."""
        found = self.workbench.run(EDITS, str(self.path))
        return found["edits"], found["text"]

    def outcomes(self) -> list[ToolOutcome]:
        """Of every tool call so far, in order, as the agent was told."""
        found: list[ToolOutcome] = []
        since = ""
        for message in self.call("agent/messages")["messages"]:
            for block in message["content"]:
                if block["type"] == "toolResult":
                    text = "".join(part.get("text", "") for part in block["content"])
                    seconds = _time(message["time"]) - _time(since)
                    found.append(ToolOutcome(text, block["isError"], seconds))
            since = message["time"]
        return found

    # What the editor shows and did

    def text(self) -> str:
        return self.workbench.run(TEXT, str(self.path))["text"]

    def is_dirty(self) -> bool:
        return self.workbench.run(TEXT, str(self.path))["dirty"]

    def sends(self) -> list[Json]:
        """The server's edits so far, and whether each was taken."""
        return self.workbench.run("return log.sends")

    def taken(self) -> int:
        """How many of the server's edits the editor has taken."""
        return self.workbench.run("return log.sends.filter((send) => send.applied).length")

    def undone(self) -> list[Json]:
        """The file's texts ``before`` and ``after`` each undo and redo so far."""
        found = self.workbench.run("return log.undone")
        return [entry for entry in found if entry["path"] == str(self.path)]

    def story(self, mark: str) -> list[str]:
        """Why a mark is in or not: the edits that the editor took (a deletion does not name what
        it deletes), and each undo and redo that brought it or took it."""
        sends = [json.dumps(send["change"]) for send in self.sends() if send["applied"]]
        undone = [
            f"undo {number}: {entry['before'].count(mark)} times, then {entry['after'].count(mark)}"
            for number, entry in enumerate(self.undone())
            if entry["before"].count(mark) != entry["after"].count(mark)
        ]
        return sends + undone

    def settle(self) -> None:
        """Until all keys so far have taken effect."""
        self.workbench.run(SETTLE, 0)

    def go_to(self, mark: str, offset: int = 0, *, at_mark: bool = False) -> int:
        """Puts the cursor at the start of the line that is ``offset`` below the mark's, or before
        the mark itself; the line, 0-based. Where the mark is not, it counts from the cursor."""
        where = {"path": str(self.path), "mark": mark, "offset": offset, "atMark": at_mark}
        return self.workbench.run(PLACE, where)

    def save(self) -> bool:
        """Saves as a person does. Whether VS Code asked first, as the file on disk is newer than
        what it last read or wrote; the answer is to overwrite it."""
        self.workbench.key("Control+s")
        overwrite = self.workbench.page.locator(".notification-toast a", has_text="Overwrite")
        wait_until(lambda: not self.is_dirty() or overwrite.count())
        asked = self.is_dirty()
        if asked:
            overwrite.first.click()
            wait_until(lambda: not self.is_dirty())
        assert self.path.read_bytes().decode() == self.text()
        return asked


def _time(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


# The script's parts.


def step(*calls: Json, text: str = "", **more: Any) -> Json:
    return {"text": text, "calls": list(calls)} | more


def edit(path: str, *changes: tuple[str, str]) -> Json:
    """One tool call that replaces each old text by a new one."""
    pairs = [{"oldText": old, "newText": new} for old, new in changes]
    return {"name": "edit", "args": {"path": path, "edits": pairs}}


def read(path: str) -> Json:
    return {"name": "read", "args": {"path": path}}


def done() -> Json:
    return {"text": "Done."}
