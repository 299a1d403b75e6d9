"""Everything by code action, for editors that know only the standard."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from lsprotocol import types

from lsp_agent.protocol.edits import Edit, EditStatus
from lsp_agent.protocol.methods import ANSWER_COMMAND
from lsp_agent.server.context import Context
from lsp_agent.text.positions import to_column
from lsp_agent.workspace.documents import OpenDocument

#: ``agent: what to do``, with what closes a comment behind it left out.
_MARKER = re.compile(r"\bagent:[ \t]*(?P<prompt>\S.*?)\s*(?:\*/|-->|\*\)|#\})?\s*$", re.MULTILINE)
_TITLE_LENGTH = 60

#: Asked for at every move of the cursor: the hunks of decided edits are not even looked for.
_REVIEWABLE: tuple[EditStatus, ...] = ("proposed", "applied")


async def code_actions(context: Context, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Answers to open questions, stop, review of the file's edits, and "ask the agent"."""
    actions = [*_answers(context), *_stops(context)]
    document = context.documents.get(params.text_document.uri)
    if document is not None:
        actions += await _reviews(context, document)
        actions += _ask(context, document, params.range)
    only = params.context.only
    return [action for action in actions if only is None or _is_wanted(action, only)]


def _answers(context: Context) -> Iterator[types.CodeAction]:
    for question in context.questions.open():
        for option in question.options:
            yield _action(
                f"Agent asks: {question.title}: {option.name}",
                types.CodeActionKind.QuickFix,
                ANSWER_COMMAND,
                {"questionId": question.question_id, "optionId": option.option_id},
            )


def _stops(context: Context) -> Iterator[types.CodeAction]:
    for session in context.sessions.all():
        if session.busy:
            title = f"Stop the agent: {_short(session.title or session.id)}"
            argument = {"sessionId": session.id}
            yield _action(title, types.CodeActionKind.QuickFix, "lspAgent.abort", argument)


async def _reviews(context: Context, document: OpenDocument) -> list[types.CodeAction]:
    actions: list[types.CodeAction] = []
    if document.path is None:
        return actions
    for edit in await context.edits.find(path=document.path, statuses=_REVIEWABLE):
        if edit.status == "proposed":
            actions.append(_review(edit, "Apply the agent's proposal", "applyEdit"))
            actions.append(_review(edit, "Reject the agent's proposal", "rejectEdit"))
        else:
            actions.append(_review(edit, "Keep the agent's change", "keepEdit"))
            actions.append(_review(edit, "Undo the agent's change", "rejectEdit"))
    return actions


def _review(edit: Edit, title: str, command: str) -> types.CodeAction:
    place = f" (line {edit.hunks[0].range.start.line + 1})" if edit.hunks else ""
    argument = {"editId": edit.edit_id}
    return _action(title + place, types.CodeActionKind.QuickFix, f"lspAgent.{command}", argument)


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
    yield _action(
        f"Ask the agent: {_short(prompt)}",
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


def _action(
    title: str, kind: types.CodeActionKind, command: str, argument: object
) -> types.CodeAction:
    return types.CodeAction(
        title=title,
        kind=kind,
        command=types.Command(title=title, command=command, arguments=[argument]),
    )


def _is_wanted(action: types.CodeAction, only: Iterable[types.CodeActionKind | str]) -> bool:
    kind = str(getattr(action.kind, "value", action.kind))
    wanted = [str(getattr(item, "value", item)) for item in only]
    return any(kind == item or kind.startswith(f"{item}.") for item in wanted)


def _short(text: str) -> str:
    first = text.strip().splitlines()[0]
    return first if len(first) <= _TITLE_LENGTH else f"{first[:_TITLE_LENGTH]}…"


def _json(range_: types.Range) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": range_.start.line, "character": range_.start.character},
        "end": {"line": range_.end.line, "character": range_.end.character},
    }
