"""Everything by code action, for editors that know only the standard.

In this order: answers to open questions, stop, what the agent said, what is under review, "ask the
agent".
"""

from collections.abc import Awaitable, Iterable, Iterator

from lsprotocol import types

from lsp_agent.protocol.methods import ANSWER_COMMAND, SHOW_QUESTION_COMMAND
from lsp_agent.server.ask_actions import ask_actions
from lsp_agent.server.chat.chat_actions import fork_actions, send_action, session_actions
from lsp_agent.server.chat.grammar import is_chat
from lsp_agent.server.client.titles import shortened
from lsp_agent.server.context import Context
from lsp_agent.server.questions.whole_question import SHOW_ALL, fits_menu
from lsp_agent.server.review.actions import action, told_apart
from lsp_agent.server.review.open_review import OPEN
from lsp_agent.server.review.review_actions import NEXT, review_actions
from lsp_agent.text.plain import escaped_line
from lsp_agent.workspace.documents.open_document import OpenDocument


def code_actions(
    context: Context, params: types.CodeActionParams
) -> Awaitable[list[types.CodeAction]]:
    """Asked for at every move of the cursor. What the agent would be asked is taken from the
    text as it is at the call."""
    document = context.documents.get(params.text_document.uri)
    if _is_asked_for(params):
        _note_shown(context)
    first = [*_answers(context), *_stops(context), *_unseen(context)]
    last: list[types.CodeAction] = []
    if document is not None:
        problems = params.context.diagnostics
        if is_chat(document.path):
            text, line = document.text.content, params.range.start.line
            first += [
                *send_action(document.uri, text),
                *fork_actions(document.uri, text, line),
            ]
        else:
            last += ask_actions(
                document,
                params.range,
                problems,
                context.client.encoding,
                take_out=context.client.quirks.asks_in_text,
            )
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
        if is_chat(document.path):
            last += await _of_chat(context, document)
        elif (
            not review.hunks
            and _is_asked_for(params)
            and context.edits.any_beside(document.path, OPEN)
        ):
            # Nothing is left to decide here: the way to where something is.
            last.append(action(NEXT, types.CodeActionKind.QuickFix, "lspAgent.nextChange", {}))
    found = [
        each for each in (*first, *reviews, *last) if only is None or _is_wanted(each.kind, only)
    ]
    return told_apart(found)


async def _of_chat(context: Context, document: OpenDocument) -> Iterable[types.CodeAction]:
    session = context.chats.session(document.path or "")
    found = (
        await context.edits.find(session_id=session.id, statuses=OPEN, open_only=True)
        if session is not None
        else []
    )
    return session_actions(session, is_open=bool(found))


def _is_asked_for(params: types.CodeActionParams) -> bool:
    """By the person, and not for a light bulb."""
    return params.context.trigger_kind is not types.CodeActionTriggerKind.Automatic


def _note_shown(context: Context) -> None:
    """In the menu that opens. For a light bulb nothing does, and who typed on could answer no
    question at all."""
    for question in context.questions.open():
        context.shown.now(question.question_id)


def _answers(context: Context) -> Iterator[types.CodeAction]:
    for question in context.questions.open():
        # One that is longer has been shown whole before a person can allow it here.
        title = question.title if fits_menu(question) else shortened(question.title)
        argument = {"questionId": question.question_id}
        for option in context.whole.menu(question):
            if option is None:
                name, command, more = SHOW_ALL, SHOW_QUESTION_COMMAND, {}
            else:
                name, command, more = option.name, ANSWER_COMMAND, {"optionId": option.option_id}
            yield action(
                f"Agent asks: {escaped_line(title)}: {escaped_line(name)}",
                types.CodeActionKind.QuickFix,
                command,
                argument | more,
            )


def _stops(context: Context) -> Iterator[types.CodeAction]:
    for session in context.sessions.all():
        if session.busy:
            title = f"Stop the agent: {shortened(session.title or session.id)}"
            argument = {"sessionId": session.id}
            yield action(title, types.CodeActionKind.QuickFix, "lspAgent.abort", argument)


def _unseen(context: Context) -> Iterator[types.CodeAction]:
    for answer in context.answers.unseen():
        title = f"Show the agent's answer: {shortened(answer.prompt)}"
        argument = {"sessionId": answer.session_id}
        yield action(title, types.CodeActionKind.QuickFix, "lspAgent.lastAnswer", argument)


def _is_wanted(
    kind: types.CodeActionKind | str | None, only: Iterable[types.CodeActionKind | str]
) -> bool:
    """Whether ``kind`` is one of ``only`` or below one; the empty kind is above all."""
    own = str(getattr(kind, "value", kind))
    wanted = [str(getattr(item, "value", item)) for item in only]
    return any(item in ("", own) or own.startswith(f"{item}.") for item in wanted)
