"""What we ask of Meerkat beside its turns: the handshake, sessions, state, models, transcripts.

A command of ours may take several requests, one after the other; the last one's answer is its
reply.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from lsp_agent.protocol.events import Compacted, Notice
from lsp_agent.protocol.messages import Message
from lsp_agent.toolset.loose_json import Frame, frame, integer, items, string
from lsp_agent.wires import jsonrpc
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.meerkat import messages as meerkat
from lsp_agent.wires.meerkat import tools as meerkat_tools
from lsp_agent.wires.meerkat.session import Session
from lsp_agent.wires.wire import (
    Abort,
    Clear,
    Command,
    GetMessages,
    Hello,
    Prompt,
    Reply,
    Send,
    SetModel,
)

_HISTORY_PAGE = 200
_ONLY_TALKS = (
    "This Meerkat is too old to be given the editor's tools, so it can only talk. Install rkat-rpc"
    " 0.8 or newer."
)
GONE = "Meerkat no longer has this session; the agent goes on in a new one and remembers nothing."
_COMPACTED = "Meerkat has compacted the transcript."
_NOT_CONFIGURED = "Meerkat does not take the table `config` of this agent's settings: "

_Step = Literal[
    "initialize",
    "configure",
    "create",
    "register",
    "read",
    "config",
    "turn",
    "interrupt",
    "catalog",
    "history",
    "summary",
]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of ours: which ``step`` it is of the command with ``request_id``. ``messages`` are
    those of the pages before, ``told`` what the requests before it have told of the state."""

    step: _Step
    request_id: str
    command: Command
    messages: tuple[Message, ...] = ()
    told: Mapping[str, object] = field(default_factory=dict[str, object])


class Requests:
    """Each method that asks returns the frame to be sent."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._open = jsonrpc.Requests[Asked](jsonrpc.VERSIONED)

    # -- asking

    def hello(self, request_id: str, command: Hello) -> Mapping[str, object]:
        return self._ask(Asked("initialize", request_id, command), "initialize", {})

    def prompt(self, request_id: str, command: Prompt) -> Mapping[str, object]:
        """A turn, in a session that is made with it if there is none."""
        prompt = meerkat.prompt(command.text, command.images)
        asked = Asked("turn", request_id, command)
        if self._session.id is None:
            return self._ask(asked, "session/create", self._session.creation(prompt))
        return self._ask(asked, "turn/start", self._session.turn(prompt))

    def interrupt(self, request_id: str) -> Mapping[str, object]:
        asked = Asked("interrupt", request_id, Abort())
        return self._ask(asked, "turn/interrupt", {"session_id": self._session.id})

    def create(self, request_id: str, command: Command) -> Mapping[str, object]:
        """A session that runs nothing yet. An empty list adds nothing to its first prompt."""
        params = {**self._session.creation([]), "initial_turn": "deferred"}
        return self._ask(Asked("create", request_id, command), "session/create", params)

    def state(self, request_id: str, command: Command) -> Mapping[str, object] | Reply:
        if self._session.id is None or self._session.generation == "seed":
            asked = Asked("config", request_id, command, told=self._session.known())
            return self._config(asked)
        asked = Asked("read", request_id, command)
        return self._ask(asked, "session/read", {"session_id": self._session.id})

    def catalog(self, request_id: str, command: Command) -> Mapping[str, object]:
        return self._ask(Asked("catalog", request_id, command), "models/catalog", {})

    def history(self, request_id: str, command: Command) -> Mapping[str, object]:
        return self._page(Asked("history", request_id, command), 0)

    def summary(self) -> Mapping[str, object]:
        """What a compaction has left of the transcript."""
        return self._page(Asked("summary", "", GetMessages()), 0)

    def _page(self, asked: Asked, offset: int) -> Mapping[str, object]:
        params = {"session_id": self._session.id, "offset": offset, "limit": _HISTORY_PAGE}
        return self._ask(asked, "session/history", params)

    def _config(self, asked: Asked) -> Mapping[str, object] | Reply:
        """The configuration, where the server tells it."""
        if not self._session.tells_config:
            return Reply(asked.request_id, asked.told)
        return self._ask(replace(asked, step="config"), "config/get", {})

    def _ask(self, asked: Asked, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
        return self._open.send(asked, method, params)

    # -- answers

    def asked(self, response: Frame) -> Asked | None:
        """The request that this is the response to; it is open no longer."""
        return self._open.answered(response)

    def forget(self) -> None:
        """No answers will come."""
        self._open.forget()

    def answered(self, asked: Asked, result: Frame, batch: Batch) -> None:
        """The result of a request that was no turn's."""
        match asked.step:
            case "initialize":
                self._initialized(asked, result, batch)
            case "configure":
                self._configured(asked, batch)
            case "create":
                self._session.forget()
                self._session.id = string(result, "session_id") or None
                self._created(asked, batch)
            case "register":
                self._start(asked, batch)
            case "read":
                told = self._session.state(result)
                _say(self._config(replace(asked, told=told)), batch)
            case "config":
                state = {**meerkat.configured(result), **asked.told}
                batch.add(Reply(asked.request_id, state))
            case "catalog":
                self._catalog(asked, meerkat.models(result), batch)
            case "history":
                self._history(asked, result, batch)
            case "summary":
                summary = meerkat.summary_in(items(result.get("messages")))
                told = Notice("info", _COMPACTED, "agent")
                batch.add(told if summary is None else Compacted(summary))
            case "interrupt" | "turn":
                pass  # the turn's own response ends it

    def failed(self, asked: Asked, error: object, batch: Batch) -> None:
        """The error of a request that was no turn's."""
        failure = meerkat.failure(error, self._session.generation)
        code = integer(frame(error), "code")
        match asked.step:
            case "configure":
                batch.add(Reply(asked.request_id, error=_NOT_CONFIGURED + failure.message))
            case "create" if code == jsonrpc.INVALID_PARAMS:
                # It knows no deferred sessions, or says with the first prompt what is wrong.
                self._session.forget()
                self._created(asked, batch)
            case "read":
                batch.add(Reply(asked.request_id, self._session.known()))
            case "config":
                batch.add(Reply(asked.request_id, asked.told))
            case "history" if failure.kind == "gone":
                batch.add(Reply(asked.request_id, {"messages": []}))
            case "interrupt" | "summary":
                batch.add(Notice("debug", failure.message, "agent"))
            case _:
                batch.add(Reply(asked.request_id, error=failure.message))

    # -- the handshake

    def _initialized(self, asked: Asked, result: Frame, batch: Batch) -> None:
        self._session.initialized(result)
        if self._session.generation == "seed":
            batch.add(Notice("warning", _ONLY_TALKS, "lsp-agent"))
        if (params := self._session.configuration()) is None:
            self._configured(asked, batch)
        else:
            configuring = replace(asked, step="configure")
            batch.add(Send(self._ask(configuring, "config/patch", params)))

    def _configured(self, asked: Asked, batch: Batch) -> None:
        """It is as the settings want it. A session that Meerkat reads from its disk again after a
        stop has lost its own tools, and has those that are registered here."""
        if self._session.generation == "seed" or not self._session.registers_tools:
            self._start(asked, batch)
        else:
            registering = replace(asked, step="register")
            tools = {"tools": list(meerkat_tools.TOOLS)}
            batch.add(Send(self._ask(registering, "tools/register", tools)))

    def _start(self, asked: Asked, batch: Batch) -> None:
        """A new session, where it can be made without a prompt."""
        if self._session.generation == "seed":
            self._created(asked, batch)
        else:
            batch.add(Send(self.create(asked.request_id, asked.command)))

    def _created(self, asked: Asked, batch: Batch) -> None:
        if isinstance(asked.command, Clear):
            batch.add(Reply(asked.request_id))
        else:
            _say(self.state(asked.request_id, asked.command), batch)

    # -- models and transcripts

    def _catalog(self, asked: Asked, models: list[dict[str, object]], batch: Batch) -> None:
        if not isinstance(asked.command, SetModel):
            batch.add(Reply(asked.request_id, {"models": models}))
            return
        model = asked.command.model
        error = self._session.choose(model, models)
        batch.add(Reply(asked.request_id, {} if error else {"model": model}, error))

    def _history(self, asked: Asked, result: Frame, batch: Batch) -> None:
        rows = items(result.get("messages"))
        messages = (*asked.messages, *meerkat.transcript(rows))
        if result.get("has_more") is True and rows:
            offset = (integer(result, "offset") or 0) + len(rows)
            batch.add(Send(self._page(replace(asked, messages=messages), offset)))
        else:
            shown = meerkat.without_catalogue(messages)
            batch.add(Reply(asked.request_id, {"messages": shown}))


def _say(said: Mapping[str, object] | Reply, batch: Batch) -> None:
    batch.add(said if isinstance(said, Reply) else Send(said))
