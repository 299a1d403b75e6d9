"""Which changes have been on disk, as the saves of editors tell."""

import logging
from collections import Counter

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.lines import Text
from lsp_agent.text.presence import present
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.records import ChangeStatus

_log = logging.getLogger(__name__)

#: What such a change did is in the text.
IN: frozenset[ChangeStatus] = frozenset({"applied", "kept", "superseded"})


class Saves:
    def __init__(self, ledger: Ledger, documents: Documents, tasks: TaskGroup) -> None:
        self._ledger = ledger
        self._tasks = tasks
        self._noting: Counter[str] = Counter()
        self._news = anyio.Event()
        documents.on_save(self._saved)

    async def noted(self, path: str) -> None:
        """Returns once it is known what every didSave of the file so far left on disk."""
        while self._noting[path]:
            await self._news.wait()

    def _saved(self, document: OpenDocument) -> None:
        path = document.path
        if path is None:
            return
        changes = self._ledger.changes(path=path)
        pending = [c.id for c in changes if not c.on_disk and c.status in IN]
        if pending:
            self._noting[path] += 1
            self._tasks.start_soon(self._note, document, path, document.text, pending)

    async def _note(
        self, document: OpenDocument, path: str, text: Text, pending: list[str]
    ) -> None:
        """``text`` is what the document showed at the didSave; what was typed while the file was
        written came before that."""
        try:
            await document.compared()
            self._ledger.mark_on_disk(await self._there(document, path, text, pending))
        finally:
            self._noting[path] -= 1
            news, self._news = self._news, anyio.Event()
            news.set()

    async def _there(
        self, document: OpenDocument, path: str, text: Text, pending: list[str]
    ) -> list[str]:
        if document.saved == text:
            return pending
        try:
            changes = [await self._ledger.loaded(change_id) for change_id in pending]
        except (KeyError, LspAgentError) as error:
            _log.warning("%s: it is not known which changes were saved: %s", path, error)
            return []
        steps = [(change.before, change.after) for change in changes]
        found = await anyio.to_thread.run_sync(present, steps, document.saved)
        return [c.id for c, hunks in zip(changes, found, strict=True) if hunks is not None]
