"""What agents and their commands change on disk by themselves, brought together with what the
editor shows.

The disk is changed already, so nothing here writes to it: an open document is merged with its
file, a change of any other file is recorded. Whose change it is the caller knows; what our own
host wrote and what the editor saved is no agent's.
"""

import itertools
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakValueDictionary

import anyio
import anyio.to_thread

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.lines import Text
from lsp_agent.workspace.bring_in import BringIn, Brought, Desk, DiskChange, NotOpen, Waits
from lsp_agent.workspace.disk_look import Content, Seen, Unreadable, look, moves
from lsp_agent.workspace.documents import Documents
from lsp_agent.workspace.editor import Editor
from lsp_agent.workspace.file_host import FileHost
from lsp_agent.workspace.ledger import Ledger, Origin
from lsp_agent.workspace.open_document import OpenDocument, alike
from lsp_agent.workspace.paths import from_ledger

__all__ = ["Brought", "DiskChange", "Known", "Mirror", "Waits"]

#: How often a change is looked at anew because its file was opened or closed.
_MAX_TURNS = 5
#: How long an editor may take to write a file, in which a person may type.
_WRITE_SECONDS = 0.3
#: Changes that are recorded at once; more of them would hold up the event loop.
_AT_ONCE = 8


class Known:
    """What one session knows of the disk: the files as they were at its last look, by real path.
    ``at`` says when each was looked at, in the mirror's own count."""

    def __init__(self) -> None:
        self.seen: dict[str, Seen] = {}
        self.at: dict[str, int] = {}

    def keep_only(self, paths: Collection[str]) -> None:
        for path in self.seen.keys() - set(paths):
            del self.seen[path], self.at[path]


@dataclass(frozen=True, slots=True)
class _Accounted:
    """The last text on disk that somebody stands for: our host, the editor, a change that was
    taken. ``document`` was saved as ``content``; ``typing``: it may have been typed in while the
    file was written, and then it knows what the file holds."""

    at: int
    content: Content
    document: OpenDocument | None = None
    typing: bool = False


class Mirror:
    """Of one workspace; sessions share it, so that one change on disk is taken once."""

    def __init__(
        self,
        documents: Documents,
        editor: Editor,
        host: FileHost,
        ledger: Ledger,
        waits: Waits = Waits(),  # noqa: B008 - immutable
    ) -> None:
        self._desk = Desk(documents, editor, host, ledger, waits)
        self._documents = documents
        self._host = host
        self._ledger = ledger
        self._count = itertools.count(1)
        self._watches = 0
        self._accounted: dict[str, _Accounted] = {}
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        #: Texts on disk that wait to be brought in, by path, oldest first.
        self._awaited: dict[str, list[Text]] = {}
        self._recording = anyio.Semaphore(_AT_ONCE)
        host.on_written(self._written)
        documents.on_save(self._saved)

    @contextmanager
    def watching(self) -> Generator[None]:
        """While it is held, it is remembered who has written what."""
        self._watches += 1
        try:
            yield
        finally:
            self._watches -= 1
            if not self._watches:
                self._accounted.clear()

    def open_paths(self) -> list[str]:
        """The real paths of all open documents."""
        return [document.path for document in self._documents.all() if document.path is not None]

    async def look(
        self,
        known: Known,
        paths: Collection[str],
        named: Collection[str] = (),
        *,
        claim: Callable[[str], bool],
    ) -> list[DiskChange]:
        """Looks at ``paths`` and remembers in ``known`` what is there. Returns what has changed
        since the last look and nobody stands for; of the paths for which ``claim`` is true, the
        caller stands for from now on and must ``take`` them, others are nobody's. What is looked
        at for the first time has not changed. ``named`` are paths that a command named: where a
        file that is gone may be now.

        Not to be called again for the same ``known`` before it has returned; a cancelled one can
        be made again."""
        at = next(self._count)
        seen = await anyio.to_thread.run_sync(look, list(paths), known.seen, abandon_on_cancel=True)
        changes: list[DiskChange] = []
        for path, now in seen.items():
            was = known.seen.get(path)
            if was is None or was.content == now.content:
                continue
            before, over = await self._before(path, was.content, known.at[path])
            if before != now.content:
                changes.append(DiskChange(path, before, now.content, over_a_save=over))
        changes, found = await self._with_renames(changes, known, named)
        for path, now in (seen | found).items():
            known.seen[path], known.at[path] = now, at
        claimed = [change for change in changes if claim(change.path)]
        for change in claimed:
            self._account(change.path, change.now)
        return claimed

    async def take(
        self,
        disk: DiskChange,
        origin: Origin,
        *,
        kept: bool = False,
        still_wanted: Callable[[], bool] = lambda: True,
    ) -> Brought:
        """Brings a change that was claimed into the open document, or records it; ``kept``
        without review. What no longer is ``still_wanted`` changes no document and is proposed.
        Changes of one path are taken in the order of the calls."""
        lock = self._locks.get(disk.path)
        if lock is None:
            lock = self._locks[disk.path] = anyio.Lock()
        if isinstance(disk.now, Text):
            self._awaited.setdefault(disk.path, []).append(disk.now)
        try:
            async with lock:
                return await self._take(disk, origin, kept, still_wanted)
        except LspAgentError as error:
            return Brought(disk, "failed", reason=str(error))
        finally:
            self._no_longer_awaited(disk)

    # Who wrote what.

    def _account(self, path: str, content: Content, document: OpenDocument | None = None) -> None:
        if self._watches:
            typing = document is not None and document.clock() - document.typed_at < _WRITE_SECONDS
            self._accounted[path] = _Accounted(next(self._count), content, document, typing)

    def _written(self, path: str, text: Text | None) -> None:
        self._account(path, text)

    def _saved(self, document: OpenDocument) -> None:
        if document.path is not None:
            self._account(document.path, document.text, document)
        if (event := self._desk.saving.pop(document, None)) is not None:
            event.set()

    async def _before(self, path: str, content: Content, at: int) -> tuple[Content, bool]:
        """What the file held before the change, if it held ``content`` at that count; and whether
        that was saved right before it."""
        if self._documents.at(path) is None:
            await self._host.at_rest(from_ledger(path))
        last = self._accounted.get(path)
        if last is None or last.at <= at:
            return content, False
        document = last.document
        if document is None:
            return last.content, False
        await document.compared()
        found = document.disk
        assert isinstance(last.content, Text)
        if last.typing or found is None or alike(last.content, found):
            return found, False
        return last.content, True

    async def _with_renames(
        self, changes: list[DiskChange], known: Known, named: Collection[str]
    ) -> tuple[list[DiskChange], dict[str, Seen]]:
        """With where the files went that are gone, and the files found there."""
        gone = {
            change.path: file_id
            for change in changes
            if change.now is None and (file_id := known.seen[change.path].file_id) is not None
        }
        if not gone:
            return changes, {}
        moved, found = await anyio.to_thread.run_sync(moves, gone, named, abandon_on_cancel=True)
        by_path = {change.path: change for change in changes}
        for old, new in moved.items():
            before = by_path[old].before
            if found[new].content != before:
                continue
            by_path[old] = replace(by_path[old], renamed_to=new)
            by_path.setdefault(new, DiskChange(new, None, before))
        return list(by_path.values()), {p: s for p, s in found.items() if p in by_path}

    def _no_longer_awaited(self, disk: DiskChange) -> None:
        if isinstance(disk.now, Text):
            texts = self._awaited[disk.path]
            # By identity: an equal text may wait again.
            texts[:] = [text for text in texts if text is not disk.now]
            if not texts:
                del self._awaited[disk.path]

    # Taking.

    async def _take(
        self, disk: DiskChange, origin: Origin, kept: bool, still_wanted: Callable[[], bool]
    ) -> Brought:
        for _ in range(_MAX_TURNS):
            document = self._documents.at(disk.path)
            if document is None:
                return await self._record(disk, origin, disk.before, disk.now, kept)
            if disk.now is None:
                # Its text is in the editor; this is to have it back once that is closed.
                gone = await self._record(disk, origin, disk.before, None, True)
                return replace(gone, what="gone", open=True)
            if isinstance(disk.now, Unreadable):
                return Brought(disk, "unreadable", open=True, reason=disk.now.reason)
            into = BringIn(
                self._desk,
                disk,
                disk.now,
                document,
                origin,
                kept=kept,
                still_wanted=still_wanted,
                awaited=partial(self._awaited.__getitem__, disk.path),
            )
            with suppress(NotOpen):
                brought = await into.run()
                await self._host.follow(from_ledger(disk.path), disk.now)
                return brought
        return Brought(disk, "failed", reason=f"{disk.path}: opened and closed too often")

    async def _record(
        self, disk: DiskChange, origin: Origin, before: Content, after: Content, kept: bool
    ) -> Brought:
        for content in (before, after):
            if isinstance(content, Unreadable):
                return Brought(disk, "unreadable", reason=content.reason)
        assert not isinstance(before, Unreadable)
        assert not isinstance(after, Unreadable)
        if before == after:
            return Brought(disk, "nothing")
        status = "kept" if kept else "applied"
        async with self._recording:
            change = await self._ledger.record(origin, disk.path, before, after, status)
        return Brought(disk, "recorded", change=change)
