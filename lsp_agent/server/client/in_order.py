"""Content changes in the order of their versions, for a client that mixes them up.

Helix 25.01 sends each change from a task of its own, so those of fast typing overtake each other;
applied as they come they would make another text than the editor shows. Each counts the version up
by one, so a change that came too early can wait for those before it.
"""

from typing import Any

import anyio
from anyio.abc import TaskGroup

from lsp_agent.workspace.documents.documents import Documents

#: How long a change waits. Some versions never come: a preview of a completion counts as well.
_SECONDS = 0.3


class ChangesInOrder:
    """In front of ``Documents``, for the notifications that have a version."""

    def __init__(self, documents: Documents, tasks: TaskGroup) -> None:
        self._documents = documents
        self._tasks = tasks
        self._next: dict[str, int] = {}
        self._early: dict[str, dict[int, list[Any]]] = {}

    def open(self, uri: str, version: int, text: str) -> None:
        self._next[uri] = version + 1
        self._early[uri] = {}
        self._documents.open(uri, version, text)

    def change(self, uri: str, version: int, changes: list[Any]) -> None:
        early = self._early.setdefault(uri, {})
        early[version] = changes
        if version > self._next.setdefault(uri, version):
            self._tasks.start_soon(self._give_up, uri, version)
        else:
            self._apply(uri, version)

    def close(self, uri: str) -> None:
        self._next.pop(uri, None)
        self._early.pop(uri, None)
        self._documents.close(uri)

    def _apply(self, uri: str, version: int) -> None:
        """And those that waited for it."""
        self._apply_one(uri, version)
        while self._next[uri] in self._early[uri]:
            self._apply_one(uri, self._next[uri])

    def _apply_one(self, uri: str, version: int) -> None:
        # One that comes when nobody waits for it any more does not take the version back.
        newest = max(version, self._next[uri] - 1)
        self._next[uri] = newest + 1
        self._documents.change(uri, newest, self._early[uri].pop(version))

    async def _give_up(self, uri: str, version: int) -> None:
        """Applies what waits, as far as ``version``, without what never came."""
        await anyio.sleep(_SECONDS)
        while skipped := [each for each in self._early.get(uri, {}) if each <= version]:
            self._apply(uri, min(skipped))
