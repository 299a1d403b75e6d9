"""Sessions: their state, models, transcript; opening, closing and taking them up."""

from typing import Any, cast

import anyio

from lsp_agent.protocol.errors import BadParams
from lsp_agent.protocol.session_methods import (
    AgentSession,
    AgentSessionsResult,
    CompactParams,
    CompactResult,
    Empty,
    ExportResult,
    MessagesResult,
    ModelsResult,
    NewSessionParams,
    RenameSessionParams,
    SessionInfo,
    SessionParams,
    SessionResult,
    SessionsResult,
    SetModelParams,
    StateResult,
    StoredSessionParams,
    Window,
)
from lsp_agent.server.context import Context
from lsp_agent.sessions.agent import options as agent_options
from lsp_agent.sessions.agent.chosen import Option
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.sessions import Known
from lsp_agent.text.plain import printable_line
from lsp_agent.workspace.disk.paths import uri_to_path


async def state(context: Context, params: SessionParams) -> StateResult:
    return await _state(context, context.sessions.get(params.session_id))


async def messages(context: Context, params: SessionParams) -> MessagesResult:
    session = context.sessions.get(params.session_id)
    return MessagesResult(messages=cast(Any, await context.sessions.messages(session)))


async def models(context: Context, params: SessionParams) -> ModelsResult:
    session = context.sessions.get(params.session_id)
    return ModelsResult.model_validate(await session.agent.models())


async def set_model(context: Context, params: SetModelParams) -> StateResult:
    session = context.sessions.get(params.session_id)
    await context.sessions.set_model(session, params.model)
    return await _state(context, session)


async def compact(context: Context, params: CompactParams) -> CompactResult:
    session = context.sessions.get(params.session_id)
    return CompactResult(summary=await session.compact(params.instructions))


async def clear(context: Context, params: SessionParams) -> Empty:
    await context.sessions.clear(context.sessions.get(params.session_id))
    return Empty()


async def sessions(context: Context, params: Empty) -> SessionsResult:
    return SessionsResult(sessions=[_info(known) for known in await context.sessions.known()])


async def agent_sessions(context: Context, params: SessionParams) -> AgentSessionsResult:
    found = await context.sessions.of_agent(context.sessions.get(params.session_id))
    return AgentSessionsResult(
        sessions=[AgentSession(ref=one.ref, title=one.title, updated=one.updated) for one in found]
    )


async def new_session(context: Context, params: NewSessionParams) -> SessionResult:
    cwd = (uri_to_path(params.cwd) or params.cwd) if params.cwd is not None else None
    session = context.sessions.open(cwd, params.agent, params.model, params.ref)
    return SessionResult(session_id=session.id)


async def close_session(context: Context, params: SessionParams) -> Empty:
    """Without ``sessionId`` the first folder's default session; none is made to be closed."""
    session = context.sessions.to_stop(params.session_id, None)
    if session is not None:
        await context.sessions.close(session)
    return Empty()


async def resume_session(context: Context, params: StoredSessionParams) -> SessionResult:
    context.settings.forget()  # its agent may have been added since
    session = await context.sessions.resume(params.session_id)
    return SessionResult(session_id=session.id)


async def rename_session(context: Context, params: RenameSessionParams) -> Empty:
    title = printable_line(" ".join(params.title.split()))
    if not title:
        raise BadParams("title", "must have something to show")
    await context.sessions.rename(params.session_id, title)
    return Empty()


async def export_session(context: Context, params: StoredSessionParams) -> ExportResult:
    return ExportResult(markdown=await context.sessions.export(params.session_id))


async def delete_session(context: Context, params: StoredSessionParams) -> Empty:
    await context.sessions.delete(params.session_id)
    return Empty()


async def _state(context: Context, session: Session) -> StateResult:
    agent = session.choice.agent
    told: dict[str, object] = {}
    options: list[Option] = []

    async def ask_for_state() -> None:
        told.update(await session.agent.state())

    async def ask_for_options() -> None:
        options.extend(await agent_options.known(session.agent))

    async with anyio.create_task_group() as tasks:  # a hung agent holds it up for one time-out
        tasks.start_soon(ask_for_state)
        tasks.start_soon(ask_for_options)
    return StateResult(
        session_id=session.id,
        agent=session.choice.name,
        wire=agent.wire,
        model=cast(str | None, told.get("model"))
        or session.agent.chosen.model
        or agent.model
        or None,
        provider=cast(str | None, told.get("provider")) or agent.provider or None,
        cwd=session.cwd,
        busy=session.busy,
        turn_id=session.turn.id if session.turn else None,
        queued=list(session.queued),
        message_count=cast(int, told.get("messageCount", 0)),
        usage=cast(Any, dict(session.usage)),
        window=_window(session),
        hosting=session.hosting.state.now,
        capabilities=session.capabilities,
        options=cast(Any, options),
        questions=context.questions.open(session.id),
        agents=sorted(session.settings.agents),
        config=cast(Any, told.get("config")),
    )


def _window(session: Session) -> Window | None:
    filled = session.window
    return Window(used=filled.used, size=filled.size) if filled is not None else None


def _info(known: Known) -> SessionInfo:
    about = known.about
    return SessionInfo(
        session_id=about.id,
        agent=about.agent,
        cwd=about.folder,
        status=known.status,
        title=about.title,
        model=about.model,
        stored=known.stored,
        created=about.created,
        updated=about.updated,
    )
