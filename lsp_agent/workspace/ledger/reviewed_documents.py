"""Open documents, as the reviews take them: each change of a text as it comes, since an
editor's undo and what is typed after it cannot be told apart once they are one; and what is on disk
is known from what is shown. Long texts are compared when somebody asks."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from lsp_agent.text.lines import Text, is_long
from lsp_agent.text.merge import words
from lsp_agent.text.review import Review
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.ledger.review_book import ReviewBook
from lsp_agent.workspace.ledger.review_state import LandedStep, ReviewState


class ReviewedDocuments:
    """Of one workspace; none is open until documents are followed."""

    def __init__(self, book: ReviewBook) -> None:
        self._book = book
        self._paused: set[str] = set()
        self._documents: Documents | None = None
        self._may_be_claimed: Callable[[], bool] = lambda: False

    def follow(self, documents: Documents) -> None:
        self._documents = documents
        documents.on_typed(self._typed)
        documents.on_open(self._opened)
        documents.on_save(self._saved)
        documents.on_close(self._closed)

    def claimed_while(self, watched: Callable[[], bool]) -> None:
        """Until that is false, what a closed file holds may be an agent's, heard of later."""
        self._may_be_claimed = watched

    def pause(self, path: str) -> None:
        """What a file shows until ``resume`` is not remembered, from its opening on."""
        self._paused.add(path)

    def resume(self, path: str, opened: Text | None = None) -> None:
        """``opened`` is what the document showed at first, where it is known to have stayed without
        what its file holds: what was typed since is not typed in that."""
        self._paused.discard(path)
        if (document := self.document(path)) is None:
            return
        self._opened(document, opened)
        if opened is not None and (found := self._followed(document)) is not None:
            self._book.store(path, *found[1].folded(opened))
            self._typed(document)

    def document(self, path: str) -> OpenDocument | None:
        return self._documents.at(path) if self._documents else None

    def may_pass(self, path: str) -> bool:
        """Whether what a file shows is not to be remembered: it may be passing, or an agent's edit
        that is not known to be in, which would be taken for the person's."""
        document = self.document(path)
        if document is None:
            return path in self._paused or self._may_be_claimed()
        return path in self._paused or document.observed

    def last_seen(self, path: str, steps: Sequence[LandedStep]) -> Text:
        """What the file shows after these, with what was typed since."""
        document = self.document(path)
        return steps[-1].after if document is None or self.may_pass(path) else document.text

    def disk(self, path: str, step: LandedStep) -> Review | None:
        """Of what is on disk under a document that has no review yet; None where ``step`` came from
        there. Of one that only takes out it cannot be told: what was unsaved may have been all of
        it."""
        document = self.document(path)
        if document is None or document.saved is None or is_long(document.lines):
            return None
        came = words(step.after.lines) - words(step.before.lines)
        return None if came and came <= words(document.saved.lines) else Review.of(document.saved)

    def _typed(self, document: OpenDocument) -> None:
        if document.observed and document.dirty:
            return  # until it is known what it shows; what is on disk stays as it was
        if (found := self._followed(document)) is not None:
            path, state = found
            is_saved = not document.dirty  # a reload shows what others wrote
            fold = state.reloaded if is_saved else state.folded
            self._book.store(path, *fold(document.text))

    def _opened(self, document: OpenDocument, shown: Text | None = None) -> None:
        if document.path not in self._paused and (found := self._followed(document)) is not None:
            path, state = found
            text = document.text if shown is None else shown
            self._book.store(path, *state.opened(text, self._book.decided))

    def _saved(self, document: OpenDocument) -> None:
        if (found := self._followed(document)) is not None:
            path, state = found
            self._book.store(path, *state.saved(document.text))

    def _closed(self, document: OpenDocument) -> None:
        path, saved = document.path, document.saved
        if path is None or saved is None:
            return
        unknown = self._book.get(path) is None and path not in self._paused
        if unknown and document.dirty and not is_long(document.lines):
            # An editor may show it again, without what agents do to the file until then.
            unsaved = ReviewState(Review.of(document.text), True, other=Review.of(saved))
            self._book.remember(path, unsaved)
        if (found := self._reviewed(document)) is None:
            return
        path, state = found
        shown = document.text
        is_unsaved = document.dirty and not unknown and not is_long(document.lines)
        if document.observed and is_unsaved:
            # An agent's edit was on its way, and is heard of later (``ReviewState.is_of_other``).
            shown = state.folded(None)[0].review.text
        elif self._followed(document) is None:
            return
        self._book.store(path, *state.closed(shown, saved, self._book.decided))

    def _reviewed(self, document: OpenDocument) -> tuple[str, ReviewState] | None:
        """Where it has a review."""
        path = document.path
        state = None if path is None else self._book.get(path)
        if path is None or state is None or self.document(path) not in (document, None):
            return None
        return None if path in self._paused else (path, state)

    def _followed(self, document: OpenDocument) -> tuple[str, ReviewState] | None:
        """Where it has a review that may be taken further here and now. Where it may not, nobody
        knows what the disk has of it."""
        if (found := self._reviewed(document)) is None:
            return None
        path, state = found
        if document.observed or is_long(document.lines):
            if state.other is not None:
                self._book.remember(path, replace(state, other=None, since=()))
            return None
        return path, state
