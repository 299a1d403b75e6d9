"""The seam between a session and an agent's wire: pure values, no I/O.

A wire object belongs to one agent process. It may remember what the stream needs (which
prompt runs, which calls are open); it never reads, writes, waits or looks at a clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lsp_agent.protocol.catalogue import Hosting
from lsp_agent.protocol.events import Event, StopReason
from lsp_agent.protocol.session_methods import ImageInput
from lsp_agent.protocol.settings.settings import AgentSettings


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    images: tuple[ImageInput, ...] = ()


@dataclass(frozen=True, slots=True)
class Steer:
    """A message for the turn that runs, which it takes up as soon as it can."""

    text: str
    images: tuple[ImageInput, ...] = ()


@dataclass(frozen=True, slots=True)
class Abort:
    """Ends what runs. From encoding it on, the running turn is an aborted one."""


@dataclass(frozen=True, slots=True)
class Compact:
    """Of an agent with the capability ``compact``, with ``instructions`` on what the summary is to
    keep only of one with ``compactInstructions``. It has one ``CompactEnded``, also where it is
    refused."""

    instructions: str = ""


@dataclass(frozen=True, slots=True)
class Clear:
    pass


@dataclass(frozen=True, slots=True)
class Hello:
    """The handshake, sent first; ``resume`` is a ``sessionRef`` that an earlier reply had."""

    resume: str | None = None


@dataclass(frozen=True, slots=True)
class Ping:
    """Only to an agent whose wire ``has_ping``."""


@dataclass(frozen=True, slots=True)
class GetState:
    pass


@dataclass(frozen=True, slots=True)
class GetMessages:
    pass


@dataclass(frozen=True, slots=True)
class GetModels:
    pass


@dataclass(frozen=True, slots=True)
class SetModel:
    model: str


@dataclass(frozen=True, slots=True)
class GetOptions:
    """Only to an agent with the capability ``options``, as is SetOption."""


@dataclass(frozen=True, slots=True)
class SetOption:
    """``earlier``: it was chosen in an earlier run of the server, so it is no mode in which the
    agent would ask nobody."""

    option_id: str
    value: str
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class ListSessions:
    """Those that the agent itself keeps; only to an agent with the capability ``listSessions``."""


@dataclass(frozen=True, slots=True)
class GetCommands:
    pass


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Only to an agent with the capability ``runCommand``; others are prompted ``/name args``."""

    name: str
    args: str


@dataclass(frozen=True, slots=True)
class GetBackground:
    """Only to an agent with the capability ``background``, as is StopBackground."""


@dataclass(frozen=True, slots=True)
class StopBackground:
    background_id: str


Command = (
    Prompt
    | Steer
    | Abort
    | Compact
    | Clear
    | Hello
    | Ping
    | GetState
    | GetMessages
    | GetModels
    | SetModel
    | GetOptions
    | SetOption
    | ListSessions
    | GetCommands
    | RunCommand
    | GetBackground
    | StopBackground
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to the command that was encoded with ``request_id``.

    ``data`` is in canonical form, by command: Hello and GetState
    ``{provider?, model?, version?, messageCount?, usage?, sessionRef?,
    config?}`` (``sessionRef`` is what a later process can resume the session by; ``config`` has
    no secrets), GetMessages ``{messages: [Message]}``,
    GetModels ``{models: [{id, provider, contextWindow?, maxOutput?, reasoning?}]}``,
    SetModel ``{model}``, GetOptions and SetOption ``{options: [{id, name, description?, value,
    values: [{value, name, description?}]}]}`` as they are then, ListSessions ``{sessions:
    [{ref, cwd, title?, updated?}]}`` (of any folders; ``ref`` as ``sessionRef``, ``updated`` in
    seconds since 1970) or ``{folder}`` with the files that ``pi_sessions.py`` reads, GetCommands
    ``{commands: [{name, description?}]}``, RunCommand
    ``{action: "prompt"|"insert"|"display"|"noop", text}``, GetBackground ``{commands: [{id,
    toolCallId, command, since, state, exitCode?, seconds?, lines}]}``; else empty.
    ``error`` is None when it succeeded.
    """

    request_id: str
    data: Mapping[str, object] = field(default_factory=dict[str, object])
    error: str | None = None


@dataclass(frozen=True, slots=True)
class CompactEnded:
    """The one end of a compaction; ``summary`` is None if it failed or was aborted."""

    summary: str | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """A frame to be written at once: the next step of a handshake, or an answer that needs nobody
    but the wire."""

    frame: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Approve:
    """The agent waits for leave to make a call. ``tool`` and ``args`` are in the embedded agent's
    form where it has such a tool (``read``, ``write``, ``edit`` with ``path``; ``bash`` with
    ``command``), else the agent's own; ``paths`` are all that it would touch. ``folder`` is where
    a command would run, as the agent puts it; empty for the session's. ``named``: ``tool`` is one
    tool, and no word for several, so that all its calls may be allowed. ``key`` names this request
    until it is answered (``Wire.answer``)."""

    key: str
    tool: str
    args: Mapping[str, object]
    tool_call_id: str | None
    paths: tuple[str, ...] = ()
    folder: str = ""
    named: bool = True


@dataclass(frozen=True, slots=True)
class ReadText:
    """The agent reads a text through us; ``line`` is the first one wanted, 1-based."""

    key: str
    path: str
    tool_call_id: str | None
    line: int | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class WriteText:
    """The agent writes a whole text through us. ``reads_answer``: its model is shown what the
    answer says."""

    key: str
    path: str
    text: str
    tool_call_id: str | None
    reads_answer: bool = True


@dataclass(frozen=True, slots=True)
class RunTool:
    """The agent runs a tool that we provide: ``read``, ``write``, ``edit`` or ``bash`` in the
    embedded agent's form. It waits ``seconds`` for the answer; None is without a limit."""

    key: str
    tool: str
    args: Mapping[str, object]
    tool_call_id: str | None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Dialog:
    """A question of the agent's own to the person; ``options`` are (id, name)."""

    key: str
    title: str
    options: tuple[tuple[str, str], ...]
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """The agent waits no longer for the answer to ``key``."""

    key: str


AgentRequest = Approve | ReadText | WriteText | RunTool | Dialog


@dataclass(frozen=True, slots=True)
class Granted:
    """To Approve. ``note`` is for the model to read, where the agent has a place for it."""

    note: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """To any request: it is not done, for a ``reason`` that the model may read. ``missing``: the
    file is not there."""

    reason: str
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """To ReadText the text, to RunTool its result, to Dialog the chosen option's id; to WriteText
    what the model is to be told beside its own tool's words, "" as a rule."""

    text: str = ""


Answer = Granted | Refused | Answered

Decoded = Event | Reply | CompactEnded | Send | AgentRequest | Withdrawn


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an agent. ``env`` is added to the server's own; ``secrets`` names those
    variables of it that no command of the agent's may see. ``held`` goes before the command line,
    and before that of each command that we run for the agent: the words of its sandbox."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: tuple[str, ...] = ()
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TakenUp:
    """What an agent takes up by itself where it is started, and no switch of its own stops."""

    #: Names of instructions that it tells its model of, from that folder and each one above.
    instructions: tuple[str, ...] = ()
    #: A file of settings, relative to that folder, that may say where it keeps transcripts; and
    #: what stands in one that does.
    transcripts: tuple[str, tuple[bytes, ...]] | None = None


class Wire(Protocol):
    """One agent's protocol."""

    #: What the agent can do (docs/design/canonical-events.md), before and after its handshake.
    capabilities: Mapping[str, bool]
    #: The longest frame that the agent takes, in bytes, its line end included.
    max_frame_bytes: int
    #: Whether the agent is hosted through an extension of ours (agents/bridge.py); else what it
    #: asks for comes as ``AgentRequest``.
    bridged: bool
    #: How an agent is hosted that its settings leave to us and whose program we do not know.
    hosting: Hosting
    #: Whether the agent answers ``Ping`` at once, whatever it is at.
    has_ping: bool
    #: Whether what it starts after its handshake may be commands, which end with a stopped turn;
    #: else it is the agent's own, and would be missed.
    runs_commands: bool

    def takes_up(self, agent: AgentSettings, environment: Mapping[str, str]) -> TakenUp:
        """What ``agent``, whose process has ``environment``, takes up from a repository."""
        ...

    def launch(self, agent: AgentSettings, cwd: str, extension: str | None) -> Launch:
        """The command line; ``extension`` is the folder of a bridged agent's extension."""
        ...

    def encode(self, request_id: str, command: Command) -> Mapping[str, object] | Reply:
        """The frame of ``command``, or its reply where the agent need not be asked."""
        ...

    def answer(self, key: str, answer: Answer) -> Mapping[str, object] | None:
        """The frame that answers an ``AgentRequest``; None if it waits for it no longer."""
        ...

    def decode(self, frames: Iterable[object]) -> list[Decoded]:
        """What a batch of frames says, in order; adjacent deltas of one kind are joined. Without
        frames: what the command that was just sent is followed by, whatever the agent says."""
        ...

    def lost(self, reason: StopReason, message: str | None) -> list[Decoded]:
        """Ends whatever is open (calls, turn, compaction), since nothing more will come."""
        ...
