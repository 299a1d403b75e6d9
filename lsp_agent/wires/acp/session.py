"""An ACP agent's session: the requests that open it and set what it is to be, and what follows
from their responses. A prompt's is only sent here, and its response handed on.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, cast

from lsp_agent.protocol.catalogue import CONSENT
from lsp_agent.protocol.events import Notice, OptionChanged
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.toolset.loose_json import Frame, frame, integer, string
from lsp_agent.wires.acp import messages as acp
from lsp_agent.wires.acp.options import Options
from lsp_agent.wires.acp.record import Agent, Record
from lsp_agent.wires.acp.replay import Replay
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.jsonrpc import VERSIONED, Requests
from lsp_agent.wires.wire import (
    Clear,
    Command,
    GetOptions,
    Hello,
    ListSessions,
    Prompt,
    Reply,
    Send,
    SetModel,
    SetOption,
)

VERSION = 1
CLIENT = {"name": "lsp-agent", "title": "lsp-agent", "version": "1"}

_ALLOWS_ITSELF = "In its present mode the agent decides by itself what it may do, and asks nobody."
_UNASKING = (
    f"{_ALLOWS_ITSELF} It did not go back to asking. Choose its mode, or open a new session."
)
_CHOSEN_EARLIER = "in it the agent asks nobody, so it holds only until the server ends"


@dataclass(frozen=True, slots=True)
class _Sent:
    """A request that waits for its response: a step of ``command``'s."""

    request_id: str
    command: Command
    step: Literal[
        "initialize", "open", "mode", "back", "model", "option", "list", "prompt", "close"
    ]


@dataclass(frozen=True, slots=True)
class PromptEnded:
    """What a prompt was answered at its turn's end: ``error`` is None if it has not failed."""

    result: Frame
    error: str | None


class Session:
    """``can`` is told of the capabilities that the agent turns out to have or not."""

    def __init__(self, can: Callable[..., None]) -> None:
        self.agent = Agent({})
        self.record = Record(self.agent.habits)
        self._can = can
        self._cwd = ""
        self._wanted_model = self._provider = ""
        self._hosts_files = True
        self._isolated = True
        self._requests = Requests[_Sent](VERSIONED)
        self._replay: Replay | None = None
        #: It would not go back to asking.
        self._stays = False

    def configure(self, agent: AgentSettings, cwd: str) -> None:
        self._cwd = cwd
        self._wanted_model, self._provider = agent.model, agent.provider
        self._hosts_files = agent.hosting != "mirror"
        self._isolated = agent.env.get(CONSENT) != "1"
        if not self._hosts_files:
            self._can(hostedFiles=False)

    def hello(self, request_id: str, command: Hello) -> Frame:
        files = {"readTextFile": self._hosts_files, "writeTextFile": self._hosts_files}
        able = {"fs": files, "terminal": False}
        params = {"protocolVersion": VERSION, "clientCapabilities": able, "clientInfo": CLIENT}
        return self._requests.send(_Sent(request_id, command, "initialize"), "initialize", params)

    def send(
        self, request_id: str, command: Clear | SetModel | SetOption | ListSessions
    ) -> Frame | Reply:
        match command:
            case Clear():
                return self._open(request_id, command)
            case SetModel(model):
                return self._set_model(_Sent(request_id, command, "model"), model)
            case SetOption():
                return self._set_option(request_id, command)
            case ListSessions():
                sent = _Sent(request_id, command, "list")
                return self._requests.send(sent, "session/list", {"cwd": self._cwd})

    @property
    def unasking(self) -> str | None:
        """Why the agent is not to be prompted: it asks nobody, and would not go back."""
        return _UNASKING if self._stays and self.record.options.allows_itself else None

    def prompt(self, request_id: str, prompt: Prompt) -> Frame:
        content: list[object] = [{"type": "text", "text": prompt.text}]
        for image in prompt.images:
            content.append({"type": "image", "mimeType": image.mime_type, "data": image.data})
        params = {"sessionId": self.record.id, "prompt": content}
        return self._requests.send(_Sent(request_id, prompt, "prompt"), "session/prompt", params)

    def cancel(self) -> Frame:
        """Stops the turn, if one runs."""
        return VERSIONED.notification("session/cancel", {"sessionId": self.record.id})

    def response(self, each: Frame, batch: Batch) -> PromptEnded | None:
        """Only of a prompt there is more to tell than the reply."""
        sent = self._requests.answered(each)
        if sent is None:
            batch.add(Notice("debug", "response to nothing", "agent"))
            return None
        error = None
        if each.get("error") is not None:
            error = acp.error_text(each["error"], self.agent.login, self.agent.sign_in)
        result = frame(each.get("result"))
        match sent.step:
            case "prompt":
                return PromptEnded(result, error)
            case "close":
                pass
            case "back" if error is not None:
                self._stays = True
                self._not_back(error, batch)
            case _ if error is not None:
                self._replay = None
                self._stays |= sent.step == "mode"
                self.record.options = self.record.options.after_refusal()
                batch.add(Reply(sent.request_id, error=error))
            case _:
                self._succeeded(sent, result, batch)
        return None

    def replays(self, kind: str, update: Frame) -> bool:
        """Whether an update is of what was said before the session was taken up."""
        if self._replay is None or not self._replay.takes(kind):
            return False
        self._replay.update(kind, acp.whole_call(update, self.agent.habits))
        return True

    def options_told(self, update: Frame, batch: Batch) -> None:
        """By the agent itself, of one of its own changes or of all."""
        self._configure(update, batch)
        self._hold_to_asking(batch)

    def mode_told(self, update: Frame, batch: Batch) -> None:
        mode = string(update, "currentModeId")
        self._take_options(self.record.options.in_mode(mode), batch)
        self._hold_to_asking(batch)

    def lost(self) -> None:
        self._replay = None
        self._requests.forget()

    # -- requests

    def _open(self, request_id: str, command: Hello | Clear) -> Frame | Reply:
        """A session is rather loaded than resumed: only then is it told what was said in it."""
        params: dict[str, object] = {"cwd": self._cwd, "mcpServers": []}
        if self._isolated and (meta := self.agent.habits.isolating_meta):
            params["_meta"] = meta
        method = "session/new"
        if isinstance(command, Hello) and command.resume is not None:
            params["sessionId"] = command.resume
            if self.agent.loads:
                method, self._replay = "session/load", Replay()
            elif self.agent.resumes:
                method = "session/resume"
            else:
                return Reply(request_id, error="it cannot take up a session again")
        return self._requests.send(_Sent(request_id, command, "open"), method, params)

    def _set_model(self, sent: _Sent, model: str) -> Frame | Reply:
        known = self.record.models
        if known is None:
            return Reply(sent.request_id, error="it lets no model be chosen")
        model = known.named(model, self._provider)
        if model not in known.ids:
            some = ", ".join(known.ids[:8])
            return Reply(sent.request_id, error=f"it has no model {model!r}; it has: {some}")
        if known.option is None:
            params = {"sessionId": self.record.id, "modelId": model}
            return self._requests.send(sent, "session/set_model", params)
        params = {"sessionId": self.record.id, "configId": known.option, "value": model}
        return self._requests.send(sent, "session/set_config_option", params)

    def _set_option(self, request_id: str, command: SetOption) -> Frame | Reply:
        """A person's choice, so a mode may also be one in which the agent asks nobody."""
        option, value = self.record.options.find(command.option_id), command.value
        if option is None or value not in option.ids:
            known = ", ".join(option.ids if option else (o.id for o in self.record.options.all))
            return Reply(request_id, error=f"it has no such option or value; there is: {known}")
        if self.record.options.is_mode(option.id):
            if command.earlier and self.record.options.decides_in(value):
                return Reply(request_id, error=_CHOSEN_EARLIER)
            self.record.options = replace(self.record.options, chosen_mode=value)
        method, params = self.record.options.request(self.record.id, option.id, value)
        return self._requests.send(_Sent(request_id, command, "option"), method, params)

    # -- responses

    def _succeeded(self, sent: _Sent, result: Frame, batch: Batch) -> None:
        match sent.step:
            case "initialize":
                self._initialized(sent, result, batch)
            case "open":
                self._opened(sent, result, batch)
            case "mode":
                self.record.options = self._in_asking_mode(result)
                self._stays = self.record.options.allows_itself
                if self._stays:
                    batch.add(Reply(sent.request_id, error=_UNASKING))
                else:
                    self._settle(sent, batch)
            case "back":
                self._take_options(self._in_asking_mode(result), batch)
                self._stays = self.record.options.allows_itself
                if self._stays:
                    self._not_back("it says that it is still in that mode", batch)
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
        agent = self.agent = Agent(result)
        self.record = Record(agent.habits)
        self._can(
            images=agent.images,
            listSessions=agent.lists,
            resume=agent.loads or agent.resumes,
            hostedFiles=self._hosts_files and not agent.habits.mirrors,
            toolProgress=agent.habits.announces_writes,
        )
        self._go_on(self._open(sent.request_id, cast(Hello, sent.command)), batch)

    def _opened(self, sent: _Sent, result: Frame, batch: Batch) -> None:
        former, self.record = self.record, Record(self.agent.habits)
        self.record.commands = former.commands
        if self._replay is not None:
            self.record.take(self._replay.finish())
            self._replay = None
        resumed = sent.command.resume if isinstance(sent.command, Hello) else None
        if resumed is not None:
            self.record.taken_up(former.cost)
        self.record.id = string(result, "sessionId") or resumed
        if self.record.id is None:
            batch.add(Reply(sent.request_id, error="it opened a session without an id"))
            return
        self.record.models = former.models
        self._configure(result, None)
        if former.id is not None and self.agent.closes:
            close = _Sent(sent.request_id, sent.command, "close")
            batch.add(Send(self._requests.send(close, "session/close", {"sessionId": former.id})))
        self._settle(sent, batch)

    def _settle(self, sent: _Sent, batch: Batch) -> None:
        """What is still to be set before the session is as it should be. An agent that would
        give itself leave is put into the mode that asks: the person's settings decide."""
        record = self.record
        wanted, current = self._wanted_model, ""
        if record.models is not None:
            wanted = record.models.named(wanted, self._provider)
            current = record.models.current
        if record.options.allows_itself:
            step = _Sent(sent.request_id, sent.command, "mode")
            batch.add(Send(self._requests.send(step, *record.options.ask(record.id))))
        elif wanted not in ("", current):
            step = _Sent(sent.request_id, sent.command, "model")
            self._go_on(self._set_model(step, wanted), batch)
        else:
            self._done(sent, batch)

    def _done(self, sent: _Sent, batch: Batch) -> None:
        if isinstance(sent.command, SetModel):
            self._wanted_model = sent.command.model  # of sessions to come as well
        self.record.choose(self._wanted_model, self._provider)
        batch.add(Reply(sent.request_id, self.record.state(self.agent)))

    def _go_on(self, step: Frame | Reply, batch: Batch) -> None:
        batch.add(step if isinstance(step, Reply) else Send(step))

    # -- modes and options

    def _configure(self, source: Frame, batch: Batch | None) -> None:
        """Without a ``batch`` it is how a session begins, and no change."""
        before = self.record.options
        self.record.configure(source)
        can = self.record.models is not None
        self._can(models=can, setModel=can)
        after, self.record.options = self.record.options, before
        self._take_options(after, batch)

    def _take_options(self, options: Options, batch: Batch | None) -> None:
        before, self.record.options = self.record.options, options
        thinks = any(option.category == "thought_level" for option in options.all)
        self._can(options=bool(options.all), thinkingLevel=thinks)
        if batch is None:
            return
        for option in options.all:
            former = before.find(option.id)
            if former is None or former.value != option.value:
                batch.add(OptionChanged(option.id, option.value))

    def _option_set(self, sent: _Sent, result: Frame, batch: Batch) -> None:
        command = cast(SetOption, sent.command)
        if self.record.options.is_mode(command.option_id):
            self._take_options(self.record.options.in_mode(command.value), batch)
            if self.record.options.decides_in(command.value):
                batch.add(Notice("warning", _ALLOWS_ITSELF, "agent"))
        self._configure(result, batch)
        batch.add(Reply(sent.request_id, self.record.told_options()))

    def _in_asking_mode(self, result: Frame) -> Options:
        """As the agent answers that it is, once it was told to ask."""
        return self.record.options.in_mode(self.agent.habits.asking_mode).told_by(result)

    def _not_back(self, why: str, batch: Batch) -> None:
        batch.add(Notice("error", f"{_ALLOWS_ITSELF} It did not go back: {why}", "agent"))
        batch.add(Send(self.cancel()))

    def _hold_to_asking(self, batch: Batch) -> None:
        """An agent does not put itself into a mode in which it asks nobody."""
        if self.record.options.allows_itself:
            told = f"{_ALLOWS_ITSELF} It took this mode by itself, and is put back to asking."
            batch.add(Notice("warning", told, "agent"))
            step = _Sent("", GetOptions(), "back")
            batch.add(Send(self._requests.send(step, *self.record.options.ask(self.record.id))))
