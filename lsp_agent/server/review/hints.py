"""Hint diagnostics: that there is something to review, and where (``edits.hints``); and what else
is to be said of a document.

Pushed for open documents only, anew when a review changes and when the typing in a document
pauses, and taken back when nothing is left.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import anyio

from lsp_agent.protocol.edits import Position, Range
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.server.client.diagnostics_port import SOURCE
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.review.open_review import FileReview, OpenHunk, OpenReviews
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument

Json = dict[str, Any]

METHOD = "textDocument/publishDiagnostics"
_HINT = 4
#: After a decision or an agent's change, so that those of one moment are one.
_SOON = 0.05
#: After typing: the editor moves what it shows by itself.
_PAUSE = 0.3


class Hints:
    """``run`` in a task. ``settings`` are those that hold at a path."""

    def __init__(
        self,
        connection: Connection,
        client: ClientInfo,
        documents: Documents,
        reviews: OpenReviews,
        settings: Callable[[str], Settings],
        others: Callable[[OpenDocument], list[Json]] = lambda _document: [],
    ) -> None:
        """``others`` are those that stand beside what is to be reviewed."""
        self._connection = connection
        self._able = client.publish_diagnostics
        self._documents = documents
        self._reviews = reviews
        self._settings = settings
        self._others = others
        self._due: dict[str, float] = {}  # by URI, in the loop's time
        self._typed: set[str] = set()  # of those, which may be put off
        self._shown: set[str] = set()
        self._wake = anyio.Event()
        #: What is called with a document's URI once the documents took the notification.
        self.hooks: Mapping[str, Callable[[str], None]] = {
            "textDocument/didOpen": self._opened,
            "textDocument/didChange": self._typed_in,
            "textDocument/didClose": self._closed,
        }

    def changed(self, path: str) -> None:
        """What there is to say of a file may be different."""
        self._later((d for d in self._documents.all() if d.path == path), _SOON)

    def settings_changed(self) -> None:
        self._later(self._documents.all(), _SOON)

    def _opened(self, uri: str) -> None:
        if (document := self._documents.get(uri)) is not None:
            self._later([document], _SOON)

    def _typed_in(self, uri: str) -> None:
        """The document changed. What a person types makes no hunk, so this matters only where
        one is shown."""
        if uri in self._shown and (uri not in self._due or uri in self._typed):
            self._typed.add(uri)
            self._set_due(uri, _PAUSE)

    def _closed(self, uri: str) -> None:
        self._due.pop(uri, None)
        self._typed.discard(uri)
        self._publish(uri, [])

    async def run(self) -> None:
        while True:
            now = anyio.current_time()
            ripe = [uri for uri, due in self._due.items() if due <= now]
            for uri in ripe:
                self._due.pop(uri, None)
                self._typed.discard(uri)
                if (document := self._documents.get(uri)) is not None:
                    await self._refresh(document)
            if not ripe:
                with anyio.move_on_at(min(self._due.values(), default=float("inf"))):
                    await self._wake.wait()
                self._wake = anyio.Event()

    async def _refresh(self, document: OpenDocument) -> None:
        kind = self._settings(document.path).edits.hints if document.path else "off"
        found: list[Json] = []
        if kind != "off":
            review = await self._reviews.of(document)
            found = per_file(review) if kind == "file" else per_hunk(review)
        if not document.closed:
            self._publish(document.uri, [*self._others(document), *found])

    def _publish(self, uri: str, found: list[Json]) -> None:
        if found or uri in self._shown:
            self._connection.notify(METHOD, {"uri": uri, "diagnostics": found})
        (self._shown.add if found else self._shown.discard)(uri)

    def _later(self, documents: Iterable[OpenDocument], seconds: float) -> None:
        for document in documents:
            self._typed.discard(document.uri)
            self._set_due(document.uri, seconds)

    def _set_due(self, uri: str, seconds: float) -> None:
        if self._able:
            self._due[uri] = anyio.current_time() + seconds
            self._wake.set()


def per_file(review: FileReview) -> list[Json]:
    """One for all, at the first hunk."""
    count = len(review.hunks)
    if not count:
        return []
    text = (
        "1 change of the agent's to review"
        if count == 1
        else f"{count} changes of the agent's to review"
    )
    return [_hint(_place(review.hunks[0]), text)]


def per_hunk(review: FileReview) -> list[Json]:
    return [_hint(_place(each), _what(each)) for each in review.hunks]


def _what(each: OpenHunk) -> str:
    if each.proposed:
        return "proposed by the agent"
    return "lines taken out by the agent" if each.empty else "changed by the agent"


def _place(each: OpenHunk) -> Range:
    """Where lines are gone, the one above them: what stands below may be typed since."""
    if not each.empty or each.line == 0:
        return each.hunk.range
    above = Position(line=each.line - 1, character=0)
    return Range(start=above, end=above)


def _hint(range_: Range, message: str) -> Json:
    place = range_.model_dump()
    return {"range": place, "severity": _HINT, "source": SOURCE, "message": message}
