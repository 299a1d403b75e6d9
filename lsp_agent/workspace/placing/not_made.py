"""Why an edit was not made."""

from pathlib import Path

from lsp_agent.protocol.errors import ErrorKind, LspAgentError, RequestFailed
from lsp_agent.text.lines import Text
from lsp_agent.workspace.documents.open_document import OpenDocument


class NotMade(RequestFailed):
    """It is not certain which text it would change; ``why`` says so to a person, and how to mend
    it. It can be proposed."""

    def __init__(self, kind: ErrorKind, document: OpenDocument, why: str) -> None:
        name = Path(document.path or document.uri).name
        super().__init__(kind, f"{name}: {why}")
        self.why = why


class NotWanted(LspAgentError):
    """The turn was stopped before the edit was sent (again); nothing of it is in."""

    def __init__(self) -> None:
        super().__init__("the turn was stopped; the edit was not made")


class DocumentClosed(Exception):
    """The document was closed meanwhile; look at the file. ``before`` and ``meant`` are what
    was sent and answered last, None if nothing was."""

    def __init__(self, before: Text | None = None, meant: Text | None = None) -> None:
        super().__init__("the document was closed")
        self.before = before
        self.meant = meant
