"""What a conversation is made of, from start to end of the process."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from lsp_agent.runtime.conversation import Conversation
from lsp_agent.runtime.extensions import Extensions
from lsp_agent.runtime.pipes import LineWriter
from lsp_agent.runtime.providers.provider import Provider
from lsp_agent.runtime.tools.background import BackgroundCommands
from lsp_agent.runtime.tools.toolbox import Toolbox
from lsp_agent.runtime.transcript import Block, Message, Usage
from lsp_agent.user_data.conversations import conversations_folder

#: zot's word for an abort.
CANCELED = "context canceled"


@dataclass(slots=True)
class Agent:
    """``prompt`` is the running turn's, ``steered`` what is still to be said in it. ``counted``:
    tokens of the context as the model counted them last, and how many messages that were."""

    provider: Provider
    model: str
    max_steps: int
    extensions: Extensions
    toolbox: Toolbox
    background: BackgroundCommands
    out: LineWriter
    system: str = ""
    messages: list[Message] = field(default_factory=list[Message])
    usage: Usage = field(default_factory=Usage)
    prompt: Message | None = None
    steered: deque[list[Block]] = field(default_factory=deque[list[Block]])
    counted: tuple[int, int] = (0, 0)
    #: The conversation on disk, where it is kept.
    kept: Conversation | None = None

    def add(self, entry: Message) -> None:
        self.messages.append(entry)
        self._keep(lambda kept: kept.add(entry))

    def replace(self, messages: list[Message]) -> None:
        """The whole conversation, with a summary or with nothing."""
        self.messages = messages
        self.counted = (0, 0)
        self._keep(lambda kept: kept.replace(messages, self.usage))

    def keep(self, wanted: str) -> None:
        """From here on on disk: the conversation called ``wanted``, if it can be had and nothing
        was said yet, else a new one."""
        try:
            former = None if self.messages else Conversation.take_up(wanted)
            if former is not None:
                self.kept, self.messages, self.usage = former
                return
            self.kept = Conversation.begin()
        except OSError as error:
            self._not_kept(error)
        self._keep(lambda kept: kept.replace(self.messages, self.usage))

    def leave(self) -> None:
        """At the end of the process: a conversation in which nothing was said is none."""
        if self.kept is not None and not self.messages:
            self.kept.forget()

    def said(self, delta: str) -> None:
        """A piece of an answer that is not whole yet."""
        self._keep(lambda kept: kept.say(delta))

    def spent(self) -> None:
        """Keeps what all so far has taken."""
        self._keep(lambda kept: kept.spend(self.usage))

    def _keep(self, write: Callable[[Conversation], None]) -> None:
        if self.kept is None:
            return
        try:
            write(self.kept)
        except OSError as error:
            self.kept.forget()
            self.kept = None
            self._not_kept(error)

    def _not_kept(self, error: OSError) -> None:
        self.notify(
            "warn",
            f"The conversation cannot be kept in {conversations_folder()} ({error.strerror}): mend"
            " that, or the agent knows of it only in short once it is started again.",
        )

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
