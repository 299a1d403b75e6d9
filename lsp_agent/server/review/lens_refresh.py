"""Code lenses are asked for anew when a review changes."""

import logging

import anyio

from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.rpc.errors import ClientRefused
from lsp_agent.workspace.documents.documents import Documents

_REFRESH = "workspace/codeLens/refresh"
_DEBOUNCE = 0.1
_ANSWER_SECONDS = 10.0

log = logging.getLogger(__name__)


class LensRefresh:
    """Has the client ask for its lenses anew when a review changes. ``run`` in a task."""

    def __init__(self, connection: Connection, client: ClientInfo, documents: Documents) -> None:
        self._connection = connection
        self._able = client.code_lens_refresh
        self._documents = documents
        self._wanted = anyio.Event()

    def review_changed(self, path: str) -> None:
        if self._able and self._documents.at(path) is not None:
            self._wanted.set()

    async def run(self) -> None:
        while True:
            await self._wanted.wait()
            await anyio.sleep(_DEBOUNCE)
            self._wanted = anyio.Event()
            try:
                await self._connection.ask(_REFRESH, None, _ANSWER_SECONDS)
            except (ClientRefused, TimeoutError) as exc:
                log.info("code lenses are not refreshed: %s", exc or "no answer")
