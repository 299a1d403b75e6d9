"""Documents that an editor opens with a text from before we wrote their file: what it read right
before, or what was unsaved when it closed them ("hot exit").

They would be saved without the edit. It is brought in, and until then the review takes no notice
of such a text: nobody has taken the edit out.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from lsp_agent.text.lines import Text
from lsp_agent.workspace.changing.several_documents import catch_up, merge_in
from lsp_agent.workspace.disk.paths import SafePath
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.documents.open_document import OpenDocument, alike
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.placing.flight import Timings

#: How long an editor may take from reading a file to its didOpen.
_SECONDS = 5.0
#: Of how many documents it is remembered what was unsaved in them when they were closed.
_MAX_LEFT = 64


_BringIn = Callable[[OpenDocument, Text, Text, Editor, Timings], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class _Written:
    path: SafePath
    before: Text
    at: float


@dataclass(frozen=True, slots=True)
class _Left:
    """``text`` was unsaved in a document that was closed; ``written`` is what became of its file
    since."""

    text: Text
    written: _Written | None = None


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
        self._left: OrderedDict[str, _Left] = OrderedDict()
        self._opened: asyncio.Queue[tuple[OpenDocument, Text, _Written, _BringIn]] = asyncio.Queue()
        self._on_its_way: dict[str, anyio.Event] = {}
        documents.on_open(self._look)
        documents.on_close(self._leave)

    def writes(self, path: SafePath, before: Text) -> None:
        """A file that is not open, ``before``, is about to be written, or was a moment ago."""
        now = self._clock()
        self._written = {p: w for p, w in self._written.items() if now - w.at < _SECONDS}
        self._written[path.path] = _Written(path, before, now)
        left = self._left.get(path.path)
        if left is not None:
            first = left.written.before if left.written else before
            self._left[path.path] = _Left(left.text, _Written(path, first, now))

    async def run(self, lock: Callable[[SafePath], anyio.Lock]) -> None:
        """``lock`` is a file's. Never returns."""
        async with anyio.create_task_group() as tasks:
            while True:
                tasks.start_soon(self._bring_in, *await self._opened.get(), lock)

    async def brought_in(self, path: str) -> None:
        """Returns when nothing is on its way into a document of that path."""
        while (event := self._on_its_way.get(path)) is not None:
            await event.wait()

    def _leave(self, document: OpenDocument) -> None:
        if document.path is None or not document.dirty:
            return
        self._left[document.path] = _Left(document.text)
        self._left.move_to_end(document.path)
        if len(self._left) > _MAX_LEFT:
            self._left.popitem(last=False)

    def _look(self, document: OpenDocument) -> None:
        path = document.path or ""
        written, left = self._written.pop(path, None), self._left.pop(path, None)
        bring_in = catch_up
        if left is not None and left.written is not None and document.text == left.text:
            written = left.written
            bring_in = merge_in
        elif (
            written is None
            or self._clock() - written.at >= _SECONDS
            or not alike(document.text, written.before)
        ):
            return
        self._reviews.documents.pause(path)
        self._on_its_way.setdefault(path, anyio.Event())
        self._opened.put_nowait((document, document.text, written, bring_in))

    async def _bring_in(
        self,
        document: OpenDocument,
        opened: Text,
        written: _Written,
        bring_in: _BringIn,
        lock: Callable[[SafePath], anyio.Lock],
    ) -> None:
        path, is_without = written.path.path, False
        try:
            async with lock(written.path):
                await document.compared()
                # Another program may have written it since, beside what we wrote.
                if (disk := document.disk) is not None and not document.closed:
                    is_without = not await bring_in(
                        document, written.before, disk, self._editor, self._timings
                    )
        finally:
            self._reviews.documents.resume(path, opened if is_without else None)
            if (event := self._on_its_way.pop(path, None)) is not None:
                event.set()
