"""Edits as the review UI gets them, made by hand; and a connection that keeps what is said."""

from collections.abc import Callable, Collection
from typing import Any

from lsp_agent.protocol.edits import Edit, EditStatus, Hunk, Position, Range

Json = dict[str, Any]
URI = "file:///w/a.txt"


def hunk(
    first: int, past: int | None = None, status: EditStatus = "applied", name: str = "0"
) -> Hunk:
    """A hunk of the lines ``first`` to ``past`` (0-based, half-open; one line if left out)."""
    end = first + 1 if past is None else past
    place = Range(start=Position(line=first, character=0), end=Position(line=end, character=0))
    return Hunk(hunk_id=name, status=status, range=place, old_text="old\n", new_text="new\n")


def edit(
    edit_id: str,
    *hunks: Hunk,
    status: EditStatus = "applied",
    turn: str | None = "t-1",
    session: str = "s-1",
    uri: str = URI,
) -> Edit:
    return Edit(
        edit_id=edit_id, session_id=session, turn_id=turn, uri=uri, status=status, hunks=hunks
    )


class FakeEdits:
    """As much of ``Edits`` as the UI reads. ``found`` counts the look-ups."""

    def __init__(self, *edits: Edit) -> None:
        self.edits = list(edits)
        self.found = 0
        self._subscribers: list[Callable[[str], None]] = []

    async def find(
        self,
        session_id: str | None = None,
        path: str | None = None,
        statuses: Collection[EditStatus] | None = None,
        *,
        open_only: bool = False,
    ) -> list[Edit]:
        self.found += 1
        return [e for e in self.edits if statuses is None or e.status in statuses]

    def subscribe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    def changed(self, path: str) -> None:
        for callback in self._subscribers:
            callback(path)


class FakeConnection:
    """Keeps notifications and requests; ``answers`` gives those to requests."""

    def __init__(self) -> None:
        self.notified: list[tuple[str, Any]] = []
        self.asked: list[tuple[str, Any]] = []

    def notify(self, method: str, params: object) -> None:
        self.notified.append((method, params))

    def notify_newest(self, method: str, params: object, of: object) -> None:
        raise NotImplementedError(f"nothing here tells {method} of {of}")

    async def ask(self, method: str, params: object, timeout: float | None) -> Any:
        self.asked.append((method, params))
        return None
