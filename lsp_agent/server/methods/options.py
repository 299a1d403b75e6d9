"""``agent/options`` and ``agent/setOption``."""

from typing import Any, cast

from lsp_agent.protocol.session_methods import OptionsResult, SessionParams, SetOptionParams
from lsp_agent.server.context import Context
from lsp_agent.sessions.agent import options as agent_options


async def options(context: Context, params: SessionParams) -> OptionsResult:
    session = context.sessions.get(params.session_id)
    return OptionsResult(options=cast(Any, await agent_options.offered(session.agent)))


async def set_option(context: Context, params: SetOptionParams) -> OptionsResult:
    session = context.sessions.get(params.session_id)
    now = await context.sessions.set_option(session, params.id, params.value)
    return OptionsResult(options=cast(Any, now))
