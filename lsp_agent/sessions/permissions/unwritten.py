"""What a command cannot see because it is not on disk: unsaved documents, open proposals."""

from lsp_agent.sessions.shared.services import Services
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.ledger.change import Change


class Unwritten:
    """For one session: documents in the workspace folders, and its own proposals."""

    def __init__(self, services: Services, session_id: str, cwd: str) -> None:
        self._services = services
        self._session_id = session_id
        self._cwd = cwd

    def documents(self) -> list[OpenDocument]:
        folders = tuple(folder.rstrip("/") + "/" for folder in self._services.folders())
        return [
            document
            for document in self._services.documents.all()
            if document.path and document.path.startswith(folders)
            if document.dirty and not document.unmade
        ]

    def proposals(self) -> list[Change]:
        return self._services.ledger.changes(session_id=self._session_id, status="proposed")

    @property
    def can_save(self) -> bool:
        return self._services.editor.traits.can_save and bool(self.documents())

    def note(self) -> str | None:
        """For the model, in front of a command's output."""
        rows = [
            f"[{what}, so not seen by this command: {', '.join(names)}]"
            for what, names in self._named()
        ]
        return "\n".join(rows) or None

    def detail(self) -> str:
        """For the person who is asked about a command."""
        return "".join(
            f"\n\n{what}, so not seen by it: {', '.join(n)}" for what, n in self._named()
        )

    async def save(self) -> None:
        for document in self.documents():
            await self._services.editor.save(document.uri)

    async def apply(self) -> None:
        """Those that no longer fit stay proposals, and are named in the note."""
        await self._services.edits.apply_all(self._session_id)

    def _named(self) -> list[tuple[str, list[str]]]:
        unsaved = [self._shown(document.path or "") for document in self.documents()]
        proposed = sorted({self._shown(change.path) for change in self.proposals()})
        named = [("Unsaved in the editor", unsaved), ("Proposed and not yet applied", proposed)]
        return [(what, names) for what, names in named if names]

    def _shown(self, path: str) -> str:
        return path.removeprefix(self._cwd.rstrip("/") + "/")
