"""Sessions: their state, models, transcript; opening and closing them."""

from typing import Any, cast

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.methods import (
    CommandsResult,
    CompactResult,
    Empty,
    MessagesResult,
    ModelsResult,
    NewSessionParams,
    ResumeSessionParams,
    RunCommandParams,
    RunCommandResult,
    SessionInfo,
    SessionParams,
    SessionResult,
    SessionsResult,
    SetModelParams,
    StateResult,
)
from lsp_agent.server.context import Context
from lsp_agent.sessions.session import Session
from lsp_agent.workspace.paths import uri_to_path


async def state(context: Context, params: SessionParams) -> StateResult:
    return await _state(context, context.sessions.get(params.session_id))


async def messages(context: Context, params: SessionParams) -> MessagesResult:
    session = context.sessions.get(params.session_id)
    return MessagesResult(messages=cast(Any, await session.agent.messages()))


async def models(context: Context, params: SessionParams) -> ModelsResult:
    session = context.sessions.get(params.session_id)
    return ModelsResult.model_validate(await session.agent.models())


async def set_model(context: Context, params: SetModelParams) -> StateResult:
    session = context.sessions.get(params.session_id)
    await session.agent.set_model(params.model)
    return await _state(context, session)


async def compact(context: Context, params: SessionParams) -> CompactResult:
    session = context.sessions.get(params.session_id)
    return CompactResult(summary=await session.compact())


async def clear(context: Context, params: SessionParams) -> Empty:
    await context.sessions.get(params.session_id).clear()
    return Empty()


async def sessions(context: Context, params: Empty) -> SessionsResult:
    return SessionsResult(sessions=[_info(session) for session in context.sessions.all()])


async def new_session(context: Context, params: NewSessionParams) -> SessionResult:
    cwd = (uri_to_path(params.cwd) or params.cwd) if params.cwd is not None else None
    session = context.sessions.open(cwd, params.agent, params.model)
    return SessionResult(session_id=session.id)


async def close_session(context: Context, params: SessionParams) -> Empty:
    """Without ``sessionId`` the first folder's default session; none is made to be closed."""
    session = context.sessions.to_stop(params.session_id, None)
    if session is not None:
        await session.close()
    return Empty()


async def resume_session(context: Context, params: ResumeSessionParams) -> SessionResult:
    raise RequestFailed(
        "unsupported", "Stored sessions cannot be taken up yet.", {"feature": "resume"}
    )


async def commands(context: Context, params: SessionParams) -> CommandsResult:
    context.sessions.get(params.session_id)
    return CommandsResult(commands=[])


async def run_command(context: Context, params: RunCommandParams) -> RunCommandResult:
    raise RequestFailed(
        "unsupported", f"The agent offers no command {params.name!r}.", {"feature": "commands"}
    )


async def _state(context: Context, session: Session) -> StateResult:
    told = await session.agent.state()
    agent = session.choice.agent
    return StateResult(
        session_id=session.id,
        agent=session.choice.name,
        wire=agent.wire,
        model=cast(str | None, told.get("model")) or agent.model or None,
        provider=cast(str | None, told.get("provider")) or agent.provider or None,
        cwd=session.cwd,
        busy=session.busy,
        turn_id=session.turn.id if session.turn else None,
        queued=list(session.queued),
        message_count=cast(int, told.get("messageCount", 0)),
        usage=cast(Any, dict(session.usage)),
        hosting=session.hosting.state,
        capabilities=session.capabilities,
        questions=context.questions.open(session.id),
        agents=sorted(session.settings.agents),
    )


def _info(session: Session) -> SessionInfo:
    return SessionInfo(
        session_id=session.id,
        agent=session.choice.name,
        cwd=session.cwd,
        status=session.status,
        title=session.title,
        model=session.choice.agent.model or None,
    )
