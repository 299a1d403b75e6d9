"""The ledger's changes as clients see them: edits, with their hunks where they are now."""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from weakref import ref

import anyio.to_thread
from anyio.lowlevel import checkpoint

from lsp_agent.protocol.edits import Edit, EditStatus, EditSummary, Hunk, Position, Range
from lsp_agent.protocol.errors import RequestFailed
from lsp_agent.protocol.events import EditChanged, EditEventName
from lsp_agent.text.diff import Hunk as DiffHunk
from lsp_agent.text.diff import diff
from lsp_agent.text.lines import EMPTY, Text, is_long
from lsp_agent.text.live_hunks import LiveHunk, awaited_hunks, live_hunks, with_hunks
from lsp_agent.text.positions import to_units
from lsp_agent.text.review import Review
from lsp_agent.text.review_hunks import ReviewHunk
from lsp_agent.workspace.changing.file_host import FileHost
from lsp_agent.workspace.disk.files import FileProblem
from lsp_agent.workspace.disk.paths import OutsideWorkspace, from_ledger, path_to_uri
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed
from lsp_agent.workspace.ledger.reviews import Reviews

_log = logging.getLogger(__name__)

#: How often a file is looked at that agents change meanwhile.
_LOOKS = 5
#: Changes whose hunks are remembered.
_DIFFS = 100
#: Statuses of what may still be put into the workspace.
APPLICABLE: frozenset[str] = frozenset({"proposed", "conflict", "lost"})

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


class EditViews:
    """All positions are in the encoding that the client negotiated; a hunk's id is its place in
    its edit."""

    def __init__(
        self, ledger: Ledger, host: FileHost, documents: Documents, reviews: Reviews
    ) -> None:
        self._ledger = ledger
        self._host = host
        self._documents = documents
        self._reviews = reviews
        self._diffs = _Diffs()
        reviews.documents.follow(documents)

    def subscribe(self, callback: Callable[[str], None]) -> Callable[[], None]:
        """Calls ``callback(path)`` when an agent or a decision changed what there is to review
        in a file; returns what ends that."""
        return self._reviews.subscribe(callback)

    async def find(
        self,
        session_id: str | None = None,
        path: str | None = None,
        statuses: Collection[EditStatus] | None = None,
        *,
        open_only: bool = False,
    ) -> list[Edit]:
        """The edits that fit all that is given, oldest first; not those whose texts are needed for
        it and gone. ``open_only`` leaves out the decided hunks of applied edits, whose place costs
        a diff, where none was lost."""
        edits: list[Edit] = []
        for _ in range(_LOOKS):
            found = self._ledger.changes(session_id=session_id, path=path)
            edits = await self._listed(found, statuses, open_only=open_only)
            # One that came meanwhile may have taken over hunks of those.
            if self._ledger.changes(session_id=session_id, path=path)[-1:] == found[-1:]:
                break
        return edits

    def any_beside(self, path: str | None, statuses: Collection[EditStatus]) -> bool:
        """Whether another file than ``path`` has such an edit, as far as is known without a look
        at the files."""
        changes = self._ledger.changes()
        return any(each.status in statuses and each.path != path for each in changes)

    async def look(self, session_id: str) -> None:
        """Takes what was typed since into the reviews of the files that the session changed."""
        for path in {change.path for change in self._ledger.changes(session_id=session_id)}:
            if self._reviews.mark(path) is not None:
                await self.shown(path)

    def summaries(self, session_id: str, turn_id: str) -> list[EditSummary]:
        return [
            EditSummary(edit_id=change.id, uri=self._uri(change), status=change.status)
            for change in self._ledger.changes(session_id=session_id)
            if change.turn_id == turn_id and change.status != "pending"
        ]

    async def get(self, edit_id: str) -> Edit:
        """:raises RequestFailed: "unknownEdit"; "editorFailed" where its texts are gone"""
        change = await self._change(edit_id)
        seen = await self._seen(change.path)
        return await self._edit(self._ledger.get(edit_id) or change, seen)

    async def texts(self, edit_id: str, hunks: Sequence[str] | None = None) -> tuple[Text, Text]:
        """The whole texts before an edit and after it, or after these hunks of it.

        :raises RequestFailed: as ``get``
        """
        change = await self._change(edit_id)
        before, after = change.before or EMPTY, change.after or EMPTY
        if hunks is not None:
            after = with_hunks(before, after, indexes_of(change, hunks))
        return before, after

    def event(self, change: Change) -> EditChanged | None:
        """The event that tells of a change's new status, told at once so that events keep their
        order: of a file that is not open it is known what it now holds. In a long text it leaves
        out decided hunks, which take long to find again and can be asked for."""
        if change.status == "pending":
            return None
        if change.cold:  # an old one that nobody decided just now; its hunks can be asked for
            return EditChanged(_EVENTS[change.status], self._edit_of(change, ()))
        document = self._documents.at(change.path)
        if document is not None:
            now = document.text
            review = self._reviews.current(change.path, now)
        else:  # not known well enough to be remembered
            now = _left_by(change)
            review = self._reviews.peek(change.path, now)
        reviewed = [hunk for hunk in review.hunks if hunk.change_id == change.id]
        short = not is_long(now.lines) or change.status in APPLICABLE
        recorded = self._diffs.recorded(change, now) if short else ()
        edit = self._edit_on(change, now, review, reviewed, recorded)
        return EditChanged(_EVENTS[change.status], edit)

    async def _change(self, edit_id: str) -> Change:
        """With its texts, which the ledger then has too for whom it tells of a decision."""
        try:
            return await self._ledger.loaded(edit_id)
        except KeyError:
            raise RequestFailed("unknownEdit", f"There is no edit {edit_id!r}.") from None
        except LedgerFailed as error:
            raise RequestFailed("editorFailed", str(error), {"editId": edit_id}) from error

    async def shown(self, path: str) -> Text | None:
        """What a file shows, with what was typed taken into its review; None where that cannot
        be told."""
        for _ in range(_LOOKS):
            mark = self._reviews.mark(path)
            now = await _text_now(self._host, path)
            if now is None:
                return None
            # What was read may be from before a change that has gone in since.
            if self._reviews.mark(path) is mark and await self._reviews.refresh(path, now):
                return now
        return None

    async def _listed(
        self,
        changes: Iterable[Change],
        statuses: Collection[EditStatus] | None = None,
        *,
        open_only: bool = False,
    ) -> list[Edit]:
        """Each file is looked at once."""
        edits: list[Edit] = []
        seen: dict[str, _Seen] = {}
        for change in changes:
            await checkpoint()  # there may be many that need nothing to be waited for
            under_review = self._reviews.mark(change.path) is not None
            if change.path not in seen and (under_review or _fits(change, statuses)):
                # What was typed since may have ended the review of some, or opened it again.
                seen[change.path] = await self._seen(change.path)
            present = self._ledger.get(change.id)
            if present is None or not _fits(present, statuses):
                continue
            try:
                edits.append(await self._edit(present, seen[change.path], open_only=open_only))
            except (KeyError, LedgerFailed) as error:
                _log.warning("edit %s is not listed: %s", change.id, error)
        return edits

    async def _seen(self, path: str) -> "_Seen":
        return _Seen(self._reviews, path, await self.shown(path))

    async def _edit(self, change: Change, seen: "_Seen", *, open_only: bool = False) -> Edit:
        wants_own = _has_recorded(change)
        if open_only and change.status == "applied" and "lost" not in change.decided.values():
            wants_own = False
        if wants_own or seen.now is None:
            change = await self._ledger.loaded(change.id)
        if seen.now is None:
            seen = _Seen(self._reviews, change.path, _left_by(change))
        now = seen.now or EMPTY
        review = seen.review()
        reviewed = seen.hunks_of(change.id)
        recorded: Sequence[LiveHunk] = ()
        if wants_own and is_long(now.lines):
            recorded = await anyio.to_thread.run_sync(self._diffs.recorded, change, now)
        elif wants_own:
            recorded = self._diffs.recorded(change, now)
        return self._edit_on(change, now, review, reviewed, recorded)

    def _edit_on(
        self,
        change: Change,
        now: Text,
        review: Review,
        reviewed: Iterable[ReviewHunk],
        recorded: Iterable[LiveHunk],
    ) -> Edit:
        """Hunks under review as they are now; the change's own ones as they would be, where they
        are not under review."""
        assert change.status != "pending"
        spans: dict[int, ReviewHunk] = {}
        for hunk in reviewed:  # one with another's in its middle is there in two places
            above = spans.get(hunk.index)
            spans[hunk.index] = _from(above, hunk) if above else hunk
        hunks = {index: self._reviewed(hunk, review, now) for index, hunk in spans.items()}
        for hunk in recorded:
            status = change.decided.get(hunk.index, change.status)
            hunks.setdefault(hunk.index, self._recorded(status, hunk, now))
        return self._edit_of(change, tuple(hunks[index] for index in sorted(hunks)))

    def _edit_of(self, change: Change, hunks: tuple[Hunk, ...]) -> Edit:
        assert change.status != "pending"
        return Edit(
            edit_id=change.id,
            session_id=change.session_id,
            turn_id=change.turn_id,
            tool_call_id=change.tool_call_id,
            uri=self._uri(change),
            status=change.status,
            hunks=hunks,
        )

    def _reviewed(self, hunk: ReviewHunk, review: Review, now: Text) -> Hunk:
        # Where the agent has left nothing, what stands there now is the person's.
        gone = hunk.left == () and not hunk.mixed
        return Hunk(
            hunk_id=str(hunk.index),
            status="applied",
            range=self._range(now, hunk.start, hunk.start if gone else hunk.end),
            old_text="".join(review.old_lines_of(hunk)),
            new_text="" if gone else "".join(review.lines_of(hunk)),
        )

    def _recorded(self, status: EditStatus, hunk: LiveHunk, now: Text) -> Hunk:
        return Hunk(
            hunk_id=str(hunk.index),
            status=status,
            range=self._range(now, hunk.start_line, hunk.end_line),
            old_text="".join(hunk.old_lines),
            new_text="".join(hunk.new_lines),
        )

    def _range(self, now: Text, start: int, end: int) -> Range:
        return Range(start=self._position(now, start), end=self._position(now, end))

    def _uri(self, change: Change) -> str:
        document = self._documents.at(change.path)
        return document.uri if document else path_to_uri(change.path)

    def _position(self, now: Text, line: int) -> Position:
        """The start of a line; past the last one, the end of the text."""
        if line < len(now.lines) or line == 0:
            return Position(line=line, character=0)
        last = now.lines[-1]
        if last.endswith(("\n", "\r")):
            return Position(line=len(now.lines), character=0)
        units = to_units(last, len(last), self._documents.encoding)
        return Position(line=len(now.lines) - 1, character=units)


def _from(above: ReviewHunk, below: ReviewHunk) -> ReviewHunk:
    return replace(above, base_end=below.base_end, end=below.end, left=None)


class _Seen:
    """What a file shows, None where that cannot be told, with its review: many changes may have
    hunks in it."""

    def __init__(self, reviews: Reviews, path: str, now: Text | None) -> None:
        self.now = now
        self._reviews = reviews
        self._path = path
        self._mark: object = None
        self._review: Review | None = None
        self._hunks: dict[str, list[ReviewHunk]] = {}

    def review(self) -> Review:
        """As it is by now."""
        mark = self._reviews.mark(self._path)
        if self._review is None or mark is not self._mark:
            self._mark = mark
            self._review = self._reviews.peek(self._path, self.now or EMPTY)
            self._hunks = {}
            for hunk in self._review.hunks:
                self._hunks.setdefault(hunk.change_id, []).append(hunk)
        return self._review

    def hunks_of(self, change_id: str) -> Sequence[ReviewHunk]:
        """The change's in ``review``."""
        self.review()
        return self._hunks.get(change_id, ())


class _Diffs:
    """The hunks of changes that wait to be applied: they are shown anew after each key, and
    finding them in a long text takes far longer than finding what was typed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[ref[Text], ref[Text], list[DiffHunk]]] = {}
        # A decision is often told twice, of the hunks and of the change.
        self._last: tuple[list[ref[Text]], list[LiveHunk]] = [], []

    def recorded(self, change: Change, now: Text) -> list[LiveHunk]:
        """The change's own hunks, where not all of them are under review. In any thread."""
        if not _has_recorded(change):
            return []
        before, after = change.before or EMPTY, change.after or EMPTY
        if change.status not in APPLICABLE:
            return self._live(before, after, now)
        return awaited_hunks(before, after, now, self._of(change.id, before, after))

    def _live(self, *texts: Text) -> list[LiveHunk]:
        refs, found = self._last
        if not refs or any(ref() is not text for ref, text in zip(refs, texts, strict=True)):
            found = live_hunks(*texts)
            self._last = [ref(text) for text in texts], found
        return found

    def _of(self, change_id: str, before: Text, after: Text) -> list[DiffHunk]:
        known = self._known.get(change_id)
        if known is None or (known[0](), known[1]()) != (before, after):
            known = ref(before), ref(after), diff(before.lines, after.lines)
            if len(self._known) >= _DIFFS:
                self._known.clear()
            self._known[change_id] = known
        return known[2]


def indexes_of(change: Change, hunks: Sequence[str]) -> list[int]:
    """:raises RequestFailed: "unknownEdit" for an id that the change has no hunk of"""
    known = diff((change.before or EMPTY).lines, (change.after or EMPTY).lines)
    names = {str(index): index for index in range(len(known))}
    for hunk in hunks:
        if hunk not in names:
            raise RequestFailed(
                "unknownEdit",
                f"The edit has no hunk {hunk!r}; it has {', '.join(names) or 'none'}.",
                {"editId": change.id},
            )
    return [names[hunk] for hunk in hunks]


async def _text_now(host: FileHost, path: str) -> Text | None:
    """What a recorded path shows now, empty where nothing is; None where that cannot be told."""
    try:
        view = await host.view(from_ledger(path), None)
    except (FileProblem, OutsideWorkspace):
        return None
    return None if view.not_text else view.text or EMPTY


def _has_recorded(change: Change) -> bool:
    """Whether the change has hunks that are not under review."""
    return change.status != "applied" or bool(change.decided)


def _fits(change: Change, statuses: Collection[EditStatus] | None) -> bool:
    return change.status != "pending" and (statuses is None or change.status in statuses)


def _left_by(change: Change) -> Text:
    """The text that a change left, where nothing else has come since."""
    is_in = change.status in ("applied", "kept", "unknown")
    return (change.after if is_in else change.before) or EMPTY
