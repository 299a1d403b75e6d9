"""The review of the agents' edits: what a person decides on them, hunk by hunk or all at once."""

from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Collection, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

import anyio
from anyio.lowlevel import checkpoint

from lsp_agent.protocol.edits import Edit
from lsp_agent.protocol.errors import LspAgentError, RequestFailed
from lsp_agent.protocol.settings.settings import Settings
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.traces import Key
from lsp_agent.workspace.changing.file_host import FileHost, Placed, Save
from lsp_agent.workspace.disk.files import ChangedOnDisk, NotText
from lsp_agent.workspace.disk.paths import OutsideWorkspace
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.change_hunks import open_indexes
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.review.views import APPLICABLE, EditViews, indexes_of

#: Statuses on which keep, reject and apply change nothing more. Fewer than the ledger's, which
#: only asks what nobody waits for: a conflict or a lost edit may still be applied by hand.
_DECIDED: frozenset[str] = frozenset({"kept", "rejected", "superseded"})
#: Statuses of what may have hunks that are not in: of an applied edit those that were lost.
_IN_PART: frozenset[str] = APPLICABLE | {"applied"}


@dataclass(frozen=True, slots=True)
class Rejection:
    """What a person took back of a change, for the agent that made it."""

    change: Change
    reason: str | None


@dataclass(frozen=True, slots=True)
class Unapplied:
    """An edit that did not get in, and why."""

    edit_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class _AtHand:
    """``changes`` of one file, with their texts, and what the file shows: None where that cannot
    be told. ``under`` are those that open hunks took over: a decision may be on these too."""

    changes: Sequence[Change]
    now: Text | None
    under: Sequence[Change]


class Edits(EditViews):
    """One decision on a file at a time: another one that comes meanwhile sees what the first has
    made of it. ``settings`` are those that hold at a path."""

    def __init__(
        self,
        ledger: Ledger,
        host: FileHost,
        documents: Documents,
        reviews: Reviews,
        settings: Callable[[str], Settings],
    ) -> None:
        super().__init__(ledger, host, documents, reviews)
        self._settings = settings
        self._locks: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._on_rejected: list[Callable[[Rejection], None]] = []

    def on_rejected(self, callback: Callable[[Rejection], None]) -> None:
        """Calls ``callback`` with what a person takes back."""
        self._on_rejected.append(callback)

    # -- one edit, or hunks of it

    async def apply(
        self, edit_id: str, hunks: Sequence[str] | None = None
    ) -> tuple[bool, str | None, Edit]:
        """Puts an edit that is not in, or some hunks of it, into the workspace: (applied, why
        not, the edit).

        :raises RequestFailed: "outsideWorkspace", "conflict" or "editorFailed" where the file
            cannot be changed; "unknownEdit" for a hunk that it does not have
        """
        reason = await self._apply(edit_id, hunks)
        edit = await self.get(edit_id)
        gone = [hunk for hunk in edit.hunks if hunk.status == "rejected"]
        if reason is None and any(hunk.hunk_id in (hunks or ()) for hunk in gone):
            reason = "A hunk is rejected; nothing of it is left to apply."
        return reason is None, reason, edit

    async def reject(
        self, edit_id: str, hunks: Sequence[str] | None = None, reason: str | None = None
    ) -> Edit:
        """Drops an edit that is not in, or takes an applied one back out; or some hunks of
        either. The agent is told, with the ``reason``.

        :raises RequestFailed: "conflict" where the person has since changed its lines;
            "outsideWorkspace", "conflict" or "editorFailed" where the file cannot be changed, or
            the editor refuses; "unknownEdit" for a hunk that it does not have
        """
        async with self._deciding(edit_id) as at_hand:
            (change,) = at_hand.changes
            if change.status not in _DECIDED:
                wanted = None if hunks is None else indexes_of(change, hunks)
                for placed in await self._take_back(at_hand, wanted):
                    if placed.status != "rejected":
                        raise _not_out(placed, edit_id)
                self._tell_rejected(change, reason)
            return await self.get(edit_id)

    async def keep(self, edit_id: str, hunks: Sequence[str] | None = None) -> Edit:
        """Ends the review of an applied edit, or of some hunks of it.

        :raises RequestFailed: "conflict" for an edit that is not in the workspace; "unknownEdit"
            for a hunk that it does not have
        """
        async with self._deciding(edit_id) as at_hand:
            (change,) = at_hand.changes
            if change.status not in _DECIDED:
                wanted = None if hunks is None else indexes_of(change, hunks)
                if (
                    not self._keep(change, at_hand.now, wanted)
                    and change.status != "applied"
                    and not _all_decided(change, wanted)
                ):
                    raise RequestFailed(
                        "conflict",
                        f"The edit is {change.status}; apply it first.",
                        {"editId": edit_id},
                    )
            return await self.get(edit_id)

    # -- all that fit what is given

    async def apply_all(
        self, session_id: str | None = None, turn_id: str | None = None, path: str | None = None
    ) -> tuple[list[Edit], list[Unapplied]]:
        """Puts every proposal that fits all that is given into the workspace, oldest first: (all
        of them, why some are not in). None of them keeps the others out."""
        failures: list[Unapplied] = []
        found = [c for c in self._open(session_id, turn_id, path) if c.status == "proposed"]
        for change in found:
            try:
                reason = await self._apply(change.id, None)
            except RequestFailed as error:
                reason = str(error)
            if reason is not None:
                failures.append(Unapplied(change.id, reason))
        return await self._listed(found), failures

    async def keep_all(
        self, session_id: str | None = None, turn_id: str | None = None, path: str | None = None
    ) -> list[Edit]:
        """Keeps every applied edit, and what is in of the others, that fits all that is given."""
        kept: list[Change] = []
        for edit_ids in _by_path(self._open(session_id, turn_id, path)):
            async with self._deciding(*edit_ids) as at_hand:
                for change in at_hand.changes:
                    await checkpoint()  # there may be many, each of them told of
                    now = await self.shown(change.path)
                    if self._keep(self._present(change), now, None):
                        kept.append(change)
        return await self._listed(kept)

    async def undo_all(
        self, session_id: str | None = None, turn_id: str | None = None, path: str | None = None
    ) -> list[Edit]:
        """Takes every open hunk that fits all that is given out of the workspace, one step a
        file, and drops such proposals; hunks that clash with the person's lines stay open.

        :raises RequestFailed: as ``reject``, once the other files have been gone through
        """
        found = self._open(session_id, turn_id, path)
        failed: RequestFailed | None = None
        for edit_ids in _by_path(found):
            try:
                async with self._deciding(*edit_ids) as at_hand:
                    placed = await self._take_back(at_hand, None)
                    for change in at_hand.changes:
                        self._tell_rejected(change, None)
                    for each in placed:
                        if each.refused or each.status == "unknown":
                            raise _not_out(each, edit_ids[0])
            except RequestFailed as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return await self._listed(found)

    # -- how

    @asynccontextmanager
    async def _deciding(self, *edit_ids: str) -> AsyncGenerator[_AtHand]:
        """These edits of one file, while no other decision is taken on it."""
        changes = [await self._change(edit_id) for edit_id in edit_ids]
        path = changes[0].path
        await self._host.brought_in(path)
        lock = self._locks.get(path)
        if lock is None:
            lock = self._locks[path] = anyio.Lock()
        async with lock:
            now = await self.shown(path)
            with _failures(edit_ids[0]):
                under = await self._under(path, now)
                yield _AtHand([self._present(change) for change in changes], now, under)

    async def _under(self, path: str, now: Text | None) -> list[Change]:
        """But for those whose texts are gone."""
        hunks = () if now is None else self._reviews.peek(path, now).hunks
        found: list[Change] = []
        for change_id in dict.fromkeys(over for hunk in hunks for over, _ in hunk.over):
            with suppress(KeyError, LedgerFailed):
                found.append(await self._ledger.loaded(change_id))
        return found

    def _present(self, change: Change) -> Change:
        """The change as it is by now."""
        present = self._ledger.get(change.id)
        if present is None:
            raise RequestFailed("unknownEdit", f"There is no edit {change.id!r} any more.")
        return replace(present, texts=change.texts) if present.cold else present

    async def _apply(self, edit_id: str, hunks: Sequence[str] | None) -> str | None:
        """Why it is not in; None if it is."""
        async with self._deciding(edit_id) as at_hand:
            (change,) = at_hand.changes
            wanted = None if hunks is None else indexes_of(change, hunks)
            left = _left(change, wanted)
            # An empty file has no hunks.
            if not left and (change.status not in APPLICABLE or wanted is not None):
                return _why_not(change)
            placed = await self._host.accept(edit_id, hunks=wanted, save=self._save(change))
            return None if placed.status == "applied" else _why(placed)

    def _keep(self, change: Change, now: Text | None, wanted: Collection[int] | None) -> bool:
        """Whether there was anything to keep. ``now`` is what the file shows at this moment."""
        keys = self._open_keys(change, now, wanted)
        if now is not None and keys:
            self._reviews.keep(change.path, now, keys)
        elif change.status == "applied" and wanted is None:
            self._ledger.set_status(change.id, "kept")
        else:
            return False
        return True

    async def _take_back(self, at_hand: _AtHand, wanted: Collection[int] | None) -> list[Placed]:
        """Drops what is not in and takes out what is: hunks in one step, changes that have none
        and those whose file cannot be looked at as a whole."""
        keys: list[Key] = []
        wholes: list[Change] = []
        for change in at_hand.changes:
            self._drop(change, wanted)
            keys += (hunks := self._open_keys(change, at_hand.now, wanted))
            if change.status == "unknown" or (
                change.status == "applied"
                and wanted is None
                and not hunks
                and (at_hand.now is None or _has_no_hunks(change))
            ):
                wholes.append(change)
        save = self._save(at_hand.changes[0])
        placed: list[Placed] = []
        if keys:
            placed.append(await self._host.undo(at_hand.changes[0].path, keys, save=save))
        for change in wholes:
            placed.append(await self._host.take_out(change.id, save=save))
        for change in at_hand.changes:
            self._reviews.book.settle(change.id)
        return placed

    def _drop(self, change: Change, wanted: Collection[int] | None) -> None:
        """Drops what is not in of a change. One of which nothing has ever been in is rejected
        then; of another the review knows what it is."""
        dropped = _left(change, wanted)
        whole = dropped == _left(change, None)
        change = self._ledger.decide(change.id, dict.fromkeys(dropped, "rejected"))
        if change.status not in APPLICABLE or not whole:
            return
        if change.status != "proposed" or not change.decided:
            kept = "kept" in change.decided.values()
            self._ledger.set_status(change.id, "kept" if kept else "rejected")

    def _tell_rejected(self, was: Change, reason: str | None) -> None:
        """If anything of the change was taken back."""
        now = self._ledger.get(was.id)
        if now is not None and (now.status, now.decided) == (was.status, was.decided):
            return
        for callback in self._on_rejected:
            callback(Rejection(was, reason))

    def _open_keys(
        self, change: Change, now: Text | None, wanted: Collection[int] | None
    ) -> list[Key]:
        """The hunks of a change that are in and not decided."""
        if now is None:
            return []
        return [
            hunk.key
            for hunk in self._reviews.current(change.path, now).hunks
            if hunk.change_id == change.id and (wanted is None or hunk.index in wanted)
        ]

    def _open(self, session_id: str | None, turn_id: str | None, path: str | None) -> list[Change]:
        return [
            change
            for change in self._ledger.changes(session_id=session_id, path=path)
            if change.status in ("applied", "proposed") and turn_id in (None, change.turn_id)
        ]

    def _save(self, change: Change) -> Save:
        return self._settings(change.path).edits.save


def _by_path(changes: Sequence[Change]) -> list[list[str]]:
    """The ids of the changes of each file."""
    found: dict[str, list[str]] = defaultdict(list)
    for change in changes:
        found[change.path].append(change.id)
    return list(found.values())


def _left(change: Change, wanted: Collection[int] | None) -> list[int]:
    """The hunks of those wanted that are not in and may still be put in."""
    left = open_indexes(change) if change.status in _IN_PART else []
    return [index for index in left if wanted is None or index in wanted]


def _has_no_hunks(change: Change) -> bool:
    """Whether it made, or deleted, an empty file."""
    return (change.before or EMPTY).lines == (change.after or EMPTY).lines


def _all_decided(change: Change, wanted: Collection[int] | None) -> bool:
    return wanted is not None and all(index in change.decided for index in wanted)


@contextmanager
def _failures(edit_id: str) -> Generator[None]:
    """What the workspace says when a file cannot be changed, as the client is told it."""
    data = {"editId": edit_id}
    try:
        yield
    except RequestFailed:
        raise
    except OutsideWorkspace as error:
        raise RequestFailed("outsideWorkspace", str(error), data) from error
    except (ChangedOnDisk, NotText) as error:
        raise RequestFailed("conflict", str(error), data) from error
    except LspAgentError as error:
        raise RequestFailed("editorFailed", str(error), data) from error
    except KeyError:
        raise RequestFailed(
            "unknownEdit", f"There is no edit {edit_id!r} any more.", data
        ) from None


def _why_not(change: Change) -> str | None:
    """Of an edit of which nothing is left to apply; None if it is in."""
    if change.status == "unknown":
        return "The editor has not shown yet whether it took the edit; it may still come."
    if change.status in ("rejected", "superseded", "lost", "conflict"):
        return f"The edit is {change.status}; nothing of it is left to apply."
    return None


def _not_out(placed: Placed, edit_id: str) -> RequestFailed:
    kind = "editorFailed" if placed.refused else "conflict"
    return RequestFailed(kind, _why(placed), {"editId": edit_id})


def _why(placed: Placed) -> str:
    if placed.note:
        return placed.note
    if placed.status == "unknown":
        return "The editor did not say whether it took the edit."
    return "The lines were changed since; apply or undo the edit by hand."
