"""The barrier for a Neovim without plugin: it flushes its pending changes before any request.

Neovim holds changes back (150 ms by default). Told to refresh what a provider of ours gives, it
makes a request for the document at once, and everything held back comes before it. The provider
has nothing to give but the tokens of conversations (``chat/semantic_tokens.py``).
Documents that no window shows are not asked for; the wait is then as long as its limit.
"""

import logging
from collections.abc import Mapping

import anyio

from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.client.quirks import RefreshKind
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.rpc.dispatcher import Json, RequestHandler
from lsp_agent.server.rpc.errors import ClientRefused

#: The client's request that answers each refresh, and what it gets where nobody else has an answer.
_REQUESTS: Mapping[RefreshKind, str] = {
    "semanticTokens": "textDocument/semanticTokens/full",
    "diagnostic": "textDocument/diagnostic",
}
_ANSWERS: Mapping[RefreshKind, Json] = {
    "semanticTokens": {"data": []},
    "diagnostic": {"kind": "full", "resultId": "nothing", "items": []},
}
#: For who has the answer before: a Neovim reads all of its document for another full one.
_UNCHANGED: Json = {"kind": "unchanged", "resultId": "nothing"}

log = logging.getLogger(__name__)


class RefreshBarrier:
    """Hears the requests of one client's provider, or serves an empty one; ``requests`` is the
    face's table."""

    def __init__(
        self, connection: Connection, kind: RefreshKind, requests: dict[str, RequestHandler]
    ) -> None:
        self._connection = connection
        self._kind: RefreshKind = kind
        self._waiting: dict[str, anyio.Event] = {}
        self._answer = requests.get(_REQUESTS[kind])
        requests[_REQUESTS[kind]] = self._requested

    @classmethod
    def of(
        cls, connection: Connection, client: ClientInfo, requests: dict[str, RequestHandler]
    ) -> "RefreshBarrier | None":
        """The barrier of ``client``, where it has one."""
        return cls(connection, client.refresh, requests) if client.refresh else None

    async def sync(self, uri: str, timeout: float) -> None:
        """Returns after the client's next request for ``uri``, or after ``timeout`` seconds."""
        # Registered before the refresh goes out: the request may come in the same chunk as its
        # answer. Who waits for the same document waits for the same request.
        flushed = self._waiting.setdefault(uri, anyio.Event())
        with anyio.move_on_after(timeout):
            try:
                await self._connection.ask(f"workspace/{self._kind}/refresh", None, timeout)
            except (ClientRefused, TimeoutError) as exc:
                log.info("no barrier for %s: %s", uri, exc)
                return
            await flushed.wait()

    def _requested(self, params: Json) -> object:
        if flushed := self._waiting.pop(params["textDocument"]["uri"], None):
            flushed.set()
        if self._answer is not None:
            return self._answer(params)
        return _UNCHANGED if params.get("previousResultId") else _ANSWERS[self._kind]
