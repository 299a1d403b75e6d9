"""A client that holds documents as an editor does: takes the server's edits, answers at once."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.vscode import Json, initialize_params
from bench.wire import SERVER, Client, frame
from lsp_agent.text.lines import splice, split_lines


class EditingClient(Client):
    """Texts are ASCII, so that a column is the same in every encoding. ``seen`` is called with
    each event."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path) -> None:
        super().__init__(command, env, cwd)
        self._documents: dict[str, tuple[int, list[str]]] = {}
        self.seen: Callable[[Json], None] = lambda _: None

    def open(self, path: Path) -> None:
        text = path.read_text(encoding="ascii")
        uri = path.as_uri()
        self._documents[uri] = 1, split_lines(text)
        item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": item})

    def text(self, path: Path) -> str:
        return "".join(self._documents[path.as_uri()][1])

    def call(self, method: str, params: Json | None = None) -> Json:
        """The result. Raises RuntimeError with the server's message."""
        answer = self.answer(self.request(method, params))
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def on_message(self, message: Json) -> None:
        """Called with all that the server says and asks."""
        match message:
            case {"method": "agent/event", "params": event}:
                self.seen(event)
            case {"method": "workspace/applyEdit", "id": msg_id, "params": params}:
                for document_edit in params["edit"]["documentChanges"]:
                    self._apply(document_edit)
                self.send(frame({"id": msg_id, "result": {"applied": True}}))
            case {"method": str(), "id": msg_id}:
                self.send(frame({"id": msg_id, "result": None}))
            case _:
                pass

    def _apply(self, document_edit: Json) -> None:
        uri = document_edit["textDocument"]["uri"]
        version, lines = self._documents[uri]
        changes = [
            {"range": edit["range"], "text": edit["newText"]}
            for edit in reversed(document_edit["edits"])
        ]
        for change in changes:
            start, end = change["range"]["start"], change["range"]["end"]
            splice(
                lines,
                start["line"],
                start["character"],
                end["line"],
                end["character"],
                change["text"],
            )
        self._documents[uri] = version + 1, lines
        item = {"uri": uri, "version": version + 1}
        self.notify("textDocument/didChange", {"textDocument": item, "contentChanges": changes})


def scripted(folder: Path, script: Path) -> Json:
    """``initialize`` with the embedded agent, which goes through the steps of ``script``; its
    commands are allowed, and ``agent/event`` is wanted."""
    command = [*SERVER[:-1], "rpc", "--script", str(script)]
    options = {
        "agent": "scripted",
        "agents": {"scripted": {"wire": "zot", "command": command, "provider": "script"}},
        "permissions": {"command": "allow"},
    }
    return initialize_params(folder, options, events=True)
