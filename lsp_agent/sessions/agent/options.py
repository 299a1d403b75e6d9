"""What a session's agent is set to beside its model: its mode, how much it thinks, and the like."""

from contextlib import suppress
from typing import cast

from lsp_agent.protocol.errors import BadParams, RequestFailed
from lsp_agent.sessions.agent.chosen import Option, options_of
from lsp_agent.sessions.agent.keeper import STATE_SECONDS, AgentKeeper
from lsp_agent.wires.wire import GetOptions, SetOption


async def offered(agent: AgentKeeper) -> list[Option]:
    """``{id, name, description?, value, values}`` each; empty where the agent has none. Starts
    the agent.

    :raises RequestFailed: as ``AgentKeeper.ask`` does
    """
    link = await agent.running()
    if not agent.capabilities.get("options", False):
        return []
    reply = await agent.chosen.ask(link, GetOptions())
    # One whose refusal has just shown that it knows of none has none.
    if reply.error is not None and agent.capabilities.get("options", False):
        raise RequestFailed("conflict", reply.error)
    return options_of(reply)


async def known(agent: AgentKeeper) -> list[Option]:
    """As ``offered``, of an agent that runs and answers at once; else empty."""
    link = agent.link
    if link is not None and link.alive and agent.capabilities.get("options", False):
        with suppress(RequestFailed):
            return options_of(await agent.chosen.ask(link, GetOptions(), STATE_SECONDS))
    return []


async def choose(agent: AgentKeeper, option_id: str, value: str) -> list[Option]:
    """Sets an option, for as long as the session lasts; all of them as they are then.

    :raises BadParams: for an option or a value that there is not
    :raises RequestFailed: as ``AgentKeeper.ask`` does
    """
    options = await offered(agent)
    option = next((each for each in options if each["id"] == option_id), None)
    if option is None:
        names = ", ".join(str(each["id"]) for each in options) or "none"
        raise BadParams("id", f"the agent has no option {option_id!r}; it has: {names}")
    values = [str(each["value"]) for each in cast(list[Option], option["values"])]
    if value not in values:
        raise BadParams("value", f"{option_id} is one of: {', '.join(values)}")
    reply = await agent.chosen.ask(await agent.running(), SetOption(option_id, value))
    if reply.error is not None:
        raise RequestFailed("conflict", reply.error)
    agent.chosen.options[option_id] = value
    return options_of(reply)
