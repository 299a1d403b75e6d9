"""What we ask of Codex: the handshake, threads, turns, models, transcripts.

A command of ours may take several requests, one after the other; the last one's answer is its
reply.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, assert_never

from lsp_agent import __version__
from lsp_agent.protocol.events import Notice
from lsp_agent.toolset.loose_json import Frame, frame, frames, string
from lsp_agent.wires import jsonrpc
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.codex import messages as codex
from lsp_agent.wires.codex.thread import CLIENT, Thread
from lsp_agent.wires.wire import (
    Abort,
    Clear,
    Command,
    Compact,
    GetMessages,
    GetModels,
    GetOptions,
    Hello,
    ListSessions,
    Prompt,
    Reply,
    Send,
    SetModel,
    SetOption,
    Steer,
)

_GONE = "Codex no longer has this session; the agent goes on in a new one and remembers nothing."
_SIGNED_OUT = (
    "Codex is not signed in. Run `codex login` in a terminal, or give it a provider with a key in"
    " its config.toml."
)
Asking = Hello | Clear | GetMessages | GetModels | SetModel | GetOptions | SetOption | ListSessions

_SESSIONS = 100
_PAGE = 50

Step = Literal[
    "initialize",
    "account",
    "start",
    "resume",
    "turn",
    "steer",
    "interrupt",
    "compact",
    "models",
    "set",
    "sessions",
    "turns",
]


@dataclass(frozen=True, slots=True)
class Sent:
    """A request of ours: which ``step`` it is of the command with ``request_id``. ``turns`` are
    those of the pages before."""

    step: Step
    request_id: str
    command: Command
    turns: tuple[Frame, ...] = ()


class Requests:
    """Each method that asks returns the frame to be sent."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._open = jsonrpc.Requests[Sent](jsonrpc.BARE)

    # -- asking

    def ask(self, request_id: str, command: Asking) -> Mapping[str, object] | Reply:
        """What is no turn's."""
        match command:
            case Hello():
                client = {"name": CLIENT, "title": CLIENT, "version": __version__}
                params = {"clientInfo": client, "capabilities": {"experimentalApi": True}}
                return self._ask(Sent("initialize", request_id, command), "initialize", params)
            case Clear():
                return self._start(Sent("start", request_id, command))
            case GetMessages():
                return self._turns(Sent("turns", request_id, command), None)
            case GetModels() | SetModel() | GetOptions():
                return self._ask(Sent("models", request_id, command), "model/list", {})
            case SetOption(codex.EFFORT, value):
                return self._set(Sent("set", request_id, command), effort=value)
            case SetOption(option):
                return Reply(request_id, error=f"Codex has no option {option!r}.")
            case ListSessions():
                params = {"cwd": self._thread.cwd, "limit": _SESSIONS, "sortKey": "updated_at"}
                return self._ask(Sent("sessions", request_id, command), "thread/list", params)
            case _:
                assert_never(command)

    def prompt(self, request_id: str, command: Prompt) -> Mapping[str, object]:
        params = self._of_thread(input=codex.prompt(command.text, command.images))
        return self._ask(Sent("turn", request_id, command), "turn/start", params)

    def steer(self, request_id: str, command: Steer, turn: str) -> Mapping[str, object]:
        words = codex.prompt(command.text, command.images)
        params = self._of_thread(expectedTurnId=turn, input=words)
        return self._ask(Sent("steer", request_id, command), "turn/steer", params)

    def note(self, words: str, turn: str) -> Mapping[str, object]:
        """What the model is told while its turn runs."""
        params = self._of_thread(
            expectedTurnId=turn, input=codex.prompt(words, ()), clientUserMessageId=codex.NOTE_ID
        )
        return self._ask(Sent("interrupt", "", Abort()), "turn/steer", params)

    def interrupt(self, request_id: str, turn: str) -> Mapping[str, object]:
        sent = Sent("interrupt", request_id, Abort())
        return self._ask(sent, "turn/interrupt", self._of_thread(turnId=turn))

    def compact(self, request_id: str, command: Compact) -> Mapping[str, object]:
        sent = Sent("compact", request_id, command)
        return self._ask(sent, "thread/compact/start", self._of_thread())

    def _start(self, sent: Sent) -> Mapping[str, object]:
        return self._ask(replace(sent, step="start"), "thread/start", self._thread.start())

    def _set(self, sent: Sent, **settings: str) -> Mapping[str, object]:
        params = self._of_thread(**settings)
        return self._ask(replace(sent, step="set"), "thread/settings/update", params)

    def _turns(self, sent: Sent, cursor: str | None) -> Mapping[str, object]:
        page = {"itemsView": "full", "sortDirection": "asc", "limit": _PAGE, "cursor": cursor}
        return self._ask(sent, "thread/turns/list", self._of_thread(**page))

    def _of_thread(self, **params: object) -> dict[str, object]:
        return {"threadId": self._thread.id, **params}

    def _ask(self, sent: Sent, method: str, params: Mapping[str, object]) -> Mapping[str, object]:
        return self._open.send(sent, method, params)

    # -- answers

    def sent(self, response: Frame) -> Sent | None:
        """The request that this is the response to; it is open no longer."""
        return self._open.answered(response)

    def forget(self) -> None:
        """No answers will come."""
        self._open.forget()

    def answered(self, sent: Sent, result: Frame, batch: Batch) -> None:
        """The result of a request that was no turn's and no compaction's."""
        match sent.step:
            case "initialize":
                self._thread.initialized(result)
                batch.add(Send(jsonrpc.BARE.notification("initialized")))
                batch.add(Send(self._ask(replace(sent, step="account"), "account/read", {})))
            case "account":
                self._signed_in(sent, result, batch)
            case "start" | "resume":
                error = self._thread.begun(result)
                batch.add(Reply(sent.request_id, {} if error else self._thread.known(), error))
            case "models":
                self._listed(sent, result, batch)
            case "set":
                self._was_set(sent, batch)
            case "sessions":
                batch.add(Reply(sent.request_id, {"sessions": codex.sessions(result)}))
            case "turns":
                self._page(sent, result, batch)
            case "steer" | "interrupt" | "turn" | "compact":
                if sent.request_id:
                    batch.add(Reply(sent.request_id))

    def failed(self, sent: Sent, error: object, batch: Batch) -> None:
        """The error of a request."""
        message = string(frame(error), "message") or "Codex gave no reason"
        match sent.step:
            case "resume":
                batch.add(Notice("warning", _GONE, CLIENT))
                batch.add(Send(self._start(sent)))
            case "interrupt":
                batch.add(Notice("debug", message, "agent"))
            case _:
                batch.add(Reply(sent.request_id, error=message))

    def _signed_in(self, sent: Sent, result: Frame, batch: Batch) -> None:
        if result.get("requiresOpenaiAuth") is True and not frame(result.get("account")):
            batch.add(Reply(sent.request_id, error=_SIGNED_OUT))
        elif isinstance(sent.command, Hello) and sent.command.resume is not None:
            params = self._thread.resume(sent.command.resume)
            batch.add(Send(self._ask(replace(sent, step="resume"), "thread/resume", params)))
        else:
            batch.add(Send(self._start(sent)))

    def _listed(self, sent: Sent, result: Frame, batch: Batch) -> None:
        thread = self._thread
        models = codex.models(result, thread.provider)
        match sent.command:
            case SetModel(model):
                names = [str(each["id"]) for each in models]
                # Codex lists OpenAI's models, whosever the provider is.
                if thread.provider == "openai" and model not in names:
                    told = f"Codex knows no model {model!r}; there is: {', '.join(names)}."
                    batch.add(Reply(sent.request_id, error=told))
                else:
                    batch.add(Send(self._set(sent, model=model)))
            case GetModels():
                batch.add(Reply(sent.request_id, {"models": models}))
            case _:
                options = codex.effort_option(result, thread.model, thread.effort)
                batch.add(Reply(sent.request_id, {"options": options}))

    def _was_set(self, sent: Sent, batch: Batch) -> None:
        match sent.command:
            case SetModel(model):
                self._thread.model = model
                batch.add(Reply(sent.request_id, {"model": model}))
            case SetOption(_, value):
                self._thread.effort = value
                asked = replace(sent, step="models", command=GetOptions())
                batch.add(Send(self._ask(asked, "model/list", {})))
            case _:
                batch.add(Reply(sent.request_id))

    def _page(self, sent: Sent, result: Frame, batch: Batch) -> None:
        turns = (*sent.turns, *frames(result.get("data")))
        if cursor := string(result, "nextCursor"):
            batch.add(Send(self._turns(replace(sent, turns=turns), cursor)))
        else:
            batch.add(Reply(sent.request_id, {"messages": codex.transcript(turns)}))
