"""The review as standard LSP shows it: what lenses, hints, code actions and previews share."""

from collections.abc import Callable
from typing import Any

from anyio import create_task_group
from anyio.abc import TaskGroup

from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import StampedEvent, TurnStarted
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.client.refresh import Refresh
from lsp_agent.server.client.show import Shower
from lsp_agent.server.review.hints import Hints
from lsp_agent.server.review.open_review import OpenReviews
from lsp_agent.server.review.preview import PreviewFiles
from lsp_agent.server.review.walk import Walk
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.text.plain import escaped_line
from lsp_agent.workspace.disk.paths import path_to_uri
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.review.edits import Edits

Json = dict[str, Any]

#: Turns whose prompts are remembered.
_TURNS = 200
_PROMPT_LENGTH = 200


class ReviewUi:
    """``run`` in a task, ``close`` at the end. ``walk`` is the way that ``agent/nextChange`` goes.

    ``take`` is called with every session's events.
    """

    def __init__(
        self,
        connection: Connection,
        client: ClientInfo,
        tasks: TaskGroup,
        documents: Documents,
        edits: Edits,
        settings: Callable[[str], Settings],
        others: Callable[[OpenDocument], list[Json]],
    ) -> None:
        """``others``: what is to be said of a document beside."""
        self.reviews = OpenReviews(edits)
        self.hints = Hints(connection, client, documents, self.reviews, settings, others)
        self.shower = Shower(connection, client, tasks)
        self.previews = PreviewFiles()
        self.walk = Walk()
        self._documents = documents
        able = client.code_lens_refresh
        self._lenses = Refresh(connection, "workspace/codeLens/refresh", able=able)
        self._prompts: dict[str, str] = {}
        edits.subscribe(self.hints.changed)
        edits.subscribe(self._lenses_changed)

    async def run(self) -> None:
        async with create_task_group() as tasks:
            tasks.start_soon(self.hints.run)
            tasks.start_soon(self._lenses.run)

    def _lenses_changed(self, path: str) -> None:
        if self._documents.at(path) is not None:
            self._lenses.want()

    async def close(self) -> None:
        await self.previews.close()

    async def show_file(
        self, key: str, name: str, text: str, *, what: str, title: str, ending: str = ".diff"
    ) -> str:
        """Shows ``text`` as a read-only file; its URI. ``what`` it is, and under which ``title``
        a client hears of it that cannot show it.

        :raises RequestFailed: "editorFailed" where it cannot be written
        """
        try:
            path = await self.previews.write(key, name, text, ending)
        except OSError as error:
            raise RequestFailed(
                "editorFailed", f"The {what} cannot be written: {error.strerror or error}."
            ) from error
        uri = path_to_uri(path)
        self.shower.show(uri, None, f"{title}: {escaped_line(path)}")
        return uri

    def take(self, stamped: StampedEvent) -> None:
        """Keeps how a turn's prompt begins."""
        if isinstance(stamped.event, TurnStarted) and stamped.turn_id is not None:
            self._prompts[stamped.turn_id] = stamped.event.prompt.strip()[:_PROMPT_LENGTH]
            if len(self._prompts) > _TURNS:
                del self._prompts[next(iter(self._prompts))]

    def prompt_of(self, turn_id: str) -> str | None:
        """How the prompt of a turn began; None for one of an earlier run."""
        return self._prompts.get(turn_id)
