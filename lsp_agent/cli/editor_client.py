"""A small editor without a screen: a real LSP client for the commands that need a server.

It holds documents, applies the server's edits as an editor does (refusing stale versions),
saves when asked, and hands everything else to callbacks.
"""

import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
from anyio.abc import Process, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream

from lsp_agent.text.edits import TextEdit, apply_edits
from lsp_agent.text.lines import Text
from lsp_agent.text.plain import escaped_line

Json = dict[str, Any]

_CAPABILITIES: Json = {
    "general": {"positionEncodings": ["utf-32"]},
    "window": {"workDoneProgress": True},
    "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
    "experimental": {"agent": {"events": True, "save": True, "ask": True}},
}

#: After being told to end: it gives its agents 4 s of that, and what it still has to write 5 s. An
#: answer that is there already is no failure because a machine is busy.
END_SECONDS = 30.0
_GONE = -32000
#: LSP's MessageType: errors are 1.
_WARNING = 2
_ENDED = "the server ended by itself; `lsp-agent doctor` says what is wrong here"


@dataclass(slots=True)
class Document:
    path: Path
    text: Text
    version: int


class RequestError(Exception):
    """The server answered a request with an error: ``code``, its message and ``data.kind``."""

    def __init__(self, code: int, message: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.kind = kind


class EditorClient:
    """Started by :meth:`connect`; positions are code points (utf-32 is negotiated)."""

    def __init__(
        self,
        folder: Path,
        *,
        on_event: Callable[[Json], None],
        on_progress: Callable[[Json], None],
        answer: Callable[[Json], Awaitable[str | None]],
        on_warning: Callable[[str], None] = lambda _message: None,
        name: str = "lsp-agent demo",
    ) -> None:
        """``on_warning`` is given what the server would have an editor show as a warning or an
        error: faults in the settings above all."""
        self._folder = folder
        self._name = name
        self._on_event = on_event
        self._on_progress = on_progress
        self._answer = answer
        self._on_warning = on_warning
        self._documents: dict[str, Document] = {}
        self._pending: dict[int, tuple[anyio.Event, list[Json]]] = {}
        self._ids = 0

    async def connect(self, tasks: TaskGroup, options: Json) -> None:
        """Starts ``lsp-agent serve`` and shakes hands."""
        self._tasks = tasks
        self._process: Process = await anyio.open_process(
            [sys.executable, "-E", "-P", "-m", "lsp_agent", "serve"],
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # the terminal's Ctrl-C is for us to act on
        )
        tasks.start_soon(self._read)
        uri = self._folder.as_uri()
        await self.request(
            "initialize",
            {
                "processId": None,
                "clientInfo": {"name": self._name},
                "rootUri": uri,
                "workspaceFolders": [{"uri": uri, "name": self._folder.name}],
                "capabilities": _CAPABILITIES,
                "initializationOptions": options,
            },
        )
        await self.notify("initialized", {})

    async def close(self) -> int:
        """Shuts the server down; its exit code. Raises RequestError if it does not end."""
        await self.request("shutdown", None)
        await self.notify("exit", None)
        with anyio.move_on_after(END_SECONDS):
            code = await self._process.wait()
            await self._process.aclose()
            return code
        raise RequestError(_GONE, f"the server did not end within {END_SECONDS:g} s of being told")

    async def kill(self) -> None:
        """Ends a server that did not end when told, and returns when it is gone."""
        if self._process.returncode is None:
            self._process.kill()
        with anyio.CancelScope(shield=True):
            await self._process.aclose()  # its pipes too: asyncio complains of them once it ended

    async def open(self, path: Path) -> Document:
        content = await anyio.Path(path).read_text(encoding="utf-8")
        document = Document(path, Text.of(content), 1)
        self._documents[path.as_uri()] = document
        item = {
            "uri": path.as_uri(),
            "languageId": "python",
            "version": 1,
            "text": document.text.content,
        }
        await self.notify("textDocument/didOpen", {"textDocument": item})
        return document

    async def type(self, document: Document, line: int, column: int, typed: str) -> None:
        """The person types; the document is then unsaved."""
        await self._change(document, [TextEdit(line, column, line, column, typed)])

    async def request(self, method: str, params: object, *, msg_id: int | None = None) -> Any:
        """:raises RequestError: for an error answer"""
        msg_id = msg_id if msg_id is not None else self.next_id()
        arrived, answers = self._pending[msg_id] = (anyio.Event(), list[Json]())
        try:
            await self._send({"id": msg_id, "method": method, "params": params})
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise RequestError(_GONE, _ENDED) from None
        await arrived.wait()
        del self._pending[msg_id]
        answer = answers[0]
        if "error" in answer:
            error = answer["error"]
            kind = error.get("data", {}).get("kind")
            raise RequestError(error["code"], error["message"], kind)
        return answer["result"]

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    async def notify(self, method: str, params: object) -> None:
        await self._send({"method": method, "params": params})

    async def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        await self._process.stdin.send(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        stream = BufferedByteReceiveStream(self._process.stdout)
        while True:
            try:
                header = await stream.receive_until(b"\r\n\r\n", 4096)
                body = await stream.receive_exactly(int(header.split(b":")[1]))
            except (anyio.IncompleteRead, anyio.ClosedResourceError):
                break
            self._received(json.loads(body))
        for arrived, answers in self._pending.values():
            answers.append({"error": {"code": _GONE, "message": _ENDED}})
            arrived.set()

    def _received(self, message: Json) -> None:
        method, msg_id = message.get("method"), message.get("id")
        if method is None:
            arrived, answers = self._pending[cast(int, msg_id)]
            answers.append(message)
            arrived.set()
        elif msg_id is not None:
            self._tasks.start_soon(self._serve, msg_id, method, message.get("params"))
        elif method == "agent/event":
            self._on_event(message["params"])
        elif method == "$/progress":
            self._on_progress(message["params"])
        elif method == "window/showMessage" and message["params"]["type"] <= _WARNING:
            self._on_warning(message["params"]["message"])

    async def _serve(self, msg_id: object, method: str, params: Any) -> None:
        match method:
            case "workspace/applyEdit":
                result: object = {"applied": await self._apply(params)}
            case "agent/saveDocument":
                result = {"saved": await self._save(params)}
            case "agent/ask":
                result = {"optionId": await self._answer(params)}
            case _:
                result = None
        await self._send({"id": msg_id, "result": result})

    async def _apply(self, params: Json) -> bool:
        change = params["edit"]["documentChanges"][0]
        document = self._documents[change["textDocument"]["uri"]]
        if change["textDocument"]["version"] != document.version:
            return False
        await self._change(document, [_edit(edit) for edit in change["edits"]])
        return True

    async def _save(self, params: Json) -> bool:
        document = self._documents[params["uri"]]
        if params.get("version") not in (None, document.version):
            return False
        await anyio.Path(document.path).write_bytes(document.text.content.encode())
        await self.notify("textDocument/didSave", {"textDocument": {"uri": document.path.as_uri()}})
        return True

    async def _change(self, document: Document, edits: Sequence[TextEdit]) -> None:
        document.text = apply_edits(document.text, edits)
        document.version += 1
        await self.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": document.path.as_uri(), "version": document.version},
                # Last first: each range is then right in the text that the ones before it left.
                "contentChanges": [_change(edit) for edit in reversed(edits)],
            },
        )


def call_title(event: Json) -> str:
    """A ``toolCall`` in one line, fit for a terminal."""
    args: Json = event["args"] or {}
    subject = str(args.get("command") or args.get("path") or next(iter(event["paths"]), ""))
    return escaped_line(f"{event['tool']} {subject}".strip())


def _edit(edit: Json) -> TextEdit:
    start, end = edit["range"]["start"], edit["range"]["end"]
    return TextEdit(
        start["line"], start["character"], end["line"], end["character"], edit["newText"]
    )


def _change(edit: TextEdit) -> Json:
    return {
        "range": {
            "start": {"line": edit.start_line, "character": edit.start_column},
            "end": {"line": edit.end_line, "character": edit.end_column},
        },
        "text": edit.new_text,
    }
