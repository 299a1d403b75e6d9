"""``workspace/configuration``: the client's settings, section ``lspAgent``."""

import logging
from collections.abc import Callable, Mapping
from typing import Any, cast

import anyio
from anyio.abc import TaskGroup

from lsp_agent.server.client.info import ClientInfo
from lsp_agent.server.client.live_settings import LiveSettings
from lsp_agent.server.rpc.connection import Connection
from lsp_agent.server.rpc.errors import ClientRefused

SECTION = "lspAgent"

#: How long the client may take to answer.
_SECONDS = 5.0
#: How long a turn waits for the answer before it begins with what is known.
_PATIENCE_SECONDS = 2.0

log = logging.getLogger(__name__)


class SettingsPull:
    """Keeps the settings at what the client answers, folder by folder.

    ``folders`` gives their real paths and the client's URIs. Where the client refuses, answers
    something odd or nothing, what it said last stands: forgetting that would loosen.
    """

    def __init__(
        self,
        connection: Connection,
        client: ClientInfo,
        settings: LiveSettings,
        folders: Callable[[], Mapping[str, str]],
    ) -> None:
        self._connection = connection
        self._settings = settings
        self._folders = folders
        self._asks = client.configuration
        self._stale = self._pulling = False
        self._current = anyio.Event()  # from the start: the client is asked once initialized
        if not self._asks:
            self._current.set()

    def refresh(self, tasks: TaskGroup) -> None:
        """From here on :meth:`current` waits for what the client answers now."""
        if not self._asks:
            return
        self._stale = True
        if self._current.is_set():
            self._current = anyio.Event()
        if not self._pulling:
            self._pulling = True
            tasks.start_soon(self._pull)

    async def current(self) -> None:
        """Waits until the client's settings are known; for 2 s at most, and not once more for
        the same answer."""
        current = self._current
        with anyio.move_on_after(_PATIENCE_SECONDS):
            await current.wait()
            return
        log.warning("the client has not told its settings yet; what is known holds")
        current.set()

    async def _pull(self) -> None:
        while self._stale:
            self._stale = False
            folders = self._folders()
            answers = await _sections(self._connection, list(folders.values()))
            for folder, answer in zip(folders, answers, strict=False):
                if answer is None or isinstance(answer, dict):
                    self._settings.configure(folder, cast(object, answer))
                else:
                    log.warning("the client's settings are not read: not an object")
        self._pulling = False
        self._current.set()


async def _sections(connection: Connection, uris: list[str]) -> list[object]:
    """One value a URI; none where the client does not answer that."""
    if not uris:
        return []
    items = [{"section": SECTION, "scopeUri": uri} for uri in uris]
    try:
        answer: Any = await connection.ask("workspace/configuration", {"items": items}, _SECONDS)
    except (ClientRefused, TimeoutError) as exc:
        log.warning("the client's settings are not read: %s", exc or "no answer")
        return []
    values = cast(list[object], answer) if isinstance(answer, list) else []
    if len(values) != len(uris):
        log.warning("the client's settings are not read: not one value a folder")
        return []
    return values
