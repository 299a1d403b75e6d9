"""``agent/agents``: what a person can choose among, for a pick list."""

import anyio.to_thread

from lsp_agent.protocol.session_methods import AgentInfo, AgentsResult, Empty, ModelServerInfo
from lsp_agent.server.context import Context
from lsp_agent.sessions.agents_here import (
    AgentHere,
    ModelServerHere,
    agents_here,
    model_servers_here,
)


async def agents(context: Context, _params: Empty) -> AgentsResult:
    """Starts nothing."""
    here = await anyio.to_thread.run_sync(agents_here, context.sessions.settings())
    servers = await anyio.to_thread.run_sync(model_servers_here)
    return AgentsResult(
        agents=[_agent(each) for each in here], servers=[_server(each) for each in servers]
    )


def _agent(each: AgentHere) -> AgentInfo:
    return AgentInfo(
        name=each.name,
        title=each.title,
        configured=each.configured,
        chosen=each.chosen,
        hosting=each.hosting,
        path=each.path,
        own_path=each.own_path,
        usable=each.usable,
        install=None if each.path else each.install,
        install_command=each.install_command,
        sign_in=each.sign_in,
        sign_in_command=each.sign_in_command,
        setting=each.setting,
    )


def _server(each: ModelServerHere) -> ModelServerInfo:
    return ModelServerInfo(
        title=each.server.title,
        address=each.server.base_url,
        models=list(each.models),
        setting=each.settings_for(each.models[0]),
    )
