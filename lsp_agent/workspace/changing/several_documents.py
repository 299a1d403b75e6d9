"""Files that are open in several documents, as through a symlink: some editors keep several texts.

An agent's edit goes into one of them (``Documents.at``). Those beside it that have no unsaved text
follow the file, in case the editor does not see to that. Where several have unsaved text there is
no telling which of them the file will be, and none is edited.
"""

import logging

import anyio

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.workspace.disk.paths import uri_to_path
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.placing.flight import Timings, merged
from lsp_agent.workspace.placing.not_made import DocumentClosed, NotMade, NotWanted
from lsp_agent.workspace.placing.placement import place

#: How long an editor may take to reload a file by itself.
_RELOAD_SECONDS = 0.5

_log = logging.getLogger(__name__)


class OpenTwice(NotMade):
    """Several documents of one file have unsaved text."""

    def __init__(self, unsaved: list[OpenDocument]) -> None:
        names = ", ".join(uri_to_path(document.uri) or document.uri for document in unsaved)
        super().__init__(
            "conflict",
            unsaved[0],
            f"it is open more than once with unsaved text ({names}), so edits are only proposed."
            " Save or revert all but one.",
        )


async def the_document(documents: Documents, path: str, timings: Timings) -> OpenDocument | None:
    """The open document of a real path that edits go into; None if there is none, and if the last
    one was not closed to be opened again. Raises OpenTwice."""
    if closed := documents.just_closed(path):
        # What were written now would not be in the text that a reload has read before.
        await closed.reopened(closed.closed_at + timings.quiet - closed.clock())
    if len(opened := documents.all_at(path)) > 1:
        for document in opened:
            await document.compared()
        unsaved = [document for document in documents.all_at(path) if document.dirty]
        if len(unsaved) > 1:
            raise OpenTwice(unsaved)
    return documents.at(path)


async def follow(
    documents: Documents, path: str, disk: Text, editor: Editor, timings: Timings
) -> None:
    """Brings ``disk``, which the file holds, into the documents beside ``documents.at(path)`` that
    have no unsaved text. The caller holds the file's lock."""
    for document in documents.all_at(path):
        if document is not documents.at(path):
            await _follow(document, disk, editor, timings)


async def _follow(document: OpenDocument, disk: Text, editor: Editor, timings: Timings) -> None:
    await document.compared()
    if not document.dirty:
        await catch_up(document, document.saved or EMPTY, disk, editor, timings)


async def catch_up(
    document: OpenDocument, before: Text, disk: Text, editor: Editor, timings: Timings
) -> bool:
    """Brings ``disk``, which the file holds, into a document that shows the file as it was
    ``before``, in case the editor does not see to that. The caller holds the file's lock. False
    where it is known not to be in."""
    if await _comes(document, disk):
        return True
    if editor.traits.can_reload and await editor.reload(document.uri):
        await _comes(document, disk)
    return await merge_in(document, before, disk, editor, timings)


async def merge_in(
    document: OpenDocument, before: Text, disk: Text, editor: Editor, timings: Timings
) -> bool:
    """``catch_up`` for a document with unsaved text, which no editor reloads by itself."""
    saved = document.saved

    def resolve(now: Text) -> Text:
        meant = merged(before, document.shown(disk), now)
        if meant is None:
            raise NotWanted
        return meant

    try:
        proof = await place(
            document, editor, resolve, "agent", still_wanted=_always, timings=timings
        )
    except (DocumentClosed, LspAgentError) as error:
        _log.info("%s does not follow its file: %s", document.uri, error)
        return False
    if proof.outcome == "in" and document.saved is saved:
        document.brought_in(disk)
    return proof.outcome in ("in", "unknown")


def _always() -> bool:
    return True


async def _comes(document: OpenDocument, disk: Text) -> bool:
    """Whether the document shows, in time, what the file holds."""
    with anyio.move_on_after(_RELOAD_SECONDS):
        while not document.shows(disk):
            with document.next_change() as changed:
                await changed.wait()
    if not document.shows(disk):
        return False
    document.brought_in(disk)
    return True
