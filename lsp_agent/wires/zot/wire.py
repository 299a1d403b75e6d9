"""zot's rpc wire, spoken by the embedded agent as well, which names in its answer to ``hello`` what
it has beyond zot: steering, what the model thinks, and that it keeps its conversation."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Literal, cast

from lsp_agent.protocol.catalogue import Hosting
from lsp_agent.protocol.events import Compacted, Notice, StopReason, ThinkingDelta, TurnStarted
from lsp_agent.protocol.settings.settings import AgentSettings
from lsp_agent.toolset.loose_json import Frame, frame, items, string
from lsp_agent.wires.batch import Batch
from lsp_agent.wires.credentials import credentials
from lsp_agent.wires.wire import (
    Abort,
    Answer,
    Clear,
    Command,
    Compact,
    CompactEnded,
    Decoded,
    GetBackground,
    GetCommands,
    GetMessages,
    GetModels,
    GetOptions,
    GetState,
    Hello,
    Launch,
    Ping,
    Prompt,
    Reply,
    RunCommand,
    SetModel,
    SetOption,
    Steer,
    StopBackground,
    TakenUp,
)
from lsp_agent.wires.zot import messages as zot
from lsp_agent.wires.zot.turn import TURN_FRAMES, Turn

PROTOCOL_VERSION = 1
TOKEN_VARIABLE = "ZOTCORE_RPC_TOKEN"  # noqa: S105 - its name, not its value

_CAPABILITIES: Mapping[str, bool] = {
    "steer": False,
    "compact": True,
    "compactInstructions": False,
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
    "background": False,
}

#: Those capabilities that an agent has if it says so.
_FEATURES = ("steer", "thinking", "resume", "background")

_DELTAS = ("text_delta", "thinking_delta")

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
    Ping: "ping",
    GetState: "get_state",
    GetMessages: "get_messages",
    GetModels: "get_models",
    GetOptions: "get_options",
    GetCommands: "get_commands",
    GetBackground: "get_background",
}


class ZotWire:
    """The zot wire (a :class:`~lsp_agent.wires.wire.Wire`).

    Its rules, beyond the seam's: a prompt whose reply has no error starts a turn; one that is
    refused, and what is unanswered when the agent is lost, leaves only what the session itself
    knows of it. An aborted compaction is silent: it ends with the reply to a ``GetState``.
    """

    #: zot's reader dies of a line of 16 MiB.
    max_frame_bytes = 16 * 1024 * 1024 - 64 * 1024
    bridged = True
    hosting: Hosting = "hosted"
    has_ping = True
    runs_commands = True

    def __init__(self) -> None:
        self.capabilities: Mapping[str, bool] = _CAPABILITIES
        self._token = ""
        #: The provider and the model that it was started with.
        self._wanted: Mapping[str, str] = {}
        self._sent: dict[str, Command] = {}
        #: Prompts and compactions that were to be aborted before they had started.
        self._doomed: set[str] = set()
        self._turn: Turn | None = None
        self._compaction: Literal["running", "aborted"] | None = None

    def takes_up(
        self,
        agent: AgentSettings,  # noqa: ARG002 - it takes up nothing
        environment: Mapping[str, str],  # noqa: ARG002 - it takes up nothing
    ) -> TakenUp:
        return TakenUp()

    def launch(self, agent: AgentSettings, cwd: str, extension: str | None) -> Launch:
        """Hosted with an ``extension``, unless ``agent`` asks for mirror: then zot's own file
        tools stay and the extension only watches."""
        argv = list(agent.command)
        if agent.provider:
            argv += ["--provider", agent.provider]
        if agent.model:
            argv += ["--model", agent.model]
        self._wanted = {name: _last_of(argv, f"--{name}") for name in ("provider", "model")}
        argv += ["--cwd", cwd, "--no-ext"]
        if extension is None:
            self._can(permissions=False)
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
            case Prompt(text, images) | Steer(text, images):
                kind = "prompt" if isinstance(command, Prompt) else "steer"
                frame |= {"type": kind, "message": text}
                if images:
                    frame["images"] = [
                        {"mime_type": image.mime_type, "data": image.data} for image in images
                    ]
            case Hello(resume):
                frame |= {"type": "hello", "session": resume or "new"}
                if self._token:
                    frame["token"] = self._token
            case SetModel(model):
                frame |= {"type": "set_model", "model": model}
            case SetOption(option_id, value):
                frame |= {"type": "set_option", "option": option_id, "value": value}
            case StopBackground(background_id):
                frame |= {"type": "stop_background", "background_id": background_id}
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
        kind, parts = "", list[str]()  # a run of deltas: the hot path of a stream
        for source in cast(Iterable[Frame], frames):
            if not isinstance(source, dict):  # pyright: ignore[reportUnnecessaryIsInstance]
                self._flush(kind, parts, batch)
                batch.add(_debug(f"not a JSON object: {type(source).__name__}"))
                continue
            if source.get("type") != kind:
                self._flush(kind, parts, batch)
                kind = string(source, "type")
            if kind in _DELTAS and self._turn is not None:
                delta = source.get("delta")
                if isinstance(delta, str):
                    parts.append(delta)
            else:
                self._frame(kind, source, batch)
        self._flush(kind, parts, batch)
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

    def _flush(self, kind: str, parts: list[str], batch: Batch) -> None:
        if self._turn is not None and (joined := "".join(parts)):
            if kind == "thinking_delta":
                batch.add(ThinkingDelta(joined))
            else:
                self._turn.text(joined, batch)
        parts.clear()

    def _frame(self, kind: str, source: Frame, batch: Batch) -> None:
        match kind:
            case "response":
                self._response(source, batch)
            case "done" if self._turn is not None:
                self._turn.end(batch)
                self._turn = None
            case "error":
                self._error(string(source, "message"), batch)
            case "compact_done":
                summary = string(source, "summary")
                batch.add(Compacted(summary))
                if self._compaction is not None:
                    self._compaction = None
                    batch.add(CompactEnded(summary))
            case "ext_notify":
                level = zot.level(string(source, "level"))
                extension = string(source, "extension") or "extension"
                batch.add(Notice(level, string(source, "message"), extension))
            case "background_command":
                batch.add(zot.background_command(source))
            case _ if kind in TURN_FRAMES and self._turn is not None:
                self._turn.frame(kind, source, batch)
            case _:
                known = kind in TURN_FRAMES or kind in _DELTAS or kind == "done"
                batch.add(_debug(f"{kind} outside a turn" if known else f"frame {kind[:80]!r}"))

    def _response(self, source: Frame, batch: Batch) -> None:
        request_id = string(source, "id")
        command = self._sent.pop(request_id, None)
        error = None
        if source.get("success") is not True:
            error = string(source, "error") or "refused without a reason"
        elif isinstance(command, Hello):
            error = self._unlike_asked(frame(source.get("data")))
        if command is None:
            batch.add(_debug(f"response to nothing: {error or 'success'}"))
            return
        aborted = request_id in self._doomed
        self._doomed.discard(request_id)
        if error is not None:
            if error == "unknown command" and type(command) in _NEEDED_FOR:
                self._can(**{_NEEDED_FOR[type(command)]: False})
            batch.add(Reply(request_id, error=error))
            if isinstance(command, Compact):
                batch.add(CompactEnded(None, None if aborted else error))
            return
        batch.add(Reply(request_id, zot.reply_data(command, source.get("data"))))
        match command:
            case Prompt(text):
                self._end_former(batch)
                self._turn = Turn(aborted=aborted)
                batch.add(TurnStarted(text))
            case Compact():
                self._end_former(batch)
                self._compaction = "aborted" if aborted else "running"
            case GetState():
                self._settle(source.get("data"), batch)
            case Hello():
                features = items(frame(source.get("data")).get("features"))
                self._can(**{name: True for name in _FEATURES if name in features})
            case _:
                pass

    def _unlike_asked(self, hello: Frame) -> str | None:
        """zot takes an unknown provider for one that it has a key of, and a model of another
        provider for its own default, without a word."""
        version = hello.get("protocol_version")
        if version != PROTOCOL_VERSION:
            return f"it speaks version {version} of the protocol, not {PROTOCOL_VERSION}; update it"
        for name, wanted in self._wanted.items():
            told = string(hello, name)
            if wanted and told and told != wanted:
                return (
                    f"it was to use the {name} {wanted!r} and uses {told!r} in its place; correct"
                    f" the `{name}` in the settings"
                )
        return None

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
        if self._compaction == "aborted" and frame(state).get("busy") is False:
            self._end_compaction(None, batch)

    def _can(self, **features: bool) -> None:
        self.capabilities = {**self.capabilities, **features}


def with_extensions(launch: Launch, folders: Iterable[str]) -> Launch:
    """``launch`` with the person's own extensions, behind the one that hosts the agent."""
    flags = [word for folder in folders for word in ("--ext", folder)]
    return replace(launch, argv=(*launch.argv, *flags))


def looking_for_extensions(launch: Launch) -> Launch:
    """``launch`` of an agent that looks for the person's own extensions itself."""
    return replace(launch, argv=tuple(word for word in launch.argv if word != "--no-ext"))


def _last_of(argv: list[str], flag: str) -> str:
    """What a command line gives for ``flag``, "" if nothing; of several the last counts."""
    given = ""
    for word, after in zip(argv, [*argv[1:], ""], strict=True):
        if word == flag:
            given = after
        elif word.startswith(f"{flag}="):
            given = word.removeprefix(f"{flag}=")
    return given


def _debug(message: str) -> Notice:
    return Notice("debug", message, "agent")
