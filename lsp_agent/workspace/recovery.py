"""After a restart: which changes of earlier runs are in the files, and which are lost.

A server, an editor or both may have died at any point of an edit. What the ledger says of a
change is compared once with what its file shows: at the first didOpen, since editors may bring
back unsaved text, else a little after the start with the disk. What is not there is ``lost`` and
can be applied again; it is found again where a document that is opened later has it.
"""

import logging
import os
import stat
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.text.diff import diff
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.text.plain import first_of
from lsp_agent.text.presence import Step, back_without, unwound, with_only, without
from lsp_agent.workspace.changing.file_host import FileHost, View
from lsp_agent.workspace.disk.files import LEFTOVER
from lsp_agent.workspace.disk.paths import from_ledger, open_folder
from lsp_agent.workspace.documents.documents import Documents
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.change_hunks import accepted
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed
from lsp_agent.workspace.ledger.records import ChangeStatus
from lsp_agent.workspace.ledger.reviews import Reviews
from lsp_agent.workspace.ledger.saves import IN
from lsp_agent.workspace.placing.signs import nearer

_log = logging.getLogger(__name__)

#: How long an editor may take to open its documents before files are judged by the disk.
GRACE_SECONDS = 2.0
#: How long somebody who asks for the changes waits for that, and for the comparing.
_PATIENCE = 2 * GRACE_SECONDS

#: What was taken out of a buffer may be on disk again; looked for among so many last changes.
_RECENT = 200
_TAKEN_OUT: frozenset[ChangeStatus] = frozenset({"rejected", "superseded"})


class Recovery:
    """Of one run. ``say`` shows the person a warning."""

    def __init__(
        self,
        ledger: Ledger,
        reviews: Reviews,
        documents: Documents,
        host: FileHost,
        tasks: TaskGroup,
        say: Callable[[str], None],
    ) -> None:
        """To be made before anything of this run is in ``ledger``."""
        self._ledger = ledger
        self._reviews = reviews
        self._documents = documents
        self._host = host
        self._tasks = tasks
        self._say = say
        self._started = time.time()
        self._judging = anyio.Lock()
        self._news = anyio.Event()
        self._judged: set[str] = set()
        # By path, the changes to look for, and what they were at the start.
        self._doubtful: dict[str, dict[str, ChangeStatus]] = {}
        # The paths of changes whose texts are gone, by their ids.
        self._textless: dict[str, str] = {}
        # By folder, a path that something was perhaps being written to.
        self._interrupted: dict[str, str] = {}
        self._find_doubtful()

    async def run(self) -> None:
        """Once the client is initialized: judges what no didOpen has shown by then, says what is
        lost, and clears away what crashed writes have left. Returns then."""
        if not self._doubtful:
            return
        await anyio.sleep(GRACE_SECONDS)
        for path in list(self._doubtful):
            if path not in self._judged:
                await self._judge(path)
        self._say_lost()
        self._say_textless()
        for path in self._interrupted.values():
            await anyio.to_thread.run_sync(_clear_away, path, self._started)

    def opened(self, uri: str) -> None:
        """At a didOpen: looks whether what is doubtful or lost is there."""
        document = self._documents.get(uri)
        if document is not None and document.path in self._doubtful:
            self._tasks.start_soon(self._judge, document.path)

    async def judged(self, session_id: str | None = None, path: str | None = None) -> None:
        """Returns once the changes of earlier runs have been looked for in the files of those that
        fit what is given; after a few seconds also without, as where nothing is initialized."""
        changes = self._ledger.changes(session_id=session_id, path=path)
        asked = {change.path for change in changes} & self._doubtful.keys()
        with anyio.move_on_after(_PATIENCE):
            while asked - self._judged:
                await self._news.wait()

    # -- what is to be looked for

    def _find_doubtful(self) -> None:
        changes = sorted(self._ledger.changes(), key=lambda change: change.time)
        recent = {change.id for change in changes[-_RECENT:]}
        found: defaultdict[str, dict[str, ChangeStatus]] = defaultdict(dict)
        for path in self._ledger.reviews():
            found[path] = {}
        for change in changes:
            if change.status == "unknown":
                self._interrupted[os.path.dirname(change.path)] = change.path  # noqa: PTH120
            if _is_doubtful(change, recent=change.id in recent):
                found[change.path][change.id] = change.status
        self._doubtful = dict(found)

    # -- judging one path

    async def _judge(self, path: str) -> None:
        async with self._judging:
            try:
                view = await self._host.view(from_ledger(path), None)
                if view.not_text is None:
                    await self._judge_by(path, view)
            except (KeyError, LspAgentError) as error:
                # It cannot be told, so the ledger says what it said.
                _log.warning("%s: the agent's changes cannot be looked for: %s", path, error)
            self._judged.add(path)
            self._news.set()
            self._news = anyio.Event()

    async def _judge_by(self, path: str, view: View) -> None:
        again = path in self._judged
        # Its own hunks the review finds by itself.
        await self._reviews.refresh(path, view.text or EMPTY)
        review = self._reviews.peek(path, view.text or EMPTY)
        live = {hunk.change_id for hunk in review.hunks}
        # Taken over, perhaps since the start.
        under = {change_id for hunk in review.hunks for change_id, _ in hunk.over}
        self._let_go(path)
        wanted = [
            change
            for change in sorted(self._ledger.changes(path=path), key=lambda each: each.time)
            if change.status in IN | {"unknown", "lost", "proposed"}
            or (change.status == "rejected" and change.on_disk)
        ]
        changes = await self._with_texts(wanted, live)
        found = await anyio.to_thread.run_sync(_look_for, changes, view.text)
        for each in found:
            change = each.change
            now = self._ledger.get(change.id)
            if change.id not in self._doubtful[path] or now is None or now.status != change.status:
                continue
            if change.status == "superseded" and change.id in under:
                continue
            if (not again or change.status == "lost") and (each.reopened or change.id not in live):
                self._settle(each, view.text)
        if not (view.open and view.dirty):
            self._ledger.mark_on_disk(each.change.id for each in found if each.hunks is not None)
        await self._reviews.refresh(path, view.text or EMPTY)  # so that they are written down

    async def _with_texts(self, changes: Sequence[Change], live: Collection[str]) -> list[Change]:
        """Those whose texts are there. What waits for a decision that nobody can take without
        them is over; what the review shows has its texts there."""
        found: list[Change] = []
        for change in changes:
            try:
                found.append(await self._ledger.loaded(change.id))
            except LedgerFailed as error:
                _log.warning("%s: %s", change.path, error)
                if change.status in ("applied", "unknown") and change.id not in live:
                    self._ledger.set_status(change.id, "lost")
                    self._textless[change.id] = change.path
        return found

    def _let_go(self, path: str) -> None:
        """What the review finds gone is lost only if it has never been on disk: else somebody has
        changed the file since."""
        for change_id, was in self._doubtful[path].items():
            change = self._ledger.get(change_id)
            if was == "applied" and change and change.on_disk and change.status == "lost":
                gone = [index for index, status in change.decided.items() if status == "lost"]
                self._ledger.decide(change_id, dict.fromkeys(gone, "superseded"))
                self._ledger.set_status(change_id, "superseded")

    def _settle(self, found: "_Found", now: Text | None) -> None:
        change = found.change
        if found.reopened:
            self._landed(found, now, found.back)
            self._ledger.set_status(change.id, "applied")
            self._ledger.decide(change.id, dict.fromkeys(found.back, "applied"))
            return
        if found.missing:
            out = "superseded" if change.on_disk else "lost"
            gone = [i for i in found.missing if change.decided.get(i) not in _TAKEN_OUT]
            self._landed(found, now, found.hunks)
            self._ledger.decide(change.id, dict.fromkeys(gone, out))
            return
        if not found.is_in:
            # What was kept and saved is over, whatever became of it since.
            if change.status in ("unknown", "applied") or (
                change.status == "kept" and not change.on_disk
            ):
                self._lose(change)
            return
        self._ledger.decide(change.id, dict.fromkeys(found.back, "applied"))
        if change.takes_out or "kept" in (change.status, self._doubtful[change.path][change.id]):
            self._ledger.set_status(change.id, "kept")
            return
        if change.status != "applied" or not change.decided:
            self._landed(found, now, found.apart)
        self._ledger.set_status(change.id, "applied")
        if found.apart is not None:
            under = set(found.hunks or ()) - set(found.apart)
            self._ledger.decide(change.id, dict.fromkeys(under, "superseded"))

    def _landed(self, found: "_Found", now: Text | None, hunks: Collection[int] | None) -> None:
        change = found.change
        own = None if hunks is None else accepted(change, hunks)
        self._reviews.landed(change.path, found.without, now, change.id, own)

    def _lose(self, change: Change) -> None:
        """Where it was on disk before, somebody has changed the file since."""
        gone = change.on_disk and change.status != "unknown"
        self._ledger.set_status(change.id, "superseded" if gone else "lost")

    def _say_lost(self) -> None:
        lost: list[Change] = []
        for change in self._ledger.changes(status="lost"):
            if change.id in self._textless:
                continue
            was = self._doubtful.get(change.path, {}).get(change.id, "lost")
            if was == "unknown" or (was != "lost" and not change.on_disk):
                lost.append(change)
        if not lost:
            return
        what, shown = _counted([change.path for change in lost])
        are, them = ("is", "it") if len(lost) == 1 else ("are", "them")
        self._say(
            f"{what} of the agent's from before the restart {are} not in your files: {shown}."
            f" Apply {them} by code action or agent/applyEdit."
        )

    def _say_textless(self) -> None:
        if self._textless:
            what, shown = _counted(list(self._textless.values()))
            self._say(
                f"The texts of {what} of the agent's from before the restart are gone, so that"
                f" they can no longer be reviewed or undone: {shown}. Compare with the last commit."
            )


def _counted(paths: Sequence[str]) -> tuple[str, str]:
    """How many changes these are, and the names of their files."""
    names = list(dict.fromkeys(os.path.basename(path) for path in paths))  # noqa: PTH119
    shown = first_of(names)
    return "1 change" if len(paths) == 1 else f"{len(paths)} changes", shown


def _is_doubtful(change: Change, *, recent: bool) -> bool:
    match change.status:
        case "unknown" | "lost" | "applied" | "proposed":
            return True
        # Hunks were perhaps undone in a buffer that was never saved.
        case "kept":
            return not change.on_disk or (recent and "rejected" in change.decided.values())
        case "rejected":
            return change.on_disk and recent
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _Found:
    """``hunks`` of the change are in, None where none is; ``back`` are those of them that the
    ledger says are out. ``reopened``: these alone are to be reviewed, as the rest is or was.
    ``without`` what is to be reviewed the text were so. ``missing`` are the hunks that are out of
    one of which others are in, as where a person has changed its lines since. ``apart``: where
    newer work stands in the lines of some hunks, the others, which alone can be told from the rest;
    else None."""

    change: Change
    hunks: tuple[int, ...] | None
    is_in: bool
    back: tuple[int, ...]
    reopened: bool
    without: Text | None
    apart: tuple[int, ...] | None = None
    missing: tuple[int, ...] = ()


def _look_for(changes: Sequence[Change], now: Text | None) -> list[_Found]:
    reverts = [place for place, change in enumerate(changes) if change.takes_out]
    unwinding = unwound([(change.before, change.after) for change in changes], now, reverts)
    outs: list[Step] = []
    found: list[_Found] = []
    for change, (hunks, rest) in zip(changes, unwinding, strict=True):
        each = _found(change, hunks, rest, now)
        if outs and each.is_in and not change.on_disk and not change.takes_out:
            no_sign = back_without((change.before, change.after), outs, now)
            each = _but_for(no_sign, each, rest, now) if no_sign else each
        elif not each.is_in and hunks is None and change.status in IN | {"unknown"}:
            outs.append((change.before, change.after))
        found.append(each)
    return found


def _but_for(no_sign: Sequence[int], found: _Found, rest: Text | None, now: Text | None) -> _Found:
    """What is found of a change by its other hunks alone."""
    left = tuple(index for index in found.hunks or () if index not in no_sign)
    if left:
        return _found(found.change, left, rest, now)
    return _Found(found.change, None, is_in=False, back=(), reopened=False, without=now)


def _found(
    change: Change, hunks: tuple[int, ...] | None, rest: Text | None, now: Text | None
) -> _Found:
    """``rest`` is ``now`` without newer changes."""
    out = _out_in(change.status)
    back = tuple(index for index in hunks or () if change.decided.get(index) in out)
    reopened = change.status in ("applied", "kept") and bool(back) and not change.takes_out
    step: Step = change.before, change.after
    is_in = _all_in(change, hunks, rest)
    in_parts = not is_in and change.status == "applied" and not change.takes_out
    only = back if reopened else hunks if in_parts else None
    review, apart = step if only is None else with_only(step, only), None
    left = without(review, now)
    if left == now and not reopened and hunks is not None and len(hunks) > 1:
        apart = tuple(index for index in hunks if without(with_only(step, [index]), now) != now)
        left = without(with_only(step, apart), now)
    missing: tuple[int, ...] = ()
    if in_parts and hunks is not None:
        missing = tuple(index for index in range(_size(change)) if index not in hunks)
    return _Found(change, hunks, is_in, back, reopened, left, apart, missing)


def _size(change: Change) -> int:
    """How many hunks it has."""
    return len(diff((change.before or EMPTY).lines, (change.after or EMPTY).lines))


def _out_in(status: ChangeStatus) -> frozenset[EditStatus]:
    """What the hunks are called that are out of a change with that status and may be back."""
    match status:
        case "applied" | "kept":
            return frozenset({"rejected"})
        case "lost" | "rejected":
            return frozenset({"rejected", "superseded", "lost"})
        case _:
            return frozenset()


def _all_in(change: Change, hunks: Sequence[int] | None, rest: Text | None) -> bool:
    """Whether the change is there, but for the hunks that were taken out of it one by one. Where
    its lines were changed since, by what the text is more like."""
    if hunks is not None:
        out: set[int] = set()
        if change.status != "rejected":
            out = {index for index, was in change.decided.items() if was in _TAKEN_OUT}
        return set(range(_size(change))) - out <= set(hunks)
    if change.status in ("proposed", "rejected") or None in (rest, change.before, change.after):
        return False
    assert rest is not None
    return nearer(rest, change.after or EMPTY, change.before or EMPTY)


def _clear_away(path: str, started: float) -> None:
    """Removes what a crashed write has left beside ``path``. A file that has been written to
    since this server started is another server's."""
    try:
        folder = open_folder(from_ledger(path))
    except (OSError, LspAgentError):
        return  # the folder has gone, or is reached by other ways now
    try:
        listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            names = os.listdir(listed)  # noqa: PTH208 - of a descriptor
        finally:
            os.close(listed)
        for name in names:
            if LEFTOVER.fullmatch(name):
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and found.st_mtime < started:
                    os.unlink(name, dir_fd=folder)
    except OSError as error:
        _log.warning("%s: what a crashed write left stays: %s", Path(path).parent, error)
    finally:
        os.close(folder)
