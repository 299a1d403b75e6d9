"""Meerkat's JSON-RPC wire (``rkat-rpc``), today's (0.8, 0.9) and as it was first published.

Meerkat runs the model and nothing else: its own tools are off, and ``read``, ``write``, ``edit``
and ``bash`` come to us as ``tool/execute`` requests. A server of the first published wire has no
such requests: its agent can only talk.
"""

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import assert_never

from lsp_agent.protocol.catalogue import Hosting
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Notice, StopReason, TextDelta, ThinkingDelta, TurnStarted
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.toolset.loose_json import Frame, frame, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.credentials import credentials
from lsp_agent.wires.jsonrpc import VERSIONED, kind_of
from lsp_agent.wires.meerkat import messages as meerkat
from lsp_agent.wires.meerkat import tools as meerkat_tools
from lsp_agent.wires.meerkat.messages import Failure
from lsp_agent.wires.meerkat.requests import GONE, Requests
from lsp_agent.wires.meerkat.session import Session
from lsp_agent.wires.meerkat.turn import Turn
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Answered,
    Clear,
    Command,
    Compact,
    Decoded,
    GetBackground,
    GetCommands,
    GetMessages,
    GetModels,
    GetOptions,
    GetState,
    Granted,
    Hello,
    Launch,
    ListSessions,
    Ping,
    Prompt,
    Refused,
    Reply,
    RunCommand,
    RunTool,
    Send,
    SetModel,
    SetOption,
    Steer,
    StopBackground,
    TakenUp,
    Withdrawn,
)

#: The realm of our sessions: Meerkat's word for a folder of data with a configuration.
REALM = "lsp-agent"

#: Meerkat takes a provider's key from these before the provider's own variable.
_OWN_KEYS = ("RKAT_ANTHROPIC_API_KEY", "RKAT_OPENAI_API_KEY", "RKAT_GEMINI_API_KEY")
_MIRROR = (
    'Meerkat\'s own tools write and run without asking anybody, so `hosting = "mirror"` is not'
    ' offered for it. Set `hosting` to "auto" in its settings.'
)
_CANNOT = "Meerkat cannot do this."


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A prompt that was sent, by the request ``rpc_id``, and has given no sign yet."""

    request_id: str
    rpc_id: object
    command: Prompt


class MeerkatWire:
    """The Meerkat wire (a :class:`~lsp_agent.wires.wire.Wire`).

    One session of Meerkat's at a time; ``Clear`` makes another. It is created by the handshake, or,
    where the server refuses that, by the first prompt. A prompt's reply comes with the first sign
    of its run; the response to it ends the turn.
    """

    #: Its reader dies of a line of 64 MiB.
    max_frame_bytes = 64 * 1024 * 1024 - 64 * 1024
    bridged = False
    hosting: Hosting = "hosted"
    has_ping = False
    runs_commands = True

    def __init__(self) -> None:
        self._session = Session()
        self.capabilities = self._session.capabilities
        self._requests = Requests(self._session)
        self._waiting: _Waiting | None = None
        self._turn: Turn | None = None
        #: Whether what waits or runs is to be aborted.
        self._doomed = False
        #: Open calls of our tools: the id to answer with, by key.
        self._calls: dict[str, object] = {}

    def takes_up(
        self,
        agent: AgentSettings,  # noqa: ARG002 - it takes up nothing
        environment: Mapping[str, str],  # noqa: ARG002 - it takes up nothing
    ) -> TakenUp:
        return TakenUp()

    def launch(self, agent: AgentSettings, cwd: str, extension: str | None) -> Launch:  # noqa: ARG002
        """Without ``--context-root``: with it Meerkat would run the hooks that a repository names.

        :raises RequestFailed: "notConfigured" where ``agent`` asks for mirror
        """
        if agent.hosting == "mirror":
            raise RequestFailed("notConfigured", _MIRROR)
        self._session.configure(agent, cwd)
        argv = list(agent.command)
        flags = {argument.partition("=")[0] for argument in argv}
        # ``rkat rpc``, as it was called once, takes no flags.
        if not {"--realm", "--isolated"} & flags and "rpc" not in argv[1:2]:
            argv += ["--realm", REALM]
        return Launch(tuple(argv), dict(agent.env), credentials(agent.env, *_OWN_KEYS))

    # -- commands

    def encode(self, request_id: str, command: Command) -> Mapping[str, object] | Reply:
        requests = self._requests
        has_session = self._session.generation == "current" and self._session.id is not None
        match command:
            case Hello():
                return requests.hello(request_id, command)
            case Prompt():
                return self._prompt(request_id, command)
            case Abort():
                return self._abort(request_id)
            case Clear() if has_session:
                return requests.create(request_id, command)
            case Clear():
                self._session.forget()
                return Reply(request_id)
            case GetState():
                return requests.state(request_id, command)
            case GetMessages() if has_session:
                return requests.history(request_id, command)
            case GetMessages():
                return Reply(request_id, {"messages": []})
            case GetModels() | SetModel():
                return requests.catalog(request_id, command)
            case GetCommands():
                return Reply(request_id, {"commands": []})
            case (
                Steer()
                | Compact()
                | RunCommand()
                | GetOptions()
                | SetOption()
                | ListSessions()
                | GetBackground()
                | StopBackground()
                | Ping()
            ):
                return Reply(request_id, error=_CANNOT)
            case _:
                assert_never(command)

    def _prompt(self, request_id: str, command: Prompt) -> Mapping[str, object]:
        request = self._requests.prompt(request_id, command)
        self._waiting = _Waiting(request_id, request["id"], command)
        self._doomed = False
        return request

    def _prompt_anew(self, waiting: _Waiting, batch: Batch) -> None:
        """In another session: Meerkat drops one whose only turn was stopped before a tool ran."""
        if self._session.remembers:
            batch.add(Notice("warning", GONE, "lsp-agent"))
        self._session.forget()
        batch.add(Send(self._prompt(waiting.request_id, waiting.command)))

    def _abort(self, request_id: str) -> Mapping[str, object] | Reply:
        if self._turn is None and self._waiting is None:
            return Reply(request_id)
        self._doomed = True
        if self._turn is not None:
            self._turn.aborted = True
        if self._session.id is not None:
            return self._requests.interrupt(request_id)
        if self._waiting is None or self._session.generation == "seed":
            return Reply(request_id)  # the interrupt follows the session's first event
        return VERSIONED.notification("cancel", {"request_id": self._waiting.rpc_id})

    def answer(self, key: str, answer: Answer) -> Mapping[str, object] | None:
        if key not in self._calls:
            return None
        rpc_id = self._calls.pop(key)
        match answer:
            case Answered(text):
                return meerkat.result(rpc_id, text, is_error=False)
            case Granted(note):
                return meerkat.result(rpc_id, note or "", is_error=False)
            case Refused(reason):
                return meerkat.result(rpc_id, reason, is_error=True)
            case _:
                assert_never(answer)

    # -- frames

    def decode(self, frames: Iterable[object]) -> list[Decoded]:
        batch = Batch()
        for each in frames:
            told = frame(each)
            method = string(told, "method")
            match kind_of(told):
                case "request":
                    self._request(method, told, batch)
                case "notification" if method == "session/event":
                    self._event(frame(told.get("params")), batch)
                case "response":
                    self._response(told, batch)
                case "notification" | "neither":
                    batch.add(_debug(f"frame {str(method or each)[:80]!r}"))
        self.capabilities = self._session.capabilities
        return _joined(batch.finish())

    def lost(self, reason: StopReason, message: str | None) -> list[Decoded]:
        batch = Batch()
        if self._turn is not None:
            self._turn.cut(reason, message, batch)
        self._turn_ended(batch)
        self._requests.forget()
        return batch.finish()

    def _request(self, method: str, request: Frame, batch: Batch) -> None:
        rpc_id = request.get("id")
        if method != "tool/execute":
            batch.add(Send(VERSIONED.unknown(rpc_id, method)))
            return
        params = frame(request.get("params"))
        tool, call_id = string(params, "name"), string(params, "tool_use_id")
        self._begin(batch)
        if self._turn is None:
            batch.add(Send(meerkat.result(rpc_id, "Not run: its turn has ended.", is_error=True)))
            return
        arguments = frame(params.get("arguments"))
        self._turn.call(call_id, tool, arguments, batch)
        if tool not in meerkat_tools.NAMES:
            batch.add(Send(meerkat.result(rpc_id, f'unknown tool "{tool}"', is_error=True)))
            return
        key = str(rpc_id)
        self._calls[key] = rpc_id
        batch.add(RunTool(key, tool, arguments, call_id, meerkat_tools.ANSWER_SECONDS))

    def _event(self, params: Frame, batch: Batch) -> None:
        envelope = frame(params.get("event"))
        # The first published wire had the event itself here.
        payload = frame(envelope.get("payload")) or envelope
        kind = string(payload, "type")
        session = string(params, "session_id")
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
            batch.add(Send(self._requests.summary()))
            return
        level, said = meerkat.notice(kind, payload)
        batch.add(Notice(level, said, "agent"))

    def _made(self, session: str, batch: Batch) -> None:
        """The session that a prompt has made is known."""
        self._session.id = session
        if self._doomed:
            batch.add(Send(self._requests.interrupt("")))

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
        batch.add(TurnStarted(waiting.command.text))

    def _turn_ended(self, batch: Batch) -> None:
        for key in self._calls:
            batch.add(Withdrawn(key))
        self._calls.clear()
        if self._turn is not None:
            self._session.usage = self._turn.known
        self._turn, self._waiting, self._doomed = None, None, False

    # -- responses

    def _response(self, response: Frame, batch: Batch) -> None:
        asked = self._requests.asked(response)
        error, result = response.get("error"), frame(response.get("result"))
        if asked is None:
            said = string(frame(error), "message") or "a result"
            batch.add(_debug(f"response to nothing: {said[:200]}"))
        elif asked.step == "turn":
            self._turn_response(error, result, batch)
        elif error is not None:
            self._requests.failed(asked, error, batch)
        else:
            self._requests.answered(asked, result, batch)

    def _turn_response(self, error: object, result: Frame, batch: Batch) -> None:
        if error is not None:
            told = self._turn.told_failure if self._turn is not None else ""
            failure = meerkat.failure(error, self._session.generation, told)
            if self._dropped(failure) and self._waiting is not None:
                self._prompt_anew(self._waiting, batch)
                return
            self._turn_failed(failure, batch)
        else:
            self._session.answered(string(result, "session_id"))
            self._begin(batch)
            if self._turn is not None:
                self._turn.respond(result, batch)
        self._turn_ended(batch)

    def _dropped(self, failure: Failure) -> bool:
        """Whether the prompt is to be made again elsewhere. A stopped one is not."""
        return failure.kind == "gone" and self._session.generation == "current" and not self._doomed

    def _turn_failed(self, failure: Failure, batch: Batch) -> None:
        if self._waiting is not None and failure.kind in ("refused", "gone"):
            batch.add(Reply(self._waiting.request_id, error=failure.message))
            return
        self._session.remembers |= failure.kind != "aborted"
        self._begin(batch)
        if self._turn is not None:
            self._turn.aborted |= failure.kind == "aborted"
            self._turn.fail(failure.message, batch)


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
