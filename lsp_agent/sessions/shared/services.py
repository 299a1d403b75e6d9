"""What all sessions of one server share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from anyio.abc import TaskGroup

from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.sessions.shared.covers import Covers
from lsp_agent.sessions.shared.diagnostics import AskDiagnostics
from lsp_agent.sessions.shared.questions import Questions
from lsp_agent.workspace.changing.file_host import FileHost
from lsp_agent.workspace.disk.paths import Confinement
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.ledger.saves import Saves
from lsp_agent.workspace.mirror.mirror import Mirror
from lsp_agent.workspace.review.edits import Edits


@dataclass(frozen=True, slots=True)
class Services:
    """``settings`` is asked anew for each turn, by folder, once ``settings_ready`` returns, which
    is soon; ``diagnostics`` is None for a client that answers no such requests; ``drain`` waits
    while the client does not read; ``folders`` and ``confinement`` follow the workspace folders as
    they change; with True, ``confinement`` is not to the folders but only away from our own data
    and ``.git``."""

    tasks: TaskGroup
    documents: Documents
    editor: Editor
    host: FileHost
    mirror: Mirror
    ledger: Ledger
    reviews: Reviews
    saves: Saves
    edits: Edits
    questions: Questions
    diagnostics: AskDiagnostics | None
    covers: Covers
    settings: Callable[[str], Settings]
    settings_ready: Callable[[], Awaitable[None]]
    folders: Callable[[], list[str]]
    confinement: Callable[[bool], Confinement]
    drain: Callable[[], Awaitable[None]]
