"""What agents and their commands change on disk by themselves, brought together with what the
editor shows.

The disk is changed already, so nothing here writes to it: an open document is merged with its
file, a change of any other file is recorded. Whose change it is the caller knows; what our own
host wrote and what the editor saved is no agent's.
"""

import itertools
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from weakref import WeakKeyDictionary, WeakValueDictionary

import anyio
import anyio.to_thread

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.lines import Text
from lsp_agent.workspace.changing.file_host import FileHost
from lsp_agent.workspace.disk.look import Content, Seen, Unreadable, look, moves
from lsp_agent.workspace.disk.paths import from_ledger
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.documents.open_document import OpenDocument, alike
from lsp_agent.workspace.ledger.change import Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.mirror.disk_change import Brought, DiskChange, Waits
from lsp_agent.workspace.mirror.disk_to_editor import Desk, DiskToEditor, NotOpen
from lsp_agent.workspace.mirror.watcher import Known, Watcher
from lsp_agent.workspace.mirror.withheld import WithheldChanges

#: How often a change is looked at anew because its file was opened, closed or written.
_MAX_TURNS = 5
#: How long an editor may take to write a file, in which a person may type.
_WRITE_SECONDS = 0.3
#: How long a file is looked at again that an editor may be in the middle of writing, in seconds:
#: nearly all of it is the time in which the machine has other work.
_WRITING_SECONDS = 1.0
_WRITING_LOOKS = 0.02
#: Likewise one that is away, which another one is about to take the place of.
_AWAY_SECONDS = 0.1
#: Changes that are recorded at once; more of them would hold up the event loop.
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class _Accounted:
    """The last text on disk that somebody stands for: our host, the editor, a change that was
    taken. ``document`` was saved as ``content``; ``typing``: it may have been typed in while the
    file was written, which then holds what it showed before."""

    at: int
    content: Content
    document: OpenDocument | None = None
    typing: bool = False


_OthersFinds = tuple[Watcher, list[DiskChange], dict[str, Seen]]


@dataclass(frozen=True, slots=True)
class _Finds:
    """What one look saw, what of it is the looking session's, and what is others'."""

    at: int
    seen: dict[str, Seen]
    claimed: list[DiskChange]
    others: list[_OthersFinds]


class Mirror:
    """Of one workspace; sessions share it, so that one change on disk is taken once."""

    def __init__(
        self,
        documents: Documents,
        editor: Editor,
        host: FileHost,
        ledger: Ledger,
        reviews: Reviews,
        waits: Waits = Waits(),  # noqa: B008 - immutable
    ) -> None:
        self._desk = Desk(documents, editor, host, ledger, reviews, waits, WithheldChanges(ledger))
        self._documents = documents
        self._host = host
        self._ledger = ledger
        self._count = itertools.count(1)
        self._watchers: list[Watcher | None] = []
        #: Two looks at once would each take what it has read for what came last.
        self._looking = anyio.Lock()
        self._accounted: dict[str, _Accounted] = {}
        #: The count when the editor said last that it had saved it, and as what.
        self._saved_at: WeakKeyDictionary[OpenDocument, tuple[int, Text]] = WeakKeyDictionary()
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        #: Texts on disk that wait to be brought in, by path, oldest first.
        self._awaited: dict[str, list[Text]] = {}
        #: Files that are looked at again and again, since they may be half written.
        self._begun: list[str] = []
        self._recording = anyio.Semaphore(_AT_ONCE)
        reviews.documents.claimed_while(lambda: bool(self._watchers))
        host.on_written(self._written)
        host.wait_for(self._settled)
        documents.on_save(self._saved)
        documents.on_open(self._changed)
        documents.on_changed(self._changed)

    @contextmanager
    def watching(self, watcher: Watcher | None = None) -> Generator[None]:
        """While it is held, it is remembered who has written what, and ``watcher`` is told of what
        others find."""
        if not self._watchers:
            self._desk.shown.begin(self._documents.all())
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)
            if not self._watchers:
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
        only_unknown: bool = False,
    ) -> list[DiskChange]:
        """Looks at ``paths`` and remembers in ``known`` what is there. Returns what has changed
        since the last look and nobody stands for; of the paths for which ``claim`` is true, the
        caller stands for from now on and must ``take`` them, others are nobody's. What is looked
        at for the first time has not changed. ``named`` are paths that a command named: where a
        file that is gone may be now. With ``only_unknown`` it is not looked at what ``known`` has
        once the looks that began earlier are over.

        A cancelled one can be made again."""
        async with self._looking:
            if only_unknown:
                paths = [path for path in paths if path not in known.seen]
            finds = await self._find(known, paths, named, claim)
            for _ in range(_MAX_TURNS):
                if not any(self._accounted_since(path, finds.at) for path in finds.seen):
                    break
                # It may have been read before that was written.
                finds = await self._find(known, paths, named, claim)
            known.update(finds.seen, finds.at)
            for change in finds.claimed:
                self._account(change.path, change.now)
            for watcher, changes, seen in finds.others:
                watcher.known.update(seen, finds.at)
                for change in changes:
                    self._account(change.path, change.now)
                watcher.found(changes)
            return finds.claimed

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
                brought = await self._take(disk, origin, kept, still_wanted)
                both = brought.change, brought.proposal
                self._ledger.mark_on_disk(change.id for change in both if change is not None)
                return brought
        except LspAgentError as error:
            return Brought(disk, "failed", reason=str(error))
        finally:
            self._no_longer_awaited(disk)

    async def _settled(self, path: str) -> None:
        """Returns when no change of that path that was claimed waits to be taken, nor one that may
        be claimed once its file is known to be written to its end."""
        if path in self._begun:
            async with self._looking:
                pass
        if (lock := self._locks.get(path)) is not None:
            async with lock:
                pass

    # Who wrote what.

    def _account(self, path: str, content: Content, document: OpenDocument | None = None) -> None:
        if self._watchers:
            typing = document is not None and document.clock() - document.typed_at < _WRITE_SECONDS
            self._accounted[path] = _Accounted(next(self._count), content, document, typing)

    def _written(self, path: str, text: Text | None) -> None:
        self._account(path, text)

    def _saved(self, document: OpenDocument) -> None:
        if document.path is not None:
            self._saved_at[document] = next(self._count), document.text
            self._account(document.path, document.text, document)
        if (event := self._desk.saving.pop(document, None)) is not None:
            event.set()

    def _changed(self, document: OpenDocument) -> None:
        if self._watchers:
            self._desk.shown.add(document, next(self._count))

    def _saved_since(self, disk: DiskChange, document: OpenDocument) -> Text | None:
        at, text = self._saved_at.get(document, (0, None))
        return text if at > disk.found else None

    async def _find(
        self,
        known: Known,
        paths: Collection[str],
        named: Collection[str],
        claim: Callable[[str], bool],
    ) -> _Finds:
        at = next(self._count)
        seen = await self._read(known, paths)
        changes, moved = await self._new_to(known, seen, named)
        claimed = [change for change in changes if claim(change.path)]
        others = await self._new_to_others(known, seen, claimed)
        return _Finds(at, seen | moved, claimed, others)

    async def _read(self, known: Known, paths: Collection[str]) -> dict[str, Seen]:
        """What the disk holds; of a file that an editor seems to be writing, what it then has."""
        seen = await anyio.to_thread.run_sync(look, list(paths), known.seen, abandon_on_cancel=True)
        began = anyio.current_time()
        try:
            while found := [p for p in seen if self._may_be_half_written(p, known, seen[p], began)]:
                self._begun = found
                await anyio.sleep(_WRITING_LOOKS)
                seen |= await anyio.to_thread.run_sync(look, found, seen, abandon_on_cancel=True)
        finally:
            self._begun = []
        return seen

    def _may_be_half_written(self, path: str, known: Known, seen: Seen, began: float) -> bool:
        """Whether an editor seems to be in the middle of writing what is new there, which it has
        been looked at for since ``began``."""
        document, was = self._documents.at(path), known.seen.get(path)
        if document is None or was is None or was.content == seen.content:
            return False
        waited = anyio.current_time() - began
        if not isinstance(seen.content, Text):
            return waited < _AWAY_SECONDS
        return waited < _WRITING_SECONDS and self._desk.shown.may_be_half_written(
            document, seen.content
        )

    def _accounted_since(self, path: str, at: int) -> bool:
        last = self._accounted.get(path)
        return last is not None and last.at > at

    async def _new_to(
        self, known: Known, seen: Mapping[str, Seen], named: Collection[str]
    ) -> tuple[list[DiskChange], dict[str, Seen]]:
        """What has changed there since the last look that is in ``known``, and nobody stands for;
        and the files found where others went."""
        changes: list[DiskChange] = []
        for path, now in seen.items():
            was = known.seen.get(path)
            if was is None or was.content == now.content:
                continue
            before, over = await self._before(path, was.content, known.at[path])
            if before != now.content:
                last = self._accounted.get(path)
                since = max(known.at[path], last.at if last else 0)
                changes.append(
                    DiskChange(
                        path,
                        before,
                        now.content,
                        over_a_save=over,
                        since=since,
                        found=next(self._count),
                        written=now.written,
                        arrived=now.arrived,
                    )
                )
        return await self._with_renames(changes, known, named)

    async def _new_to_others(
        self, known: Known, seen: Mapping[str, Seen], claimed: Sequence[DiskChange]
    ) -> list[_OthersFinds]:
        """What others stand for of what is not ``claimed``, each change once."""
        left = {path: seen[path] for path in seen.keys() - {change.path for change in claimed}}
        finds: list[_OthersFinds] = []
        for watcher in tuple(self._watchers):
            if watcher is None or watcher.known is known:
                continue
            its = {path: now for path, now in left.items() if watcher.claims(path)}
            changes, moved = await self._new_to(watcher.known, its, watcher.named())
            if changes:
                its |= moved
                new = {change.path: its[change.path] for change in changes}
                finds.append((watcher, changes, new))
                left = {path: now for path, now in left.items() if path not in new}
        return finds

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
        if found is None or alike(last.content, found):
            return found, False
        if last.typing and not self._desk.shown.is_foreign(document, found, _WRITE_SECONDS):
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
            gone_one, there = by_path[old], found[new]
            if there.content != gone_one.before:
                continue
            by_path[old] = replace(gone_one, renamed_to=new)
            come = DiskChange(
                new,
                None,
                there.content,
                found=gone_one.found,
                written=there.written,
                arrived=there.arrived,
            )
            by_path.setdefault(new, come)
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
                if isinstance(disk.before, Text):
                    self._host.written_by_others(from_ledger(disk.path), disk.before)
                return await self._record(disk, origin, disk.before, disk.now, kept)
            if disk.now is None:
                # Its text is in the editor; this is to have it back once that is closed.
                gone = await self._record(disk, origin, disk.before, None, True)
                return replace(gone, what="gone", open=True)
            if isinstance(disk.now, Unreadable):
                return Brought(disk, "unreadable", open=True, reason=disk.now.reason)
            into = DiskToEditor(
                self._desk,
                disk,
                disk.now,
                document,
                origin,
                kept=kept,
                still_wanted=still_wanted,
                awaited=partial(self._awaited.__getitem__, disk.path),
                saved_since=partial(self._saved_since, disk, document),
            )
            with suppress(NotOpen):
                brought = await into.run()
                if self._saved_since(disk, document) is None:
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
