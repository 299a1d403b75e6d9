"""What was chosen is set again while another client chooses."""

from typing import Any, cast

import pytest

from lsp_agent.sessions.agent.chosen import Chosen
from lsp_agent.sessions.agent.link import AgentLink
from lsp_agent.wires.wire import Command, GetOptions, Reply, SetOption


class Thinker:
    """Stands for an agent's link: its one option takes all but "refused"; ``meanwhile`` is what
    another client chooses while its first setting is under way."""

    def __init__(self, chosen: Chosen, meanwhile: str) -> None:
        self.value = "off"
        self._chosen = chosen
        self._meanwhile = meanwhile

    async def request(self, command: Command, _timeout: float = 0) -> Reply:
        if isinstance(command, SetOption):
            if command.value != "refused":
                self.value = command.value
            meanwhile, self._meanwhile = self._meanwhile, ""
            if meanwhile:
                await self.choose(meanwhile)
            if command.value == "refused":
                return Reply("r", error="no")
        assert isinstance(command, (SetOption, GetOptions))
        return Reply("r", {"options": [{"id": "thinking", "value": self.value}]})

    async def choose(self, value: str) -> None:
        """As ``agent_options.choose`` does."""
        await self._chosen.ask(cast(AgentLink, self), SetOption("thinking", value))
        self._chosen.options["thinking"] = value


@pytest.mark.asyncio
@pytest.mark.parametrize("former", ["high", "refused"])
async def test_the_later_choice_holds(former: str) -> None:
    chosen = Chosen(lambda _change: None)
    chosen.options["thinking"] = former
    agent: Any = Thinker(chosen, "low")
    assert await chosen.set_again(agent, {}) == []
    assert chosen.options == {"thinking": "low"}
    assert agent.value == "low"
