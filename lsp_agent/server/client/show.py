"""Shows a document, or a place in one, to the person."""

import logging
from typing import Any, cast

from anyio.abc import TaskGroup

from lsp_agent.protocol.edits import Range
from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.rpc.errors import ClientRefused

_INFO = 3
_SHOW_SECONDS = 10.0

log = logging.getLogger(__name__)


class Shower:
    """By ``window/showDocument``; a client that has none, or fails at it, gets a message."""

    def __init__(self, connection: Connection, client: ClientInfo, tasks: TaskGroup) -> None:
        self._connection = connection
        self._client = client
        self._tasks = tasks

    def show(self, uri: str, selection: Range | None, otherwise: str) -> None:
        """Returns at once: an editor may answer only when its own request has been answered.
        ``otherwise`` is what a person is told who cannot be shown it; a client with ``events``
        of ours has a way of its own."""
        self._tasks.start_soon(self._show, uri, selection, otherwise)

    async def _show(self, uri: str, selection: Range | None, otherwise: str) -> None:
        if not await self.shown(uri, selection) and not self._client.events:
            self._connection.notify("window/showMessage", {"type": _INFO, "message": otherwise})

    async def shown(self, uri: str, selection: Range | None) -> bool:
        """Shows it; whether the client says that it did."""
        if not self._client.show_document:
            return False
        params: dict[str, Any] = {"uri": uri, "external": False, "takeFocus": True}
        if selection is not None:
            params["selection"] = selection
        try:
            answer = await self._connection.ask("window/showDocument", params, _SHOW_SECONDS)
        except (ClientRefused, TimeoutError) as exc:
            log.info("%s was not shown: %s", uri, exc or "no answer")
            return False
        return isinstance(answer, dict) and cast(dict[str, Any], answer).get("success") is True
