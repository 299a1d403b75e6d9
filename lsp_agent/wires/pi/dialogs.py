"""What pi's extensions ask: ours for files and permissions, others for a person's answer.

Ours asks by an ``input`` dialog with our title: its placeholder is
``{"ask": "approve", "call", "tool", "args"}``, ``{"ask": "read", "call", "path"}`` or
``{"ask": "write", "call", "path", "text"}``, its answer ``{"ok": true, "text"?, "note"?}`` or
``{"ok": false, "reason", "missing"}``, both as JSON.
"""

import json
from collections.abc import Mapping

from lsp_agent.protocol.events import Notice
from lsp_agent.toolset.kinds import paths
from lsp_agent.toolset.loose_json import Frame, frame, items, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.pi import messages as pi
from lsp_agent.wires.wire import (
    Answer,
    Answered,
    Approve,
    Dialog,
    Granted,
    ReadText,
    Refused,
    Send,
    Withdrawn,
    WriteText,
)

TITLE = "lsp-agent"

_YES, _NO = ("yes", "Yes"), ("no", "No")

_Request = Approve | ReadText | WriteText | Dialog


class Dialogs:
    """Those that are open."""

    def __init__(self) -> None:
        self._open: dict[str, _Request] = {}

    def asked(self, source: Frame, batch: Batch) -> None:
        """An ``extension_ui_request``."""
        key, title = string(source, "id"), string(source, "title")
        match string(source, "method"):
            case "input" if title == TITLE:
                self._add(key, _ours(key, string(source, "placeholder")), batch)
            case "select":
                options = enumerate(items(source.get("options")))
                named = tuple((str(number), str(option)) for number, option in options)
                self._add(key, Dialog(key, title, named) if named else None, batch)
            case "confirm":
                detail = string(source, "message") or None
                self._add(key, Dialog(key, title, (_YES, _NO), detail), batch)
            case "input" | "editor":
                told = f"An extension of pi's asked for a text ({title}), which cannot be given."
                batch.add(Notice("warning", told, "agent"))
                batch.add(Send(_response(key, cancelled=True)))
            case "notify":
                level = pi.level(string(source, "notifyType"))
                batch.add(Notice(level, string(source, "message"), "agent"))
            case "setStatus" if told := string(source, "statusText"):
                batch.add(Notice("debug", told, "agent"))
            case other:
                batch.add(Notice("debug", f"{other[:80]} is not shown", "agent"))

    def answer(self, key: str, answer: Answer) -> Mapping[str, object] | None:
        """The response; None if pi waits for it no longer."""
        match self._open.pop(key, None), answer:
            case None, _:
                return None
            case Dialog(options=(first, _)), Answered(text) if first == _YES:
                return _response(key, confirmed=text == _YES[0])
            case Dialog(options=options), Answered(text):
                return _response(key, value=dict(options)[text])
            case Dialog(), _:
                return _response(key, cancelled=True)
            case ReadText(), Answered(text):
                return _response(key, value=_json(ok=True, text=text))
            case _, Answered(note):
                return _response(key, value=_json(ok=True, note=note))
            case _, Granted(note):
                return _response(key, value=_json(ok=True, note=note or ""))
            case _, Refused(reason, missing):
                return _response(key, value=_json(ok=False, reason=reason, missing=missing))

    def call_ended(self, call_id: str, batch: Batch) -> None:
        """pi tells in no other way that it waits no longer."""
        self._withdraw([key for key, open_ in self._open.items() if _call(open_) == call_id], batch)

    def withdraw(self, batch: Batch) -> None:
        """pi is at rest: no call waits for anything."""
        self._withdraw([key for key, open_ in self._open.items() if _call(open_)], batch)

    def _withdraw(self, keys: list[str], batch: Batch) -> None:
        for key in keys:
            del self._open[key]
            batch.add(Withdrawn(key))

    def _add(self, key: str, request: _Request | None, batch: Batch) -> None:
        if request is None or not key or key in self._open:
            batch.add(Notice("debug", "a dialog that cannot be shown", "agent"))
            batch.add(Send(_response(key, cancelled=True)))
            return
        self._open[key] = request
        batch.add(request)


def _ours(key: str, placeholder: str) -> Approve | ReadText | WriteText | None:
    try:
        asked = frame(json.loads(placeholder))
    except ValueError:
        return None
    call, path = string(asked, "call"), string(asked, "path")
    match string(asked, "ask"):
        case "approve":
            args = frame(asked.get("args"))
            return Approve(key, string(asked, "tool"), args, call, paths(args))
        case "read":
            return ReadText(key, path, call)
        case "write" if isinstance(text := asked.get("text"), str):
            return WriteText(key, path, text, call)
        case _:
            return None


def _call(request: _Request) -> str | None:
    return None if isinstance(request, Dialog) else request.tool_call_id


def _response(key: str, **answer: object) -> dict[str, object]:
    return {"type": "extension_ui_response", "id": key, **answer}


def _json(**answer: object) -> str:
    return json.dumps(answer)
