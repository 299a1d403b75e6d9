"""What may be done to files for agents and their review: read, changed, proposed, and changes
accepted, taken out and undone. ``text_store.py`` knows how a change reaches its text."""

import dataclasses
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

import anyio

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.protocol.settings.review import Propose, plan
from lsp_agent.protocol.settings.settings import Review
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.live_hunks import with_hunks
from lsp_agent.text.traces import Key
from lsp_agent.workspace.changing.entries import (
    AcceptEntry,
    Entry,
    NewEntry,
    NoEntry,
    OutEntry,
    UndoEntry,
)
from lsp_agent.workspace.changing.stale_open import StaleOpens
from lsp_agent.workspace.changing.text_store import Job, Placed, Resolve, Save, TextStore, View
from lsp_agent.workspace.disk import files
from lsp_agent.workspace.disk.paths import SafePath, from_ledger
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.ledger.change import Change, Origin
from lsp_agent.workspace.ledger.change_hunks import open_indexes
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.placing.flight import Timings, merged
from lsp_agent.workspace.placing.not_made import NotWanted

__all__ = ["FileHost", "NotWanted", "Origin", "Placed", "Save", "Unmerged", "View"]


class Unmerged(LspAgentError):
    """The change no longer fits the text as it is now."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: the text was changed in the same place")


def _always() -> bool:
    return True


class FileHost:
    """Reads and changes files for agents. Paths are confined by the caller (``SafePath``)."""

    def __init__(
        self,
        documents: Documents,
        editor: Editor,
        ledger: Ledger,
        reviews: Reviews,
        timings: Timings = Timings(),  # noqa: B008 - immutable
    ) -> None:
        self._ledger = ledger
        self._reviews = reviews
        self._stale_opens = StaleOpens(documents, editor, reviews, timings)
        self._texts = TextStore(documents, editor, ledger, timings, self._stale_opens.writes)

    def on_written(self, callback: Callable[[str, Text | None], None]) -> None:
        """Calls ``callback(path, text)`` when the host has written a file, None for deleted."""
        self._texts.on_written(callback)

    def wait_for(self, settled: Callable[[str], Awaitable[None]]) -> None:
        """``settled(path)`` is awaited before a change that does not come from the disk: what came
        to the disk before is recorded before."""
        self._texts.wait_for(settled)

    async def at_rest(self, path: SafePath) -> None:
        """Returns when nothing that the host has begun with the file is still going on."""
        async with self._texts.lock(path):
            pass

    async def brought_in(self, path: str) -> None:
        """Returns when a document that was opened without what its file holds has got it, and what
        came to the disk before is recorded."""
        await self._texts.settled(path)
        await self._stale_opens.brought_in(path)

    def written_by_others(self, path: SafePath, before: Text) -> None:
        """Of a file that is not open: an editor may open it with a text from ``before``."""
        self._stale_opens.writes(path, before)

    async def bring_back(self, path: SafePath, text: Text) -> bool:
        """Puts a file that is away where an open document has it; False where there is one.
        Raises FileProblem, OutsideWorkspace."""
        return await self._texts.bring_back(path, text)

    async def follow(self, path: SafePath, disk: Text) -> None:
        """Brings what the file holds into the clean documents beside the one that is edited."""
        await self._texts.follow(path, disk)

    async def put_right_late(self) -> None:
        """Puts right what an editor does with an edit long after it was sent, or opens without
        it. Never returns; run it as long as the host is used."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._texts.put_right_late)
            tasks.start_soon(self._stale_opens.run, self._texts.lock)

    async def view(self, path: SafePath, session_id: str | None) -> View:
        """What ``path`` shows, with the proposals of ``session_id`` merged in that still fit.

        A missing file is a view without text; FileProblem for a folder or an unreadable file.
        """
        view = await self._texts.view(path)
        if session_id is None or view.not_text is not None:
            return view
        text = view.text
        for change in self._ledger.changes(
            session_id=session_id, path=path.path, status="proposed"
        ):
            after = _with(change, open_indexes(change))
            proposed = merged(change.before or EMPTY, after, text or EMPTY)
            text = proposed if proposed is not None else text
        if text is None or text is view.text:
            return view
        data = None if view.open else files.encode(text)
        return View(path.path, text, data, open=view.open, dirty=view.dirty)

    async def replace(
        self,
        path: SafePath,
        origin: Origin,
        resolve: Resolve,
        *,
        review: Review,
        save: Save,
        still_wanted: Callable[[], bool] = _always,
        deletes: bool = False,
        from_disk: bool = False,
    ) -> Placed:
        """Makes ``resolve(view)`` the text of ``path``, asking again for newer views; with
        ``deletes`` a text without lines deletes the file. ``from_disk``: the change came from the
        file, so that finding it there does not say that it was in the editor's document.

        ``review="before"`` records a proposal and changes nothing, and raises at once what would
        keep the file from being written; with ``"off"`` the change is ``kept`` in the ledger at
        once. Raises what ``resolve`` raises while nothing is in,
        NotWanted once ``still_wanted`` is False (it is asked in any thread), and FileProblem,
        NotText, OutsideWorkspace, LedgerFailed; nothing is in then.
        """
        planned = plan(review)
        if isinstance(planned, Propose):
            return await self._propose(path, origin, resolve)
        entry = NewEntry(self._ledger, origin, path.path, kept=planned.kept)
        job = Job(path, resolve, origin.label, save, still_wanted, entry, deletes, from_disk)
        return await self._texts.make(job)

    async def put(
        self, path: SafePath, resolve: Resolve, label: str, *, from_disk: bool = False
    ) -> NoEntry:
        """Makes ``resolve(view)`` the text of ``path`` as ``replace`` does, but as no agent's
        work: nothing is recorded, and there is nothing to review. An open document is not saved.
        ``from_disk`` and what is raised are as there."""
        entry = NoEntry()
        job = Job(path, resolve, label, "never", _always, entry, from_disk=from_disk)
        await self._texts.make(job)
        return entry

    async def accept(
        self,
        change_id: str,
        *,
        hunks: Collection[int] | None = None,
        save: Save = "clean",
        still_wanted: Callable[[], bool] = _always,
    ) -> Placed:
        """Puts a change that is not in, or some hunks of it, into the text as it is now. What no
        longer fits is left as it was and the answer is ``conflict``; what is in already is left
        alone. Raises KeyError."""
        change = await self._ledger.loaded(change_id)
        wanted = [index for index in open_indexes(change) if hunks is None or index in hunks]
        if change.status in {"applied", "kept"} and not wanted:
            view = await self._texts.view(from_ledger(change.path))
            return Placed("applied", change, change.before, view.text)
        aim = change.after if change.after is None else _with(change, wanted)
        entry = AcceptEntry(self._ledger, self._reviews, change, wanted)
        return await self._turn(change, change.before, aim, entry, save, still_wanted)

    async def take_out(
        self,
        change_id: str,
        *,
        save: Save = "clean",
        still_wanted: Callable[[], bool] = _always,
    ) -> Placed:
        """Rejects a change: takes it out of the text as it is now if it is in. Where later work
        touches it, nothing is changed and the answer is ``conflict``. Raises KeyError."""
        change = await self._ledger.loaded(change_id)
        if change.status in {"applied", "kept", "unknown"}:
            entry = OutEntry(self._ledger, change)
            return await self._turn(change, change.after, change.before, entry, save, still_wanted)
        if change.status == "proposed":
            change = self._ledger.set_status(change_id, "rejected")
        view = await self._texts.view(from_ledger(change.path))
        return Placed("rejected", change, view.text, view.text)

    async def undo(
        self,
        path: str,
        keys: Collection[Key],
        *,
        save: Save = "clean",
        still_wanted: Callable[[], bool] = _always,
    ) -> Placed:
        """Takes open hunks of the review of a recorded path out of its text; a person's lines in
        them stay. Hunks in which these cannot be told from the agent's stay open: the answer is
        ``conflict`` if there are such, else ``rejected``."""
        safe = from_ledger(path)
        entry = UndoEntry(self._reviews, path)

        def resolve(view: View) -> Text:
            text = view.require_text() if view.exists else EMPTY
            undo = self._reviews.peek(path, text).undo(keys)
            entry.keys, entry.clashing = undo.undone, undo.clashing
            if undo.clashing and not undo.undone:
                raise Unmerged(path)
            return undo.text

        job = Job(
            safe,
            resolve,
            f"agent: undo {Path(path).name}",
            save,
            still_wanted,
            entry,
            deletes=not self._reviews.base_exists(path),
        )
        placed = await self._merged_in(job, None)
        if placed.status == "rejected" and entry.clashing:
            return dataclasses.replace(placed, status="conflict", note=str(Unmerged(path)))
        return placed

    async def _turn(
        self,
        change: Change,
        base: Text | None,
        aim: Text | None,
        entry: Entry,
        save: Save,
        still_wanted: Callable[[], bool],
    ) -> Placed:
        """Merges the step from ``base`` to ``aim`` into the file as it is now."""
        path = from_ledger(change.path)

        def resolve(view: View) -> Text:
            if not view.exists and base is not None and aim is not None:
                raise Unmerged(path.path)
            text = view.require_text() if view.exists else EMPTY
            meant = merged(base or EMPTY, aim or EMPTY, text)
            if meant is None:
                raise Unmerged(path.path)
            return meant

        label = f"agent: {Path(path.path).name}"
        job = Job(path, resolve, label, save, still_wanted, entry, deletes=aim is None)
        return await self._merged_in(job, change)

    async def _merged_in(self, job: Job, change: Change | None) -> Placed:
        try:
            return await self._texts.make(job)
        except Unmerged as clash:
            view = await self._texts.view(job.path)
            return Placed("conflict", change, view.text, view.text, str(clash))

    async def _propose(self, path: SafePath, origin: Origin, resolve: Resolve) -> Placed:
        async with self._texts.lock(path):
            view = await self.view(path, origin.session_id)
            after = resolve(view)
            if after == view.text:
                return Placed("applied", None, view.text, view.text)
            await self._texts.require_writable(path, after)
            change = await self._ledger.record(origin, path.path, view.text, after, "proposed")
            return Placed("proposed", change, view.text, after)


def _with(change: Change, hunks: Collection[int]) -> Text:
    return with_hunks(change.before or EMPTY, change.after or EMPTY, hunks)
