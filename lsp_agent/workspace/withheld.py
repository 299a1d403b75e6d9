"""Edits that are not made because it is not certain which text they would change."""

from pathlib import Path

from lsp_agent.protocol.errors import ErrorKind, RequestFailed
from lsp_agent.workspace.documents import OpenDocument


class Withheld(RequestFailed):
    """A document was not edited; ``why`` says so to a person, and how to mend it. What was to be
    made can be proposed."""

    def __init__(self, kind: ErrorKind, document: OpenDocument, why: str) -> None:
        name = Path(document.path or document.uri).name
        super().__init__(kind, f"{name}: {why}")
        self.why = why
