"""What an ACP agent asks of us, from its request to our answer: leave for a call, and files."""

from collections.abc import Mapping
from dataclasses import dataclass

from lsp_agent.toolset.loose_json import Frame, frame, frames, integer, string
from lsp_agent.wires.acp import messages as acp
from lsp_agent.wires.acp.record import Agent
from lsp_agent.wires.acp.turn import Turn
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, VERSIONED
from lsp_agent.wires.wire import (
    Answer,
    Answered,
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
    missing_is_empty: bool = False


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
                call = acp.whole_call(frame(params.get("toolCall")), agent.habits)
                approve = turn.asks(key, call, batch)
                options = tuple(frames(params.get("options")))
                call_id = approve.tool_call_id or ""
                self._waiting[key] = _Request(request_id, method, options, call_id)
                batch.add(approve)
            case "session/request_permission":
                batch.add(Send(VERSIONED.result(request_id, {"outcome": {"outcome": "cancelled"}})))
            case "fs/read_text_file" if self.hosts_files:
                empty = agent.habits.missing_is_empty
                call_id = turn.call_at(path, "read") if turn else None
                self._waiting[key] = _Request(
                    request_id, method, missing_is_empty=empty, tool_call_id=call_id or ""
                )
                line, limit = integer(params, "line"), integer(params, "limit")
                batch.add(ReadText(key, path, call_id, line, limit))
            case "fs/write_text_file" if agent.habits.announces_writes:
                batch.add(Send(VERSIONED.result(request_id, {})))
            case "fs/write_text_file" if self.hosts_files:
                text = params.get("content")
                if not isinstance(text, str):  # an empty text would take out all there is
                    refusal = "content is not a string"
                    batch.add(Send(acp.error(request_id, INVALID_PARAMS, refusal)))
                    return
                call_id = turn.call_at(path, "edit") if turn else None
                self._waiting[key] = _Request(request_id, method, tool_call_id=call_id or "")
                batch.add(WriteText(key, path, text, call_id, reads_answer=False))
            case _:
                refusal = f"lsp-agent offers no {method}"
                batch.add(Send(acp.error(request_id, METHOD_NOT_FOUND, refusal)))

    def answer(self, key: str, answer: Answer, turn: Turn | None) -> Mapping[str, object] | None:
        """Leave is given and refused by the option that holds for this one call; where the agent
        offers none such, and in an aborted turn, by no option at all."""
        request = self._waiting.pop(key, None)
        if request is None:
            return None
        if request.method == "session/request_permission":
            return VERSIONED.result(request.id, {"outcome": _outcome(request, answer, turn)})
        if turn is not None:
            missing = isinstance(answer, Refused) and answer.missing  # the agent may make it
            refused = answer.reason if isinstance(answer, Refused) and not missing else None
            turn.served(request.tool_call_id, refused)
        match answer:
            case Answered(text):
                read = request.method == "fs/read_text_file"
                return VERSIONED.result(request.id, {"content": text} if read else {})
            case Refused(_, missing=True) if request.missing_is_empty:
                return VERSIONED.result(request.id, {"content": ""})
            case Refused(reason, missing):
                code = acp.RESOURCE_NOT_FOUND if missing else INTERNAL_ERROR
                return acp.error(request.id, code, reason)
            case Granted():
                return acp.error(request.id, INTERNAL_ERROR, "nothing was done")

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
