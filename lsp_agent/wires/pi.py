"""pi's rpc wire (``pi --mode rpc``), hosted by an extension of ours (``pi_host.ts``).

The extension puts tools of the same names in place of pi's file tools, asks before every call and
carries all of it over pi's own dialogs: an ``input`` whose title is ours, its placeholder a JSON
object, its answer one as well.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from lsp_agent.protocol.events import (
    Compacted,
    Notice,
    StopReason,
    TextDelta,
    ThinkingDelta,
    TurnStarted,
)
from lsp_agent.protocol.messages import Usage
from lsp_agent.protocol.settings import AgentSettings
from lsp_agent.wires import pi_messages as pi
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.credentials import credentials
from lsp_agent.wires.pi_dialogs import Dialogs
from lsp_agent.wires.pi_turn import TURN_FRAMES, Turn
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Clear,
    Command,
    Compact,
    CompactEnded,
    Decoded,
    GetCommands,
    GetMessages,
    GetModels,
    GetState,
    Hello,
    Launch,
    Prompt,
    Reply,
    Send,
    SetModel,
    Steer,
)
from lsp_agent.wires.zot_messages import Frame, frame, string

EXTENSION = Path(__file__).with_name("pi_host.ts")

#: "mirror" leaves pi its own file tools; the extension then only asks.
HOSTING_VARIABLE = "LSP_AGENT_HOSTING"

_CAPABILITIES: Mapping[str, bool] = {
    "steer": True,
    "compact": True,
    "clear": True,
    "listSessions": False,
    "resume": True,
    "models": True,
    "setModel": True,
    "thinkingLevel": False,
    "images": True,
    "thinking": True,
    "toolProgress": True,
    "argsStreaming": True,
    "commands": True,
    "permissions": True,
    "hostedFiles": True,
    "usage": True,
    "cost": True,
}

_TYPES: Mapping[type, str] = {
    Abort: "abort",
    Compact: "compact",
    Clear: "new_session",
    GetState: "get_state",
    GetMessages: "get_messages",
    GetModels: "get_available_models",
    GetCommands: "get_commands",
}

#: The capability that a build lacks if it does not know the command.
_NEEDED_FOR: Mapping[type, str] = {
    Steer: "steer",
    Compact: "compact",
    Clear: "clear",
    GetModels: "models",
    SetModel: "setModel",
    GetCommands: "commands",
}

#: Since then ``agent_settled`` ends a turn; before, the ``agent_end`` that no retry follows.
_SETTLES = (0, 80, 4)

_NOT_LOADED = (
    "it did not load lsp-agent's extension, so it cannot be held to the permissions. A script in"
    " its `command` must hand on all its arguments (-e)"
)

#: Frames that say nothing a client needs: the queue is ours, the rest is pi's bookkeeping.
_SILENT = frozenset(
    {
        "queue_update",
        "entry_appended",
        "session_info_changed",
        "thinking_level_changed",
        "bash_execution_update",
        "compaction_start",
    }
)

_Delta = type[TextDelta] | type[ThinkingDelta]


class PiWire:
    """pi's wire (a :class:`~lsp_agent.wires.wire.Wire`), from 0.79 on.

    Its rules, beyond the seam's: a prompt whose reply has no error starts a turn, unless pi began
    to work before it answered; every ``Compact`` ends in one ``CompactEnded``. A handshake is
    refused without our extension. Models are named "provider/id".
    """

    #: pi takes any line; texts come to it in one, and none is longer than a file may be.
    max_frame_bytes = 64 * 1024 * 1024
    bridged = False

    def __init__(self) -> None:
        self.capabilities: Mapping[str, bool] = _CAPABILITIES
        self._sent: dict[str, Command] = {}
        #: Commands that take several requests, by the request that runs, "type:request_id".
        self._steps: dict[str, Command] = {}
        #: Prompts that were to be aborted before they had started.
        self._doomed: set[str] = set()
        #: The prompt that began before it was answered.
        self._begun: str | None = None
        self._turn: Turn | None = None
        #: Whether something steered may wait in pi's own queue.
        self._steered = False
        #: Whether each compaction under way was aborted.
        self._compactions: dict[str, bool] = {}
        self._dialogs = Dialogs()
        self._usage: Usage = {}
        self._version = ""

    def launch(self, agent: AgentSettings, cwd: str, extension: str | None) -> Launch:  # noqa: ARG002
        """What a repository names is not loaded: neither its extensions and packages nor its
        settings, skills and templates. Its AGENTS.md is, as a text."""
        argv = [*agent.command, "--mode", "rpc", "--no-approve", "--no-extensions"]
        argv += ["-e", str(EXTENSION)]
        if agent.provider:
            argv += ["--provider", agent.provider]
        if agent.model:
            argv += ["--model", agent.model]
        mirror = agent.hosting == "mirror"
        if mirror:
            self._lower("hostedFiles")
        env = {"PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"} | agent.env
        env[HOSTING_VARIABLE] = "mirror" if mirror else "hosted"
        return Launch(tuple(argv), env, credentials(agent.env))

    def encode(self, request_id: str, command: Command) -> Mapping[str, object]:
        match command:
            case Hello(None):
                return self._step(request_id, command, {"type": "get_commands"})
            case Hello(session):
                request = {"type": "switch_session", "sessionPath": session}
                return self._step(request_id, command, request)
            case SetModel():  # which one is meant is looked up first
                return self._step(request_id, command, {"type": "get_available_models"})
            case Abort():
                self._mark_aborted()
                if self._steered:  # what waits would be taken up after the abort
                    return self._step(request_id, command, {"type": "clear_queue"})
            case Steer():
                self._steered = True
            case Compact():
                self._compactions[request_id] = False
            case _:
                pass
        self._sent[request_id] = command
        return {"id": request_id, **_request(command)}

    def answer(self, key: str, answer: Answer) -> Mapping[str, object] | None:
        return self._dialogs.answer(key, answer)

    def decode(self, frames: Iterable[object]) -> list[Decoded]:
        batch = Batch()
        kind: _Delta = TextDelta
        parts: list[str] = []  # a run of deltas of one kind: the hot path of a stream
        for item in frames:
            if not isinstance(item, dict):
                _flush(kind, parts, batch)
                batch.add(_debug(f"not a JSON object: {type(item).__name__}"))
                continue
            source = cast(Frame, item)
            delta = _delta(source)
            if delta is not None:
                if self._turn is not None:
                    if delta[0] is not kind:
                        _flush(kind, parts, batch)
                    kind = delta[0]
                    parts.append(delta[1])
                continue
            _flush(kind, parts, batch)
            self._frame(string(source, "type"), source, batch)
        _flush(kind, parts, batch)
        return batch.finish()

    def lost(self, reason: StopReason, message: str | None) -> list[Decoded]:
        batch = Batch()
        if self._turn is not None:
            self._turn.cut(reason, message, batch)
            self._turn = None
        for request_id in list(self._compactions):
            self._end_compaction(request_id, None, message, batch)
        self._sent.clear()
        self._steps.clear()
        self._dialogs = Dialogs()
        return batch.finish()

    def _frame(self, kind: str, source: Frame, batch: Batch) -> None:
        match kind:
            case "response":
                self._response(source, batch)
            case "agent_start":
                self._agent_start(batch)
            case "agent_end":
                if self._ends_turn(source):
                    self._settled(aborted=False, batch=batch)
            case "agent_settled":
                self._settled(aborted=source.get("aborted") is True, batch=batch)
            case "extension_ui_request":
                self._dialogs.asked(source, batch)
            case "extension_error":
                where = f"{string(source, 'extensionPath')} ({string(source, 'event')})"
                told = f"{where}: {string(source, 'error')}"
                batch.add(Notice("error", f"An extension of pi's failed: {told}", "agent"))
            case "compaction_end":
                self._compacted(source, frame(source.get("result")), batch)
            case "compaction":  # of the oldest builds, which answer no command
                self._compacted(source, source, batch)
            case "error":
                self._error(string(source, "error") or string(source, "message"), batch)
            case _ if kind in TURN_FRAMES and self._turn is not None:
                self._turn.frame(kind, source, batch)
                if kind == "tool_execution_end":
                    self._dialogs.call_ended(string(source, "toolCallId"), batch)
            case _ if kind not in _SILENT:
                known = kind in TURN_FRAMES
                batch.add(_debug(f"{kind} outside a turn" if known else f"frame {kind[:80]!r}"))
            case _:
                pass

    # -- turns

    def _agent_start(self, batch: Batch) -> None:
        """A turn's beginning where no answer to its prompt came before; else a further run."""
        if self._turn is not None:
            return
        prompts = [(id_, sent) for id_, sent in self._sent.items() if isinstance(sent, Prompt)]
        if not prompts:
            batch.add(_debug("agent_start without a prompt"))
            return
        request_id, prompt = prompts[0]
        del self._sent[request_id]
        self._begun = request_id
        self._start(request_id, prompt.text, batch)

    def _start(self, request_id: str, prompt: str, batch: Batch) -> None:
        if self._turn is not None:
            self._turn.cut("error", "the agent went on to something else", batch)
        aborted = request_id in self._doomed
        self._doomed.discard(request_id)
        self._turn = Turn(self._usage, aborted=aborted)
        batch.add(TurnStarted(prompt))
        if aborted:  # the abort came too early to stop anything
            batch.add(Send({"type": "abort"}))

    def _ends_turn(self, agent_end: Frame) -> bool:
        if "willRetry" not in agent_end:
            return True
        return not (agent_end["willRetry"] or self._has_settled)

    @property
    def _has_settled(self) -> bool:
        version = tuple(int(part) for part in self._version.split(".")[:3] if part.isdecimal())
        return not version or version >= _SETTLES

    def _settled(self, *, aborted: bool, batch: Batch) -> None:
        self._steered = False
        self._dialogs.withdraw(batch)
        if self._turn is None:
            return
        self._turn.end(batch, aborted=aborted)
        self._usage = self._turn.usage
        self._turn = None

    def _mark_aborted(self) -> None:
        """What runs is aborted; if nothing does, what was sent and has not started."""
        if self._turn is not None:
            self._turn.aborted = True
        elif self._compactions:
            self._compactions = dict.fromkeys(self._compactions, True)
        else:
            self._doomed.update(id_ for id_, sent in self._sent.items() if isinstance(sent, Prompt))

    # -- replies

    def _response(self, source: Frame, batch: Batch) -> None:
        response_id = string(source, "id")
        error = None
        if source.get("success") is not True:
            error = string(source, "error") or "refused without a reason"
        data = frame(source.get("data"))
        if (command := self._steps.pop(response_id, None)) is not None:
            kind, _, request_id = response_id.partition(":")
            self._step_answered(kind, request_id, command, data, error, batch)
        elif (command := self._sent.pop(response_id, None)) is not None:
            self._answered(response_id, command, data, error, batch)
        elif response_id and response_id == self._begun:
            self._begun = None
            batch.add(Reply(response_id, error=error))
        elif error is not None:
            batch.add(_debug(f"response to nothing: {error}"))

    def _answered(
        self, request_id: str, command: Command, data: Frame, error: str | None, batch: Batch
    ) -> None:
        if error is not None:
            self._refused(request_id, command, error, batch)
            return
        match command:
            case Prompt(text):
                batch.add(Reply(request_id))
                self._start(request_id, text, batch)
                if data.get("disposition") == "handled":  # by an extension's command: no run
                    self._settled(aborted=False, batch=batch)
            case Steer() if self._turn is None and data.get("disposition") != "handled":
                # It came after the turn's end and would wait for the next prompt.
                batch.add(Send({"type": "clear_queue"}))
                batch.add(Reply(request_id, error="the turn has ended"))
            case Compact():
                batch.add(Reply(request_id))
                self._end_compaction(request_id, string(data, "summary"), None, batch)
            case Clear() if data.get("cancelled") is True:
                batch.add(Reply(request_id, error="an extension of pi's prevented it"))
            case _:
                batch.add(Reply(request_id, self._data(command, data)))

    def _refused(self, request_id: str, command: Command, error: str, batch: Batch) -> None:
        if error.lower().startswith("unknown command") and type(command) in _NEEDED_FOR:
            self._lower(_NEEDED_FOR[type(command)])
        self._doomed.discard(request_id)
        batch.add(Reply(request_id, error=error))
        if isinstance(command, Compact):
            self._end_compaction(request_id, None, error, batch)

    def _data(self, command: Command, data: Frame) -> dict[str, object]:
        match command:
            case GetState():
                return self._state(data)
            case GetMessages():
                said = (pi.message(frame(item)) for item in pi.items(data.get("messages")))
                return {"messages": [message for message in said if message is not None]}
            case GetModels():
                return {"models": [pi.model(found) for found in pi.models(data)]}
            case GetCommands():
                return {"commands": pi.commands(data)}
            case _:
                return {}

    def _state(self, data: Frame) -> dict[str, object]:
        state = pi.state(data)
        if self._version:
            state["version"] = self._version
        if self._usage:
            state["usage"] = self._usage
        return state

    # -- requests of more than one step

    def _step(self, request_id: str, command: Command, request: Frame) -> Mapping[str, object]:
        """The frame of a request that something follows on."""
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
            case Abort():
                self._sent[request_id] = command
                batch.add(Send({"id": request_id, "type": "abort"}))
            case SetModel(wanted) if error is None and kind == "get_available_models":
                self._choose_model(request_id, command, pi.find_model(wanted, data), batch)
            case SetModel() if error is None:
                batch.add(Reply(request_id, {"model": pi.model_id(data)}))
            case Hello() if kind == "switch_session":
                if error is not None or data.get("cancelled") is True:
                    why = f": {error}" if error else ""
                    told = f"pi could not take up its former session and began a new one{why}"
                    batch.add(Notice("warning", told, "agent"))
                batch.add(Send(self._step(request_id, command, {"type": "get_commands"})))
            case Hello() if error is None and kind == "get_commands":
                self._check_host(request_id, command, data, batch)
            case Hello() if error is None:
                batch.add(Reply(request_id, self._state(data)))
            case _:
                self._refused(request_id, command, error or "refused", batch)

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

    def _check_host(self, request_id: str, command: Hello, data: Frame, batch: Batch) -> None:
        """Whether our extension is in; it also says which pi this is."""
        version = pi.host_version(data)
        if version is None:
            batch.add(Reply(request_id, error=_NOT_LOADED))
            return
        self._version = version
        batch.add(Send(self._step(request_id, command, {"type": "get_state"})))

    # -- compactions, and what comes unasked

    def _compacted(self, source: Frame, result: Frame, batch: Batch) -> None:
        if summary := string(result, "summary"):
            batch.add(Compacted(summary))
        elif source.get("aborted") is not True:
            why = string(source, "errorMessage") or "The transcript was not compacted."
            batch.add(Notice("warning", why, "agent"))

    def _end_compaction(
        self, request_id: str, summary: str | None, error: str | None, batch: Batch
    ) -> None:
        aborted = self._compactions.pop(request_id)
        batch.add(CompactEnded(summary, None if aborted else error))

    def _error(self, message: str, batch: Batch) -> None:
        """Of the oldest builds: what they were sent last was not to be had."""
        if self._steps:
            step_id, command = self._steps.popitem()
            self._refused(step_id.partition(":")[2], command, message, batch)
        elif self._sent:
            request_id, command = self._sent.popitem()
            self._refused(request_id, command, message, batch)
        else:
            batch.add(Notice("error", message, "agent"))

    def _lower(self, feature: str) -> None:
        self.capabilities = {**self.capabilities, feature: False}


def _request(command: Command) -> dict[str, object]:
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


def _delta(source: Frame) -> tuple[_Delta, str] | None:
    """A piece of text or of thought."""
    if source.get("type") != "message_update":
        return None
    event = frame(source.get("assistantMessageEvent"))
    match event.get("type"):
        case "text_delta":
            return TextDelta, string(event, "delta")
        case "thinking_delta":
            return ThinkingDelta, string(event, "delta")
        case _:
            return None


def _flush(kind: _Delta, parts: list[str], batch: Batch) -> None:
    if text := "".join(parts):
        batch.add(kind(text))
    parts.clear()


def _debug(message: str) -> Notice:
    return Notice("debug", message, "agent")
