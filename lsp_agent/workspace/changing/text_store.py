"""The texts of files, wherever they are: what the editor shows if a file is open there, else what
is on disk; and the one way that a change of each takes.

An open document is edited in the editor and never written to disk by us, a file that is not open
is written to disk and never through the editor. One lock a path; a change is in the ledger before
it is made.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from weakref import WeakValueDictionary

import anyio

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.workspace.changing.entries import Entry
from lsp_agent.workspace.changing.several_documents import follow, the_document
from lsp_agent.workspace.disk import files
from lsp_agent.workspace.disk.files import ChangedOnDisk, FileProblem, NotText, NotWritten
from lsp_agent.workspace.disk.paths import SafePath
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.documents.open_document import OpenDocument
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.placing.flight import Strayed, Timings, merged
from lsp_agent.workspace.placing.not_made import DocumentClosed, NotWanted
from lsp_agent.workspace.placing.placement import Placement, Proof

_log = logging.getLogger(__name__)

Save = Literal["clean", "always", "never"]

# How often an edit is made anew because its file changed on disk or was opened or closed.
_MAX_TURNS = 10


@dataclass(frozen=True, slots=True)
class View:
    """What there is at a path.

    ``text`` is None where nothing is there, or no text (``not_text`` says why). ``data`` are the
    bytes of a file that is not open (a session's own proposals merged in), else None.
    """

    path: str
    text: Text | None
    data: bytes | None = None
    open: bool = False
    dirty: bool = False
    not_text: NotText | None = None

    @property
    def exists(self) -> bool:
        return self.text is not None or self.not_text is not None

    def require_text(self) -> Text:
        """Raises NotText, or FileProblem("missing")."""
        if self.not_text is not None:
            raise self.not_text
        if self.text is None:
            raise FileProblem("missing", self.path)
        return self.text


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of a change.

    ``status`` is ``applied``, ``proposed``, ``conflict``, ``unknown`` or, after ``take_out``,
    ``rejected``. ``change`` is None where the text was so already. ``before`` and ``now`` are
    the text without and with the change, None where there is no file; ``now`` may hold what was
    typed since. ``note`` is for the agent and the person, such as why it was not saved.
    ``refused``: it is a ``conflict`` because the editor did not take it.
    """

    status: EditStatus
    change: Change | None
    before: Text | None
    now: Text | None
    note: str | None = None
    refused: bool = False


Resolve = Callable[[View], Text]


@dataclass(slots=True)
class Job:
    """One change on its way. ``from_disk``: the file holds it without us. ``sent`` is what a
    document that was closed since may have saved."""

    path: SafePath
    resolve: Resolve
    label: str
    save: Save
    still_wanted: Callable[[], bool]
    entry: Entry
    deletes: bool = False
    from_disk: bool = False
    sent: tuple[Text, Text] | None = None


class _Opened(Exception):
    """The file is open in the editor now."""


class TextStore:
    """Views and changes of files. Paths are confined by the caller (``SafePath``).

    ``writes(path, before)`` is called when a file that is not open is about to be written.
    """

    def __init__(
        self,
        documents: Documents,
        editor: Editor,
        ledger: Ledger,
        timings: Timings,
        writes: Callable[[SafePath, Text], None],
    ) -> None:
        self._documents = documents
        self._editor = editor
        self._ledger = ledger
        self._timings = timings
        self._writes = writes
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._strays: asyncio.Queue[tuple[Job, Placement, Strayed | None]] = asyncio.Queue()
        self._on_written: list[Callable[[str, Text | None], None]] = []
        self._settled: Callable[[str], Awaitable[None]] | None = None

    def wait_for(self, settled: Callable[[str], Awaitable[None]]) -> None:
        """``settled(path)`` is awaited before a change that does not come from the disk."""
        self._settled = settled

    async def settled(self, path: str) -> None:
        """Returns when what came to the disk before is recorded."""
        if self._settled:
            await self._settled(path)

    def on_written(self, callback: Callable[[str, Text | None], None]) -> None:
        """Calls ``callback(path, text)`` when the host has written a file, None for deleted."""
        self._on_written.append(callback)

    async def put_right_late(self) -> None:
        """Puts right what an editor does with an edit long after it was sent. Never returns; run
        it as long as the host is used."""
        while True:
            job, placement, strayed = await self._strays.get()
            async with self.lock(job.path):
                try:
                    proof = await placement.put_right(strayed)
                except (DocumentClosed, LspAgentError) as error:
                    _log.warning("%s: an edit that came late was not made: %s", job.path, error)
                    continue
            if proof.outcome == "unknown":
                self._watch(job, placement)
            elif proof.outcome == "in":
                job.entry.landed_late(proof.before, proof.meant)

    async def view(self, path: SafePath) -> View:
        """What ``path`` shows. A missing file is a view without text; raises FileProblem for a
        folder or an unreadable file."""
        document = self._documents.at(path.path)
        if document is not None:
            await document.compared()
            return _shown(path, document, document.text)
        view = await anyio.to_thread.run_sync(_on_disk, path)
        if self._documents.at(path.path) is not None:  # opened while we read
            return await self.view(path)
        return view

    async def require_writable(self, path: SafePath, text: Text) -> None:
        """Raises FileProblem, NotText, OutsideWorkspace where a file that is not open could not
        be made ``text`` as it is now."""
        view = await self.view(path)
        if not view.open:
            with suppress(ChangedOnDisk):  # it will be merged
                await anyio.to_thread.run_sync(files.require_writable, path, text, view.data)

    def lock(self, path: SafePath) -> anyio.Lock:
        """Held by whoever computes a change of the file and records it."""
        lock = self._locks.get(path.path)
        if lock is None:
            lock = self._locks[path.path] = anyio.Lock()
        return lock

    # Finding the way: the file may be opened, closed and written by others at any time.

    async def make(self, job: Job) -> Placed:
        """Makes one change, asking ``job.resolve`` again for newer views. Raises what it raises
        while nothing is in, NotWanted, FileProblem, NotText, OutsideWorkspace, LedgerFailed."""
        if not job.from_disk:
            await self.settled(job.path.path)
        async with self.lock(job.path):
            try:
                for _ in range(_MAX_TURNS):
                    placed = await self._try(job)
                    if placed is not None:
                        return placed
                raise ChangedOnDisk(job.path.path)
            finally:
                job.entry.withdraw()  # unless it was settled

    async def _try(self, job: Job) -> Placed | None:
        """None if the file took another turn meanwhile: to be looked at anew."""
        document = await the_document(self._documents, job.path.path, self._timings)
        try:
            if document is not None:
                return await self._edit_document(job, document)
            return await self._write_file(job)
        except DocumentClosed as closed:
            if closed.before is not None and closed.meant is not None and not job.from_disk:
                job.sent = (closed.before, closed.meant)
        except (ChangedOnDisk, _Opened):
            pass
        return None

    async def _edit_document(self, job: Job, document: OpenDocument) -> Placed | None:
        await document.compared()
        if document.closed:
            return None
        placement = Placement(
            document,
            self._editor,
            lambda text: job.resolve(_shown(job.path, document, text)),
            job.label,
            job.still_wanted,
            job.entry.begin,
            self._timings,
            on_disk=job.from_disk,
        )
        try:
            proof = await placement.run()
        except BaseException:
            self._look_on(job, placement)
            raise
        if proof.outcome == "unknown":
            change = self._look_on(job, placement)
            note = "the editor has not shown the edit yet; it may still come"
            return Placed("unknown", change, proof.before, document.text, note)
        if proof.outcome == "refused":
            self._watch(job, placement)  # answers prove nothing
            change = job.entry.clashed(proof.before, proof.meant)
            note = f"the editor refused the edit: {proof.reason or 'it gave no reason'}"
            return Placed("conflict", change, proof.before, document.text, note, refused=True)
        if proof.outcome == "conflict":
            change = job.entry.clashed(proof.before, proof.meant)
            note = "the text was changed in the same place meanwhile"
            return Placed("conflict", change, proof.before, document.text, note)
        if proof.before == proof.meant:
            return Placed(job.entry.done, job.entry.nothing_to_do(), proof.before, document.text)
        change = job.entry.landed(proof.before, proof.meant)
        note = await self._save(job, document, proof)
        if not document.dirty and document.disk is not None:
            await self._follow(job.path, document.disk)
        if _empties(job, proof) and await anyio.to_thread.run_sync(_is_there, job.path):
            note = "the file is open in the editor, so it was emptied and not deleted"
        return Placed(job.entry.done, change, proof.before, document.text, note)

    async def bring_back(self, path: SafePath, text: Text) -> bool:
        """Puts a file that is away where an open document has it; False where there is one.
        Raises FileProblem, OutsideWorkspace."""
        async with self.lock(path):
            try:
                await anyio.to_thread.run_sync(files.write_atomic, path, text, None)
            except ChangedOnDisk:
                return False
            for callback in self._on_written:
                callback(path.path, text)
            return True

    async def follow(self, path: SafePath, disk: Text) -> None:
        """Brings what the file holds into the clean documents beside the one that is edited."""
        async with self.lock(path):
            await self._follow(path, disk)

    async def _follow(self, path: SafePath, disk: Text) -> None:
        await follow(self._documents, path.path, disk, self._editor, self._timings)

    def _look_on(self, job: Job, placement: Placement) -> Change | None:
        if placement.late is None:
            return None
        self._watch(job, placement)
        return job.entry.unknown()

    def _watch(self, job: Job, placement: Placement) -> None:
        if placement.late is not None:
            placement.late.on_landed(job.entry.landed_late)
            placement.late.on_missed(job.entry.missed)
            placement.late.on_strayed(
                lambda strayed: self._strays.put_nowait((job, placement, strayed))
            )

    async def _save(self, job: Job, document: OpenDocument, proof: Proof) -> str | None:
        """Why the document is not saved; None if it is, or need not be."""
        await document.compared()
        if job.save == "never" or document.closed or not document.dirty:
            return None
        is_clean = proof.before == document.saved and proof.meant == document.text
        if job.save == "clean" and not is_clean:
            return "not saved: the document has unsaved text of the person's"
        if not self._editor.traits.can_save:
            return "not saved: this editor saves only by hand"
        removes = _empties(job, proof)
        version = document.version if removes or job.save == "clean" else None
        saved = await self._editor.save(document.uri, version, removes=removes)
        return None if saved else "not saved: the editor did not"

    async def _write_file(self, job: Job) -> Placed:
        view = await self.view(job.path)
        if view.open:
            raise _Opened
        before = view.text
        if job.sent is not None and before is not None and merged(*job.sent, before) == before:
            # It was in, and saved, before the document was closed.
            return Placed(job.entry.done, job.entry.landed(*job.sent), job.sent[0], before)
        after = job.resolve(view)
        gone = job.deletes and not after.lines
        if (not view.exists) if gone else after == before:
            return Placed(job.entry.done, job.entry.nothing_to_do(), before, before)
        left = None if gone else after
        await job.entry.begin(before, left)
        if not job.still_wanted():
            raise NotWanted
        if not gone:
            self._writes(job.path, before or EMPTY)
        # Not left half-way: a cancellation waits for the rename or its failure.
        with anyio.CancelScope(shield=True):
            try:
                await anyio.to_thread.run_sync(self._to_disk, job, view.data, after, gone)
            except NotWritten:
                raise (_Opened if job.still_wanted() else NotWanted) from None
        for callback in self._on_written:
            callback(job.path.path, None if gone else after)
        change = job.entry.landed(before, left)
        if change is not None:
            self._ledger.mark_on_disk([change.id])
        return Placed(job.entry.done, change, before, left)

    def _to_disk(self, job: Job, expected: bytes | None, after: Text, gone: bool) -> None:
        """Runs in a thread."""

        def permitted() -> bool:
            return self._documents.at(job.path.path) is None and job.still_wanted()

        if gone and expected is not None:
            files.remove(job.path, expected, permitted=permitted)
        else:
            files.write_atomic(job.path, after, expected, permitted=permitted)


def _empties(job: Job, proof: Proof) -> bool:
    """Whether nothing is left of a file that was not there before the agents."""
    return job.deletes and proof.meant.shows_nothing


def _is_there(path: SafePath) -> bool:
    """In a thread."""
    try:
        files.read_bytes(path)
    except FileProblem as problem:
        return problem.kind != "missing"
    return True


def _on_disk(path: SafePath) -> View:
    """In a thread: the file may be large, or on a slow network."""
    try:
        data = files.read_bytes(path)
    except FileProblem as problem:
        if problem.kind != "missing":
            raise
        return View(path.path, None)
    try:
        return View(path.path, files.decode(data), data)
    except NotText as error:
        return View(path.path, None, data, not_text=error)


def _shown(path: SafePath, document: OpenDocument, text: Text) -> View:
    return View(path.path, text, open=True, dirty=document.dirty)
