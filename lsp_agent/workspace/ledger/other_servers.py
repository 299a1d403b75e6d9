"""Ledgers that servers beside another one have left.

A second server of one workspace keeps its changes in a ledger of its own. When it has ended and a
later start is alone, nobody would look there: so that nothing is lost unsaid, what still matters
is taken over into the ledger of the first, and the other is emptied.
"""

import fcntl
import logging
import os
from pathlib import Path

import anyio.to_thread

from lsp_agent.user_data.private_files import why_not_private
from lsp_agent.workspace.ledger.change import Change, Origin
from lsp_agent.workspace.ledger.ledger import Ledger, LedgerFailed

_log = logging.getLogger(__name__)


async def adopt(ledger: Ledger, folder: str) -> None:
    """Takes over into ``ledger`` what ended servers have left in the neighbours of ``folder``, if
    that is its own. Changes get new ids. What cannot be read or written now stays there."""
    if ledger.folder != folder:
        return
    for neighbour in await anyio.to_thread.run_sync(_left_beside, folder):
        try:
            await _take_over(ledger, neighbour)
        except (OSError, LedgerFailed) as error:
            _log.warning("%s: changes of an ended server stay there: %s", neighbour, error)


async def _take_over(ledger: Ledger, neighbour: str) -> None:
    left = await anyio.to_thread.run_sync(Ledger, neighbour)
    try:
        if left.folder == neighbour:  # nobody was faster
            changes = left.changes()
            mattering = [change for change in changes if _matters(change)]
            wanted = {change.id for change in mattering}
            # A revert is nothing without what it takes out: that may be wanted back.
            wanted.update(out for change in mattering for out in change.takes_out)
            new_ids: dict[str, str] = {}
            for change in changes:
                if change.id in wanted:
                    await _take(ledger, left, change.id, new_ids)
                left.withdraw(change.id)
            for path in left.reviews():
                left.set_review(path, None)
    finally:
        await anyio.to_thread.run_sync(left.close)


async def _take(ledger: Ledger, left: Ledger, change_id: str, new_ids: dict[str, str]) -> None:
    """``new_ids`` are those of the changes that were taken before, by their old ones."""
    try:
        change = await left.loaded(change_id)
    except LedgerFailed as error:
        _log.warning("a change of another server's is not taken over: %s", error)
        return
    origin = Origin(
        change.session_id,
        change.turn_id,
        change.tool_call_id,
        takes_out={
            new_ids[out]: hunks for out, hunks in change.takes_out.items() if out in new_ids
        },
    )
    taken = await ledger.record(origin, change.path, change.before, change.after)
    new_ids[change_id] = taken.id
    if change.decided:
        ledger.decide(taken.id, change.decided)
    if change.on_disk:
        ledger.mark_on_disk([taken.id])
    ledger.set_status(taken.id, change.status)


def _matters(change: Change) -> bool:
    match change.status:
        case "unknown" | "applied" | "proposed" | "conflict" | "lost":
            return True
        case "kept":
            return not change.on_disk
        case _:
            return False


def _left_beside(folder: str) -> list[str]:
    """The ledgers beside ``folder`` in which there is something and which nobody holds."""
    own = Path(folder)
    numbered = (path for path in own.parent.glob(f"{own.name}-*") if path.name[-1:].isdigit())
    return [str(path) for path in sorted(numbered) if _is_left(path)]


def _is_left(ledger: Path) -> bool:
    try:
        if why_not_private(ledger) or not (ledger / "journal.jsonl").stat().st_size:
            return False
        lock = os.open(ledger / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(lock)
    return True
