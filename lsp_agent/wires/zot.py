"""zot's rpc wire, spoken by the embedded agent as well."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, cast

from lsp_agent.protocol.events import Compacted, Notice, StopReason, TurnStarted
from lsp_agent.protocol.settings import AgentSettings
from lsp_agent.wires import zot_messages as zot
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.credentials import credentials
from lsp_agent.wires.frames import Frame, string
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
    GetOptions,
    GetState,
    Hello,
    Launch,
    Prompt,
    Reply,
    RunCommand,
    SetModel,
    SetOption,
)
from lsp_agent.wires.zot_turn import TURN_FRAMES, Turn

TOKEN_VARIABLE = "ZOTCORE_RPC_TOKEN"  # noqa: S105 - its name, not its value

_CAPABILITIES: Mapping[str, bool] = {
    "steer": False,
    "compact": True,
    "clear": True,
    "listSessions": False,
    "resume": False,
    "models": True,
    "setModel": True,
    "thinkingLevel": False,
    "images": True,
    "thinking": False,
    "toolProgress": True,
    "argsStreaming": True,
    "commands": True,
    "options": True,
    "runCommand": True,
    "permissions": True,
    "hostedFiles": True,
    "usage": True,
    "cost": True,
}

#: The capability that an agent lacks if it does not know the command.
_NEEDED_FOR: Mapping[type, str] = {
    Compact: "compact",
    Clear: "clear",
    GetModels: "models",
    SetModel: "setModel",
    GetOptions: "options",
    GetCommands: "commands",
}

_TYPES: Mapping[type, str] = {
    Abort: "abort",
    Compact: "compact",
    Clear: "clear",
    GetState: "get_state",
    GetMessages: "get_messages",
    GetModels: "get_models",
    GetOptions: "get_options",
    GetCommands: "get_commands",
}


class ZotWire:
    """The zot wire (a :class:`~lsp_agent.wires.wire.Wire`).

    Its rules, beyond the seam's: a prompt whose reply has no error starts a turn, and a
    compaction whose reply has none ends in one ``CompactEnded``; those that are refused, or
    unanswered when the agent is lost, leave only what the session itself knows of them. An
    aborted compaction is silent: it ends with the reply to a ``GetState``.
    """

    #: zot's reader dies of a line of 16 MiB.
    max_frame_bytes = 16 * 1024 * 1024 - 64 * 1024
    bridged = True

    def __init__(self) -> None:
        self.capabilities: Mapping[str, bool] = _CAPABILITIES
        self._token = ""
        self._sent: dict[str, Command] = {}
        #: Prompts and compactions that were to be aborted before they had started.
        self._doomed: set[str] = set()
        self._turn: Turn | None = None
        self._compaction: Literal["running", "aborted"] | None = None

    def launch(self, agent: AgentSettings, cwd: str, extension: str | None) -> Launch:
        """Hosted with an ``extension``, unless ``agent`` asks for mirror: then zot's own file
        tools stay and the extension only watches."""
        argv = list(agent.command)
        if agent.provider:
            argv += ["--provider", agent.provider]
        if agent.model:
            argv += ["--model", agent.model]
        argv += ["--cwd", cwd, "--no-ext"]
        if extension is None:
            self._lower("permissions")
        else:
            argv += ["--ext", extension]
            if agent.hosting != "mirror":
                argv += ["--tools", "bash", "--no-skill"]
        self._token = agent.env.get(TOKEN_VARIABLE, "")
        return Launch(tuple(argv), dict(agent.env), credentials(agent.env, TOKEN_VARIABLE))

    def encode(self, request_id: str, command: Command) -> Mapping[str, object]:
        self._sent[request_id] = command
        frame: dict[str, object] = {"id": request_id}
        match command:
            case Prompt(text, images):
                frame |= {"type": "prompt", "message": text}
                if images:
                    frame["images"] = [
                        {"mime_type": image.mime_type, "data": image.data} for image in images
                    ]
            case Hello():
                frame["type"] = "hello"
                if self._token:
                    frame["token"] = self._token
            case SetModel(model):
                frame |= {"type": "set_model", "model": model}
            case SetOption(option_id, value):
                frame |= {"type": "set_option", "option": option_id, "value": value}
            case RunCommand(name, args):
                frame |= {"type": "run_command", "name": name, "args": args}
            case _:
                frame["type"] = _TYPES[type(command)]
        if isinstance(command, Abort):
            self._mark_aborted()
        return frame

    def answer(self, key: str, answer: Answer) -> None:
        """zot asks through the bridge's extension alone."""

    def decode(self, frames: Iterable[object]) -> list[Decoded]:
        batch = Batch()
        texts: list[str] = []  # a run of text deltas: the hot path of a stream
        for frame in cast(Iterable[Frame], frames):
            if not isinstance(frame, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
                self._text(texts, batch)
                batch.add(_debug(f"not a JSON object: {type(frame).__name__}"))
                continue
            kind = frame.get("type")
            if kind == "text_delta" and self._turn is not None:
                delta = frame.get("delta")
                if isinstance(delta, str):
                    texts.append(delta)
                continue
            if texts:
                self._text(texts, batch)
            self._frame(kind if isinstance(kind, str) else "", frame, batch)
        self._text(texts, batch)
        return batch.finish()

    def lost(self, reason: StopReason, message: str | None) -> list[Decoded]:
        batch = Batch()
        if self._turn is not None:
            self._turn.cut(reason, message, batch)
            self._turn = None
        self._end_compaction(message, batch)
        self._sent.clear()
        self._doomed.clear()
        return batch.finish()

    def _text(self, texts: list[str], batch: Batch) -> None:
        if self._turn is not None and (joined := "".join(texts)):
            self._turn.text(joined, batch)
        texts.clear()

    def _frame(self, kind: str, frame: Frame, batch: Batch) -> None:
        match kind:
            case "response":
                self._response(frame, batch)
            case "done" if self._turn is not None:
                self._turn.end(batch)
                self._turn = None
            case "error":
                self._error(string(frame, "message"), batch)
            case "compact_done":
                summary = string(frame, "summary")
                batch.add(Compacted(summary))
                if self._compaction is not None:
                    self._compaction = None
                    batch.add(CompactEnded(summary))
            case "ext_notify":
                level = zot.level(string(frame, "level"))
                source = string(frame, "extension") or "extension"
                batch.add(Notice(level, string(frame, "message"), source))
            case _ if kind in TURN_FRAMES and self._turn is not None:
                self._turn.frame(kind, frame, batch)
            case _:
                known = kind in TURN_FRAMES or kind in ("text_delta", "done")
                batch.add(_debug(f"{kind} outside a turn" if known else f"frame {kind[:80]!r}"))

    def _response(self, frame: Frame, batch: Batch) -> None:
        request_id = string(frame, "id")
        command = self._sent.pop(request_id, None)
        error = None
        if frame.get("success") is not True:
            error = string(frame, "error") or "refused without a reason"
        if command is None:
            batch.add(_debug(f"response to nothing: {error or 'success'}"))
            return
        aborted = request_id in self._doomed
        self._doomed.discard(request_id)
        if error is not None:
            if error == "unknown command" and type(command) in _NEEDED_FOR:
                self._lower(_NEEDED_FOR[type(command)])
            batch.add(Reply(request_id, error=error))
            return
        batch.add(Reply(request_id, zot.reply_data(command, frame.get("data"))))
        match command:
            case Prompt(text):
                self._end_former(batch)
                self._turn = Turn(aborted=aborted)
                batch.add(TurnStarted(text))
            case Compact():
                self._end_former(batch)
                self._compaction = "aborted" if aborted else "running"
            case GetState():
                self._settle(frame.get("data"), batch)
            case _:
                pass

    def _error(self, message: str, batch: Batch) -> None:
        if self._turn is not None:
            self._turn.error(message, batch)
        elif self._compaction is not None:
            self._end_compaction(message, batch)
        else:
            batch.add(Notice("error", message, "agent"))

    def _mark_aborted(self) -> None:
        """What runs is aborted; if nothing does, what was sent and has not started."""
        if self._turn is not None:
            self._turn.aborted = True
        elif self._compaction is not None:
            self._compaction = "aborted"
        else:
            self._doomed.update(
                request_id
                for request_id, command in self._sent.items()
                if isinstance(command, (Prompt, Compact))
            )

    def _end_former(self, batch: Batch) -> None:
        """The agent does one thing at a time, so what starts ends what has had no end."""
        message = "the agent went on to something else"
        if self._turn is not None:
            self._turn.cut("error", message, batch)
            self._turn = None
        self._end_compaction(message, batch)

    def _end_compaction(self, error: str | None, batch: Batch) -> None:
        if self._compaction is not None:
            batch.add(CompactEnded(None, None if self._compaction == "aborted" else error))
            self._compaction = None

    def _settle(self, state: object, batch: Batch) -> None:
        """An aborted compaction tells its end in no other way."""
        if self._compaction == "aborted" and zot.frame(state).get("busy") is False:
            self._end_compaction(None, batch)

    def _lower(self, feature: str) -> None:
        self.capabilities = {**self.capabilities, feature: False}


def with_extensions(launch: Launch, folders: Iterable[str]) -> Launch:
    """``launch`` with the person's own extensions, behind the one that hosts the agent."""
    flags = [word for folder in folders for word in ("--ext", folder)]
    return replace(launch, argv=(*launch.argv, *flags))


def _debug(message: str) -> Notice:
    return Notice("debug", message, "agent")
