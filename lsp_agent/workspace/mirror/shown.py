"""What open documents have shown while agents were at work: an editor's own writing is told from
an agent's by it."""

import math
import time
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from lsp_agent.text.lines import Text, is_long
from lsp_agent.workspace.documents.open_document import OpenDocument, alike

#: Texts of a document that are remembered: what is typed in the time that it takes to look, and to
#: hear of a save.
_MAX_SHOWN = 256


class _Shown(NamedTuple):
    """``at`` is the mirror's count, ``wall`` and ``clock`` are the wall clock's time and the
    document's own."""

    at: int
    wall: float
    clock: float
    text: Text


class ShownTexts:
    """``at`` is the mirror's count."""

    def __init__(self) -> None:
        #: Oldest first.
        self._texts: dict[OpenDocument, deque[_Shown]] = {}
        self._began = math.inf

    def begin(self, documents: Iterable[OpenDocument]) -> None:
        """With what the open ones show already."""
        self._texts.clear()
        self._began = time.time()
        for document in documents:
            self._add(document, 0, self._began)

    def add(self, document: OpenDocument, at: int) -> None:
        """Long ones are not remembered."""
        self._add(document, at, time.time())

    def _add(self, document: OpenDocument, at: int, now: float) -> None:
        if not is_long(document.lines):
            texts = self._texts.setdefault(document, deque(maxlen=_MAX_SHOWN))
            texts.append(_Shown(at, now, document.clock(), document.text))

    def since(self, document: OpenDocument, at: int) -> list[Text]:
        return [shown.text for shown in self._texts.get(document, ()) if shown.at > at]

    def when(self, document: OpenDocument, seconds: float) -> Text | None:
        """What it showed at a time of the wall clock; None where that is not known."""
        texts = self._texts.get(document)
        if texts is None:
            known = seconds >= self._began and not is_long(document.lines)
            return document.text if known else None
        return next((shown.text for shown in reversed(texts) if shown.wall <= seconds), None)

    def is_foreign(self, document: OpenDocument, disk: Text, seconds: float) -> bool:
        """Whether the disk has what the document has not shown, for so many seconds at least."""
        texts = self._texts.get(document)
        if texts is None or is_long(document.lines):
            return False
        if texts[0].clock > document.clock() - seconds:
            return False
        read = document.shown(disk)
        return not any(alike(shown.text, read) for shown in texts)

    def may_be_half_written(self, document: OpenDocument, disk: Text) -> bool:
        """Whether the disk has no more than the beginning of what it shows, or has shown: most
        editors write into the emptied file, or put a new one in its place."""
        begun = document.shown(disk)
        texts = [document.text, *(shown.text for shown in self._texts.get(document, ()))]
        longer = any(text.begins_with(begun) for text in texts)
        return longer and not any(alike(text, begun) for text in texts)
