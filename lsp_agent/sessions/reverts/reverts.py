"""Taking turns back: their changes out of the files as they are now, others' work kept.

What a revert does to a file is a change of its own, named by the revert's id in place of a turn's,
so that it can be taken back as well. It names what it takes out: while it is in, that is
``rejected`` in the ledger, and once it is taken back itself ``kept``. Such changes never count as
a turn's work.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio

from lsp_agent.protocol.events import Notice
from lsp_agent.sessions.reverts.file import FileReverted, FileReverts
from lsp_agent.sessions.reverts.parts import meant, new_revert_id
from lsp_agent.sessions.reverts.turns import KnownTurns
from lsp_agent.sessions.sessions import Sessions
from lsp_agent.sessions.shared.services import Services
from lsp_agent.workspace.ledger.change import Change


@dataclass(frozen=True, slots=True)
class Reverted:
    revert_id: str
    files: tuple[FileReverted, ...]


class Reverts:
    """Of one server. ``say`` tells the person of sessions that have gone."""

    def __init__(
        self, services: Services, sessions: Sessions, say: Callable[[Notice], None]
    ) -> None:
        self._services = services
        self._say = say
        self.turns = KnownTurns(services.ledger, sessions)
        self._files = FileReverts(services)
        #: Held by whoever takes anything back.
        self.one_at_a_time = anyio.Lock()

    async def revert(
        self, session_id: str | None, turn_id: str | None, *, only: bool = False
    ) -> Reverted:
        """Takes back that turn and the later ones of its session, or ``only`` that one; without
        ``turn_id`` the session's last one of which anything is in. A revert's id takes that
        revert back, and nothing else.

        :raises RequestFailed: "busy", "unknownSession", "unknownTurn"
        """
        async with self.one_at_a_time, AsyncExitStack() as stack:
            await self.turns.recall(session_id, turn_id)
            session_id = self.turns.session_of(session_id, turn_id)
            if session_id is None:
                return Reverted(new_revert_id(), ())
            session = self.turns.living(session_id)
            if session is not None:
                await stack.enter_async_context(session.at_rest())
            turns = [turn_id, *(() if only else self.turns.since(turn_id))]
            await self._services.edits.look(session_id)
            changes = meant(self.turns.changes_of(session_id), turns, only=only)
            return await self._take_back(session_id, changes)

    async def take_back(
        self, session_id: str, turns: Sequence[str], since: float | None
    ) -> Reverted:
        """What those turns have changed, in the session whose conversation they were in or in the
        one that it was copied from, and what the session has changed ``since`` then. Held are
        ``one_at_a_time`` and the session's rest."""
        of_turns = [c for c in self._services.ledger.changes() if c.turn_id in turns]
        for each in {session_id, *(change.session_id for change in of_turns)}:
            await self._services.edits.look(each)
        own = self.turns.changes_of(session_id)
        if since is not None:
            turns = [*turns, *(c.turn_id for c in own if c.turn_id and c.time >= since)]
        changes = {change.id: change for change in [*own, *of_turns]}
        in_order = sorted(changes.values(), key=lambda change: change.time)
        return await self._take_back(session_id, meant(in_order, turns))

    async def _take_back(self, session_id: str, changes: Sequence[Change]) -> Reverted:
        revert_id = new_revert_id()
        self.turns.know(revert_id, session_id)
        by_path: defaultdict[str, list[Change]] = defaultdict(list)
        for change in changes:
            by_path[change.path].append(change)
        files = [
            await self._files.revert(session_id, revert_id, path, named)
            for path, named in by_path.items()
        ]
        self._report(session_id, files)
        return Reverted(revert_id, tuple(files))

    def _report(self, session_id: str, files: Sequence[FileReverted]) -> None:
        left = [file for file in files if file.outcome == "conflict"]
        if left:
            # The file is named already, and a long message stops the typist in some editors.
            names = "; ".join(
                f"{Path(file.path).name} ({(file.reason or '').removeprefix(f'{file.path}: ')})"
                for file in left
            )
            notice = Notice("warning", f"Not taken back: {names}", "lsp-agent")
        else:
            done = [
                f"{Path(file.path).name} {file.outcome}{f' ({file.reason})' if file.reason else ''}"
                for file in files
            ]
            notice = Notice("info", f"Taken back: {', '.join(done) or 'nothing'}.", "lsp-agent")
        session = self.turns.living(session_id)
        if session is not None:
            session.emit(notice, None)
        else:
            self._say(notice)
