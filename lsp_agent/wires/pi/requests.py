"""What pi was sent, and what its answers mean.

Some commands take several requests, one after the other: a handshake, a change of the model, an
abort behind what was steered. Each but the last has the id "type:request_id".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from lsp_agent.protocol.events import Notice
from lsp_agent.protocol.messages import Usage
from lsp_agent.toolset.loose_json import Frame, frame, items, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.pi import messages as pi
from lsp_agent.wires.wire import (
    Abort,
    Clear,
    Command,
    Compact,
    CompactEnded,
    GetCommands,
    GetMessages,
    GetModels,
    GetOptions,
    GetState,
    Hello,
    ListSessions,
    Prompt,
    Reply,
    Send,
    SetModel,
    SetOption,
    Steer,
)

_TYPES: Mapping[type, str] = {
    Abort: "abort",
    Compact: "compact",
    Clear: "new_session",
    GetState: "get_state",
    GetMessages: "get_messages",
    GetModels: "get_available_models",
    GetCommands: "get_commands",
    ListSessions: "get_state",
}

#: The capability that a build lacks if it does not know the command.
_NEEDED_FOR: Mapping[type, str] = {
    Steer: "steer",
    Compact: "compact",
    Clear: "clear",
    GetModels: "models",
    SetModel: "setModel",
    GetOptions: "options",
    SetOption: "options",
    GetCommands: "commands",
}

_NOT_LOADED = (
    "it did not load lsp-agent's extension, so it cannot be held to the permissions. A script in"
    " its `command` must hand on all its arguments (-e)"
)


@dataclass(frozen=True, slots=True)
class Taken:
    """pi has taken this prompt or steered message; ``handled``: it needs no run."""

    request_id: str
    command: Prompt | Steer
    handled: bool


class Requests:
    """``lower`` is told of a capability that this pi turned out to lack; ``usage`` is the
    session's so far; ``version`` is pi's once the handshake is over, "" before."""

    def __init__(self, lower: Callable[[str], None]) -> None:
        self.usage: Usage = {}
        self.version = ""
        self._lower = lower
        #: Those of extensions.
        self._commands: frozenset[str] = frozenset()
        self._sent: dict[str, Command] = {}
        self._steps: dict[str, Command] = {}
        #: The prompts that pi began to work on before it answered them.
        self._begun: set[str] = set()
        #: Whether each compaction under way was aborted.
        self._compactions: dict[str, bool] = {}
        #: The thinking levels of the present model, as last told.
        self._levels: list[str] = []

    def send(self, request_id: str, command: Command, *, steered: bool) -> Mapping[str, object]:
        """The frame of ``command``; ``steered``: something may wait in pi's own queue."""
        match command:
            case Hello(None):
                return self._step(request_id, command, {"type": "get_commands"})
            case Hello(session):
                request = {"type": "switch_session", "sessionPath": session}
                return self._step(request_id, command, request)
            case SetModel():  # which one is meant is looked up first
                return self._step(request_id, command, {"type": "get_available_models"})
            case GetOptions():
                return self._step(request_id, command, {"type": "get_available_thinking_levels"})
            case SetOption(pi.THINKING, level):
                return self._step(
                    request_id, command, {"type": "set_thinking_level", "level": level}
                )
            case Abort() if steered:  # what waits would be taken up after the abort
                return self._step(request_id, command, {"type": "clear_queue"})
            case Compact():
                self._compactions[request_id] = False
            case _:
                pass
        self._sent[request_id] = command
        return {"id": request_id, **_request(command)}

    def prompts(self) -> list[str]:
        """The ids of those that pi has not answered."""
        return [id_ for id_, command in self._sent.items() if isinstance(command, Prompt)]

    def begin(self) -> tuple[str, str] | None:
        """pi works, so it has taken the first of the prompts: its id and its text."""
        for request_id in self.prompts():
            prompt = self._sent.pop(request_id)
            assert isinstance(prompt, Prompt)
            self._begun.add(request_id)
            return request_id, prompt.text
        return None

    def abort_compactions(self) -> bool:
        """Whether there was one."""
        self._compactions = dict.fromkeys(self._compactions, True)
        return bool(self._compactions)

    def lost(self, message: str | None, batch: Batch) -> None:
        for request_id in list(self._compactions):
            self._end_compaction(request_id, None, message, batch)
        self._sent.clear()
        self._steps.clear()

    def response(self, source: Frame, batch: Batch) -> Taken | None:
        """Only of a prompt or a steered message there is more to tell than the reply."""
        response_id = string(source, "id")
        error = None
        if source.get("success") is not True:
            error = string(source, "error") or "refused without a reason"
        data = frame(source.get("data"))
        if (command := self._steps.pop(response_id, None)) is not None:
            kind, _, request_id = response_id.partition(":")
            self._step_answered(kind, request_id, command, data, error, batch)
        elif (command := self._sent.pop(response_id, None)) is not None:
            return self._answered(response_id, command, data, error, batch)
        elif response_id in self._begun:
            self._begun.discard(response_id)
            batch.add(Reply(response_id, error=error))
        elif error is not None:
            batch.add(Notice("debug", f"response to nothing: {error}", "agent"))
        return None

    def refuse_last(self, message: str, batch: Batch) -> None:
        """The oldest builds answer no command, and tell of one that they do not know by an
        ``error``."""
        if self._steps:
            step_id, command = self._steps.popitem()
            self._refused(step_id.partition(":")[2], command, message, batch)
        elif self._sent:
            request_id, command = self._sent.popitem()
            self._refused(request_id, command, message, batch)
        else:
            batch.add(Notice("error", message, "agent"))

    def _answered(
        self, request_id: str, command: Command, data: Frame, error: str | None, batch: Batch
    ) -> Taken | None:
        if error is not None:
            self._refused(request_id, command, error, batch)
            return None
        match command:
            case Prompt(words) | Steer(words):
                # Builds before 1.0 do not say what they did with it.
                does = data.get("disposition") or self._disposition(words)
                return Taken(request_id, command, does == "handled")
            case Compact():
                batch.add(Reply(request_id))
                self._end_compaction(request_id, string(data, "summary"), None, batch)
            case Clear() if data.get("cancelled") is True:
                batch.add(Reply(request_id, error="an extension of pi's prevented it"))
            case _:
                batch.add(Reply(request_id, self._data(command, data)))
        return None

    def _disposition(self, words: str) -> str:
        slash, name = words[:1], words[1:].partition(" ")[0]
        return "handled" if slash == "/" and name in self._commands else "started"

    def _refused(self, request_id: str, command: Command, error: str, batch: Batch) -> None:
        if error.lower().startswith("unknown command") and type(command) in _NEEDED_FOR:
            self._lower(_NEEDED_FOR[type(command)])
        batch.add(Reply(request_id, error=error))
        if isinstance(command, Compact):
            self._end_compaction(request_id, None, error, batch)

    def _data(self, command: Command, data: Frame) -> dict[str, object]:
        match command:
            case GetState():
                return self._state(data)
            case GetMessages():
                said = (pi.message(frame(item)) for item in items(data.get("messages")))
                return {"messages": [message for message in said if message is not None]}
            case GetModels():
                return {"models": [pi.model(found) for found in pi.models(data)]}
            case GetCommands():
                return {"commands": pi.commands(data)}
            case ListSessions():
                file = string(data, "sessionFile")
                return {"folder": str(PurePath(file).parent)} if file else {}
            case _:
                return {}

    def _state(self, data: Frame) -> dict[str, object]:
        state = pi.state(data)
        if self.version:
            state["version"] = self.version
        if self.usage:
            state["usage"] = self.usage
        return state

    def _end_compaction(
        self, request_id: str, summary: str | None, error: str | None, batch: Batch
    ) -> None:
        aborted = self._compactions.pop(request_id)
        batch.add(CompactEnded(summary, None if aborted else error))

    # -- of more than one request

    def _step(self, request_id: str, command: Command, request: Frame) -> Mapping[str, object]:
        step_id = f"{request['type']}:{request_id}"
        self._steps[step_id] = command
        return {"id": step_id, **request}

    def _step_answered(
        self,
        kind: str,
        request_id: str,
        command: Command,
        data: Frame,
        error: str | None,
        batch: Batch,
    ) -> None:
        match command:
            case Abort():  # a build that has no such queue is aborted alike
                self._sent[request_id] = command
                batch.add(Send({"id": request_id, "type": "abort"}))
            case SetModel(wanted) if error is None and kind == "get_available_models":
                self._choose_model(request_id, command, pi.find_model(wanted, data), batch)
            case SetModel() if error is None:
                batch.add(Reply(request_id, {"model": pi.model_id(data)}))
            case GetOptions() | SetOption() if error is None:
                self._option_step(kind, request_id, command, data, batch)
            case Hello() if kind == "switch_session":
                if error is not None or data.get("cancelled") is True:
                    why = f": {error}" if error else ""
                    told = f"pi could not take up its former session and began a new one{why}"
                    batch.add(Notice("warning", told, "agent"))
                batch.add(Send(self._step(request_id, command, {"type": "get_commands"})))
            case Hello() if error is None and kind == "get_commands":
                self._commands = pi.extension_commands(data)
                self._check_host(request_id, command, pi.host_version(data), batch)
            case Hello() if error is None and kind == "new_session":
                batch.add(Send(self._step(request_id, Hello(), {"type": "get_state"})))
            case Hello() if error is None:
                self._shaken(request_id, command, self._state(data), batch)
            case _:
                self._refused(request_id, command, error or "refused", batch)

    def _shaken(
        self, request_id: str, command: Hello, state: dict[str, object], batch: Batch
    ) -> None:
        """pi opens a session file that is not there as an empty one: it is then left for one
        with another name, so that nobody takes it for the former."""
        former = command.resume is not None and state.get("sessionRef") == command.resume
        if former and not state.get("messageCount"):
            batch.add(Send(self._step(request_id, command, {"type": "new_session"})))
        else:
            batch.add(Reply(request_id, state))

    def _choose_model(
        self, request_id: str, command: SetModel, found: Frame | None, batch: Batch
    ) -> None:
        if found is None:
            error = f"pi has no one model {command.model!r}; models are named provider/id"
            batch.add(Reply(request_id, error=error))
            return
        provider, model = string(found, "provider"), string(found, "id")
        request = {"type": "set_model", "provider": provider, "modelId": model}
        batch.add(Send(self._step(request_id, command, request)))

    def _option_step(
        self, kind: str, request_id: str, command: Command, data: Frame, batch: Batch
    ) -> None:
        """Which levels there are depends on the model; which one it is says the state alone."""
        match kind:
            case "set_thinking_level":
                request = {"type": "get_available_thinking_levels"}
                batch.add(Send(self._step(request_id, command, request)))
            case "get_available_thinking_levels":
                self._levels = [str(level) for level in items(data.get("levels"))]
                batch.add(Send(self._step(request_id, command, {"type": "get_state"})))
            case _:
                batch.add(Reply(request_id, {"options": pi.options(self._levels, data)}))

    def _check_host(
        self, request_id: str, command: Hello, version: str | None, batch: Batch
    ) -> None:
        """``version`` is what our extension says of pi, None where it is not there."""
        if version is None:
            batch.add(Reply(request_id, error=_NOT_LOADED))
            return
        self.version = version
        batch.add(Send(self._step(request_id, command, {"type": "get_state"})))


def _request(command: Command) -> dict[str, object]:
    if isinstance(command, Compact) and command.instructions:
        return {"type": "compact", "customInstructions": command.instructions}
    if not isinstance(command, (Prompt, Steer)):
        return {"type": _TYPES[type(command)]}
    kind = "prompt" if isinstance(command, Prompt) else "steer"
    request: dict[str, object] = {"type": kind, "message": command.text}
    if command.images:
        request["images"] = [
            {"type": "image", "mimeType": image.mime_type, "data": image.data}
            for image in command.images
        ]
    return request
