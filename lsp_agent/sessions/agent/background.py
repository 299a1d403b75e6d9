"""The commands that a session's agent runs in the background."""

from typing import cast

from lsp_agent.protocol.errors import BadParams, RequestFailed
from lsp_agent.sessions.agent.keeper import AgentKeeper
from lsp_agent.wires.wire import GetBackground, StopBackground

#: ``{id, toolCallId, command, since, state, exitCode?, seconds?, lines}``.
Told = dict[str, object]


async def listed(agent: AgentKeeper) -> list[Told]:
    """Those that run, and some that have ended; none of an agent that does not run.

    :raises RequestFailed: as ``AgentKeeper.ask`` does
    """
    link = agent.link
    if link is None or not link.alive or not agent.capabilities.get("background", False):
        return []
    reply = await link.request(GetBackground())
    if reply.error is not None:
        raise RequestFailed("conflict", reply.error)
    return cast("list[Told]", reply.data.get("commands", []))


async def stop(agent: AgentKeeper, background_id: str | None) -> list[str]:
    """Ends that one, or all; the ids of those that ran.

    :raises BadParams: for one that does not run
    :raises RequestFailed: as ``AgentKeeper.ask`` does
    """
    running = [each.id for each in agent.background.values()]
    if background_id is not None and background_id not in running:
        names = ", ".join(running) or "none"
        raise BadParams("id", f"no background command {background_id!r} runs; there run: {names}")
    wanted = running if background_id is None else [background_id]
    for each in wanted:
        await agent.ask(StopBackground(each))
    return wanted
