"""What an ACP agent asks of us, from its request to our answer: leave for a call, and files."""

from collections.abc import Mapping
from dataclasses import dataclass

from lsp_agent.wires import acp_messages as acp
from lsp_agent.wires.acp_record import Agent
from lsp_agent.wires.acp_turn import Turn
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.frames import Frame, frame, frames, integer, string
from lsp_agent.wires.wire import (
    Answer,
    Answered,
    Approve,
    Granted,
    ReadText,
    Refused,
    Send,
    Withdrawn,
    WriteText,
)


@dataclass(frozen=True, slots=True)
class _Request:
    """``id`` is the agent's own."""

    id: object
    method: str
    options: tuple[Frame, ...] = ()
    tool_call_id: str = ""


class Asked:
    """The requests that wait. Without ``hosts_files`` none for a file is answered by us."""

    def __init__(self) -> None:
        self.hosts_files = True
        self._next_key = 0
        self._waiting: dict[str, _Request] = {}

    def take(self, source: Frame, agent: Agent, turn: Turn | None, batch: Batch) -> None:
        self._next_key += 1
        key = f"a{self._next_key}"
        request_id, method = source.get("id"), string(source, "method")
        params = frame(source.get("params"))
        path = string(params, "path")
        match method:
            case "session/request_permission" if turn is not None:
                call = frame(params.get("toolCall"))
                call_id, tool, args, paths = turn.asks(call, batch)
                options = tuple(frames(params.get("options")))
                self._waiting[key] = _Request(request_id, method, options, call_id)
                batch.add(Approve(key, tool, args, call_id or None, paths))
            case "session/request_permission":
                batch.add(Send(acp.result(request_id, {"outcome": {"outcome": "cancelled"}})))
            case "fs/read_text_file" if self.hosts_files:
                self._waiting[key] = _Request(request_id, method)
                call_id = turn.call_at(path, "read") if turn else None
                line, limit = integer(params, "line"), integer(params, "limit")
                batch.add(ReadText(key, path, call_id, line, limit))
            case "fs/write_text_file" if agent.is_opencode:
                batch.add(Send(acp.result(request_id, {})))
            case "fs/write_text_file" if self.hosts_files:
                self._waiting[key] = _Request(request_id, method)
                call_id = turn.call_at(path, "edit") if turn else None
                text = string(params, "content")
                batch.add(WriteText(key, path, text, call_id, reads_answer=False))
            case _:
                refusal = f"lsp-agent offers no {method}"
                batch.add(Send(acp.error(request_id, acp.METHOD_NOT_FOUND, refusal)))

    def answer(self, key: str, answer: Answer, turn: Turn | None) -> Mapping[str, object] | None:
        """Leave is given and refused by the option that holds for this one call; where the agent
        offers none such, and in an aborted turn, by no option at all."""
        request = self._waiting.pop(key, None)
        if request is None:
            return None
        if request.method == "session/request_permission":
            return acp.result(request.id, {"outcome": _outcome(request, answer, turn)})
        match answer:
            case Answered(text):
                read = request.method == "fs/read_text_file"
                return acp.result(request.id, {"content": text} if read else {})
            case Refused(reason, missing):
                code = acp.RESOURCE_NOT_FOUND if missing else acp.INTERNAL_ERROR
                return acp.error(request.id, code, reason)
            case Granted():
                return acp.error(request.id, acp.INTERNAL_ERROR, "nothing was done")

    def cancelled(self, request_id: object, batch: Batch) -> None:
        """The agent waits for this one no longer."""
        for key, request in self._waiting.items():
            if request.id == request_id:
                batch.add(Withdrawn(key))

    def withdraw(self, batch: Batch) -> None:
        """Nobody waits any longer: the turn has ended."""
        for key in self._waiting:
            batch.add(Withdrawn(key))

    def lost(self) -> None:
        self._waiting.clear()


def _outcome(request: _Request, answer: Answer, turn: Turn | None) -> Frame:
    if turn is None or turn.aborted:
        return {"outcome": "cancelled"}
    kind = "allow_once"
    if isinstance(answer, Refused):
        kind = "reject_once"
        turn.refused(request.tool_call_id, answer.reason)
    for option in request.options:
        if string(option, "kind") == kind:
            return {"outcome": "selected", "optionId": string(option, "optionId")}
    return {"outcome": "cancelled"}
