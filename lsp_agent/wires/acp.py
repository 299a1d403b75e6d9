"""The Agent Client Protocol, version 1: JSON-RPC 2.0, one object a line, both ways.

The protocol's own Python library is used by the tests, which hold all that this wire says
against its types. It is not used here: its types take two seconds to import, which a server at
work cannot stand still for, and would refuse a whole frame for one odd field.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from lsp_agent.protocol.events import Notice, OptionChanged, StopReason, UsageReported
from lsp_agent.protocol.messages import Usage
from lsp_agent.protocol.settings import AgentSettings
from lsp_agent.wires import acp_messages as acp
from lsp_agent.wires.acp_options import ASKING_MODE, Options
from lsp_agent.wires.acp_record import Agent, Record
from lsp_agent.wires.acp_turn import Replay, Turn
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.credentials import credentials
from lsp_agent.wires.frames import Frame, frame, frames, integer, string
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Answered,
    Approve,
    Clear,
    Command,
    Decoded,
    GetCommands,
    GetMessages,
    GetModels,
    GetOptions,
    GetState,
    Granted,
    Hello,
    Launch,
    ListSessions,
    Prompt,
    ReadText,
    Refused,
    Reply,
    Send,
    SetModel,
    SetOption,
    Withdrawn,
    WriteText,
)

VERSION = 1
CLIENT = {"name": "lsp-agent", "title": "lsp-agent", "version": "1"}

_CAPABILITIES: Mapping[str, bool] = {
    "steer": False,
    "compact": False,
    "clear": True,
    "listSessions": False,
    "resume": False,
    "models": False,
    "setModel": False,
    "thinkingLevel": False,
    "images": False,
    "thinking": True,
    "toolProgress": True,
    "argsStreaming": False,
    "commands": False,
    "options": False,
    "permissions": True,
    "hostedFiles": True,
    "usage": False,
    "cost": False,
}

#: Keeps opencode and qwen-code from running what the repository names (its settings, plugins,
#: hooks and MCP servers), which both do unasked, and has opencode ask before it edits and runs
#: commands, which by itself it does not. The person's settings may say otherwise.
_ENVIRONMENT: Mapping[str, str] = {
    "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
    "OPENCODE_PERMISSION": '{"edit":"ask","bash":"ask"}',
    "QWEN_CODE_SAFE_MODE": "1",
    # Safe mode still lets the repository's settings choose a sandbox: a container that they name.
    "QWEN_CODE_SYSTEM_SETTINGS_PATH": str(Path(__file__).with_name("qwen_settings.json")),
}

_ALLOWS_ITSELF = "In its present mode the agent decides by itself what it may do, and asks nobody."

_DELTAS = frozenset({"agent_message_chunk", "agent_thought_chunk"})

#: Answered from the record.
_RECORDED = (GetState, GetMessages, GetModels, GetOptions, GetCommands)


@dataclass(frozen=True, slots=True)
class _Sent:
    """A request that waits for its response: a step of ``command``'s."""

    request_id: str
    command: Command
    step: Literal[
        "initialize", "open", "mode", "back", "model", "option", "list", "prompt", "close"
    ]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request of the agent's that waits for our answer. ``id`` is its own."""

    id: object
    method: str
    options: tuple[Frame, ...] = ()
    tool_call_id: str = ""


class AcpWire:
    """The ACP wire (a :class:`~lsp_agent.wires.wire.Wire`).

    A prompt is replied to, and its turn begins, with the decoding of whatever comes after it was
    encoded, be it nothing: ACP answers a prompt only at the turn's end. What an agent replays of
    a session that it takes up goes into the record and is no turn.
    """

    max_frame_bytes = 64 * 1024 * 1024
    bridged = False

    def __init__(self) -> None:
        self.capabilities: Mapping[str, bool] = _CAPABILITIES
        self._cwd = ""
        self._wanted_model = ""
        self._hosts_files = True
        self._agent = Agent({})
        self._record = Record()
        self._next_id = 0
        self._sent: dict[int, _Sent] = {}
        self._next_key = 0
        self._asked: dict[str, _Asked] = {}
        self._turn: Turn | None = None
        #: The running turn's usage was told step by step, so its end does not tell more of it.
        self._counted = False
        self._replay: Replay | None = None

    def launch(
        self,
        agent: AgentSettings,
        cwd: str,
        extension: str | None,  # noqa: ARG002 - there is none
    ) -> Launch:
        """With ``hosting`` "mirror" the agent is told that we serve no files."""
        self._cwd = cwd
        self._wanted_model = agent.model
        if agent.model and agent.provider:
            self._wanted_model = f"{agent.provider}/{agent.model}"
        self._hosts_files = agent.hosting != "mirror"
        if not self._hosts_files:
            self._can(hostedFiles=False)
        env = {**_ENVIRONMENT, **agent.env}
        return Launch(tuple(agent.command), env, credentials(agent.env))

    def encode(self, request_id: str, command: Command) -> Mapping[str, object] | Reply:
        if isinstance(command, Hello):
            files = {"readTextFile": self._hosts_files, "writeTextFile": self._hosts_files}
            able = {"fs": files, "terminal": False}
            params = {"protocolVersion": VERSION, "clientCapabilities": able, "clientInfo": CLIENT}
            return self._request("initialize", params, _Sent(request_id, command, "initialize"))
        if isinstance(command, _RECORDED):
            return Reply(request_id, self._record.answer(command, self._agent))
        if self._record.id is None:
            return Reply(request_id, error="the agent has no session yet")
        match command:
            case Prompt():
                return self._prompt(request_id, command)
            case Abort():
                if self._turn is None:
                    return Reply(request_id)
                self._turn.aborted = True
                return _message("session/cancel", {"sessionId": self._record.id})
            case Clear():
                return self._open(request_id, command)
            case SetModel(model):
                return self._set_model(_Sent(request_id, command, "model"), model)
            case SetOption():
                return self._set_option(request_id, command)
            case ListSessions():
                sent = _Sent(request_id, command, "list")
                return self._request("session/list", {"cwd": self._cwd}, sent)
            case _:
                return Reply(request_id, error="ACP has nothing for this")

    def answer(self, key: str, answer: Answer) -> Mapping[str, object] | None:
        """Leave is given and refused by the option that holds for this one call; where the agent
        offers none such, and in an aborted turn, by no option at all."""
        asked = self._asked.pop(key, None)
        if asked is None:
            return None
        if asked.method == "session/request_permission":
            return _result(asked.id, {"outcome": self._outcome(asked, answer)})
        match answer:
            case Answered(text):
                read = asked.method == "fs/read_text_file"
                return _result(asked.id, {"content": text} if read else {})
            case Refused(reason, missing):
                code = acp.RESOURCE_NOT_FOUND if missing else acp.INTERNAL_ERROR
                return _error(asked.id, code, reason)
            case Granted():
                return _error(asked.id, acp.INTERNAL_ERROR, "nothing was done")

    def decode(self, frames: Iterable[object]) -> list[Decoded]:
        batch = Batch()
        self._begin_turn(batch)
        kind, texts = "", list[str]()  # a run of deltas: the hot path of a stream
        for each in cast(Iterable[Frame], frames):
            if not isinstance(each, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
                self._say(kind, texts, batch)
                batch.add(_debug(f"not a JSON object: {type(each).__name__}"))
                continue
            update = self._update(each)
            told = string(update, "sessionUpdate")
            if told in _DELTAS and self._turn is not None:
                if told != kind:
                    self._say(kind, texts, batch)
                    kind = told
                texts.append(acp.chunk_text(update))
                if spent := frame(update.get("_meta")).get("usage"):
                    self._say(kind, texts, batch)
                    self._counted = True
                    self._count(acp.usage(spent), batch)
                continue
            self._say(kind, texts, batch)
            self._frame(each, batch)
        self._say(kind, texts, batch)
        decoded = batch.finish()
        self._record.take(decoded)
        return decoded

    def lost(self, reason: StopReason, message: str | None) -> list[Decoded]:
        batch = Batch()
        if self._turn is not None and self._turn.begun:
            self._turn.end(reason, message, batch)
        self._turn = self._replay = None
        self._sent.clear()
        self._asked.clear()
        return batch.finish()

    # -- what we send

    def _request(self, method: str, params: Mapping[str, object], sent: _Sent) -> Frame:
        self._next_id += 1
        self._sent[self._next_id] = sent
        return {**_message(method, params), "id": self._next_id}

    def _prompt(self, request_id: str, prompt: Prompt) -> Frame | Reply:
        if self._turn is not None:
            return Reply(request_id, error="the agent is at work")
        if prompt.images and not self._agent.images:
            return Reply(request_id, error="it takes no images; send the prompt without them")
        content: list[object] = [{"type": "text", "text": prompt.text}]
        for image in prompt.images:
            content.append({"type": "image", "mimeType": image.mime_type, "data": image.data})
        self._turn = Turn(request_id, acp.user_message(prompt.text, prompt.images))
        self._counted = False
        params = {"sessionId": self._record.id, "prompt": content}
        return self._request("session/prompt", params, _Sent(request_id, prompt, "prompt"))

    def _open(self, request_id: str, command: Hello | Clear) -> Frame | Reply:
        """A session is rather loaded than resumed: only then is it told what was said in it."""
        params: dict[str, object] = {"cwd": self._cwd, "mcpServers": []}
        method = "session/new"
        if isinstance(command, Hello) and command.resume is not None:
            params["sessionId"] = command.resume
            if self._agent.loads:
                method, self._replay = "session/load", Replay()
            elif self._agent.resumes:
                method = "session/resume"
            else:
                return Reply(request_id, error="it cannot take up a session again")
        return self._request(method, params, _Sent(request_id, command, "open"))

    def _set_model(self, sent: _Sent, model: str) -> Frame | Reply:
        known = self._record.models
        if known is None:
            return Reply(sent.request_id, error="it lets no model be chosen")
        if model not in known.ids:
            some = ", ".join(known.ids[:8])
            return Reply(sent.request_id, error=f"it has no model {model!r}; it has: {some}")
        if known.option is None:
            params = {"sessionId": self._record.id, "modelId": model}
            return self._request("session/set_model", params, sent)
        params = {"sessionId": self._record.id, "configId": known.option, "value": model}
        return self._request("session/set_config_option", params, sent)

    def _set_option(self, request_id: str, command: SetOption) -> Frame | Reply:
        """A person's choice, so a mode may also be one in which the agent asks nobody."""
        option, value = self._record.options.find(command.option_id), command.value
        if option is None or value not in option.ids:
            known = ", ".join(option.ids if option else (o.id for o in self._record.options.all))
            return Reply(request_id, error=f"it has no such option or value; there is: {known}")
        if self._record.options.is_mode(option.id):
            self._record.options = replace(self._record.options, chosen_mode=value)
        method, params = self._record.options.request(self._record.id, option.id, value)
        return self._request(method, params, _Sent(request_id, command, "option"))

    def _outcome(self, asked: _Asked, answer: Answer) -> Frame:
        turn = self._turn
        if turn is None or turn.aborted:
            return {"outcome": "cancelled"}
        kind = "allow_once"
        if isinstance(answer, Refused):
            kind = "reject_once"
            turn.refused(asked.tool_call_id, answer.reason)
        for option in asked.options:
            if string(option, "kind") == kind:
                return {"outcome": "selected", "optionId": string(option, "optionId")}
        return {"outcome": "cancelled"}

    # -- what comes

    def _begin_turn(self, batch: Batch) -> None:
        if self._turn is not None and not self._turn.begun:
            batch.add(Reply(self._turn.request_id))
            self._turn.begin(batch)

    def _say(self, kind: str, texts: list[str], batch: Batch) -> None:
        if self._turn is not None and (joined := "".join(texts)):
            if kind == "agent_thought_chunk":
                self._turn.think(joined, batch)
            else:
                self._turn.say(joined, batch)
        texts.clear()

    def _update(self, each: Frame) -> Frame:
        """The update of our session that a frame is; empty if it is none."""
        params = frame(each.get("params"))
        if each.get("method") != "session/update" or "id" in each:
            return {}
        ours = self._record.id is None or params.get("sessionId") == self._record.id
        return frame(params.get("update")) if ours else {}

    def _frame(self, each: Frame, batch: Batch) -> None:
        method = each.get("method")
        params = frame(each.get("params"))
        if isinstance(method, str) and "id" in each:
            self._asks(each["id"], method, params, batch)
        elif isinstance(method, str):
            self._told(method, each, batch)
        elif "result" in each or "error" in each:
            self._response(each, batch)
        else:
            batch.add(_debug("neither a request nor a response"))

    def _told(self, method: str, each: Frame, batch: Batch) -> None:
        if method == "$/cancel_request":
            wanted = frame(each.get("params")).get("requestId")
            for key, asked in self._asked.items():
                if asked.id == wanted:
                    batch.add(Withdrawn(key))
            return
        update = self._update(each)
        kind = string(update, "sessionUpdate")
        if self._replay is not None and self._replay.takes(kind):
            self._replay.update(kind, update)
            return
        match kind:
            case "tool_call" | "tool_call_update" if self._turn is not None:
                self._turn.update(update, batch)
            case "available_commands_update":
                self._record.set_commands(update)
                self._can(commands=bool(self._record.commands))
            case "config_option_update":
                self._configure(update, batch)
                self._hold_to_asking(batch)
            case "current_mode_update":
                mode = string(update, "currentModeId")
                self._take_options(self._record.options.in_mode(mode), batch)
                self._hold_to_asking(batch)
            case "usage_update":
                self._record.cost = acp.cost(update)
                self._can(cost=self._record.cost is not None)
            case "plan":
                self._plan(update, batch)
            case "session_info_update" | "user_message_chunk":
                pass
            case _:
                batch.add(_debug(f"{method} {kind or 'of another session'}: not taken"))

    def _plan(self, update: Frame, batch: Batch) -> None:
        """A new plan is told; how it gets on is for whoever looks closely."""
        entries = tuple(string(entry, "content") for entry in frames(update.get("entries")))
        level = "debug" if entries == self._record.plan else "info"
        self._record.plan = entries
        batch.add(Notice(level, acp.plan_text(update.get("entries")), "agent"))

    def _asks(self, request_id: object, method: str, params: Frame, batch: Batch) -> None:
        self._next_key += 1
        key = f"a{self._next_key}"
        turn, path = self._turn, string(params, "path")
        match method:
            case "session/request_permission" if turn is not None:
                call = frame(params.get("toolCall"))
                call_id, tool, args, paths = turn.asks(call, batch)
                options = tuple(frames(params.get("options")))
                self._asked[key] = _Asked(request_id, method, options, call_id)
                batch.add(Approve(key, tool, args, call_id or None, paths))
            case "session/request_permission":
                batch.add(Send(_result(request_id, {"outcome": {"outcome": "cancelled"}})))
            case "fs/read_text_file" if self._hosts_files:
                self._asked[key] = _Asked(request_id, method)
                call_id = turn.call_at(path, "read") if turn else None
                line, limit = integer(params, "line"), integer(params, "limit")
                batch.add(ReadText(key, path, call_id, line, limit))
            case "fs/write_text_file" if self._agent.is_opencode:
                batch.add(Send(_result(request_id, {})))
            case "fs/write_text_file" if self._hosts_files:
                self._asked[key] = _Asked(request_id, method)
                call_id = turn.call_at(path, "edit") if turn else None
                batch.add(WriteText(key, path, string(params, "content"), call_id))
            case _:
                refusal = f"lsp-agent offers no {method}"
                batch.add(Send(_error(request_id, acp.METHOD_NOT_FOUND, refusal)))

    def _response(self, each: Frame, batch: Batch) -> None:
        number = integer(each, "id")
        sent = self._sent.pop(number, None) if number is not None else None
        if sent is None:
            batch.add(_debug("response to nothing"))
            return
        error = None
        if "error" in each:
            error = acp.error_text(each["error"], self._agent.login)
        result = frame(each.get("result"))
        match sent.step:
            case "prompt":
                self._end_turn(result, error, batch)
            case "close":
                pass
            case "back" if error is not None:
                batch.add(Notice("error", f"{_ALLOWS_ITSELF} It did not go back: {error}", "agent"))
            case _ if error is not None:
                self._replay = None
                self._record.options = self._record.options.after_refusal()
                batch.add(Reply(sent.request_id, error=error))
            case _:
                self._succeeded(sent, result, batch)

    def _succeeded(self, sent: _Sent, result: Frame, batch: Batch) -> None:
        match sent.step:
            case "initialize":
                self._initialized(sent, result, batch)
            case "open":
                self._opened(sent, result, batch)
            case "mode":
                self._record.options = self._record.options.in_mode(ASKING_MODE)
                self._settle(sent, batch)
            case "back":
                self._take_options(self._record.options.in_mode(ASKING_MODE), batch)
            case "model":
                self._configure(result, batch)
                self._done(sent, batch)
            case "option":
                self._option_set(sent, result, batch)
            case "list":
                batch.add(Reply(sent.request_id, {"sessions": acp.sessions(result)}))
            case "prompt" | "close":
                pass

    def _initialized(self, sent: _Sent, result: Frame, batch: Batch) -> None:
        version = integer(result, "protocolVersion")
        if version != VERSION:
            error = f"it speaks version {version} of the protocol, not {VERSION}; update it"
            batch.add(Reply(sent.request_id, error=error))
            return
        agent = self._agent = Agent(result)
        self._can(
            images=agent.images,
            listSessions=agent.lists,
            resume=agent.loads or agent.resumes,
            hostedFiles=self._hosts_files and not agent.is_opencode,
        )
        self._go_on(self._open(sent.request_id, cast(Hello, sent.command)), batch)

    def _opened(self, sent: _Sent, result: Frame, batch: Batch) -> None:
        former, self._record = self._record, Record()
        self._record.commands = former.commands
        if self._replay is not None:
            self._record.take(self._replay.finish())
            self._replay = None
        resumed = sent.command.resume if isinstance(sent.command, Hello) else None
        self._record.id = string(result, "sessionId") or resumed
        if self._record.id is None:
            batch.add(Reply(sent.request_id, error="it opened a session without an id"))
            return
        self._record.models = former.models
        self._configure(result, None)
        if former.id is not None and self._agent.closes:
            close = _Sent(sent.request_id, sent.command, "close")
            batch.add(Send(self._request("session/close", {"sessionId": former.id}, close)))
        self._settle(sent, batch)

    def _settle(self, sent: _Sent, batch: Batch) -> None:
        """What is still to be set before the session is as it should be. An agent that would
        give itself leave is put into the mode that asks: the person's settings decide."""
        record = self._record
        current = record.models.current if record.models else ""
        if record.options.allows_itself:
            step = _Sent(sent.request_id, sent.command, "mode")
            batch.add(Send(self._request(*record.options.ask(record.id), step)))
        elif self._wanted_model not in ("", current):
            step = _Sent(sent.request_id, sent.command, "model")
            self._go_on(self._set_model(step, self._wanted_model), batch)
        else:
            self._done(sent, batch)

    def _done(self, sent: _Sent, batch: Batch) -> None:
        if isinstance(sent.command, SetModel):
            self._wanted_model = sent.command.model  # of sessions to come as well
        self._record.choose(self._wanted_model)
        batch.add(Reply(sent.request_id, self._record.state(self._agent)))

    def _go_on(self, step: Frame | Reply, batch: Batch) -> None:
        batch.add(step if isinstance(step, Reply) else Send(step))

    def _configure(self, source: Frame, batch: Batch | None) -> None:
        """Without a ``batch`` it is how a session begins, and no change."""
        before = self._record.options
        self._record.configure(source)
        can = self._record.models is not None
        self._can(models=can, setModel=can)
        after, self._record.options = self._record.options, before
        self._take_options(after, batch)

    def _take_options(self, options: Options, batch: Batch | None) -> None:
        before, self._record.options = self._record.options, options
        thinks = any(option.category == "thought_level" for option in options.all)
        self._can(options=bool(options.all), thinkingLevel=thinks)
        for option in options.all if batch is not None else ():
            former = before.find(option.id)
            if batch is not None and (former is None or former.value != option.value):
                batch.add(OptionChanged(option.id, option.value))

    def _option_set(self, sent: _Sent, result: Frame, batch: Batch) -> None:
        command = cast(SetOption, sent.command)
        if self._record.options.is_mode(command.option_id):
            self._take_options(self._record.options.in_mode(command.value), batch)
            if self._record.options.decides_in(command.value):
                batch.add(Notice("warning", _ALLOWS_ITSELF, "agent"))
        self._configure(result, batch)
        batch.add(Reply(sent.request_id, self._record.told_options()))

    def _hold_to_asking(self, batch: Batch) -> None:
        """An agent does not put itself into a mode in which it asks nobody."""
        if self._record.options.allows_itself:
            told = f"{_ALLOWS_ITSELF} It took this mode by itself, and is put back to asking."
            batch.add(Notice("warning", told, "agent"))
            step = _Sent("", GetOptions(), "back")
            batch.add(Send(self._request(*self._record.options.ask(self._record.id), step)))

    def _end_turn(self, result: Frame, error: str | None, batch: Batch) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        if (told := result.get("usage")) and not self._counted:
            self._count(self._record.since(acp.usage(told), self._agent), batch)
        for key in self._asked:
            batch.add(Withdrawn(key))
        name = string(result, "stopReason")
        if error is None and name not in acp.STOP_REASONS:
            batch.add(_debug(f"unknown stop reason {name[:80]!r}"))
        reason = "error" if error is not None else acp.STOP_REASONS.get(name, "endTurn")
        turn.end(reason, error, batch)

    def _count(self, step: Usage, batch: Batch) -> None:
        batch.add(UsageReported(*self._record.count(step)))
        self._can(usage=True)

    def _can(self, **features: bool) -> None:
        self.capabilities = {**self.capabilities, **features}


def _message(method: str, params: Mapping[str, object]) -> Frame:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _result(request_id: object, result: Mapping[str, object]) -> Frame:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def _error(request_id: object, code: int, message: str) -> Frame:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}


def _debug(message: str) -> Notice:
    return Notice("debug", message, "agent")
