"""What the editor shows: its open documents, kept by didOpen, didChange, didSave, didClose.

All handlers are plain functions, called in the order of the wire, and raise nothing: a bad
message is clamped as LSP says, or logged.
"""

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from lsp_agent.text.positions import Encoding
from lsp_agent.workspace.disk.paths import uri_to_path
from lsp_agent.workspace.documents.open_document import OpenDocument, Span

_log = logging.getLogger(__name__)

#: How long a closed document may be opened again and go on, in seconds.
_LINGERS = 1.0


class Documents:
    """The open documents of one editor, by URI and by real path.

    ``encoding`` is the negotiated position encoding; set it before the first didOpen.
    """

    def __init__(
        self, encoding: Encoding = "utf-16", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.encoding: Encoding = encoding
        self.clock = clock
        self._by_uri: dict[str, OpenDocument] = {}
        self._by_path: dict[str, list[OpenDocument]] = {}
        # Closed a moment ago, or while an edit was on its way: a reload closes and opens again.
        self._lingering: dict[str, OpenDocument] = {}
        self._on_open: list[Callable[[OpenDocument], None]] = []
        self._on_changed: list[Callable[[OpenDocument], None]] = []
        self._on_typed: list[Callable[[OpenDocument], None]] = []
        self._on_close: list[Callable[[OpenDocument], None]] = []
        self._on_save: list[Callable[[OpenDocument], None]] = []

    def on_open(self, callback: Callable[[OpenDocument], None]) -> None:
        """Calls ``callback`` at every didOpen, at once."""
        self._on_open.append(callback)

    def on_changed(self, callback: Callable[[OpenDocument], None]) -> None:
        """Calls ``callback`` after every didChange, at once."""
        self._on_changed.append(callback)

    def on_typed(self, callback: Callable[[OpenDocument], None]) -> None:
        """Calls ``callback`` after every didChange, at once, but for those that come while an edit
        is on its way and of which it is not known yet whether they are that edit."""
        self._on_typed.append(callback)

    def on_close(self, callback: Callable[[OpenDocument], None]) -> None:
        """Calls ``callback`` at every didClose, at once."""
        self._on_close.append(callback)

    def on_save(self, callback: Callable[[OpenDocument], None]) -> None:
        """Calls ``callback`` at every didSave, at once."""
        self._on_save.append(callback)

    def get(self, uri: str) -> OpenDocument | None:
        return self._by_uri.get(uri)

    def at(self, path: str) -> OpenDocument | None:
        """The open document of a real path; of several (opened through symlinks) one with
        unsaved text, else the one that was opened or typed in last."""
        documents = self._by_path.get(path)
        if documents is None or len(documents) == 1:
            return documents[0] if documents else None
        return next((d for d in documents if d.dirty), documents[0])

    def just_closed(self, path: str) -> OpenDocument | None:
        """The document of a real path that is not open any more and may be opened again at once,
        as a reload does: it is then the same object."""
        if path in self._by_path:
            return None
        closed = (document for document in self._lingering.values() if document.path == path)
        return max(closed, key=lambda document: document.closed_at, default=None)

    def all_at(self, path: str) -> list[OpenDocument]:
        """All open documents of a real path."""
        return list(self._by_path.get(path, ()))

    def all(self) -> list[OpenDocument]:
        return list(self._by_uri.values())

    def open(self, uri: str, version: int | None, text: str) -> None:
        """Raises TypeError for what is no text, as a client may send it."""
        if not isinstance(cast(object, text), str):
            raise TypeError(f"malformed didOpen for {uri}: its text is a {type(text).__name__}")
        document = self._by_uri.get(uri) or self._lingering.pop(uri, None)
        if document is None:
            path = uri_to_path(uri)
            real = None if path is None else os.path.realpath(path)
            document = OpenDocument(uri, real, self.encoding, self.clock)
        if document.closed:
            self._by_uri[uri] = document
            if document.path is not None:
                self._by_path.setdefault(document.path, []).append(document)
        document.take_open(version, text)
        self._used(document)
        for callback in self._on_open:
            callback(document)

    def change(self, uri: str, version: int | None, changes: Sequence[Mapping[str, Any]]) -> None:
        """``changes`` are didChange's contentChanges as they came; each range is in the text
        that the one before it left."""
        document = self._by_uri.get(uri)
        if document is None:
            _log.warning("didChange for a document that is not open: %s", uri)
            return
        document.version = version
        typed_at = document.typed_at
        parsed: list[tuple[Span | None, str]] = []
        for change in changes:
            try:
                parsed.append(_parsed(change))
            except (KeyError, TypeError, AttributeError) as error:
                _log.error("malformed didChange for %s: %r", uri, error)
        document.take_changes(parsed)
        for callback in self._on_changed:
            callback(document)
        if not document.observed:
            for callback in self._on_typed:
                callback(document)
        if document.typed_at != typed_at:
            self._used(document)

    def _used(self, document: OpenDocument) -> None:
        """Takes the place of another of the same path that has no unsaved text."""
        if document.path is None:
            return
        first, *others = self._by_path[document.path]
        if others and first is not document and not first.dirty:
            others.remove(document)
            self._by_path[document.path] = [document, first, *others]

    def save(self, uri: str) -> None:
        if (document := self._by_uri.get(uri)) is not None:
            document.take_save()
            for callback in self._on_save:
                callback(document)

    def close(self, uri: str) -> None:
        document = self._by_uri.pop(uri, None)
        if document is None:
            _log.warning("didClose for a document that is not open: %s", uri)
            return
        if document.path is not None:
            remaining = [d for d in self._by_path[document.path] if d is not document]
            if remaining:
                self._by_path[document.path] = remaining
            else:
                del self._by_path[document.path]
        document.take_close()
        for callback in self._on_close:
            callback(document)
        self._lingering[uri] = document
        since = document.closed_at - _LINGERS
        self._lingering = {
            u: d for u, d in self._lingering.items() if d.observed or d.closed_at > since
        }


def _parsed(change: Mapping[str, Any]) -> tuple[Span | None, str]:
    """Raises KeyError, TypeError or AttributeError for what is no content change."""
    text, wanted = change["text"], change.get("range")
    if not isinstance(text, str):
        raise TypeError("text is not a string")
    if wanted is None:
        return None, text
    start, end = wanted["start"], wanted["end"]
    span = (start["line"], start["character"], end["line"], end["character"])
    if not all(isinstance(number, int) for number in span):
        raise TypeError("a position is not made of integers")
    return span, text
