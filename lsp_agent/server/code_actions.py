"""Everything by code action, for editors that know only the standard.

In this order: answers to open questions, stop, what is under review, "ask the agent".
"""

import re
from collections.abc import Awaitable, Iterable, Iterator
from typing import Any

from lsprotocol import types

from lsp_agent.protocol.methods import ANSWER_COMMAND
from lsp_agent.server.context import Context
from lsp_agent.server.review_actions import review_actions
from lsp_agent.server.titles import shortened, told_apart
from lsp_agent.text.plain import escaped_line
from lsp_agent.text.positions import to_column
from lsp_agent.workspace.documents import OpenDocument

#: ``agent: what to do``, with what closes a comment behind it left out.
_MARKER = re.compile(r"\bagent:[ \t]*(?P<prompt>\S.*?)\s*(?:\*/|-->|\*\)|#\})?\s*$", re.MULTILINE)


def code_actions(
    context: Context, params: types.CodeActionParams
) -> Awaitable[list[types.CodeAction]]:
    """Asked for at every move of the cursor. What the agent would be asked is taken from the
    text as it is at the call."""
    document = context.documents.get(params.text_document.uri)
    first = [*_answers(context), *_stops(context)]
    last = [] if document is None else list(_ask(context, document, params.range))
    return _all(context, params, document, first, last)


async def _all(
    context: Context,
    params: types.CodeActionParams,
    document: OpenDocument | None,
    first: list[types.CodeAction],
    last: list[types.CodeAction],
) -> list[types.CodeAction]:
    reviews: list[types.CodeAction] = []
    only = params.context.only
    if document is not None and (only is None or _is_wanted(types.CodeActionKind.QuickFix, only)):
        review = await context.review.reviews.of(document)
        reviews = [
            action(title, types.CodeActionKind.QuickFix, command, argument)
            for title, command, argument in review_actions(
                review, document.uri, params.range, context.review.prompt_of
            )
        ]
    found = [
        each for each in (*first, *reviews, *last) if only is None or _is_wanted(each.kind, only)
    ]
    return told_apart(found)


def _answers(context: Context) -> Iterator[types.CodeAction]:
    for question in context.questions.open():
        for option in question.options:
            yield action(
                # Not shortened: here a person may see all that they decide on.
                f"Agent asks: {escaped_line(question.title)}: {escaped_line(option.name)}",
                types.CodeActionKind.QuickFix,
                ANSWER_COMMAND,
                {"questionId": question.question_id, "optionId": option.option_id},
            )


def _stops(context: Context) -> Iterator[types.CodeAction]:
    for session in context.sessions.all():
        if session.busy:
            title = f"Stop the agent: {shortened(session.title or session.id)}"
            argument = {"sessionId": session.id}
            yield action(title, types.CodeActionKind.QuickFix, "lspAgent.abort", argument)


def _ask(
    context: Context, document: OpenDocument, range_: types.Range
) -> Iterator[types.CodeAction]:
    """What follows ``agent:`` in the selection or the cursor's line is the prompt, else the
    selection itself; either way the selection goes along as context."""
    text = _selected(document, range_, context.client.encoding)
    line = document.lines[range_.start.line] if range_.start.line < len(document.lines) else ""
    marked = _MARKER.search(text) or _MARKER.search(line)
    prompt = marked["prompt"] if marked else text.strip()
    if not prompt:
        return
    excerpt = {"uri": document.uri, "range": _json(range_)}
    yield action(
        f"Ask the agent: {shortened(prompt)}",
        types.CodeActionKind.Refactor,
        "lspAgent.prompt",
        {"text": prompt, "context": [excerpt if text else {"uri": document.uri}]},
    )


def _selected(document: OpenDocument, range_: types.Range, encoding: Any) -> str:
    start, end = range_.start, range_.end
    lines = document.lines[start.line : end.line + 1]
    if not lines or (start.line, start.character) == (end.line, end.character):
        return ""
    if end.line - start.line < len(lines):
        lines[-1] = lines[-1][: to_column(lines[-1], end.character, encoding)]
    lines[0] = lines[0][to_column(lines[0], start.character, encoding) :]
    return "".join(lines)


def action(
    title: str, kind: types.CodeActionKind, command: str, argument: object
) -> types.CodeAction:
    return types.CodeAction(
        title=title,
        kind=kind,
        command=types.Command(title=title, command=command, arguments=[argument]),
    )


def _is_wanted(
    kind: types.CodeActionKind | str | None, only: Iterable[types.CodeActionKind | str]
) -> bool:
    own = str(getattr(kind, "value", kind))
    wanted = [str(getattr(item, "value", item)) for item in only]
    return any(own == item or own.startswith(f"{item}.") for item in wanted)


def _json(range_: types.Range) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": range_.start.line, "character": range_.start.character},
        "end": {"line": range_.end.line, "character": range_.end.character},
    }
