"""Whether a client tells of what changes in a document that it has opened.

A Neovim whose last server on a buffer ended before something was typed there lets go of the
buffer: it opens it with the next server, tells it of no change, and goes on to apply its edits, at
lines that have moved. Before the first edit of a document that has shown no change yet, such a
client is sent an edit that changes nothing: it tells of that one too, or of none.
"""

import anyio

from lsp_agent.text.edits import TextEdit
from lsp_agent.workspace.documents.editor import Applied, Editor
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.placing.not_made import NotMade

NOTHING = (TextEdit(0, 0, 0, 0, ""),)

#: A reload of the file drops what Neovim has not told of yet, the first of these as well.
_PROBES = 2


class DeafClient(NotMade):
    """The client does not tell of the document's changes."""

    def __init__(self, document: OpenDocument) -> None:
        super().__init__(
            "editorFailed",
            document,
            "the editor does not say what you type in it, so edits are only proposed. Save it,"
            " close it (Neovim: `:bwipeout`) and open it again.",
        )


async def refusal(document: OpenDocument, editor: Editor, timeout: float) -> Applied | None:
    """None when the client tells of changes, as far as can be known; its answer where it took not
    even the edit that changes nothing.

    ``timeout`` (seconds) is how long it may take to tell of one that it has answered. Raises
    DeafClient. The caller holds the document's lock.
    """
    if document.tells is None and editor.traits.may_be_deaf:
        for _ in range(_PROBES):
            answer = await _probe(document, editor, timeout)
            if document.tells is not None or document.closed:
                break
            if not answer.applied:
                return answer
        else:
            document.tells = False
    if document.tells is False:
        raise DeafClient(document)
    return None


async def _probe(document: OpenDocument, editor: Editor, timeout: float) -> Applied:
    """Returns once it is told of, or was not in time."""
    version = max(document.version or 0, editor.traits.min_version)
    with document.next_change() as changed:
        answer = await editor.apply(document.uri, version, NOTHING, "agent")
        if editor.traits.can_sync and not changed.is_set():
            await editor.sync(document.uri)
        with anyio.move_on_after(timeout if answer.applied else 0):
            await changed.wait()
    return answer
