"""What a conversation is made of, from start to end of the process."""

from dataclasses import dataclass, field

from lsp_agent.runtime.extensions import Extensions
from lsp_agent.runtime.pipes import LineWriter
from lsp_agent.runtime.providers.provider import Provider
from lsp_agent.runtime.tools.toolbox import Toolbox
from lsp_agent.runtime.transcript import Message, Usage

#: zot's word for an abort.
CANCELED = "context canceled"


@dataclass(slots=True)
class Agent:
    """``prompt`` is the running turn's. ``counted``: tokens of the context as the model counted
    them last, and how many messages that were."""

    provider: Provider
    model: str
    max_steps: int
    extensions: Extensions
    toolbox: Toolbox
    out: LineWriter
    system: str = ""
    messages: list[Message] = field(default_factory=list[Message])
    usage: Usage = field(default_factory=Usage)
    prompt: Message | None = None
    counted: tuple[int, int] = (0, 0)

    def add(self, entry: Message) -> None:
        self.messages.append(entry)

    def clear(self) -> None:
        self.messages = []
        self.counted = (0, 0)

    def put(self, kind: str, **fields: object) -> None:
        """An event, at once."""
        self.out.put({"type": kind, **fields})

    async def emit(self, kind: str, **fields: object) -> None:
        """An event of a stream: waits while the reader does not keep up."""
        self.put(kind, **fields)
        await self.out.drain()

    def notify(self, level: str, text: str) -> None:
        """Tells the person something that is no failure; as an extension would, since the wire
        has no other event for it."""
        self.put("ext_notify", extension="lsp-agent", level=level, message=text)
