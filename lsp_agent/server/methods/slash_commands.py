"""``agent/commands`` and ``agent/runCommand``."""

from collections.abc import Awaitable
from typing import Any, cast

from lsp_agent.protocol.session_methods import (
    CommandsResult,
    PromptParams,
    RunCommandParams,
    RunCommandResult,
    SessionParams,
)
from lsp_agent.server.context import Context
from lsp_agent.server.methods.prompting import start_prompt
from lsp_agent.sessions.agent import slash_commands


async def commands(context: Context, params: SessionParams) -> CommandsResult:
    session = context.sessions.get(params.session_id)
    return CommandsResult(commands=cast(Any, await slash_commands.offered(session.agent)))


async def run_command(context: Context, params: RunCommandParams) -> RunCommandResult:
    session = context.sessions.get(params.session_id)
    action, text = await slash_commands.run(session.agent, params.name, params.args or "")
    return RunCommandResult(action=action, text=text or None)


async def run_and_act(context: Context, params: RunCommandParams) -> RunCommandResult:
    """The command's form: what a prompt is for is prompted, a text is shown."""
    session = context.sessions.get(params.session_id)
    result = await run_command(context, params)
    if result.text is None:
        return result
    if result.action == "prompt":
        started = start_prompt(context, PromptParams(session_id=session.id, text=result.text))
        turn = await started if isinstance(started, Awaitable) else started
        return result.model_copy(update={"turn_id": turn.turn_id})
    if not context.client.events:
        context.displays.show_text(result.text)
    return result
