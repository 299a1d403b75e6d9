"""Inlay hints of conversations: how their turns stand, told anew while one runs."""

import time
from typing import Any

import anyio

from lsp_agent.protocol.client_requests import DocumentParams
from lsp_agent.protocol.edits import Range
from lsp_agent.protocol.events import StampedEvent
from lsp_agent.protocol.wire_model import Model
from lsp_agent.server.chat.conversations import Conversations
from lsp_agent.server.chat.grammar import is_chat
from lsp_agent.server.chat.state_hints import Standing, StateHint, state_hints
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.client.refresh import Refresh
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.sessions.shared.questions import Questions
from lsp_agent.text.lines import body_length
from lsp_agent.text.positions import to_units
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument

Json = dict[str, Any]

#: Between two looks of the client's while a turn runs.
_EVERY_SECONDS = 1.0


class _Params(Model):
    text_document: DocumentParams
    range: Range


class InlayHints:
    """``requests`` are those that it answers; None for what is no conversation. ``take`` is called
    with every session's events. ``run`` in a task: a client that has asked once is told when to
    ask anew, since a turn may run long without a word."""

    def __init__(
        self,
        connection: Connection,
        client: ClientInfo,
        documents: Documents,
        chats: Conversations,
        questions: Questions,
    ) -> None:
        self._client = client
        self._documents = documents
        self._chats = chats
        self._questions = questions
        able = client.inlay_hint_refresh
        self._refresh = Refresh(connection, "workspace/inlayHint/refresh", able=able)
        self._are_shown = False
        self._news = anyio.Event()
        self.requests = {"textDocument/inlayHint": self._asked}

    def take(self, stamped: StampedEvent) -> None:
        if self._are_shown and self._chats.is_open(stamped.session_id):
            self._news.set()

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._refresh.run)
            while True:
                await self._news.wait()
                self._news = anyio.Event()
                self._refresh.want()
                await anyio.sleep(_EVERY_SECONDS)
                if self._chats.is_at_work:
                    self._news.set()

    def _asked(self, params: Json) -> list[Json] | None:
        asked = _Params.model_validate(params)
        document = self._documents.get(asked.text_document.uri)
        if document is None or not is_chat(document.path):
            return None
        self._are_shown = True
        if self._chats.is_at_work:  # it may say nothing more for long
            self._news.set()
        first, last = asked.range.start.line, asked.range.end.line
        found = state_hints(document.text.content, self._standing(document))
        return [self._hint(document, each) for each in found if first <= each.line <= last]

    def _standing(self, document: OpenDocument) -> Standing | None:
        session = self._chats.session(document.path or "")
        if session is None:
            return None
        states = self._chats.states
        return Standing(
            states.ended(session.id),
            states.get,
            self._chats.is_written,
            bool(self._questions.open(session.id)),
            time.time(),
        )

    def _hint(self, document: OpenDocument, hint: StateHint) -> Json:
        line = document.lines[hint.line]
        units = to_units(line, body_length(line), self._client.encoding)
        place = {"line": hint.line, "character": units}
        return {"position": place, "label": hint.words, "paddingLeft": True}
