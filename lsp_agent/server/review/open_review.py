"""What there is to review in an open document, found once for each of its states.

Code actions are asked for at every move of the cursor, code lenses and hints after every pause
in typing; all three show the same.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lsp_agent.protocol.edits import Edit, EditStatus, Hunk, Position
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.review.edits import Edits

#: Statuses of edits and hunks that wait for a decision.
OPEN: tuple[EditStatus, ...] = ("applied", "proposed")
#: Of edits that did not get in, and may still be applied by hand.
STRANDED: tuple[EditStatus, ...] = ("lost", "conflict")


@dataclass(frozen=True, slots=True)
class OpenHunk:
    """A hunk that nobody has decided on, and its edit."""

    edit: Edit
    hunk: Hunk

    @property
    def proposed(self) -> bool:
        return self.hunk.status == "proposed"

    @property
    def line(self) -> int:
        """0-based."""
        return self.hunk.range.start.line

    @property
    def last_line(self) -> int:
        """The last line that it covers; for a hunk without lines the one it stands before."""
        start, end = self.hunk.range.start, self.hunk.range.end
        return end.line - 1 if end.character == 0 and end.line > start.line else end.line

    @property
    def empty(self) -> bool:
        return self.hunk.range.start == self.hunk.range.end


@dataclass(frozen=True, slots=True)
class FileReview:
    """Of one file: the ``edits`` that wait for a decision and those ``stranded``, at least in
    part, oldest first; the ``hunks`` of ``edits`` that are open, from the top down."""

    edits: tuple[Edit, ...] = ()
    stranded: tuple[Edit, ...] = ()
    hunks: tuple[OpenHunk, ...] = ()

    @classmethod
    def of(cls, found: Iterable[Edit]) -> "FileReview":
        found = tuple(found)
        edits = tuple(edit for edit in found if edit.status in OPEN and is_open(edit))
        stranded = tuple(edit for edit in found if edit.status in STRANDED or lost_hunks(edit))
        return cls(edits, stranded, open_hunks(edits))


def is_open(edit: Edit) -> bool:
    """Whether there is anything left to decide; an edit without hunks made an empty file."""
    return not edit.hunks or any(hunk.status in OPEN for hunk in edit.hunks)


def lost_hunks(edit: Edit) -> list[Hunk]:
    """What was lost of an edit that is otherwise in, or proposed."""
    return [hunk for hunk in edit.hunks if edit.status in OPEN and hunk.status == "lost"]


def open_hunks(edits: Iterable[Edit]) -> tuple[OpenHunk, ...]:
    """The open hunks of edits of one file, from the top down."""
    hunks = (OpenHunk(edit, hunk) for edit in edits for hunk in edit.hunks if hunk.status in OPEN)
    return tuple(sorted(hunks, key=lambda each: ordinal(each.hunk.range.start)))


def ordinal(position: Position) -> tuple[int, int]:
    return position.line, position.character


@dataclass(frozen=True, slots=True)
class _Known:
    document: OpenDocument
    seq: int
    review: FileReview


class OpenReviews:
    """``of`` costs nothing while neither the document nor its review changes."""

    def __init__(self, edits: Edits) -> None:
        self._edits = edits
        self._known: dict[str, _Known] = {}
        self._decisions = 0
        edits.subscribe(self._changed)

    async def of(self, document: OpenDocument) -> FileReview:
        """The review of an open document as it is now."""
        path = document.path
        if path is None:
            return FileReview()
        known = self._known.get(path)
        if known and known.document is document and known.seq == document.seq:
            return known.review
        seq, decisions = document.seq, self._decisions
        found = await self._edits.find(path=path, statuses=(*OPEN, *STRANDED), open_only=True)
        # Of several documents of one file, it is of the one that edits go into.
        review = FileReview.of(edit for edit in found if edit.uri == document.uri)
        self._known = {p: known for p, known in self._known.items() if not known.document.closed}
        if (document.seq, self._decisions) == (seq, decisions) and not document.closed:
            self._known[path] = _Known(document, seq, review)
        return review

    def _changed(self, path: str) -> None:
        self._decisions += 1
        self._known.pop(path, None)
