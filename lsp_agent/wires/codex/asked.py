"""What Codex asks of us: calls of our tools, and leave for what its own tools would do."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from lsp_agent.toolset.loose_json import Frame, frame, frames, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.codex import tools as codex_tools
from lsp_agent.wires.jsonrpc import BARE
from lsp_agent.wires.wire import (
    Answer,
    Answered,
    Approve,
    Dialog,
    Granted,
    Refused,
    RunTool,
    Send,
    Withdrawn,
)

_Kind = Literal["tool", "command", "elicitation", "question"]


@dataclass(frozen=True, slots=True)
class _Open:
    """A request that waits for our answer; ``question`` is the id of what the person is asked."""

    rpc_id: object
    kind: _Kind
    question: str = ""


class Asked:
    """The requests that are open, by the key that names each."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}

    def take(self, method: str, request: Frame, batch: Batch, *, runs: bool) -> bool:
        """``runs``: the turn that it is of. Returns whether it was a patch, which is declined."""
        rpc_id, params = request.get("id"), frame(request.get("params"))
        key = str(rpc_id)
        match method:
            case "item/fileChange/requestApproval":
                batch.add(Send(BARE.result(rpc_id, {"decision": "decline"})))
                return True
            case "item/tool/call" if not runs:
                batch.add(Send(_told(rpc_id, "Not run: its turn has ended.", success=False)))
            case "item/tool/call":
                self._tool(key, rpc_id, params, batch)
            case "item/commandExecution/requestApproval" if runs:
                self._open[key] = _Open(rpc_id, "command")
                args = {"command": string(params, "command")}
                call_id, folder = string(params, "itemId") or None, string(params, "cwd")
                batch.add(Approve(key, "bash", args, call_id, folder=folder))
            case "item/commandExecution/requestApproval":
                batch.add(Send(BARE.result(rpc_id, {"decision": "decline"})))
            case "mcpServer/elicitation/request" if runs:
                self._elicited(key, rpc_id, params, batch)
            case "mcpServer/elicitation/request":
                batch.add(Send(BARE.result(rpc_id, {"action": "decline"})))
            case "item/tool/requestUserInput" if runs:
                self._question(key, rpc_id, params, batch)
            case "item/permissions/requestApproval":
                batch.add(Send(BARE.result(rpc_id, {"permissions": {}})))
            case _:
                batch.add(Send(BARE.unknown(rpc_id, method)))
        return False

    def answer(self, key: str, answer: Answer) -> Mapping[str, object] | None:
        opened = self._open.pop(key, None)
        if opened is None:
            return None
        match opened.kind:
            case "tool":
                return _told(opened.rpc_id, _words(answer), success=not _refused(answer))
            case "command":
                decision = "decline" if _refused(answer) else "accept"
                return BARE.result(opened.rpc_id, {"decision": decision})
            case "elicitation":
                action = "decline" if _refused(answer) else "accept"
                return BARE.result(opened.rpc_id, {"action": action})
            case "question":
                chosen = [] if _refused(answer) else [_words(answer)]
                answers = {opened.question: {"answers": chosen}}
                return BARE.result(opened.rpc_id, {"answers": answers})
            case _:
                assert_never(opened.kind)

    def resolved(self, rpc_id: object, batch: Batch) -> None:
        """Codex waits for it no longer, or has our answer."""
        if self._open.pop(str(rpc_id), None) is not None:
            batch.add(Withdrawn(str(rpc_id)))

    def withdraw(self, batch: Batch) -> None:
        """All of them."""
        for key in self._open:
            batch.add(Withdrawn(key))
        self._open.clear()

    def _tool(self, key: str, rpc_id: object, params: Frame, batch: Batch) -> None:
        tool = string(params, "tool")
        if tool not in codex_tools.NAMES:
            batch.add(Send(_told(rpc_id, f'unknown tool "{tool}"', success=False)))
            return
        self._open[key] = _Open(rpc_id, "tool")
        arguments = frame(params.get("arguments"))
        batch.add(RunTool(key, tool, arguments, string(params, "callId") or None))

    def _elicited(self, key: str, rpc_id: object, params: Frame, batch: Batch) -> None:
        """A server of the Model Context Protocol, or Codex before it calls one, asks for a yes.
        What asks for more is declined: there is no form to fill in."""
        if frame(frame(params.get("requestedSchema")).get("properties")):
            batch.add(Send(BARE.result(rpc_id, {"action": "decline"})))
            return
        self._open[key] = _Open(rpc_id, "elicitation")
        server, args = string(params, "serverName") or "mcp", {"message": string(params, "message")}
        url = string(params, "url")
        if url:  # each is another
            args["url"] = url
        batch.add(Approve(key, server, args, None, named=not url))

    def _question(self, key: str, rpc_id: object, params: Frame, batch: Batch) -> None:
        """The first of the model's questions; Codex goes on without answers to the others."""
        asked = frames(params.get("questions"))
        options = frames(asked[0].get("options")) if asked else []
        if not options:
            batch.add(Send(BARE.result(rpc_id, {"answers": {}})))
            return
        self._open[key] = _Open(rpc_id, "question", string(asked[0], "id"))
        labels = tuple((string(one, "label"), string(one, "label")) for one in options)
        told = "\n".join(f"{string(o, 'label')}: {string(o, 'description')}" for o in options)
        batch.add(Dialog(key, string(asked[0], "question"), labels, told))


def _refused(answer: Answer) -> bool:
    return isinstance(answer, Refused)


def _words(answer: Answer) -> str:
    match answer:
        case Answered(text):
            return text
        case Granted(note):
            return note or ""
        case Refused(reason):
            return reason
        case _:
            assert_never(answer)


def _told(rpc_id: object, words: str, *, success: bool) -> Mapping[str, object]:
    """The answer to a call of our tools."""
    content = [{"type": "inputText", "text": words}]
    return BARE.result(rpc_id, {"contentItems": content, "success": success})
