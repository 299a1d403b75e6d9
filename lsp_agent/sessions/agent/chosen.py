"""What a person chose for a session: its model, and its agent's options.

A new process of the agent's, and a new conversation in it, know of neither and are set to them
again. A choice ends with the next one, or when the agent itself goes on to another value, as it
does when it leaves a plan mode, or a model that cannot think so much is chosen.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import cast

from lsp_agent.protocol.events import OptionChanged
from lsp_agent.sessions.agent.link import REPLY_SECONDS, AgentLink
from lsp_agent.wires.wire import GetOptions, Reply, SetModel, SetOption

Option = dict[str, object]


class Chosen:
    """``tell`` is called with each value of an option that differs from what clients know, and
    that the agent itself has not told."""

    def __init__(self, tell: Callable[[OptionChanged], object]) -> None:
        self.model: str | None = None
        self.options: dict[str, str] = {}
        self._tell = tell
        #: The options' values as clients know them.
        self._told: dict[str, str] = {}
        self._kept = 0
        self._earlier = False

    def take_up(self, model: str | None, options: Mapping[str, str]) -> None:
        """What was chosen in an earlier run of the server."""
        self.model, self.options = model, dict(options)
        self._earlier = True

    @contextmanager
    def kept(self) -> Generator[None]:
        """Meanwhile the agent may begin anew, with other values than were chosen."""
        self._kept += 1
        try:
            yield
        finally:
            self._kept -= 1

    def changed(self, event: OptionChanged) -> None:
        """The agent said so, and clients were told."""
        self._told[event.option_id] = event.value
        if not self._kept and self.options.get(event.option_id) != event.value:
            self.options.pop(event.option_id, None)

    async def ask(
        self, link: AgentLink, command: GetOptions | SetOption, timeout: float = REPLY_SECONDS
    ) -> Reply:
        """The agent's reply, of whose options clients are told what they do not know.

        :raises RequestFailed: as ``AgentLink.request`` does
        """
        before = dict(self._told)
        reply = await link.request(command, timeout)
        self._learn(options_of(reply), before)
        return reply

    async def set_again(self, link: AgentLink, state: Mapping[str, object]) -> list[str]:
        """What the agent refused, each with its reason; it is chosen no longer. ``state`` is what
        the agent said of itself as it began.

        :raises RequestFailed: as ``AgentLink.request`` does
        """
        refused: list[str] = []
        model = self.model
        if model is not None and model != state.get("model"):
            reply = await link.request(SetModel(model))
            if reply.error is not None and self.model == model:
                refused.append(f"the model {model} ({reply.error})")
                self.model = None
        if self.options or self._told:
            refused += await self._set_options_again(link)
        self._earlier = False
        return refused

    async def _set_options_again(self, link: AgentLink) -> list[str]:
        before, refused = dict(self._told), list[str]()
        options = options_of(await link.request(GetOptions()))
        for option_id in list(self.options):
            value = self.options.get(option_id)
            if value is None or _values(options).get(option_id) == value:
                continue
            reply = await link.request(SetOption(option_id, value, self._earlier))
            options = options_of(reply) or options
            if self.options.get(option_id) != value:
                continue  # another was chosen meanwhile
            if reply.error is not None or _values(options).get(option_id) != value:
                why = reply.error or f"it took {_values(options).get(option_id)}"
                refused.append(f"{option_id} {value} ({why})")
                del self.options[option_id]
        self._learn(options, before)
        return refused

    def _learn(self, options: list[Option], before: Mapping[str, str]) -> None:
        """``before`` is what clients knew when the agent was asked: what it told since is newer
        than its reply."""
        for option_id, value in _values(options).items():
            known = self._told.get(option_id)
            if known == before.get(option_id) != value:
                self._told[option_id] = value
                if known is not None:
                    self._tell(OptionChanged(option_id, value))


def options_of(reply: Reply) -> list[Option]:
    return cast(list[Option], reply.data.get("options", []))


def _values(options: list[Option]) -> dict[str, str]:
    return {str(option["id"]): str(option["value"]) for option in options}
