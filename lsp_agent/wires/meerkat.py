"""Meerkat's JSON-RPC wire (``rkat-rpc``), today's (0.8, 0.9) and as it was first published.

Meerkat runs the model and nothing else: its own tools are off, and ``read``, ``write``, ``edit``
and ``bash`` come to us as ``tool/execute`` requests. A server of the first published wire has no
such requests: its agent can only talk.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, assert_never

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import (
    Compacted,
    Notice,
    StopReason,
    TextDelta,
    ThinkingDelta,
    TurnStarted,
)
from lsp_agent.protocol.messages import Message
from lsp_agent.protocol.settings import AgentSettings
from lsp_agent.wires import meerkat_messages as meerkat
from lsp_agent.wires import meerkat_tools
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.credentials import credentials
from lsp_agent.wires.meerkat_messages import Failure, Frame
from lsp_agent.wires.meerkat_session import Session
from lsp_agent.wires.meerkat_turn import Turn
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Answered,
    Clear,
    Command,
    Compact,
    Decoded,
    GetCommands,
    GetMessages,
    GetModels,
    GetState,
    Granted,
    Hello,
    Launch,
    Prompt,
    Refused,
    Reply,
    RunCommand,
    RunTool,
    Send,
    SetModel,
    Steer,
    Withdrawn,
)

#: The realm of our sessions (Meerkat's word for a folder of data with a configuration): always
#: the same one, so that they can be taken up again.
REALM = "lsp-agent"

#: Meerkat takes a provider's key from these before the provider's own variable.
_OWN_KEYS = ("RKAT_ANTHROPIC_API_KEY", "RKAT_OPENAI_API_KEY", "RKAT_GEMINI_API_KEY")
_HISTORY_PAGE = 200
_MIRROR = (
    'Meerkat\'s own tools write and run without asking anybody, so `hosting = "mirror"` is not'
    ' offered for it. Set `hosting` to "auto" in its settings.'
)
_ONLY_TALKS = (
    "This Meerkat is too old to be given the editor's tools, so it can only talk. Install rkat-rpc"
    " 0.8 or newer."
)
_GONE = "Meerkat no longer has this session; the agent goes on in a new one and remembers nothing."
_COMPACTED = "Meerkat has compacted the transcript."
_CANNOT = "Meerkat cannot do this."

_Step = Literal[
    "initialize",
    "config",
    "create",
    "register",
    "read",
    "turn",
    "interrupt",
    "catalog",
    "history",
    "summary",
]


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request of ours: which step it is of the command with ``request_id``; ``messages`` are
    those of the pages before."""

    step: _Step
    request_id: str
    command: Command
    messages: tuple[Message, ...] = ()

    @property
    def resume(self) -> str | None:
        """The session that a handshake is to take up."""
        return self.command.resume if isinstance(self.command, Hello) else None


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A prompt that was sent, by the request ``rpc_id``, and has given no sign yet."""

    request_id: str
    rpc_id: int
    text: str


class MeerkatWire:
    """The Meerkat wire (a :class:`~lsp_agent.wires.wire.Wire`).

    One session of Meerkat's at a time; ``Clear`` makes another. It is created by the handshake, or,
    where the server refuses that, by the first prompt. A prompt's reply comes with the first sign
    of its run; the response to it ends the turn.
    """

    #: Its reader dies of a line of 64 MiB.
    max_frame_bytes = 64 * 1024 * 1024 - 64 * 1024
    bridged = False

    def __init__(self) -> None:
        self._session = Session()
        self.capabilities = self._session.capabilities
        self._ids = itertools.count(1)
        self._asked: dict[int, _Asked] = {}
        self._waiting: _Waiting | None = None
        self._turn: Turn | None = None
        #: Whether what waits or runs is to be aborted.
        self._doomed = False
        #: Open calls of our tools: the id to answer with, by key.
        self._calls: dict[str, object] = {}

    def launch(self, agent: AgentSettings, cwd: str, extension: str | None) -> Launch:  # noqa: ARG002
        """Without ``--context-root``: with it Meerkat would run the hooks that a repository names.

        :raises RequestFailed: "notConfigured" where ``agent`` asks for mirror
        """
        if agent.hosting == "mirror":
            raise RequestFailed("notConfigured", _MIRROR)
        self._session.configure(agent, cwd)
        argv = list(agent.command)
        flags = {argument.partition("=")[0] for argument in argv}
        if "--isolated" in flags:
            self._session.lower("resume")
        # ``rkat rpc``, as it was called once, takes no flags.
        elif "--realm" not in flags and "rpc" not in argv[1:2]:
            argv += ["--realm", REALM]
        self.capabilities = self._session.capabilities
        return Launch(tuple(argv), dict(agent.env), credentials(agent.env, *_OWN_KEYS))

    # -- commands

    def encode(self, request_id: str, command: Command) -> Mapping[str, object] | Reply:
        match command:
            case Hello():
                return self._ask(_Asked("initialize", request_id, command), "initialize", {})
            case Prompt():
                return self._prompt(request_id, command)
            case Abort():
                return self._abort(request_id, command)
            case Clear() if self._session.generation == "current" and self._session.id:
                return self._create(request_id, command)
            case Clear():
                self._session.forget()
                return Reply(request_id)
            case GetState():
                return self._state(request_id, command)
            case GetMessages() if self._session.generation == "current" and self._session.id:
                return self._page(_Asked("history", request_id, command), 0)
            case GetMessages():
                return Reply(request_id, {"messages": []})
            case GetModels() | SetModel():
                return self._ask(_Asked("catalog", request_id, command), "models/catalog", {})
            case GetCommands():
                return Reply(request_id, {"commands": []})
            case Steer() | Compact() | RunCommand():
                return Reply(request_id, error=_CANNOT)
            case _:
                assert_never(command)

    def _prompt(self, request_id: str, command: Prompt) -> Mapping[str, object]:
        prompt = meerkat.prompt(command.text, command.images)
        asked = _Asked("turn", request_id, command)
        if self._session.id is None:
            frame = self._ask(asked, "session/create", self._session.creation(prompt))
        else:
            frame = self._ask(asked, "turn/start", self._session.turn(prompt))
        self._waiting = _Waiting(request_id, max(self._asked), command.text)
        self._doomed = False
        return frame

    def _create(self, request_id: str, command: Command) -> Mapping[str, object]:
        """A session that runs nothing yet. An empty list adds nothing to its first prompt."""
        params = {**self._session.creation([]), "initial_turn": "deferred"}
        return self._ask(_Asked("create", request_id, command), "session/create", params)

    def _abort(self, request_id: str, command: Abort) -> Mapping[str, object] | Reply:
        if self._turn is None and self._waiting is None:
            return Reply(request_id)
        self._doomed = True
        if self._turn is not None:
            self._turn.aborted = True
        if self._session.id is not None:
            return self._interrupt(request_id, command)
        if self._waiting is None or self._session.generation == "seed":
            return Reply(request_id)  # the interrupt follows the session's first event
        return _frame(method="cancel", params={"request_id": self._waiting.rpc_id})

    def _interrupt(self, request_id: str, command: Abort) -> Mapping[str, object]:
        asked = _Asked("interrupt", request_id, command)
        return self._ask(asked, "turn/interrupt", {"session_id": self._session.id})

    def _state(self, request_id: str, command: Command) -> Mapping[str, object]:
        if self._session.id is None or self._session.generation == "seed":
            return self._ask(_Asked("config", request_id, command), "config/get", {})
        asked = _Asked("read", request_id, command)
        return self._ask(asked, "session/read", {"session_id": self._session.id})

    def _page(self, asked: _Asked, offset: int) -> Mapping[str, object]:
        params = {"session_id": self._session.id, "offset": offset, "limit": _HISTORY_PAGE}
        return self._ask(asked, "session/history", params)

    def _ask(
        self, asked: _Asked, method: str, params: Mapping[str, object]
    ) -> Mapping[str, object]:
        rpc_id = next(self._ids)
        self._asked[rpc_id] = asked
        return _frame(id=rpc_id, method=method, params=params)

    def answer(self, key: str, answer: Answer) -> Mapping[str, object] | None:
        if key not in self._calls:
            return None
        rpc_id = self._calls.pop(key)
        match answer:
            case Answered(text):
                return _result(rpc_id, text, is_error=False)
            case Granted(note):
                return _result(rpc_id, note or "", is_error=False)
            case Refused(reason):
                return _result(rpc_id, reason, is_error=True)
            case _:
                assert_never(answer)

    # -- frames

    def decode(self, frames: Iterable[object]) -> list[Decoded]:
        batch = Batch()
        for each in frames:
            frame = meerkat.frame(each)
            method = frame.get("method")
            if isinstance(method, str) and "id" in frame:
                self._request(method, frame, batch)
            elif method == "session/event":
                self._event(meerkat.frame(frame.get("params")), batch)
            elif method is None and ("result" in frame or "error" in frame):
                self._response(frame, batch)
            else:
                batch.add(_debug(f"frame {str(method or each)[:80]!r}"))
        return _joined(batch.finish())

    def lost(self, reason: StopReason, message: str | None) -> list[Decoded]:
        batch = Batch()
        if self._turn is not None:
            self._turn.cut(reason, message, batch)
        self._turn_ended(batch)
        self._asked.clear()
        return batch.finish()

    def _request(self, method: str, frame: Frame, batch: Batch) -> None:
        rpc_id = frame.get("id")
        if method != "tool/execute":
            error = {"code": meerkat.METHOD_NOT_FOUND, "message": f"Method not found: {method}"}
            batch.add(Send(_frame(id=rpc_id, error=error)))
            return
        params = meerkat.frame(frame.get("params"))
        tool, call_id = meerkat.string(params, "name"), meerkat.string(params, "tool_use_id")
        self._begin(batch)
        if self._turn is None:
            batch.add(Send(_result(rpc_id, "Not run: its turn has ended.", is_error=True)))
            return
        arguments = meerkat.frame(params.get("arguments"))
        self._turn.call(call_id, tool, arguments, batch)
        if tool not in meerkat_tools.NAMES:
            batch.add(Send(_result(rpc_id, f'unknown tool "{tool}"', is_error=True)))
            return
        key = str(rpc_id)
        self._calls[key] = rpc_id
        batch.add(RunTool(key, tool, arguments, call_id, meerkat_tools.ANSWER_SECONDS))

    def _event(self, params: Frame, batch: Batch) -> None:
        envelope = meerkat.frame(params.get("event"))
        # The first published wire had the event itself here.
        payload = meerkat.frame(envelope.get("payload")) or envelope
        kind = meerkat.string(payload, "type")
        session = meerkat.string(params, "session_id")
        if self._session.id is None and self._waiting is not None and session:
            self._made(session, batch)
        if session != self._session.id:
            batch.add(_debug(f"{kind[:80]} of another session"))
            return
        # What is told before that is still of the turn before.
        if kind in ("run_started", "turn_started"):
            self._begin(batch)
        if self._turn is not None and self._turn.event(kind, payload, batch):
            return
        if kind == "compaction_completed":
            batch.add(Send(self._page(_Asked("summary", "", GetMessages()), 0)))
            return
        level, said = meerkat.notice(kind, payload)
        batch.add(Notice(level, said, "agent"))

    def _made(self, session: str, batch: Batch) -> None:
        """The session that a prompt has made is known."""
        self._session.id = session
        if self._doomed:
            batch.add(Send(self._interrupt("", Abort())))

    def _begin(self, batch: Batch) -> None:
        """The prompt that waits, if one does, has given its first sign."""
        if self._waiting is None:
            return
        waiting, self._waiting = self._waiting, None
        self._turn = Turn(
            aborted=self._doomed,
            known=self._session.usage,
            results_follow=self._session.generation == "current",
        )
        batch.add(Reply(waiting.request_id))
        batch.add(TurnStarted(waiting.text))

    def _turn_ended(self, batch: Batch) -> None:
        for key in self._calls:
            batch.add(Withdrawn(key))
        self._calls.clear()
        if self._turn is not None:
            self._session.usage = self._turn.known
        self._turn, self._waiting, self._doomed = None, None, False

    # -- responses

    def _response(self, frame: Frame, batch: Batch) -> None:
        rpc_id = frame.get("id")
        error = frame.get("error")
        asked = self._asked.pop(rpc_id, None) if isinstance(rpc_id, int) else None
        if asked is None:
            said = meerkat.string(meerkat.frame(error), "message") or "a result"
            batch.add(_debug(f"response to nothing: {said[:200]}"))
        elif asked.step == "turn":
            self._turn_response(frame, batch)
        elif error is not None:
            self._failed(asked, error, batch)
        else:
            self._answered(asked, meerkat.frame(frame.get("result")), batch)

    def _turn_response(self, frame: Frame, batch: Batch) -> None:
        if (error := frame.get("error")) is not None:
            self._turn_failed(meerkat.failure(error, self._session.generation), batch)
        else:
            result = meerkat.frame(frame.get("result"))
            self._session.answered(meerkat.string(result, "session_id"))
            self._begin(batch)
            if self._turn is not None:
                self._turn.respond(result, batch)
        self._turn_ended(batch)

    def _turn_failed(self, failure: Failure, batch: Batch) -> None:
        if self._waiting is not None and failure.kind in ("refused", "gone"):
            batch.add(Reply(self._waiting.request_id, error=failure.message))
            return
        self._begin(batch)
        if self._turn is not None:
            self._turn.aborted |= failure.kind == "aborted"
            self._turn.fail(failure.message, batch)

    def _answered(self, asked: _Asked, result: Frame, batch: Batch) -> None:
        match asked.step:
            case "initialize":
                self._initialized(asked, result, batch)
            case "create":
                self._session.forget()
                self._session.id = meerkat.string(result, "session_id") or None
                self._created(asked, batch)
            case "register":
                self._take_up(asked, batch)
            case "read":
                if asked.resume is not None:
                    self._session.taken_up(asked.resume)
                batch.add(Reply(asked.request_id, self._session.state(result)))
            case "config":
                state = {**meerkat.configured(result), **self._session.known()}
                batch.add(Reply(asked.request_id, state))
            case "catalog":
                self._catalog(asked, meerkat.models(result), batch)
            case "history":
                self._history(asked, result, batch)
            case "summary":
                summary = meerkat.summary_in(meerkat.items(result.get("messages")))
                told = Notice("info", _COMPACTED, "agent")
                batch.add(told if summary is None else Compacted(summary))
            case "interrupt" | "turn":
                pass  # the turn's own response ends it

    def _failed(self, asked: _Asked, error: object, batch: Batch) -> None:
        failure = meerkat.failure(error, self._session.generation)
        code = meerkat.integer(meerkat.frame(error), "code")
        match asked.step:
            case "create" if code == meerkat.INVALID_PARAMS:
                # It knows no deferred sessions, or says with the first prompt what is wrong.
                self._session.forget()
                self._created(asked, batch)
            case "read" if asked.resume is not None and failure.kind == "gone":
                batch.add(Notice("warning", _GONE, "lsp-agent"))
                self._start(_Asked("create", asked.request_id, Hello()), batch)
            case "read" | "config" if asked.resume is None:
                batch.add(Reply(asked.request_id, self._session.known()))
            case "interrupt" | "summary":
                batch.add(_debug(failure.message))
            case _:
                batch.add(Reply(asked.request_id, error=failure.message))

    def _initialized(self, asked: _Asked, result: Frame, batch: Batch) -> None:
        self._session.initialized(result)
        self.capabilities = self._session.capabilities
        seed = self._session.generation == "seed"
        if seed:
            batch.add(Notice("warning", _ONLY_TALKS, "lsp-agent"))
        if asked.resume is not None and seed:
            self._take_up(asked, batch)
        elif asked.resume is not None:
            registering = _Asked("register", asked.request_id, asked.command)
            tools = {"tools": list(meerkat_tools.TOOLS)}
            batch.add(Send(self._ask(registering, "tools/register", tools)))
        else:
            self._start(asked, batch)

    def _start(self, asked: _Asked, batch: Batch) -> None:
        """A new session, where it can be made without a prompt."""
        if self._session.generation == "seed":
            batch.add(Send(self._state(asked.request_id, asked.command)))
        else:
            batch.add(Send(self._create(asked.request_id, asked.command)))

    def _created(self, asked: _Asked, batch: Batch) -> None:
        if isinstance(asked.command, Clear):
            batch.add(Reply(asked.request_id))
        else:
            batch.add(Send(self._state(asked.request_id, asked.command)))

    def _take_up(self, asked: _Asked, batch: Batch) -> None:
        """Its first turn will bring the session to life; it must be there."""
        reading = _Asked("read", asked.request_id, asked.command)
        batch.add(Send(self._ask(reading, "session/read", {"session_id": asked.resume})))

    def _catalog(self, asked: _Asked, models: list[dict[str, object]], batch: Batch) -> None:
        if not isinstance(asked.command, SetModel):
            batch.add(Reply(asked.request_id, {"models": models}))
            return
        model = asked.command.model
        error = self._session.choose(model, models)
        batch.add(Reply(asked.request_id, {} if error else {"model": model}, error))

    def _history(self, asked: _Asked, result: Frame, batch: Batch) -> None:
        rows = meerkat.items(result.get("messages"))
        messages = (*asked.messages, *meerkat.transcript(rows))
        if result.get("has_more") is True and rows:
            following = _Asked("history", asked.request_id, asked.command, messages)
            offset = (meerkat.integer(result, "offset") or 0) + len(rows)
            batch.add(Send(self._page(following, offset)))
        else:
            shown = meerkat.without_catalogue(messages)
            batch.add(Reply(asked.request_id, {"messages": shown}))


def _frame(**fields: object) -> Mapping[str, object]:
    return {"jsonrpc": "2.0", **fields}


def _result(rpc_id: object, content: str, *, is_error: bool) -> Mapping[str, object]:
    return _frame(id=rpc_id, result={"content": content, "is_error": is_error})


def _debug(message: str) -> Notice:
    return Notice("debug", message, "agent")


def _joined(decoded: list[Decoded]) -> list[Decoded]:
    """Adjacent deltas of one kind as one."""
    result: list[Decoded] = []
    for kind, run in itertools.groupby(decoded, type):
        if kind is TextDelta or kind is ThinkingDelta:
            texts = [item.text for item in run if isinstance(item, (TextDelta, ThinkingDelta))]
            result.append(kind("".join(texts)))
        else:
            result.extend(run)
    return result
