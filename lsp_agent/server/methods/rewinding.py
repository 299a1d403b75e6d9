"""Back to an earlier prompt, in the session itself or in a new one."""

from lsp_agent.protocol.rewind_methods import (
    ForkParams,
    ForkResult,
    PastPrompt,
    PromptsResult,
    RewindParams,
    RewindResult,
)
from lsp_agent.protocol.session_methods import SessionParams
from lsp_agent.server.context import Context
from lsp_agent.server.methods.edits import revert_result
from lsp_agent.sessions.reverts.rewind import rewind as go_back


async def prompts(context: Context, params: SessionParams) -> PromptsResult:
    found = await context.sessions.prompts(_meant(context, params))
    return PromptsResult(
        prompts=[PastPrompt(turn_id=one.turn_id, text=one.words, time=one.time) for one in found]
    )


async def rewind(context: Context, params: RewindParams) -> RewindResult:
    session = context.sessions.get(params.session_id)
    restore = params.files == "restore"
    went = await go_back(context.sessions, context.reverts, session, params.turn_id, files=restore)
    return RewindResult(
        session_id=session.id,
        turn_id=went.to.turn_id,
        text=went.to.words,
        left_session_id=went.left_id,
        reverted=revert_result(went.reverted) if went.reverted else None,
    )


async def fork(context: Context, params: ForkParams) -> ForkResult:
    context.settings.forget()  # as for one that is taken up
    session, asked = await context.sessions.fork(_meant(context, params), params.turn_id)
    return ForkResult(session_id=session.id, text=asked.words if asked else None)


def _meant(context: Context, params: SessionParams) -> str:
    """The named session, which need not be open, or the default one."""
    return params.session_id or context.sessions.get(None).id
