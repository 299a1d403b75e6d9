"""The ledger's changes as the edits that clients review."""

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from weakref import WeakValueDictionary

import anyio

from lsp_agent.protocol.edits import Edit, EditStatus, EditSummary, Hunk, Position, Range
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import EditChanged, EditEventName
from lsp_agent.protocol.settings import Settings
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.positions import to_units
from lsp_agent.text.live_hunks import LiveHunk, live_hunks
from lsp_agent.workspace.documents import Documents
from lsp_agent.workspace.file_host import FileHost, NotWanted, Placed, Save
from lsp_agent.workspace.files import ChangedOnDisk, FileProblem, NotText
from lsp_agent.workspace.ledger import Change, Ledger, LedgerFailed
from lsp_agent.workspace.paths import OutsideWorkspace, from_ledger, path_to_uri

#: Statuses on which keep, reject and apply change nothing more. Fewer than the ledger's, which
#: only asks what nobody waits for: a conflict or a lost edit may still be applied by hand.
_DECIDED: frozenset[str] = frozenset({"kept", "rejected", "superseded"})

_EVENTS: dict[EditStatus, EditEventName] = {
    "proposed": "editProposed",
    "applied": "editApplied",
    "kept": "editKept",
    "rejected": "editRejected",
    "conflict": "editConflict",
    "superseded": "editSuperseded",
    "lost": "editLost",
    "unknown": "editUnknown",
}


class Edits:
    """Review of whole edits. All positions are in the encoding that the client negotiated.

    ``settings`` are those that hold at a path. One decision on an edit at a time: another one
    that comes meanwhile sees what the first has made of it.
    """

    def __init__(
        self,
        ledger: Ledger,
        host: FileHost,
        documents: Documents,
        settings: Callable[[str], Settings],
    ) -> None:
        self._ledger = ledger
        self._host = host
        self._documents = documents
        self._settings = settings
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()

    async def find(
        self,
        session_id: str | None = None,
        path: str | None = None,
        statuses: Collection[EditStatus] | None = None,
    ) -> list[Edit]:
        """The edits that fit all that is given, oldest first."""
        changes = self._ledger.changes(session_id=session_id, path=path)
        return [
            await self._edit(change)
            for change in changes
            if change.status != "pending" and (statuses is None or change.status in statuses)
        ]

    def summaries(self, session_id: str, turn_id: str) -> list[EditSummary]:
        return [
            EditSummary(edit_id=change.id, uri=self._uri(change), status=change.status)
            for change in self._ledger.changes(session_id=session_id)
            if change.turn_id == turn_id and change.status != "pending"
        ]

    async def get(self, edit_id: str) -> Edit:
        return await self._edit(self._change(edit_id))

    async def texts(self, edit_id: str) -> tuple[str, str]:
        """The whole texts before and after an edit."""
        change = self._change(edit_id)
        return (change.before or EMPTY).content, (change.after or EMPTY).content

    async def apply(self, edit_id: str) -> tuple[bool, str | None, Edit]:
        """Puts a proposal into the workspace: (applied, why not, the edit).

        :raises RequestFailed: "outsideWorkspace", "conflict" or "editorFailed" where the file
            cannot be changed
        """
        async with self._lock(edit_id):
            change = self._change(edit_id)
            if change.status in _DECIDED or change.status == "applied":
                return change.status in ("applied", "kept"), None, await self._edit(change)
            with _failures(edit_id):
                placed = await self._host.accept(edit_id, save=self._save(change))
            reason = None if placed.status == "applied" else _why(placed)
            return placed.status == "applied", reason, await self.get(edit_id)

    async def reject(self, edit_id: str) -> Edit:
        """Drops a proposal, or takes an applied edit back out.

        :raises RequestFailed: "conflict" where the person has since changed its lines;
            "outsideWorkspace", "conflict" or "editorFailed" where the file cannot be changed
        """
        async with self._lock(edit_id):
            change = self._change(edit_id)
            if change.status in _DECIDED:
                return await self._edit(change)
            if change.status in ("applied", "unknown"):
                with _failures(edit_id):
                    placed = await self._host.take_out(edit_id, save=self._save(change))
                if placed.status != "rejected":
                    raise RequestFailed("conflict", _why(placed), {"editId": edit_id})
            else:
                self._ledger.set_status(edit_id, "rejected")
            return await self.get(edit_id)

    async def keep(self, edit_id: str) -> Edit:
        """Ends the review of an applied edit.

        :raises RequestFailed: "conflict" for an edit that is not in the workspace
        """
        async with self._lock(edit_id):
            change = self._change(edit_id)
            if change.status == "applied":
                self._ledger.set_status(edit_id, "kept")
            elif change.status not in _DECIDED:
                raise RequestFailed(
                    "conflict", f"The edit is {change.status}; apply it first.", {"editId": edit_id}
                )
            return await self.get(edit_id)

    def event(self, change: Change) -> EditChanged | None:
        """The event that tells of a change's new status, told at once so that events keep their
        order: of a file that is not open it is known what it now holds."""
        if change.status == "pending":
            return None
        document = self._documents.at(change.path)
        now = document.text if document else _left_by(change)
        return EditChanged(_EVENTS[change.status], self._edit_on(change, now))

    def _lock(self, edit_id: str) -> anyio.Lock:
        lock = self._locks.get(edit_id)
        if lock is None:
            lock = self._locks[edit_id] = anyio.Lock()
        return lock

    def _save(self, change: Change) -> Save:
        return self._settings(change.path).edits.save

    def _change(self, edit_id: str) -> Change:
        change = self._ledger.get(edit_id)
        if change is None:
            raise RequestFailed("unknownEdit", f"There is no edit {edit_id!r}.")
        return change

    def _uri(self, change: Change) -> str:
        document = self._documents.at(change.path)
        return document.uri if document else path_to_uri(change.path)

    async def _edit(self, change: Change) -> Edit:
        now = await _text_now(self._host, change.path)
        return self._edit_on(change, _left_by(change) if now is None else now)

    def _edit_on(self, change: Change, now: Text) -> Edit:
        """``now`` is what the file shows."""
        assert change.status != "pending"
        hunks = live_hunks(change.before or EMPTY, change.after or EMPTY, now)
        return Edit(
            edit_id=change.id,
            session_id=change.session_id,
            turn_id=change.turn_id,
            tool_call_id=change.tool_call_id,
            uri=self._uri(change),
            status=change.status,
            hunks=tuple(self._hunk(change.status, hunk, now) for hunk in hunks),
        )

    def _hunk(self, status: EditStatus, hunk: LiveHunk, now: Text) -> Hunk:
        return Hunk(
            hunk_id=str(hunk.index),
            status=status,
            range=Range(
                start=self._position(now, hunk.start_line), end=self._position(now, hunk.end_line)
            ),
            old_text="".join(hunk.old_lines),
            new_text="".join(hunk.new_lines),
        )

    def _position(self, now: Text, line: int) -> Position:
        """The start of a line; past the last one, the end of the text."""
        if line < len(now.lines) or line == 0:
            return Position(line=line, character=0)
        last = now.lines[-1]
        if last.endswith(("\n", "\r")):
            return Position(line=len(now.lines), character=0)
        units = to_units(last, len(last), self._documents.encoding)
        return Position(line=len(now.lines) - 1, character=units)


async def _text_now(host: FileHost, path: str) -> Text | None:
    """What a recorded path shows now, empty where nothing is; None where that cannot be told."""
    try:
        view = await host.view(from_ledger(path), None)
    except (FileProblem, OutsideWorkspace):
        return None
    return None if view.not_text else view.text or EMPTY


def _left_by(change: Change) -> Text:
    """The text that a change left, where nothing else has come since."""
    is_in = change.status in ("applied", "kept", "unknown")
    return (change.after if is_in else change.before) or EMPTY


@contextmanager
def _failures(edit_id: str) -> Generator[None]:
    """What the workspace says when a file cannot be changed, as the client is told it."""
    data = {"editId": edit_id}
    try:
        yield
    except OutsideWorkspace as error:
        raise RequestFailed("outsideWorkspace", str(error), data) from error
    except (ChangedOnDisk, NotText) as error:
        raise RequestFailed("conflict", str(error), data) from error
    except (FileProblem, LedgerFailed, NotWanted) as error:
        raise RequestFailed("editorFailed", str(error), data) from error
    except KeyError:
        raise RequestFailed(
            "unknownEdit", f"There is no edit {edit_id!r} any more.", data
        ) from None


def _why(placed: Placed) -> str:
    if placed.note:
        return placed.note
    if placed.status == "unknown":
        return "The editor did not say whether it took the edit."
    return "The lines were changed since; apply or undo the edit by hand."
