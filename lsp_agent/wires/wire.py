"""The seam between a session and an agent's wire: pure values, no I/O.

A wire object belongs to one agent process. It may remember what the stream needs (which
prompt runs, which calls are open); it never reads, writes, waits or looks at a clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from lsp_agent.protocol.events import Event, StopReason
from lsp_agent.protocol.methods import ImageInput
from lsp_agent.protocol.settings import AgentSettings


@dataclass(frozen=True, slots=True)
class Prompt:
    text: str
    images: tuple[ImageInput, ...] = ()


@dataclass(frozen=True, slots=True)
class Abort:
    """Ends what runs. From encoding it on, the running turn is an aborted one."""


@dataclass(frozen=True, slots=True)
class Compact:
    pass


@dataclass(frozen=True, slots=True)
class Clear:
    pass


@dataclass(frozen=True, slots=True)
class Hello:
    """The handshake, sent first."""


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


Command = Prompt | Abort | Compact | Clear | Hello | GetState | GetMessages | GetModels | SetModel


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to the command that was encoded with ``request_id``.

    ``data`` is in canonical form, by command: Hello and GetState
    ``{provider?, model?, version?, messageCount?, usage?}``, GetMessages ``{messages: [Message]}``,
    GetModels ``{models: [{id, provider, contextWindow?, maxOutput?, reasoning?}]}``,
    SetModel ``{model}``; else empty. ``error`` is None when it succeeded.
    """

    request_id: str
    data: Mapping[str, object] = field(default_factory=dict[str, object])
    error: str | None = None


@dataclass(frozen=True, slots=True)
class CompactEnded:
    """The one end of a compaction; ``summary`` is None if it failed or was aborted."""

    summary: str | None
    error: str | None = None


Decoded = Event | Reply | CompactEnded


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start an agent. ``env`` is added to the server's own; ``secrets`` names those
    variables of it that no command of the agent's may see."""

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    secrets: tuple[str, ...] = ()


class Wire(Protocol):
    """One agent's protocol."""

    #: What the agent can do (canonical.md: "Gaps"), before and after its handshake.
    capabilities: Mapping[str, bool]
    #: The longest frame that the agent takes, in bytes, its line end included.
    max_frame_bytes: int

    def launch(self, agent: AgentSettings, cwd: str, extension: str | None) -> Launch:
        """The command line; ``extension`` is the bridge's folder, None for mirror hosting."""
        ...

    def encode(self, request_id: str, command: Command) -> Mapping[str, object]:
        """The frame of ``command``."""
        ...

    def decode(self, frames: Iterable[object]) -> list[Decoded]:
        """What a batch of frames says, in order; adjacent deltas of one kind are joined."""
        ...

    def lost(self, reason: StopReason, message: str | None) -> list[Decoded]:
        """Ends whatever is open (calls, turn, compaction), since nothing more will come."""
        ...
