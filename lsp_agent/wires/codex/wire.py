"""Codex's own wire: ``codex app-server``, JSON-RPC without its version, one object a line.

Codex writes down all of its types (``codex app-server generate-json-schema --experimental``);
``tests/unit/wires`` holds that they are those that this wire was written for. Its own tools are
off, and ``read``, ``write``, ``edit`` and ``bash`` come to us as ``item/tool/call`` requests.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lsp_agent.protocol.catalogue import Hosting
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import Compacted, Notice, OptionChanged, StopReason
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.toolset.loose_json import Frame, frame, integer, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.codex import messages as codex
from lsp_agent.wires.codex import tools as codex_tools
from lsp_agent.wires.codex.asked import Asked
from lsp_agent.wires.codex.requests import Requests, Sent
from lsp_agent.wires.codex.thread import Thread
from lsp_agent.wires.codex.turn import Turn
from lsp_agent.wires.credentials import credentials
from lsp_agent.wires.jsonrpc import kind_of
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Command,
    Compact,
    CompactEnded,
    Decoded,
    GetBackground,
    GetCommands,
    GetState,
    Launch,
    Ping,
    Prompt,
    Reply,
    RunCommand,
    Send,
    Steer,
    StopBackground,
    TakenUp,
)

_INSTRUCTIONS = ("AGENTS.override.md", "AGENTS.md")
#: Codex's limit on them, in bytes: with 0 it takes none.
_MOST_INSTRUCTIONS = "project_doc_max_bytes"

_CAPABILITIES: Mapping[str, bool] = {
    "steer": True,
    "compact": True,
    "clear": True,
    "listSessions": True,
    "resume": True,
    "models": True,
    "setModel": True,
    "thinkingLevel": True,
    "options": True,
    "images": True,
    "thinking": True,
    "toolProgress": True,
    "argsStreaming": False,
    "commands": False,
    "permissions": True,
    "hostedFiles": True,
    "usage": True,
    "cost": False,
}
_MIRROR = (
    "Codex's own commands run in a sandbox in which they can write nothing, so"
    ' `hosting = "mirror"` is not offered for it. Set `hosting` to "auto" in its settings.'
)
_SUBCOMMAND = "app-server"
_KEYS = ("CODEX_API_KEY", "CODEX_ACCESS_TOKEN")
_NO_SUMMARY = "Codex has compacted the transcript, and shows no summary of it."
_NO_TURN = "the turn has ended"

#: The items' deltas, and whether each is a thought.
_DELTAS: Mapping[str, bool] = {
    "item/agentMessage/delta": False,
    "item/reasoning/summaryTextDelta": True,
    "item/reasoning/textDelta": True,
}
#: What Codex tells of its sandbox, which nothing runs in.
_OF_SANDBOX = "bubblewrap"


@dataclass(slots=True)
class _Compaction:
    """``turn`` is Codex's id for it, once it has begun."""

    turn: str = ""
    aborted: bool = False
    summary: str = ""

    def end(self, ended: Frame, batch: Batch) -> None:
        """``turn/completed`` came with its turn."""
        if self.aborted or string(ended, "status") == "interrupted":
            batch.add(CompactEnded(None))
        elif string(ended, "status") == "failed":
            batch.add(CompactEnded(None, codex.failed(ended.get("error"))[1]))
        else:
            summary = self.summary or _NO_SUMMARY
            batch.add(Compacted(summary))
            batch.add(CompactEnded(summary))


class CodexWire:
    """Codex's wire (a :class:`~lsp_agent.wires.wire.Wire`).

    One thread at a time; ``Clear`` starts another. The answer to a prompt begins its turn, or the
    start that Codex tells of it, whichever comes first; it can be interrupted from its start on.
    Codex runs a compaction as a turn.
    """

    #: It takes any line; texts come to it in one, and none is longer than a file may be.
    max_frame_bytes = 64 * 1024 * 1024
    bridged = False
    hosting: Hosting = "hosted"
    has_ping = False

    def __init__(self) -> None:
        #: Its shell is off, so what it starts is what runs its models' programs; unless it tells
        #: of a command of its own all the same.
        self.runs_commands = False
        self.capabilities: Mapping[str, bool] = _CAPABILITIES
        self._thread = Thread()
        self._requests = Requests(self._thread)
        self._asked = Asked()
        #: The request and the text of a prompt that was not answered yet.
        self._waiting: tuple[str, str] | None = None
        self._turn: Turn | None = None
        self._compaction: _Compaction | None = None
        #: Whether a prompt that was not answered yet is to be aborted.
        self._doomed = False
        self._told: set[str] = set()

    def takes_up(
        self,
        agent: AgentSettings,
        environment: Mapping[str, str],  # noqa: ARG002 - its settings tell
    ) -> TakenUp:
        """Codex tells its model the instructions in its folder and those above (0.169)."""
        return TakenUp(() if agent.config.get(_MOST_INSTRUCTIONS) == 0 else _INSTRUCTIONS)

    def launch(self, agent: AgentSettings, cwd: str, extension: str | None) -> Launch:  # noqa: ARG002
        """:raises RequestFailed: "notConfigured" where ``agent`` asks for mirror"""
        if agent.hosting == "mirror":
            raise RequestFailed("notConfigured", _MIRROR)
        self._thread.configure(agent, cwd)
        argv = list(agent.command)
        if _SUBCOMMAND not in argv:
            argv.append(_SUBCOMMAND)
        return Launch(tuple(argv), dict(agent.env), credentials(agent.env, *_KEYS))

    # -- commands

    def encode(self, request_id: str, command: Command) -> Mapping[str, object] | Reply:
        requests = self._requests
        match command:
            case Prompt():
                self._waiting, self._doomed = (request_id, command.text), False
                return requests.prompt(request_id, command)
            case Steer():
                if self._turn is None:
                    return Reply(request_id, error=_NO_TURN)
                return requests.steer(request_id, command, self._turn.id)
            case Abort():
                return self._abort(request_id)
            case Compact():
                self._compaction = _Compaction()
                return requests.compact(request_id, command)
            case GetState():
                return Reply(request_id, self._thread.known())
            case GetCommands():
                return Reply(request_id, {"commands": []})
            case RunCommand():
                return Reply(request_id, error="Codex has no commands here.")
            case GetBackground() | StopBackground():
                return Reply(request_id, error="Codex runs its commands itself.")
            case Ping():
                return Reply(request_id, error="Codex is asked for no sign of life.")
            case _:
                return requests.ask(request_id, command)

    def _abort(self, request_id: str) -> Mapping[str, object] | Reply:
        compaction = self._compaction
        if compaction is not None:
            compaction.aborted = True
            if compaction.turn:
                return self._requests.interrupt(request_id, compaction.turn)
        elif self._turn is None:
            self._doomed = True
        else:
            self._turn.aborted = True
            if self._turn.active:
                return self._requests.interrupt(request_id, self._turn.id)
        return Reply(request_id)  # the interrupt follows the turn's start

    def answer(self, key: str, answer: Answer) -> Mapping[str, object] | None:
        return self._asked.answer(key, answer)

    # -- frames

    def decode(self, frames: Iterable[object]) -> list[Decoded]:
        batch = Batch()
        item, kind, parts = "", "", list[str]()  # a run of deltas: the hot path of a stream
        for each in frames:
            told = frame(each)
            method, params = string(told, "method"), frame(told.get("params"))
            if method in _DELTAS and self._is_ours(params):
                if (string(params, "itemId"), method) != (item, kind):
                    self._say(item, kind, parts, batch)
                    item, kind = string(params, "itemId"), method
                parts.append(string(params, "delta"))
                continue
            self._say(item, kind, parts, batch)
            self._frame(method, told, params, batch)
        self._say(item, kind, parts, batch)
        return batch.finish()

    def lost(self, reason: StopReason, message: str | None) -> list[Decoded]:
        batch = Batch()
        if self._turn is not None:
            self._turn.cut(reason, message, batch)
        self._turn, self._waiting = None, None
        if self._compaction is not None:
            self._compaction = None
            batch.add(CompactEnded(None, message))
        self._asked.withdraw(batch)
        self._requests.forget()
        return batch.finish()

    def _say(self, item: str, method: str, parts: list[str], batch: Batch) -> None:
        if self._turn is not None and parts:
            self._turn.delta(item, "".join(parts), batch, thinking=_DELTAS[method])
        parts.clear()

    def _is_ours(self, params: Frame) -> bool:
        """Whether it is of the turn that runs."""
        return self._turn is not None and string(params, "turnId") == self._turn.id

    def _frame(self, method: str, told: Frame, params: Frame, batch: Batch) -> None:
        match kind_of(told):
            case "request":
                self._asks(method, told, params, batch)
            case "notification":
                self._notified(method, params, batch)
            case "response":
                self._response(told, batch)
            case "neither":
                batch.add(_debug("neither a request nor a response"))

    def _asks(self, method: str, request: Frame, params: Frame, batch: Batch) -> None:
        # What a server asks outside of a call is of no turn.
        of_none = params.get("turnId") is None and params.get("threadId") == self._thread.id
        turn = self._turn if of_none or self._is_ours(params) else None
        patched = self._asked.take(method, request, batch, runs=turn is not None)
        if patched and turn is not None and not turn.noted:
            turn.noted = True
            batch.add(Send(self._requests.note(codex_tools.DECLINED, turn.id)))

    def _notified(self, method: str, params: Frame, batch: Batch) -> None:
        match method:
            case "configWarning":
                self._warn(string(params, "summary"), batch)
            case "warning":
                self._warn(string(params, "message"), batch)
            case "serverRequest/resolved":
                self._asked.resolved(params.get("requestId"), batch)
            case _ if params.get("threadId") == self._thread.id:
                self._of_thread(method, params, batch)
            case _:  # of a thread that was, or of what no client needs
                pass

    def _of_thread(self, method: str, params: Frame, batch: Batch) -> None:
        match method:
            case "turn/started":
                self._started(string(frame(params.get("turn")), "id"), batch)
            case "turn/completed":
                self._completed(frame(params.get("turn")), batch)
            case "thread/tokenUsage/updated":
                self._count(params, batch)
            case "thread/settings/updated":
                self._settings(frame(params.get("threadSettings")), batch)
            case "rawResponseItem/completed" if self._compaction is not None:
                self._compaction.summary = codex.output_text(frame(params.get("item")))
            case _ if self._turn is not None and self._is_ours(params):
                self._of_turn(self._turn, method, params, batch)
            case _:
                pass

    def _of_turn(self, turn: Turn, method: str, params: Frame, batch: Batch) -> None:
        match method:
            case "item/started":
                item = frame(params.get("item"))
                self.runs_commands |= item.get("type") == "commandExecution"
                turn.started(item, batch)
            case "item/completed":
                turn.completed(frame(params.get("item")), batch)
            case "item/commandExecution/outputDelta":
                turn.progress(string(params, "itemId"), string(params, "delta"), batch)
            case "item/reasoning/summaryPartAdded":
                if integer(params, "summaryIndex"):  # not the first
                    turn.delta(string(params, "itemId"), "\n\n", batch, thinking=True)
            case "turn/plan/updated":
                turn.planned(params, batch)
            case "error" if params.get("willRetry") is True:
                _, why = codex.failed(params.get("error"))
                batch.add(Notice("warning", f"{why}; trying again", "agent"))
            case _:  # an error that ends the turn is told by its end
                pass

    # -- turns

    def _begin(self, turn_id: str, batch: Batch) -> None:
        """The prompt that waits, if one does, has given its first sign."""
        if self._waiting is None:
            return
        request_id, prompt = self._waiting
        self._turn = Turn(turn_id, prompt, aborted=self._doomed)
        self._waiting, self._doomed = None, False
        batch.add(Reply(request_id))
        self._turn.begin(batch)

    def _started(self, turn_id: str, batch: Batch) -> None:
        aborted = False
        self._begin(turn_id, batch)
        if self._turn is not None and turn_id == self._turn.id:
            self._turn.active = True
            aborted = self._turn.aborted
        elif self._compaction is not None and not self._compaction.turn:
            self._compaction.turn = turn_id
            aborted = self._compaction.aborted
        if aborted:
            batch.add(Send(self._requests.interrupt("", turn_id)))

    def _completed(self, ended: Frame, batch: Batch) -> None:
        turn, compaction = self._turn, self._compaction
        if turn is not None and string(ended, "id") == turn.id:
            self._asked.withdraw(batch)
            turn.end(ended, batch)
            self._turn = None
        elif compaction is not None and string(ended, "id") == compaction.turn:
            self._compaction = None
            compaction.end(ended, batch)

    def _count(self, params: Frame, batch: Batch) -> None:
        """Codex tells it again at a turn's start, at its end, and of turns that were."""
        told = frame(params.get("tokenUsage"))
        total = codex.usage(told.get("total"))
        if self._turn is not None and self._is_ours(params) and total != self._thread.usage:
            self._turn.count(codex.usage(told.get("last")), total, codex.window(told), batch)
        self._thread.usage = total

    def _settings(self, settings: Frame, batch: Batch) -> None:
        before = self._thread.told_effort
        self._thread.settings(settings, "effort")
        if (now := self._thread.effort) and now != before:
            batch.add(OptionChanged(codex.EFFORT, now))

    # -- responses

    def _response(self, response: Frame, batch: Batch) -> None:
        sent = self._requests.sent(response)
        if sent is None:
            batch.add(_debug("response to nothing"))
        elif (error := response.get("error")) is not None:
            self._failed(sent, error, batch)
        elif isinstance(sent.command, Prompt):
            turn = frame(frame(response.get("result")).get("turn"))
            self._begin(string(turn, "id"), batch)
        else:
            self._requests.answered(sent, frame(response.get("result")), batch)

    def _failed(self, sent: Sent, error: object, batch: Batch) -> None:
        self._requests.failed(sent, error, batch)
        if sent.step == "turn":
            self._waiting = None
        elif sent.step == "compact":
            self._compaction = None
            batch.add(CompactEnded(None, string(frame(error), "message")))

    def _warn(self, message: str, batch: Batch) -> None:
        """Once: Codex tells some of them at each turn."""
        if message and message not in self._told:
            self._told.add(message)
            level = "debug" if _OF_SANDBOX in message else "warning"
            batch.add(Notice(level, message.strip(), "agent"))


def _debug(message: str) -> Notice:
    return Notice("debug", message, "agent")
