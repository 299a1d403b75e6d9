"""The Agent Client Protocol, version 1: JSON-RPC 2.0, one object a line, both ways.

The protocol's own Python library is used by the tests, which hold all that this wire says
against its types. It is not used here: its types take two seconds to import, which a server at
work cannot stand still for, and would refuse a whole frame for one odd field.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from lsp_agent.protocol.catalogue import Hosting, acp_environment
from lsp_agent.protocol.events import Notice, StopReason, ToolProgress, UsageReported
from lsp_agent.protocol.messages import Usage
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.toolset.failures import readable
from lsp_agent.toolset.loose_json import Frame, frame, string
from lsp_agent.wires.acp import messages as acp
from lsp_agent.wires.acp.asked import Asked
from lsp_agent.wires.acp.session import PromptEnded, Session
from lsp_agent.wires.acp.turn import Turn
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.credentials import credentials
from lsp_agent.wires.jsonrpc import kind_of
from lsp_agent.wires.usage import filled
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Clear,
    Command,
    Decoded,
    GetCommands,
    GetMessages,
    GetModels,
    GetOptions,
    GetState,
    Hello,
    Launch,
    ListSessions,
    Prompt,
    Reply,
    SetModel,
    SetOption,
    TakenUp,
)

_CAPABILITIES: Mapping[str, bool] = {
    "steer": False,
    "compact": False,
    "compactInstructions": False,
    "clear": True,
    "listSessions": False,
    "resume": False,
    "models": False,
    "setModel": False,
    "thinkingLevel": False,
    "images": False,
    "thinking": True,
    "toolProgress": False,
    "argsStreaming": False,
    "commands": False,
    "options": False,
    "permissions": True,
    "hostedFiles": True,
    "usage": False,
    "cost": False,
}

_DELTAS = frozenset({"agent_message_chunk", "agent_thought_chunk"})

#: Answered from the record.
_RECORDED = (GetState, GetMessages, GetModels, GetOptions, GetCommands)


class AcpWire:
    """The ACP wire (a :class:`~lsp_agent.wires.wire.Wire`).

    A prompt is replied to, and its turn begins, with the decoding of whatever comes after it was
    encoded, be it nothing: ACP answers a prompt only at the turn's end. What an agent replays of
    a session that it takes up goes into the record and is no turn.
    """

    max_frame_bytes = 64 * 1024 * 1024
    bridged = False
    hosting: Hosting = "atStart"
    has_ping = False
    runs_commands = True

    def __init__(self) -> None:
        self.capabilities: Mapping[str, bool] = _CAPABILITIES
        self._session = Session(self._can)
        self._asked = Asked()
        self._turn: Turn | None = None
        #: The running turn's usage was told step by step, so its end does not tell more of it.
        self._counted = False

    def takes_up(
        self,
        agent: AgentSettings,  # noqa: ARG002 - what its programs take up is in the catalogue
        environment: Mapping[str, str],  # noqa: ARG002 - what its programs take up is in the catalogue
    ) -> TakenUp:
        return TakenUp()

    def launch(
        self,
        agent: AgentSettings,
        cwd: str,
        extension: str | None,  # noqa: ARG002 - there is none
    ) -> Launch:
        """With ``hosting`` "mirror" the agent is told that we serve no files."""
        self._session.configure(agent, cwd)
        self._asked.hosts_files = agent.hosting != "mirror"
        env = {**acp_environment(), **agent.env}
        return Launch(tuple(agent.command), env, credentials(agent.env))

    def encode(self, request_id: str, command: Command) -> Mapping[str, object] | Reply:
        session = self._session
        if isinstance(command, Hello):
            return session.hello(request_id, command)
        if isinstance(command, _RECORDED):
            return Reply(request_id, session.record.answer(command, session.agent))
        if session.record.id is None:
            return Reply(request_id, error="the agent has no session yet")
        match command:
            case Prompt():
                return self._prompt(request_id, command)
            case Abort():
                if self._turn is None:
                    return Reply(request_id)
                self._turn.aborted = True
                return session.cancel()
            case Clear() | SetModel() | SetOption() | ListSessions():
                return session.send(request_id, command)
            case _:
                return Reply(request_id, error="ACP has nothing for this")

    def answer(self, key: str, answer: Answer) -> Mapping[str, object] | None:
        return self._asked.answer(key, answer, self._turn)

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
                if level := self._turn.own_words(told, update):
                    self._say(kind, texts, batch)
                    self._turn.report(level, acp.chunk_text(update), batch)
                    continue
                if told != kind:
                    self._say(kind, texts, batch)
                    kind = told
                texts.append(acp.chunk_text(update))
                if spent := frame(update.get("_meta")).get("usage"):
                    self._say(kind, texts, batch)
                    self._counted = True
                    self._count(step := acp.usage(spent), batch)
                    batch.add(filled(step))
                continue
            self._say(kind, texts, batch)
            if update and self._turn is not None:
                self._turn.interrupted()
            self._frame(each, batch)
        self._say(kind, texts, batch)
        decoded = batch.finish()
        self._session.record.take(decoded)
        if any(isinstance(each, ToolProgress) for each in decoded):
            self._can(toolProgress=True)
        return decoded

    def lost(self, reason: StopReason, message: str | None) -> list[Decoded]:
        batch = Batch()
        if self._turn is not None and self._turn.begun:
            self._turn.end(reason, message, batch)
        self._turn = None
        self._session.lost()
        self._asked.lost()
        return batch.finish()

    def _prompt(self, request_id: str, prompt: Prompt) -> Frame | Reply:
        if self._turn is not None:
            return Reply(request_id, error="the agent is at work")
        if prompt.images and not self._session.agent.images:
            return Reply(request_id, error="it takes no images; send the prompt without them")
        if (why := self._session.unasking) is not None:
            return Reply(request_id, error=why)
        message = acp.user_message(prompt.text, prompt.images)
        left = self._session.record.left
        self._turn = Turn(request_id, message, self._session.agent.habits, left)
        self._counted = False
        return self._session.prompt(request_id, prompt)

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
        ours = self._session.record.id is None or params.get("sessionId") == self._session.record.id
        return frame(params.get("update")) if ours else {}

    def _frame(self, each: Frame, batch: Batch) -> None:
        match kind_of(each):
            case "request":
                self._asked.take(each, self._session.agent, self._turn, batch)
            case "notification":
                self._told(string(each, "method"), each, batch)
            case "response":
                ended = self._session.response(each, batch)
                if ended is not None:
                    self._end_turn(ended, batch)
            case "neither":
                batch.add(_debug("neither a request nor a response"))

    def _told(self, method: str, each: Frame, batch: Batch) -> None:
        if method == "$/cancel_request":
            self._asked.cancelled(frame(each.get("params")).get("requestId"), batch)
            return
        update = self._update(each)
        kind = string(update, "sessionUpdate")
        if self._session.replays(kind, update):
            return
        record = self._session.record
        match kind:
            case "tool_call" | "tool_call_update" if self._turn is not None:
                self._turn.update(acp.whole_call(update, self._session.agent.habits), batch)
            case "available_commands_update":
                record.set_commands(update)
                self._can(commands=bool(record.commands))
            case "config_option_update":
                self._session.options_told(update, batch)
            case "current_mode_update":
                self._session.mode_told(update, batch)
            case "usage_update":
                record.told_cost(acp.cost(update), runs=self._turn is not None)
                if (window := acp.window(update)) is not None:
                    batch.add(window)
                self._can(cost=record.cost is not None)
            case "plan" if self._turn is not None and isinstance(update.get("entries"), list):
                self._turn.plan(update, batch)
            case "session_info_update" if acp.tells_failure(update) and self._turn is not None:
                self._turn.failing = True
            case "session_info_update" | "user_message_chunk":
                pass
            case _:
                batch.add(_debug(f"{method} {kind or 'of another session'}: not taken"))

    def _end_turn(self, ended: PromptEnded, batch: Batch) -> None:
        turn, self._turn = self._turn, None
        if turn is None:
            return
        if (told := acp.usage_at_end(ended.result)) and not self._counted:
            record = self._session.record
            self._count(record.since(told, self._session.agent), batch)
        self._asked.withdraw(batch)
        name = string(ended.result, "stopReason")
        error = readable(ended.error) if ended.error is not None else None
        if error is None and name not in acp.STOP_REASONS:
            batch.add(_debug(f"unknown stop reason {name[:80]!r}"))
        reason = "error" if error is not None else acp.STOP_REASONS.get(name, "endTurn")
        if reason == "endTurn" and turn.failure is not None:
            reason, error = "error", readable(turn.failure)
        self._session.record.left = turn.left
        turn.end(reason, error, batch)

    def _count(self, step: Usage, batch: Batch) -> None:
        batch.add(UsageReported(*self._session.record.count(step)))
        self._can(usage=True)

    def _can(self, **features: bool) -> None:
        self.capabilities = {**self.capabilities, **features}


def _debug(message: str) -> Notice:
    return Notice("debug", message, "agent")
