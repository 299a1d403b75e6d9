"""Covers secrets for a server's sessions, and puts the values back."""

import json
import logging
import os
import secrets
from collections.abc import Callable, Mapping

import anyio.to_thread

from lsp_agent.toolset.covering import Covered, cover
from lsp_agent.toolset.known_secrets import KnownSecrets

#: Of values that were met in texts, of the latest.
_MOST_MET = 10_000

log = logging.getLogger(__name__)


class Covers:
    """``folders`` are those of the workspace, now. What was covered with ``key`` in a process that
    was given it has the same covers here."""

    def __init__(self, folders: Callable[[], list[str]]) -> None:
        self.key = secrets.token_hex(16)
        self.folders = folders
        self._known = KnownSecrets(os.environ)
        self._met: dict[str, str] = {}

    def know(self, environment: Mapping[str, str]) -> None:
        """An agent is started with it."""
        self._known.know(environment)

    async def covered(self, text: str, about: str) -> Covered:
        """``about`` is what the log says it was in."""
        covered = await anyio.to_thread.run_sync(self._cover, text, self.folders())
        if covered.count:
            self._meet(covered.secrets)
            names = ", ".join(covered.names())
            log.info("covered %d secrets in %s: %s", covered.count, about, names)
        return covered

    async def standing_for(self, present: str) -> Mapping[str, str]:
        """The values by their covers, those of ``present`` too."""
        folders = self.folders()
        named = await anyio.to_thread.run_sync(self._known.values, folders)
        text = "\n".join([*named, present])
        found = await anyio.to_thread.run_sync(self._cover, text, folders)
        return {**self._met, **found.secrets}

    def kept(self, text: str) -> str:
        """``text``, which may be JSON, as it may be stored. Blocking; any thread."""
        named = self._known.values(self.folders())
        quoted = {
            json.dumps(value, ensure_ascii=False)[1:-1]: name for value, name in named.items()
        }
        return cover(text, named | quoted, self.key.encode()).text

    def _cover(self, text: str, folders: list[str]) -> Covered:
        return cover(text, self._known.values(folders), self.key.encode())

    def _meet(self, found: Mapping[str, str]) -> None:
        self._met |= found
        while len(self._met) > _MOST_MET:
            del self._met[next(iter(self._met))]
