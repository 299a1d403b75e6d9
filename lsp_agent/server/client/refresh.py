"""What a client has asked for, it is told to ask for anew."""

import logging

import anyio

from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.rpc.errors import ClientRefused

_DEBOUNCE = 0.1
_ANSWER_SECONDS = 10.0

log = logging.getLogger(__name__)


class Refresh:
    """Sends ``method`` soon after it was ``wanted``, if the client is ``able`` to take it: once for
    all that changes at one moment. ``run`` in a task."""

    def __init__(self, connection: Connection, method: str, *, able: bool) -> None:
        self._connection = connection
        self._method = method
        self._able = able
        self._wanted = anyio.Event()

    def want(self) -> None:
        if self._able:
            self._wanted.set()

    async def run(self) -> None:
        while True:
            await self._wanted.wait()
            await anyio.sleep(_DEBOUNCE)
            self._wanted = anyio.Event()
            try:
                await self._connection.ask(self._method, None, _ANSWER_SECONDS)
            except (ClientRefused, TimeoutError) as exc:
                log.info("no %s: %s", self._method, exc or "no answer")
