"""Semantic tokens of conversations, as plain values: some editors ask for them with every change,
from their first document on, when lsprotocol's types are not imported yet.
"""

from typing import Any

from lsp_agent.protocol.client_requests import DocumentParams
from lsp_agent.protocol.wire_model import Model
from lsp_agent.server.chat.grammar import is_chat
from lsp_agent.server.chat.token_marks import difference, encoded, marks
from lsp_agent.server.client.capabilities import TOKEN_TYPES
from lsp_agent.text.positions import Encoding
from lsp_agent.workspace.documents.documents import Documents

Json = dict[str, Any]


class _Params(Model):
    text_document: DocumentParams
    previous_result_id: str | None = None


class SemanticTokens:
    """``requests`` are those that it answers; None for what is no conversation."""

    def __init__(self, documents: Documents, encoding: Encoding) -> None:
        self._documents = documents
        self._encoding: Encoding = encoding
        self._last: dict[str, tuple[str, list[int]]] = {}  # by URI: the result's id, and its data
        self._results = 0
        self.requests = {
            "textDocument/semanticTokens/full": self._asked,
            "textDocument/semanticTokens/full/delta": self._asked,
        }

    def _asked(self, params: Json) -> Json | None:
        """What differs from the result that the client has, if it is the last one."""
        asked = _Params.model_validate(params)
        uri = asked.text_document.uri
        result_id, before = self._last.pop(uri, (None, None))
        document = self._documents.get(uri)
        if document is None or not is_chat(document.path):
            return None
        found = marks(document.text.content)
        data = encoded(found, document.lines, TOKEN_TYPES, self._encoding)
        self._results += 1
        result = {"resultId": str(self._results)}
        self._last[uri] = result["resultId"], data
        if before is None or result_id != asked.previous_result_id:
            return result | {"data": data}
        start, gone, come = difference(before, data)
        edit = {"start": start, "deleteCount": gone, "data": come}
        return result | {"edits": [edit] if gone or come else []}
