"""Taking turns back: their changes out of the files as they are now, others' work kept.

What a revert does to a file is a change of its own, named by the revert's id in place of a turn's,
so that it can be taken back as well. It names what it takes out: while it is in, that is
``rejected`` in the ledger, and once it is taken back itself ``kept``. Such changes never count as
a turn's work.
"""

import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import anyio
import anyio.to_thread

from lsp_agent.protocol.edits import EditStatus
from lsp_agent.protocol.errors import LspAgentError, RequestFailed
from lsp_agent.protocol.events import Notice, Rewound, StampedEvent, TurnEnded
from lsp_agent.sessions.reverts.parts import (
    ChangedSince,
    Left,
    Part,
    TypedIn,
    befores,
    gone_part,
    is_rejected,
    is_revert,
    meant,
    new_revert_id,
    parts_given_up,
    parts_in,
    parts_put_back,
    parts_under,
    was_proposal,
    without,
)
from lsp_agent.sessions.session import Session
from lsp_agent.sessions.sessions import Sessions
from lsp_agent.sessions.shared.services import Services
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.workspace.changing.file_host import Origin, Placed, View
from lsp_agent.workspace.disk.paths import OutsideWorkspace, SafePath, path_to_uri
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.ledger import LedgerFailed

Outcome = Literal["restored", "merged", "created", "deleted", "conflict", "unchanged"]

#: A turn that changed nothing is known for as long as it is among the last ones.
_TURNS = 4096
#: In characters: what is longer takes a moment, in which nothing else would be done, so that it is
#: done beside. How often that is tried while a person types.
_LONG = 100_000
_TRIES = 5
_MOST_OTHERS = 20


@dataclass(frozen=True, slots=True)
class FileReverted:
    """``reason`` says why it is a conflict, or what else a person should know."""

    path: str
    uri: str
    outcome: Outcome
    reason: str | None = None


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
        self._sessions = sessions
        self._say = say
        self._turns: OrderedDict[str, str] = OrderedDict()
        #: Changes that were out of their files already when they were reverted, and when that was.
        self._gone: dict[str, float] = {}
        #: Held by whoever takes anything back.
        self.one_at_a_time = anyio.Lock()
        services.ledger.subscribe(self._on_change)

    def take(self, stamped: StampedEvent) -> None:
        """Subscribes to each session's log: a turn that changed nothing is known, too."""
        match stamped.event:
            case TurnEnded() if stamped.turn_id is not None:
                self._know(stamped.turn_id, stamped.session_id)
            case Rewound(turn_id):
                for left in [turn_id, *self._since(turn_id)]:
                    self._turns.pop(left, None)
            case _:
                pass

    async def revert(
        self, session_id: str | None, turn_id: str | None, *, only: bool = False
    ) -> Reverted:
        """Takes back that turn and the later ones of its session, or ``only`` that one; without
        ``turn_id`` the session's last one of which anything is in. A revert's id takes that
        revert back, and nothing else.

        :raises RequestFailed: "busy", "unknownSession", "unknownTurn"
        """
        async with self.one_at_a_time, AsyncExitStack() as stack:
            await self._recall(session_id, turn_id)
            session_id = self._session_of(session_id, turn_id)
            if session_id is None:
                return Reverted(new_revert_id(), ())
            session = self._living(session_id)
            if session is not None:
                await stack.enter_async_context(session.at_rest())
            turns = [turn_id, *(() if only else self._since(turn_id))]
            await self._services.edits.look(session_id)
            changes = meant(self._changes_of(session_id), turns, only=only)
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
        own = self._changes_of(session_id)
        if since is not None:
            turns = [*turns, *(c.turn_id for c in own if c.turn_id and c.time >= since)]
        changes = {change.id: change for change in [*own, *of_turns]}
        in_order = sorted(changes.values(), key=lambda change: change.time)
        return await self._take_back(session_id, meant(in_order, turns))

    async def _take_back(self, session_id: str, changes: Sequence[Change]) -> Reverted:
        revert_id = new_revert_id()
        self._know(revert_id, session_id)
        by_path: defaultdict[str, list[Change]] = defaultdict(list)
        for change in changes:
            by_path[change.path].append(change)
        files = [
            await self._file(session_id, revert_id, path, named) for path, named in by_path.items()
        ]
        self._report(session_id, files)
        return Reverted(revert_id, tuple(files))

    # -- which turn of which session

    async def _recall(self, session_id: str | None, turn_id: str | None) -> None:
        """The turns of an earlier run, where one is meant that changed nothing."""
        if session_id is None or turn_id is None or turn_id in self._turns:
            return
        if any(change.turn_id == turn_id for change in self._services.ledger.changes()):
            return
        past = await self._sessions.past_turns(session_id)
        self._turns = OrderedDict(dict.fromkeys(past, session_id) | self._turns)

    def _session_of(self, session_id: str | None, turn_id: str | None) -> str | None:
        """None where there is no default session yet."""
        if session_id is not None and not self._changes_of(session_id):
            self._sessions.get(session_id)
        if turn_id is None:
            default = self._sessions.to_stop(session_id, None) if session_id is None else None
            return session_id or (default.id if default else None)
        running = next((s.id for s in self._sessions.all() if s.has_turn(turn_id)), None)
        made = (c.session_id for c in self._services.ledger.changes() if c.turn_id == turn_id)
        found = running or self._turns.get(turn_id) or next(made, None)
        if found is None or session_id not in {None, found}:
            whose = "" if session_id is None else f" of session {session_id!r}"
            raise RequestFailed("unknownTurn", f"There is no turn {turn_id!r}{whose}.")
        return found

    def _living(self, session_id: str) -> Session | None:
        return next((s for s in self._sessions.all() if s.id == session_id), None)

    def _changes_of(self, session_id: str) -> list[Change]:
        """Oldest first."""
        changes = self._services.ledger.changes(session_id=session_id)
        return sorted(changes, key=lambda change: change.time)

    def _know(self, turn_id: str, session_id: str) -> None:
        self._turns[turn_id] = session_id
        while len(self._turns) > _TURNS:
            self._turns.popitem(last=False)

    def _since(self, turn_id: str | None) -> list[str]:
        """The turns of its session that ended after it: it may have changed nothing itself."""
        known = list(self._turns)
        if turn_id is None or turn_id not in known:
            return []
        later = known[known.index(turn_id) + 1 :]
        return [each for each in later if self._turns[each] == self._turns[turn_id]]

    # -- one file

    async def _file(
        self, session_id: str, revert_id: str, path: str, named: Sequence[Change]
    ) -> FileReverted:
        """A failure here leaves this file as it is, and the others go on."""
        uri = self._uri(path)
        try:
            safe = self._confined(path)
            await self._services.saves.noted(path)
            await self._services.host.brought_in(path)  # until then it is not known what is in
            loaded = [await self._services.ledger.loaded(change.id) for change in named]
            shown = await self._services.host.view(safe, None)
            found = await self._parts(loaded, shown)
            # What was deleted is in the editor still.
            parts = [part for part in found if not (shown.open and part.step[1] is None)]
            brought_back = len(parts) < len(found) and await self._bring_back(safe, found, loaded)
            self._found_out({p.change_id: p.hunks for p in found if p not in parts})
            if not parts:
                return FileReverted(path, uri, "created" if brought_back else "unchanged")
            takes_out = {part.change_id: part.hunks for part in parts}
            origin = Origin(session_id, revert_id, None, "agent: revert", takes_out)
            back = any(is_revert(change.turn_id) for change in named)
            gone = [] if back else await self._gone_parts(path, parts)
            earlier = [*await self._others(path, loaded), *loaded]
            placed = await self._take_out(origin, safe, [*parts, *gone], befores(earlier, gone))
        except (LspAgentError, KeyError) as error:
            return FileReverted(path, uri, "conflict", str(error))
        if placed.status != "applied":
            return FileReverted(path, uri, "conflict", placed.note or f"it is {placed.status}")
        if placed.change is None:
            self._found_out(takes_out)
        outcome = "created" if brought_back else _outcome(placed, parts[0].step[0])
        return FileReverted(path, uri, outcome, placed.note)

    async def _bring_back(
        self, path: SafePath, parts: Sequence[Part], changes: Sequence[Change]
    ) -> bool:
        """Whether the file is there again, as it was before the turns. Raises ChangedSince where
        that cannot be told: were it passed over, the file would stay away for good."""
        newest_first = sorted(parts, key=lambda part: part.time, reverse=True)
        left = await anyio.to_thread.run_sync(without, newest_first, None, befores(changes, ()))
        if left.clash is not None:
            raise ChangedSince(path.path, left.clash.lines)
        if left.text is None:  # made and deleted by them
            return False
        return await self._services.host.bring_back(path, left.text)

    async def _parts(self, changes: Sequence[Change], shown: View) -> list[Part]:
        """What of them is in. Of the rest it is known from now on that it is out."""
        unsaved = {c.id for c in changes if not shown.open and self._is_unsaved(c)}
        given_up = await anyio.to_thread.run_sync(parts_given_up, changes, unsaved, _text_of(shown))
        out = {part.change_id: part.hunks for part in given_up}
        self._found_out(out)
        there = [each for each in changes if not (shown.open and was_proposal(each))]
        parts = await anyio.to_thread.run_sync(parts_in, there)
        return [part for part in parts if part.change_id not in out]

    def _is_unsaved(self, change: Change) -> bool:
        """Whether it has never been on disk, and no other change is known to have put it there;
        nor, of a revert, what it takes out."""
        ledger = self._services.ledger
        taken_out = any(change.id in each.takes_out for each in ledger.changes(path=change.path))
        takes_out = [found for each in change.takes_out if (found := ledger.get(each)) is not None]
        if takes_out and not any(found.on_disk for found in takes_out):
            return False
        return not (change.on_disk or change.status == "unknown" or taken_out)

    async def _gone_parts(self, path: str, parts: Sequence[Part]) -> list[Part]:
        """What was taken out of a file, or found to be out of it, but for what was gone before any
        of ``parts`` was made: these had nothing of it to change."""
        changes = self._services.ledger.changes(path=path)
        out = dict(self._gone)
        for revert in changes:
            for taken in revert.takes_out if revert.status == "kept" else ():
                out[taken] = max(revert.time, out.get(taken, 0))
        rejected = [c for c in changes if is_rejected(c) and not is_revert(c.turn_id)]
        gone = [
            gone_part(await self._services.ledger.loaded(change.id))
            for change in rejected
            if any(change.time < part.time < out.get(change.id, 0) for part in parts)
        ]
        taken = {part.change_id for part in gone}
        earlier = [c for c in rejected if c.id not in taken and c.time < parts[-1].time]
        older = [gone_part(change) for change in await self._last_with_texts(earlier)]
        # Of these nobody has written down when.
        by_hand = [part for part in older if part.change_id not in out]
        gone += await anyio.to_thread.run_sync(parts_under, by_hand, parts)
        return gone + await anyio.to_thread.run_sync(parts_put_back, older, gone)

    async def _others(self, path: str, changes: Sequence[Change]) -> list[Change]:
        """The last of a file's other changes: where its lines stood, their texts tell as well."""
        taken = {change.id for change in changes}
        others = self._services.ledger.changes(path=path)
        return await self._last_with_texts([each for each in others if each.id not in taken])

    async def _last_with_texts(self, changes: Sequence[Change]) -> list[Change]:
        """Without those whose texts are gone: a revert does not depend on them."""
        found: list[Change] = []
        for change in changes[-_MOST_OTHERS:]:
            with suppress(KeyError, LedgerFailed):
                found.append(await self._services.ledger.loaded(change.id))
        return found

    async def _take_out(
        self, origin: Origin, path: SafePath, parts: Sequence[Part], earlier: Sequence[Text]
    ) -> Placed:
        newest_first = sorted(parts, key=lambda part: part.time, reverse=True)
        oldest = next(part for part in reversed(newest_first) if not part.gone)

        def resolve(foreseen: Left, view: View) -> Text:
            now, left = _text_of(view), foreseen
            if foreseen.now != now:
                if now is not None and sum(map(len, now.lines)) > _LONG:
                    raise TypedIn(path.path)
                left = without(newest_first, now, earlier)
            if left.clash is not None:
                raise ChangedSince(path.path, left.clash.lines)
            return left.text or EMPTY

        async def once() -> Placed:
            shown = _text_of(await self._services.host.view(path, None))
            foreseen = await anyio.to_thread.run_sync(without, newest_first, shown, earlier)
            return await self._services.host.replace(
                path,
                origin,
                partial(resolve, foreseen),
                review="off",
                save=self._services.settings(path.path).edits.save,
                deletes=oldest.step[0] is None,
            )

        for _ in range(_TRIES - 1):
            with suppress(TypedIn):
                return await once()
        return await once()

    def _confined(self, path: str) -> SafePath:
        """Raises OutsideWorkspace also where the way to the file now leads through a link."""
        safe = self._services.confinement(False).confine(path, "/", write=True)
        if safe.path != path:
            raise OutsideWorkspace(path, "is reached through a symlink now")
        return safe

    def _uri(self, path: str) -> str:
        document = self._services.documents.at(path)
        return document.uri if document else path_to_uri(path)

    # -- the ledger

    def _on_change(self, change: Change) -> None:
        """A revert's change is in, at once or late, or is taken out again itself."""
        if change.status == "kept":
            self._out(change.takes_out)
            self._out_again(change)
        elif change.status == "rejected":
            self._back(change.takes_out)

    def _found_out(self, taken: Mapping[str, Sequence[int]]) -> None:
        """The file was without them already."""
        self._gone |= dict.fromkeys(taken, time.time())
        self._out(taken)

    def _out(self, taken: Mapping[str, Sequence[int]]) -> None:
        """What is out of the file is rejected; of a proposal, the hunks that were in."""
        for change, hunks in self._known(taken):
            self._decide(change, hunks, "rejected")
            if change.status != "proposed":
                self._services.ledger.set_status(change.id, "rejected")

    def _out_again(self, change: Change) -> None:
        """Nothing is left of a revert that had brought back what ``change`` takes out."""
        ledger = self._services.ledger
        for other in ledger.changes(path=change.path):
            if other.status != "kept" or other.id == change.id or not is_revert(other.turn_id):
                continue
            reverts = [ledger.get(each) for each in other.takes_out]
            brought = {each for revert in reverts if revert for each in revert.takes_out}
            if brought and brought <= change.takes_out.keys():
                ledger.set_status(other.id, "superseded")

    def _back(self, taken: Mapping[str, Sequence[int]]) -> None:
        for change, hunks in self._known(taken):
            self._decide(change, hunks, "kept")
            if change.status == "rejected":
                self._services.ledger.set_status(change.id, "kept")

    def _known(self, taken: Mapping[str, Sequence[int]]) -> Iterator[tuple[Change, Sequence[int]]]:
        """But for those that there was no room for any more."""
        for change_id, hunks in taken.items():
            change = self._services.ledger.get(change_id)
            if change is not None:
                yield change, hunks

    def _decide(self, change: Change, hunks: Sequence[int], status: EditStatus) -> None:
        if change.decided:
            self._services.ledger.decide(change.id, dict.fromkeys(hunks, status))

    # -- what the person is told

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
        session = self._living(session_id)
        if session is not None:
            session.emit(notice, None)
        else:
            self._say(notice)


def _text_of(view: View) -> Text | None:
    """None where there is no file. Raises NotText."""
    return view.require_text() if view.exists else None


def _outcome(placed: Placed, was: Text | None) -> Outcome:
    if placed.change is None:
        return "unchanged"
    if placed.now is None:
        return "deleted"
    if placed.before is None:
        return "created"
    return "restored" if placed.change.after == was else "merged"
