"""``agent/prompt`` and ``agent/abort``."""

import os
from collections.abc import Awaitable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio

from lsp_agent.protocol.edits import Range
from lsp_agent.protocol.errors import BadParams, LspAgentError, RequestFailed
from lsp_agent.protocol.session_methods import (
    AbortParams,
    AbortResult,
    ContextItem,
    PromptLine,
    PromptParams,
    PromptResult,
    PromptStarted,
    RetryParams,
)
from lsp_agent.server.context import Context, path_of
from lsp_agent.server.prompt_lines import without_prompt
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.shared.confinement import ConfinedLines, Confinement
from lsp_agent.sessions.shared.turn import Turn
from lsp_agent.sessions.stored.excerpts import Excerpt
from lsp_agent.text.lines import Text
from lsp_agent.text.positions import Encoding, to_column
from lsp_agent.workspace.changing.file_host import View
from lsp_agent.workspace.documents.open_document import OpenDocument


def prompt(context: Context, params: PromptParams) -> Awaitable[PromptResult]:
    """Accepts the prompt now, on the documents as they are now; answers at the turn's end."""
    asked = _asked(context, params)
    if asked.steers:
        return _steered_result(context, asked, _steering(context, asked))
    return _result(context, asked.session, _begun(context, asked))


def start_prompt(
    context: Context, params: PromptParams
) -> PromptStarted | Awaitable[PromptStarted]:
    """The command's form: answers at once, so that no editor waits."""
    asked = _asked(context, params)
    if asked.steers:
        return _steering_started(asked, _steering(context, asked))
    started = _started(asked.session, _begun(context, asked))
    return started if params.from_ is None else _taken_out(context, params.from_, started)


async def _taken_out(context: Context, line: PromptLine, started: PromptStarted) -> PromptStarted:
    """The line that was sent goes out of its document, as an edit of nobody's."""
    document = context.documents.get(line.uri)
    if document is not None and document.path is not None:

        def resolve(view: View) -> Text:
            text = view.require_text()
            left = without_prompt(text.lines, line.line, line.text) if view.open else None
            return text if left is None else Text.of("".join(left), like=text)

        with suppress(LspAgentError):  # it stays where the editor takes no edit
            path = context.confinement(False).confine(document.path, os.sep, write=True)
            await context.host.put(path, resolve, "agent: taken out")
    return started


def retry(context: Context, params: RetryParams) -> Awaitable[PromptResult]:
    """Answers as ``prompt`` does."""
    return _result(context, *_begun_again(context, params))


def start_retry(context: Context, params: RetryParams) -> PromptStarted:
    """The command's form: answers at once."""
    return _started(*_begun_again(context, params))


def _begun_again(context: Context, params: RetryParams) -> tuple[Session, Turn]:
    context.settings.forget()
    session = context.sessions.get(params.session_id)
    turn = session.retry()
    context.displays.begin(session, turn, turn.words, params.work_done_token)
    return session, turn


def abort(context: Context, params: AbortParams) -> Awaitable[AbortResult]:
    """Stops what runs or waits now; a prompt that the client sent behind it is not meant."""
    session = context.sessions.to_stop(params.session_id, params.turn_id)
    return _aborted([session.abort(params.turn_id)] if session else [])


def abort_all(context: Context) -> Awaitable[AbortResult]:
    """The command's form without arguments: stops what runs, in whichever session."""
    return _aborted([session.abort() for session in context.sessions.all()])


async def _aborted(stopping: Sequence[Coroutine[Any, Any, bool]]) -> AbortResult:
    ran: list[bool] = []

    async def stop(one: Coroutine[Any, Any, bool]) -> None:
        ran.append(await one)

    async with anyio.create_task_group() as tasks:
        for one in stopping:
            tasks.start_soon(stop, one)
    return AbortResult(aborted=any(ran))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A prompt with what it is for and what it shows of the documents."""

    session: Session
    params: PromptParams
    excerpts: Sequence[Excerpt]
    confinement: Confinement | None

    @property
    def steers(self) -> bool:
        return self.params.when_busy == "steer" and self.session.busy


def _asked(context: Context, params: PromptParams) -> _Asked:
    if not params.text.strip():
        raise BadParams("text", "the prompt is empty")
    first = path_of(params.context[0].uri, "context[0].uri") if params.context else None
    context.settings.forget()
    session = context.sessions.get(params.session_id, first)
    excerpts = [
        _excerpt(context, item, f"context[{index}]", session.cwd)
        for index, item in enumerate(params.context)
    ]
    return _Asked(session, params, excerpts, _confinement(context, params, session.cwd))


def _begun(context: Context, asked: _Asked) -> Turn:
    params = asked.params
    when_busy = "reject" if params.when_busy == "reject" else "queue"
    turn = asked.session.prompt(
        params.text, asked.excerpts, params.images, when_busy, asked.confinement
    )
    context.displays.begin(asked.session, turn, params.text, params.work_done_token)
    return turn


def _steering(context: Context, asked: _Asked) -> Awaitable[tuple[Turn, bool]]:
    """The turn that has the words, and whether that is the one that runs now. A stop that the
    client sent behind them means them too, so they are handed on at once."""
    params, session = asked.params, asked.session
    running = session.turn
    steering = session.steer(params.text, asked.excerpts, params.images)
    return _steered(context, asked, running, steering)


async def _steered(
    context: Context, asked: _Asked, running: Turn | None, steering: Awaitable[Turn]
) -> tuple[Turn, bool]:
    params, turn = asked.params, await steering
    if turn is not running and not turn.ended:  # as one that a stop has dropped
        context.displays.begin(asked.session, turn, params.text, params.work_done_token)
    return turn, turn is running


async def _steered_result(
    context: Context, asked: _Asked, steering: Awaitable[tuple[Turn, bool]]
) -> PromptResult:
    turn, joined = await steering
    return await _result(context, asked.session, turn, joined=joined)


async def _steering_started(asked: _Asked, steering: Awaitable[tuple[Turn, bool]]) -> PromptStarted:
    turn, _ = await steering
    return _started(asked.session, turn)


def _started(session: Session, turn: Turn) -> PromptStarted:
    return PromptStarted(session_id=session.id, turn_id=turn.id)


async def _result(
    context: Context, session: Session, turn: Turn, *, joined: bool = False
) -> PromptResult:
    """``joined``: the turn is another prompt's, so a cancel of this one does not end it."""
    try:
        await turn.wait()
    except anyio.get_cancelled_exc_class():
        if joined:
            raise
        with anyio.CancelScope(shield=True):
            await session.cancel(turn)
        raise
    edits = context.edits.summaries(session.id, turn.id)
    assert turn.stop_reason is not None
    result = PromptResult(
        session_id=session.id,
        turn_id=turn.id,
        stop_reason=turn.stop_reason,
        text=turn.text,
        error=turn.error,
        usage=dict(turn.usage) or None,  # pyright: ignore[reportArgumentType]
        edits=tuple(edits),
    )
    if turn.failure is not None:
        so_far = result.model_dump(by_alias=True, exclude_none=True)
        raise RequestFailed(
            turn.failure.kind, str(turn.failure), {**turn.failure.data, "turn": so_far}
        )
    return result


def _confinement(context: Context, params: PromptParams, cwd: str) -> Confinement | None:
    """The lines that the ranges of a prompt's context touch, in the documents as they are now."""
    if params.range == "free":
        return None
    if params.when_busy == "steer":
        raise BadParams("range", "words for a running turn cannot be confined")
    lines: list[ConfinedLines] = []
    for item in params.context:
        document = context.documents.get(item.uri)
        if document is not None and item.range is not None:
            path, (first, past) = path_of(item.uri, "uri"), _touched(item.range)
            shown = path.removeprefix(cwd.rstrip("/") + "/")
            lines.append(ConfinedLines(path, shown, document.text, first, past))
    if not lines:
        raise BadParams("range", "confined to what? Give the lines as a range in context")
    return Confinement(lines)


def _touched(range_: Range) -> tuple[int, int]:
    """The lines of a range, half-open: not one that it ends before."""
    start, end = range_.start, range_.end
    return start.line, end.line + (end.character > 0 or end.line == start.line)


def _excerpt(context: Context, item: ContextItem, field: str, cwd: str) -> Excerpt:
    document = context.documents.get(item.uri)
    path = path_of(item.uri, f"{field}.uri")
    if document is None:
        raise BadParams(f"{field}.uri", f"{item.uri} is not open in the editor")
    shown = path.removeprefix(cwd.rstrip("/") + "/")
    if item.range is None:
        return Excerpt(shown, document.text.content)
    text = _slice(document, item.range, context.client.encoding)
    return Excerpt(shown, text, item.range.start.line + 1)


def _slice(document: OpenDocument, range_: Range, encoding: Encoding) -> str:
    start, end = range_.start, range_.end
    lines = document.lines[start.line : end.line + 1]
    if not lines:
        return ""
    if end.line - start.line < len(lines):
        lines[-1] = lines[-1][: to_column(lines[-1], end.character, encoding)]
    lines[0] = lines[0][to_column(lines[0], start.character, encoding) :]
    return "".join(lines)
