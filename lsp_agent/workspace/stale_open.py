"""Documents that an editor opens with what it read of a file right before we wrote that.

They would be saved without the edit. It is brought in, and until then the review takes no notice
of such a text: nobody has taken the edit out.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import anyio

from lsp_agent.text.lines import Text
from lsp_agent.workspace.beside import catch_up
from lsp_agent.workspace.documents import Documents
from lsp_agent.workspace.editor import Editor
from lsp_agent.workspace.flight import Timings
from lsp_agent.workspace.open_document import OpenDocument, alike
from lsp_agent.workspace.paths import SafePath
from lsp_agent.workspace.reviews import Reviews

#: How long an editor may take from reading a file to its didOpen.
_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Written:
    path: SafePath
    before: Text
    after: Text
    at: float


class StaleOpens:
    """``run`` as long as it is used."""

    def __init__(
        self, documents: Documents, editor: Editor, reviews: Reviews, timings: Timings
    ) -> None:
        self._clock = documents.clock
        self._editor = editor
        self._reviews = reviews
        self._timings = timings
        self._written: dict[str, _Written] = {}
        self._opened: asyncio.Queue[tuple[OpenDocument, _Written]] = asyncio.Queue()
        documents.on_open(self._look)

    def writes(self, path: SafePath, before: Text, after: Text) -> None:
        """A file that is not open is about to be made ``after``."""
        now = self._clock()
        self._written = {p: w for p, w in self._written.items() if now - w.at < _SECONDS}
        self._written[path.path] = _Written(path, before, after, now)

    async def run(self, lock: Callable[[SafePath], anyio.Lock]) -> None:
        """``lock`` is a file's. Never returns."""
        async with anyio.create_task_group() as tasks:
            while True:
                tasks.start_soon(self._bring_in, *await self._opened.get(), lock)

    def _look(self, document: OpenDocument) -> None:
        written = self._written.pop(document.path or "", None)
        if (
            written is not None
            and self._clock() - written.at < _SECONDS
            and alike(document.text, written.before)
        ):
            self._reviews.pause(written.path.path)
            self._opened.put_nowait((document, written))

    async def _bring_in(
        self, document: OpenDocument, written: _Written, lock: Callable[[SafePath], anyio.Lock]
    ) -> None:
        try:
            async with lock(written.path):
                await document.compared()
                if document.disk == written.after and not document.closed:
                    before, after = written.before, written.after
                    await catch_up(document, before, after, self._editor, self._timings)
        finally:
            self._reviews.resume(written.path.path)
