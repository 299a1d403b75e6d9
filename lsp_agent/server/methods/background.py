"""``agent/backgroundCommands`` and ``agent/stopBackgroundCommand``."""

from typing import Any, cast

from lsp_agent.protocol.session_methods import (
    BackgroundCommandsResult,
    SessionParams,
    StopBackgroundCommandParams,
    StopBackgroundCommandResult,
)
from lsp_agent.server.context import Context
from lsp_agent.sessions.agent import background


async def background_commands(context: Context, params: SessionParams) -> BackgroundCommandsResult:
    session = context.sessions.get(params.session_id)
    return BackgroundCommandsResult(commands=cast(Any, await background.listed(session.agent)))


async def list_and_show(context: Context, params: SessionParams) -> BackgroundCommandsResult:
    """The command's form: a client without a place for them shows them as a message."""
    result = await background_commands(context, params)
    if not context.client.events:
        lines = [f"{each.id} ({each.state}): {each.command}" for each in result.commands]
        context.displays.show_text("\n".join(lines) or "No command runs in the background.")
    return result


async def stop_background_command(
    context: Context, params: StopBackgroundCommandParams
) -> StopBackgroundCommandResult:
    session = context.sessions.get(params.session_id)
    return StopBackgroundCommandResult(stopped=await background.stop(session.agent, params.id))
