"""Bringing what came to the disk into the document that is open on it.

The editor may reload the file by itself, at once, late or never, and the person may type and
save meanwhile. The edit is sent by the file host under its rule of proof, so nothing is doubled.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakSet

import anyio
import anyio.to_thread

from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.merge import Merge, merge3_beside, merge3_fine, preferring
from lsp_agent.workspace.changing.file_host import FileHost, NotWanted, View
from lsp_agent.workspace.disk.look import look
from lsp_agent.workspace.disk.paths import from_ledger
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.documents.editor import Editor
from lsp_agent.workspace.documents.open_document import OpenDocument, alike
from lsp_agent.workspace.ledger.change import Change, Origin
from lsp_agent.workspace.ledger.ledger import Ledger
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.mirror.disk_change import Brought, DiskChange, Waits
from lsp_agent.workspace.mirror.shown import ShownTexts
from lsp_agent.workspace.mirror.withheld import WithheldChanges, away
from lsp_agent.workspace.placing.flight import merged
from lsp_agent.workspace.placing.not_made import NotMade

_STOPPED = "the turn was stopped, so it is a proposal."
_HOLDS_BACK = "this editor may say too late what you type, so it is a proposal."

# How often the text may have changed while it was merged in a thread.
_MAX_BEHIND = 3


class NotOpen(Exception):
    """The document was closed meanwhile: look again."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What all documents are merged with. ``slow`` are those whose editor was seen not to reload
    them in time: no use to wait for it again. ``saving``: set by the next didSave."""

    documents: Documents
    editor: Editor
    host: FileHost
    ledger: Ledger
    reviews: Reviews
    waits: Waits
    withheld: WithheldChanges
    shown: ShownTexts = field(default_factory=ShownTexts)
    slow: WeakSet[OpenDocument] = field(default_factory=WeakSet[OpenDocument])
    saving: dict[OpenDocument, anyio.Event] = field(default_factory=dict[OpenDocument, anyio.Event])


class DiskToEditor:
    """One change of one file on disk, on its way into ``document``. ``awaited`` are the texts
    that came to that file, this one first, as they are now known; ``saved_since``: what the
    editor has said since we looked that it saved, last: the disk has no other text any more."""

    def __init__(
        self,
        desk: Desk,
        disk: DiskChange,
        now: Text,
        document: OpenDocument,
        origin: Origin,
        *,
        kept: bool,
        still_wanted: Callable[[], bool],
        awaited: Callable[[], list[Text]],
        saved_since: Callable[[], Text | None],
    ) -> None:
        self._desk = desk
        self._disk = disk
        self._now = now
        self._document = document
        self._origin = origin
        self._kept = kept
        self._still_wanted = still_wanted
        self._awaited = awaited
        self._saved_since = saved_since
        #: What the document held of the file, and was saved as when it began; what is merged
        #: against.
        self._base: Text | None = None
        self._saved: Text | None = None
        self._common: Text | None = None
        self._theirs = now
        #: Whether all of it was in the text that was sent last.
        self._clean = False
        #: A text of the document with what its merge gave.
        self._ahead: tuple[Text, Merge] | None = None

    async def run(self) -> Brought:
        """Raises NotOpen, and LspAgentError where it cannot be recorded or sent."""
        document = self._document
        await document.compared()
        self._theirs = document.shown(self._now)
        self._saved = document.saved
        # What was saved is not what it was made of where it is the older or the newer of the two.
        apart = self._disk.over_a_save or self._saved_since() is not None
        self._common = self._base = base = self._shown_before() if apart else self._saved
        was_shown = self._was_shown()  # before it is forgotten
        if await self._is_the_editors_save():
            return Brought(self._disk, "nothing", open=True)
        self._check_open()
        was_shown = was_shown or self._was_shown()
        if self._is_shown() or base == self._theirs or was_shown:
            return await self._came_by_itself(self._shown_before())
        if base == document.text and await self._reloaded():
            return await self._came_by_itself(self._shown_before())
        if await self._has_read_the_disk():
            return await self._came_by_itself(self._shown_before())
        self._check_open()
        if self._desk.editor.traits.holds_back:
            return await self._propose(None, _HOLDS_BACK)
        if not self._still_wanted():
            return await self._propose(None, _STOPPED)
        return await self._merge()

    def _check_open(self) -> None:
        if self._desk.documents.at(self._disk.path) is not self._document:
            raise NotOpen

    def _shown_before(self) -> Text | None:
        before = self._disk.before
        return self._document.shown(before) if isinstance(before, Text) else self._base

    async def _is_the_editors_save(self) -> bool:
        """A file is written a moment before its didSave comes, and by some editors before what was
        typed last."""
        document, looks_so = self._document, self._looks_like_a_save()
        if (saved := self._saved_since()) is not None:
            return looks_so or alike(saved, self._theirs)
        if not document.dirty:
            return False
        waits = self._desk.waits
        event = self._desk.saving.setdefault(document, anyio.Event())
        shows = waits.saved if document.shows(self._now) else waits.save
        with anyio.move_on_after(waits.busy if looks_so else shows):
            await event.wait()
        if not event.is_set():
            self._desk.saving.pop(document, None)
            return False
        await document.compared()
        return looks_so or document.disk == self._now  # it may have saved once more

    def _looks_like_a_save(self) -> bool:
        """Whether the document showed just that when the file was written."""
        then = self._desk.shown.when(self._document, self._disk.written)
        return then is not None and alike(then, self._theirs)

    # The editor reloads.

    async def _reloaded(self) -> bool:
        """Whether the editor takes the text from the disk, by itself or because it was asked; it
        is enough that it showed it until the next key."""
        shown = anyio.Event()

        def look(_: object = None) -> None:
            if self._is_shown():
                shown.set()

        with self._document.record(look):
            look()
            return await self._takes_it_from_disk(shown)

    async def _takes_it_from_disk(self, shown: anyio.Event) -> bool:
        desk, document = self._desk, self._document
        if document not in desk.slow:
            with anyio.move_on_after(desk.waits.reload):
                await shown.wait()
                return True
            desk.slow.add(document)
        if not desk.editor.traits.can_reload or document.closed or not self._still_wanted():
            return False
        if desk.editor.traits.can_sync:
            await desk.editor.sync(document.uri)
        if document.text != self._base:  # a reload would drop what was typed
            return shown.is_set()
        if await desk.editor.reload(document.uri):
            with anyio.move_on_after(desk.waits.reloaded):
                await shown.wait()
        return shown.is_set()

    def _is_shown(self) -> bool:
        document = self._document
        return not document.closed and any(document.shows(text) for text in self._awaited())

    def _was_shown(self) -> bool:
        """Whether the editor read it before we looked, and was changed again: typed in, undone, or
        by what came to the disk next."""
        shown = self._desk.shown.since(self._document, self._disk.since)
        return any(alike(text, self._theirs) for text in shown)

    async def _has_read_the_disk(self) -> bool:
        """Whether the editor has read the file after others wrote it again."""
        if self._document.has_read_since(self._disk.arrived):
            return True
        if self._document.text == self._base or self._saved_since() is not None:
            return False
        path = self._disk.path
        seen = await anyio.to_thread.run_sync(partial(look, [path], {}), abandon_on_cancel=True)
        content = seen[path].content
        return isinstance(content, Text) and self._document.shows(content)

    async def _came_by_itself(self, before: Text | None) -> Brought:
        """It is in already: by a reload, or since the person opened the file or typed the same."""
        document = self._document
        self._now_in()
        after = self._theirs
        if document.shows(self._now):
            after = document.text  # an editor may show line ends of its own
        elif not self._is_shown():
            before, after = await self._beside_the_persons(before)
        if before == after or (before is not None and alike(before, after)):  # but for line ends
            return Brought(self._disk, "nothing", open=True)
        status = "kept" if self._kept else "applied"
        change = await self._desk.ledger.record(
            self._origin, self._disk.path, before, after, status
        )
        self._is_on_disk(change)
        return Brought(self._disk, "merged", open=True, change=change)

    async def _beside_the_persons(self, before: Text | None) -> tuple[Text | None, Text]:
        """The change of a document that shows more than it: as it is now, and without it. Where
        that cannot be told, what the disk held."""
        if before is not None:
            now = await self._without_later_ones()
            without = await away(merge3_beside, self._theirs, now, before)
            if without.clean and without.text != now:  # else it is out again
                return without.text, now
        return before, self._theirs

    async def _without_later_ones(self) -> Text:
        """What the document shows without what came to the disk next, which is taken after this."""
        now = self._document.text
        last = self._document.shown(self._awaited()[-1])
        later = await away(merge3_beside, last, now, self._theirs)
        return later.text if later.clean else now

    # We merge.

    async def _merge(self) -> Brought:
        if self._base is self._document.saved and not self._disk.over_a_save:
            await self._bring_in_what_others_wrote()
            self._common = await self._desk.withheld.in_common(self._document, self._theirs)
        await self._merge_ahead()
        try:
            placed = await self._desk.host.replace(
                from_ledger(self._disk.path),
                self._origin,
                self._resolve,
                review="off" if self._kept else "after",
                save="never",
                still_wanted=self._still_wanted,
                from_disk=True,
            )
        except NotWanted:
            return await self._propose(None, _STOPPED)
        except NotMade as withheld:
            return await self._propose(None, withheld.why)
        if placed.status == "unknown" and self._clean:
            # base stays: the next change brings this one as well
            return Brought(self._disk, "merged", open=True, change=placed.change)
        if placed.status == "conflict":
            reason = f"{placed.note}, so it is a proposal." if placed.refused else ""
            proposed = await self._propose(None, reason)
            if placed.change is not None and proposed.proposal is not None:
                self._desk.ledger.set_status(placed.change.id, "superseded")
            return proposed
        change = placed.change
        if not self._clean:
            return await self._propose(change)
        if change is None:
            self._check_open()
            # What was withheld of the document and is taken back was never in that.
            held = self._common != self._base
            return await self._came_by_itself(self._common if held else self._shown_before())
        self._now_in()
        self._is_on_disk(change)
        return Brought(self._disk, "merged", open=True, change=change)

    def _resolve(self, view: View) -> Text:
        if not view.open:
            raise NotOpen
        merge = self._merged(view.require_text())
        self._clean = merge.clean
        return merge.text

    async def _bring_in_what_others_wrote(self) -> None:
        """What other programs had written before, which a document with unsaved text has not got:
        as nobody's work, so that a revert of this change leaves it."""
        base, before, disk = self._base, self._shown_before(), self._disk.before
        if base is None or before is None or base == before or not isinstance(disk, Text):
            return

        def resolve(view: View) -> Text:
            if not view.open:
                raise NotOpen
            with_it = merged(base, before, view.require_text())
            if with_it is None:
                raise NotWanted
            return with_it

        path, label = from_ledger(self._disk.path), "agent: written by others"
        with suppress(NotMade, NotWanted):
            entry = await self._desk.host.put(path, resolve, label, from_disk=True)
            if entry.is_in and self._document.saved is base:
                self._document.brought_in(disk)
                self._base = self._saved = self._document.saved

    async def _merge_ahead(self) -> None:
        """The edit is made in the event loop, which a long merge would hold up; whoever types all
        the time has to wait for it in the end."""
        for _ in range(_MAX_BEHIND):
            ours = self._document.text
            merge = await away(merge3_fine, self._common or EMPTY, ours, self._theirs)
            self._ahead = ours, merge
            if self._document.text is ours:
                break

    def _merged(self, ours: Text) -> Merge:
        if self._ahead is not None and self._ahead[0] is ours:
            return self._ahead[1]
        return merge3_fine(self._common or EMPTY, ours, self._theirs)

    def _now_in(self) -> None:
        document = self._document
        # Else it was saved since, or what it has read is what came to the disk after this.
        is_saved = document.saved is not self._saved or self._saved_since() is not None
        if not is_saved and not document.has_read_since(self._disk.arrived):
            document.brought_in(self._now)

    def _is_on_disk(self, change: Change) -> None:
        before = self._shown_before()
        if before is not None and not self._kept and self._saved_since() is None:
            self._desk.reviews.on_disk(self._disk.path, before, self._theirs, change)

    async def _propose(self, change: Change | None, reason: str = "") -> Brought:
        """What is not in becomes a proposal: the document with the agent's lines in the places
        that both have changed."""
        if change is None:
            self._check_open()
            if await self._has_read_the_disk():  # as this was on its way
                return await self._came_by_itself(self._shown_before())
            self._check_open()
        ours = self._document.text
        preferred = await away(preferring, self._common or EMPTY, self._theirs, ours)
        theirs = ours.with_lines(preferred.lines)
        if theirs == ours and change is None:
            return await self._came_by_itself(self._shown_before())
        self._now_in()
        if theirs == ours:
            return Brought(self._disk, "merged", open=True, change=change)
        origin, path = self._origin, self._disk.path
        proposal = await self._desk.ledger.record(origin, path, ours, theirs, "proposed")
        await self._withhold(change, proposal.id)
        self._is_on_disk(proposal)
        await self._supersede(ours, theirs, proposal.id)
        return Brought(
            self._disk, "proposed", open=True, change=change, proposal=proposal, reason=reason
        )

    async def _withhold(self, change: Change | None, proposal_id: str) -> None:
        """``change`` is what of it went in."""
        without = self._common or EMPTY
        if change is not None:
            before, after = change.before or EMPTY, change.after or EMPTY
            without = await away(merged, before, after, without) or without
        self._desk.withheld.add(self._document, proposal_id, without, self._theirs)

    async def _supersede(self, ours: Text, theirs: Text, proposal_id: str) -> None:
        """Ends the session's older proposals for lines that this one is for as well."""
        ledger = self._desk.ledger
        for change in ledger.changes(
            session_id=self._origin.session_id, path=self._disk.path, status="proposed"
        ):
            if change.id == proposal_id:
                continue
            older = await ledger.loaded(change.id)
            with_older = await away(merged, older.before or EMPTY, older.after or EMPTY, ours)
            if with_older is None or await away(merged, ours, theirs, with_older) is not None:
                continue
            present = ledger.get(change.id)
            if present is not None and present.status == "proposed":  # not decided meanwhile
                ledger.set_status(change.id, "superseded")
