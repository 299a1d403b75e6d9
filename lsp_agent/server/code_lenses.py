"""All code lenses of a document: what is under review, and in a conversation what can be said."""

from collections.abc import Awaitable

from lsprotocol import types

from lsp_agent.server.chat.chat_lenses import chat_lenses
from lsp_agent.server.chat.grammar import is_chat
from lsp_agent.server.context import Context
from lsp_agent.server.review.code_lenses import review_lenses, told_apart
from lsp_agent.workspace.documents.open_document import OpenDocument


def code_lenses(context: Context, params: types.CodeLensParams) -> Awaitable[list[types.CodeLens]]:
    return _all(context, context.documents.get(params.text_document.uri))


async def _all(context: Context, document: OpenDocument | None) -> list[types.CodeLens]:
    if document is None:
        return []
    lenses = review_lenses(document.uri, await context.review.reviews.of(document))
    if is_chat(document.path):
        session = context.chats.session(document.path or "")
        asked = context.questions.open(session.id) if session is not None else []
        text = document.text.content
        lenses += chat_lenses(document.uri, text, session, asked, context.whole)
    return told_apart(lenses)
