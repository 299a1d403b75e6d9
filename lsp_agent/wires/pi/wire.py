"""pi's rpc wire (``pi --mode rpc``), hosted by an extension of ours (``host.ts``).

The extension puts tools of the same names in place of pi's file tools, asks before every call and
carries all of it over pi's own dialogs (``pi_dialogs.py``).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from lsp_agent.protocol.catalogue import INSTRUCTIONS, Hosting
from lsp_agent.protocol.events import (
    Compacted,
    Notice,
    OptionChanged,
    StopReason,
    TextDelta,
    ThinkingDelta,
    TurnStarted,
)
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.toolset.loose_json import Frame, frame, integer, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.credentials import credentials
from lsp_agent.wires.pi import messages as pi_messages
from lsp_agent.wires.pi.dialogs import Dialogs
from lsp_agent.wires.pi.requests import Requests, Taken
from lsp_agent.wires.pi.turn import TURN_FRAMES, Turn
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Command,
    Decoded,
    Launch,
    Reply,
    Send,
    Steer,
    TakenUp,
)

EXTENSION = Path(__file__).with_name("host.ts")

#: Either stands above what a repository's settings say.
_SESSIONS = ("--session-dir", "PI_CODING_AGENT_SESSION_DIR")
_NAMES_SESSIONS = (".pi/settings.json", (b"sessionDir", b"\\u"))
_NO_INSTRUCTIONS = frozenset({"-nc", "--no-context-files"})

#: "mirror" leaves pi its own file tools; the extension then only asks.
HOSTING_VARIABLE = "LSP_AGENT_HOSTING"

_CAPABILITIES: Mapping[str, bool] = {
    "steer": True,
    "compact": True,
    "compactInstructions": True,
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
    "argsStreaming": True,
    "commands": True,
    "permissions": True,
    "hostedFiles": True,
    "usage": True,
    "cost": True,
}

#: Since then ``agent_settled`` ends a turn; before, the ``agent_end`` that no retry follows.
_SETTLES = (0, 80, 4)

#: Frames that say nothing a client needs: the queue is ours, the rest is pi's bookkeeping.
_SILENT = frozenset(
    {
        "agent_end",
        "queue_update",
        "entry_appended",
        "session_info_changed",
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
    hosting: Hosting = "hosted"
    has_ping = False
    runs_commands = True

    def __init__(self) -> None:
        self.capabilities: Mapping[str, bool] = _CAPABILITIES
        self._requests = Requests(self._lower)
        self._dialogs = Dialogs()
        self._turn: Turn | None = None
        #: Prompts that were to be aborted before they had started.
        self._doomed: set[str] = set()
        #: Whether something steered may wait in pi's own queue.
        self._steered = False

    def takes_up(self, agent: AgentSettings, environment: Mapping[str, str]) -> TakenUp:
        """pi tells its model the instructions in its folder and those above. It keeps transcripts
        where ``sessionDir`` of ``.pi/settings.json`` says before it asks whether the folder is
        trusted (tried with 1.5.2, with ``--no-approve``), also from within a ``__proto__`` and
        where Python would take the file for no JSON."""
        flag, variable = _SESSIONS
        chosen = flag in agent.command or environment.get(variable)
        plain = not _NO_INSTRUCTIONS.isdisjoint(agent.command)
        return TakenUp(() if plain else INSTRUCTIONS, None if chosen else _NAMES_SESSIONS)

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
        if isinstance(command, Abort):
            self._mark_aborted()
        request = self._requests.send(request_id, command, steered=self._steered)
        self._steered = self._steered or isinstance(command, Steer)
        return request

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
        self._requests.lost(message, batch)
        self._dialogs = Dialogs()
        return batch.finish()

    def _frame(self, kind: str, source: Frame, batch: Batch) -> None:
        match kind:
            case "response":
                self._taken(self._requests.response(source, batch), batch)
            case "agent_start":
                self._agent_start(batch)
            case "agent_end" if self._ends_turn(source):
                self._settled(aborted=False, batch=batch)
            case "agent_settled":
                self._settled(aborted=source.get("aborted") is True, batch=batch)
            case "extension_ui_request":
                self._dialogs.asked(source, batch)
            case "compaction_end" | "compaction":  # the latter in the oldest builds
                self._compacted(source, batch)
            case "error":
                message = string(source, "error") or string(source, "message")
                self._requests.refuse_last(message, batch)
            case _ if kind in TURN_FRAMES and self._turn is not None:
                self._turn.frame(kind, source, batch)
                if kind == "tool_execution_end":
                    self._dialogs.call_ended(string(source, "toolCallId"), batch)
            case _:
                self._other(kind, source, batch)

    def _other(self, kind: str, source: Frame, batch: Batch) -> None:
        """What needs no turn, and what is no more than a note."""
        match kind:
            case "thinking_level_changed":
                batch.add(OptionChanged(pi_messages.THINKING, string(source, "level")))
            case "extension_error":
                where = f"{string(source, 'extensionPath')} ({string(source, 'event')})"
                told = f"An extension of pi's failed: {where}: {string(source, 'error')}"
                batch.add(Notice("error", told, "agent"))
            case _ if kind not in _SILENT:
                known = kind in TURN_FRAMES
                batch.add(_debug(f"{kind} outside a turn" if known else f"frame {kind[:80]!r}"))
            case _:
                pass

    def _taken(self, taken: Taken | None, batch: Batch) -> None:
        if taken is None:
            return
        if not isinstance(taken.command, Steer):
            batch.add(Reply(taken.request_id))
            self._start(taken.request_id, taken.command.text, batch)
            if taken.handled:  # by an extension's command: no run
                self._settled(aborted=False, batch=batch)
        elif self._turn is None and not taken.handled:
            # It came after the turn's end and would wait for the next prompt.
            batch.add(Send({"type": "clear_queue"}))
            batch.add(Reply(taken.request_id, error="the turn has ended"))
        else:
            batch.add(Reply(taken.request_id))

    def _agent_start(self, batch: Batch) -> None:
        """A turn's beginning where no answer to its prompt came before; else a further run."""
        if self._turn is not None:
            return
        begun = self._requests.begin()
        if begun is None:
            batch.add(_debug("agent_start without a prompt"))
        else:
            self._start(*begun, batch)

    def _start(self, request_id: str, prompt: str, batch: Batch) -> None:
        if self._turn is not None:
            self._turn.cut("error", "the agent went on to something else", batch)
        aborted = request_id in self._doomed
        self._doomed.clear()
        self._turn = Turn(self._requests.usage, aborted=aborted)
        batch.add(TurnStarted(prompt))
        if aborted:  # the abort came too early to stop anything
            batch.add(Send({"type": "abort"}))

    def _ends_turn(self, agent_end: Frame) -> bool:
        if "willRetry" not in agent_end:
            return True
        numbers = self._requests.version.split(".")[:3]
        version = tuple(int(number) for number in numbers if number.isdecimal())
        return bool(version) and version < _SETTLES and not agent_end["willRetry"]

    def _settled(self, *, aborted: bool, batch: Batch) -> None:
        self._steered = False
        self._dialogs.withdraw(batch)
        if self._turn is not None:
            self._turn.end(batch, aborted=aborted)
            self._requests.usage = self._turn.usage
            self._turn = None

    def _mark_aborted(self) -> None:
        """What runs is aborted; if nothing does, what was sent and has not started."""
        if self._turn is not None:
            self._turn.aborted = True
        elif not self._requests.abort_compactions():
            self._doomed.update(self._requests.prompts())

    def _compacted(self, source: Frame, batch: Batch) -> None:
        result = frame(source.get("result", source))
        if summary := string(result, "summary"):
            tokens = integer(result, "tokensBefore")
            batch.add(Compacted(summary, tokens, pi_messages.compacted_unasked(source)))
        elif source.get("aborted") is not True:
            why = string(source, "errorMessage") or "The transcript was not compacted."
            batch.add(Notice("warning", why, "agent"))

    def _lower(self, feature: str) -> None:
        self.capabilities = {**self.capabilities, feature: False}


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
