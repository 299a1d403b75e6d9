"""What we send to a client beyond LSP, and what it answers (docs/protocol.md)."""

from lsp_agent.protocol.edits import Range
from lsp_agent.protocol.wire_model import Model

#: For clients that advertise the name of the last part.
EVENT_NOTIFICATION = "agent/event"
ASK_REQUEST = "agent/ask"
SYNC_REQUEST = "agent/sync"
SAVE_REQUEST = "agent/saveDocument"
RELOAD_REQUEST = "agent/reloadDocument"
DIAGNOSTICS_REQUEST = "agent/diagnostics"


class AskAnswer(Model):
    """``reason``, beside an option of kind ``deny``, is for the agent to read."""

    option_id: str | None = None
    reason: str | None = None


class DocumentParams(Model):
    uri: str


class SaveParams(Model):
    """Only if the document is at ``version``: what was typed since is the person's to save. Left
    out where the person has asked for it as it is. ``removes``: the agent had made the file, and
    what it wrote is taken out; if the document is empty, the client may delete the file."""

    uri: str
    version: int | None = None
    removes: bool = False


class SaveAnswer(Model):
    saved: bool


class ReloadAnswer(Model):
    reloaded: bool


class DiagnosticsParams(Model):
    """Of these documents; of all if ``uris`` is left out."""

    uris: list[str] | None = None


class Diagnostic(Model):
    """LSP's own, as the editor has it; what is not named here is not looked at. ``severity``
    counts from 1, an error, to 4, a hint."""

    range: Range
    severity: int | None = None
    code: str | int | None = None
    source: str | None = None
    message: str


class FileDiagnostics(Model):
    uri: str
    diagnostics: list[Diagnostic]


class DiagnosticsAnswer(Model):
    """Each document that was asked for; of all documents those that have any."""

    files: list[FileDiagnostics]
