"""One file's part of a revert: what of the turns is in it, taken out or brought back."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Literal

import anyio
import anyio.to_thread

from lsp_agent.protocol.errors import LspAgentError
from lsp_agent.sessions.reverts.parts import (
    ChangedSince,
    Left,
    Part,
    TypedIn,
    befores,
    gone_part,
    is_rejected,
    is_revert,
    parts_given_up,
    parts_in,
    parts_put_back,
    parts_under,
    was_proposal,
    without,
)
from lsp_agent.sessions.reverts.taken_out import TakenOut
from lsp_agent.sessions.shared.services import Services
from lsp_agent.text.lines import EMPTY, Text
from lsp_agent.workspace.changing.file_host import Origin, Placed, View
from lsp_agent.workspace.disk.paths import OutsideWorkspace, SafePath, path_to_uri
from lsp_agent.workspace.ledger.change import Change
from lsp_agent.workspace.ledger.ledger import LedgerFailed

Outcome = Literal["restored", "merged", "created", "deleted", "conflict", "unchanged"]

#: In characters: what is longer takes a moment, in which nothing else would be done, so that it is
#: done beside. How often that is tried while a person types.
_LONG = 100_000
_TRIES = 5
_MOST_OTHERS = 20
#: In lines: of a long text fewer of them are looked at. To read one, and to forget it, takes a
#: moment.
_MUCH = 100_000


@dataclass(frozen=True, slots=True)
class FileReverted:
    """``reason`` says why it is a conflict, or what else a person should know."""

    path: str
    uri: str
    outcome: Outcome
    reason: str | None = None


class FileReverts:
    """Of one server. One at a time."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._taken_out = TakenOut(services.ledger, services.reviews)

    async def revert(
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
            self._taken_out.found_out({p.change_id: p.hunks for p in found if p not in parts})
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
            self._taken_out.found_out(takes_out)
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
        unsaved = {c.id for c in changes if self._is_unsaved(c)}
        given_up = await anyio.to_thread.run_sync(parts_given_up, changes, unsaved, _text_of(shown))
        out = {part.change_id: part.hunks for part in given_up}
        self._taken_out.found_out(out)
        there = [each for each in changes if not (shown.open and was_proposal(each))]
        parts = await anyio.to_thread.run_sync(parts_in, there)
        return [part for part in parts if part.change_id not in out]

    def _is_unsaved(self, change: Change) -> bool:
        """Whether it has never been on disk, and no other change is known to have put it there;
        nor, of a revert, what it takes out. And no document has it still from when it was made."""
        ledger = self._services.ledger
        document = self._services.documents.at(change.path)
        if document is not None and not document.opened_since(change.time):
            return False
        taken_out = any(change.id in each.takes_out for each in ledger.changes(path=change.path))
        takes_out = [found for each in change.takes_out if (found := ledger.get(each)) is not None]
        if takes_out and not any(found.on_disk for found in takes_out):
            return False
        return not (change.on_disk or change.status == "unknown" or taken_out)

    async def _gone_parts(self, path: str, parts: Sequence[Part]) -> list[Part]:
        """What was taken out of a file, or found to be out of it, but for what was gone before any
        of ``parts`` was made: these had nothing of it to change."""
        changes = self._services.ledger.changes(path=path)
        out = dict(self._taken_out.gone)
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
        size = 0
        for change in reversed(changes[-_MOST_OTHERS:]):
            if size >= _MUCH:
                break
            with suppress(KeyError, LedgerFailed):
                found.append(await self._services.ledger.loaded(change.id))
                size += len((found[-1].before or EMPTY).lines)
        return found[::-1]

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
